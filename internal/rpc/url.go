package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chaintop/internal/clean"
)

// nameRunes bounds an upstream's name where it is printed.
const nameRunes = 64

// URL is the address of an upstream, with the upstream's name. However it is
// printed it reads name(scheme://host): a path, a query or a user may hold a
// key (SPEC X1).
type URL struct {
	name string
	// Behind a pointer, so that a print of a struct that holds a URL shows a
	// number where reflection cannot call our methods.
	raw *url.URL
}

// schemes are those an upstream may have.
var schemes = []string{"http", "https", "ws", "wss"}

// ParseURL reads the address of the upstream called name. Its errors name the
// fault and show nothing of raw but an unknown scheme.
func ParseURL(name, raw string) (URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return URL{}, errors.New("empty URL")
	}
	scheme, _, found := strings.Cut(raw, "://")
	if !found {
		return URL{}, errors.New("no scheme: want http://, https://, ws:// or wss://")
	}
	scheme = strings.ToLower(scheme)
	if !slices.Contains(schemes, scheme) {
		return URL{}, fmt.Errorf("unknown scheme %q: want http, https, ws or wss", clean.Text(scheme, 16))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return URL{}, parseFault(err)
	}
	if u.Hostname() == "" {
		return URL{}, errors.New("no host")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return URL{}, fmt.Errorf("port %s is not between 1 and 65535", clean.Text(p, 8))
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return URL{name: clean.Text(name, nameRunes), raw: u}, nil
}

// parseFault is err, whose text quotes the address, in words that do not.
func parseFault(err error) error {
	var escape url.EscapeError
	var host url.InvalidHostError
	switch text := err.Error(); {
	case errors.As(err, &escape):
		return errors.New("not a URL: a % that is followed by no code")
	case errors.As(err, &host):
		return errors.New("not a URL: a character a host cannot have")
	case strings.Contains(text, "invalid port"):
		return errors.New("not a URL: the port is no number")
	case strings.Contains(text, "invalid userinfo"):
		return errors.New("not a URL: a character a user name cannot have")
	case strings.Contains(text, "control character"):
		return errors.New("not a URL: a control character")
	}
	return errors.New("not a URL")
}

// Name is the upstream's name.
func (u URL) Name() string { return u.name }

// Scheme is http, https, ws or wss; empty for the zero URL.
func (u URL) Scheme() string {
	if u.raw == nil {
		return ""
	}
	return strings.ToLower(u.raw.Scheme)
}

// Host is the host, with its port if one was given.
func (u URL) Host() string {
	if u.raw == nil {
		return ""
	}
	return clean.Text(u.raw.Host, 255)
}

// String is name(scheme://host), as every other printed form.
func (u URL) String() string {
	if u.raw == nil {
		return u.name + "()"
	}
	return u.name + "(" + u.Scheme() + "://" + u.Host() + ")"
}

// GoString is the same for %#v.
func (u URL) GoString() string { return u.String() }

// Format is the same for every other verb.
func (u URL) Format(s fmt.State, verb rune) {
	text := u.String()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	// A formatter has nobody to report to.
	_, _ = io.WriteString(s, text)
}

// MarshalText is the same for encoders.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalJSON is the same as a JSON string.
func (u URL) MarshalJSON() ([]byte, error) { return json.Marshal(u.String()) }

// LogValue is the same in a log.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// reveal is the address itself, a copy, for the transport and nobody else.
func (u URL) reveal() *url.URL {
	c := *u.raw
	return &c
}

// secrets are the parts of the address that may be keys, as they are written
// and as they are meant: user and password, longer segments of the path, and
// the values of the query.
func (u URL) secrets() []string {
	if u.raw == nil {
		return nil
	}
	var out []string
	if user := u.raw.User; user != nil {
		word, _ := user.Password()
		out = append(out, word, user.Username(), user.Username()+":"+word)
	}
	for _, path := range []string{u.raw.Path, u.raw.EscapedPath()} {
		for part := range strings.SplitSeq(path, "/") {
			if len(part) >= 8 {
				out = append(out, part)
			}
		}
	}
	for pair := range strings.SplitSeq(u.raw.RawQuery, "&") {
		_, value, found := strings.Cut(pair, "=")
		if !found {
			value = pair
		}
		// A value shorter than this stands in too many words; with its name it does not.
		if len(value) < 4 {
			value = pair
		}
		out = append(out, value)
		if meant, err := url.QueryUnescape(value); err == nil {
			out = append(out, meant)
		}
	}
	return out
}
