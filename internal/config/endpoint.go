package config

import (
	"encoding/json"
	"fmt"
	"log/slog"

	promconfig "github.com/prometheus/common/config"

	"chaintop/internal/clean"
)

// Endpoint is how one upstream is reached, and where the file says so. However
// it is printed it reads as its path and name; its HTTP printed alone would show
// keys.
type Endpoint struct {
	Name  string
	URL   Secret
	WSURL Secret                      // of the gateway's websockets; empty = none
	HTTP  promconfig.HTTPClientConfig // shared: read it, never change it
	Path  string                      // "chains[0].upstreams[1]"
	Line  int                         // in the file, counts from 1
}

// String is the path and the name.
func (e Endpoint) String() string { return e.Path + " " + e.Name }

// GoString is the same for %#v.
func (e Endpoint) GoString() string { return e.String() }

// Format is the same for every other verb.
func (e Endpoint) Format(s fmt.State, verb rune) { printText(s, verb, e.String()) }

// MarshalJSON is the same as a JSON string.
func (e Endpoint) MarshalJSON() ([]byte, error) { return json.Marshal(e.String()) }

// MarshalYAML is the same in YAML.
func (e Endpoint) MarshalYAML() (any, error) { return e.String(), nil }

// LogValue is the same in a log.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// Secret is text that is never printed.
type Secret struct{ text *string }

func secretOf(text string) Secret { return Secret{text: &text} }

// Reveal is the text itself, for whoever makes the client and nobody else. It
// is empty for the zero Secret.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String hides the text, as every other printed form.
func (s Secret) String() string {
	if s.Reveal() == "" {
		return ""
	}
	return clean.Hidden
}

// GoString is the same for %#v.
func (s Secret) GoString() string { return s.String() }

// Format is the same for every other verb.
func (s Secret) Format(f fmt.State, verb rune) { printText(f, verb, s.String()) }

// MarshalText is the same for encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML is the same in YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue is the same in a log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
