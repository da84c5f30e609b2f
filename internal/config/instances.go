package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Instance is another instance, by the alias that commands call it. However it
// is printed it reads as its path and alias.
type Instance struct {
	Alias     string
	URL       Secret // of its feed: ws:// or wss://, without a user, a query or a fragment
	TokenFile string // empty = it wants no token
	Path      string // "instances.gw-1"
	Line      int    // in the file, counts from 1
}

// Instances are the `instances:` of the file, in its order.
func (c *Config) Instances() []Instance {
	var all []Instance
	for _, m := range c.read().doc.Instances {
		all = append(all, Instance{Alias: m.alias, URL: m.secret, TokenFile: m.TokenFile, Path: m.path, Line: m.line})
	}
	return all
}

// String is the path and the alias.
func (i Instance) String() string { return i.Path + " " + i.Alias }

// GoString is the same for %#v.
func (i Instance) GoString() string { return i.String() }

// Format is the same for every other verb.
func (i Instance) Format(s fmt.State, verb rune) { printText(s, verb, i.String()) }

// MarshalJSON is the same as a JSON string.
func (i Instance) MarshalJSON() ([]byte, error) { return json.Marshal(i.String()) }

// MarshalYAML is the same in YAML.
func (i Instance) MarshalYAML() (any, error) { return i.String(), nil }

// LogValue is the same in a log.
func (i Instance) LogValue() slog.Value { return slog.StringValue(i.String()) }

// remotes are keys of the file's own choice with a remote each, in its order.
type remotes []remote

type remote struct {
	URL       string `yaml:"url"`
	TokenFile string `yaml:"token_file"`

	alias  string
	secret Secret // URL
	path   string
	line   int
}

// aliased decodes remotes. An alias that is no name is not shown: it may be a
// value that slipped into the place of a key.
func (r *reading) aliased(n *yaml.Node, path string, out *remotes) {
	*out = nil
	for i, e := range r.entries(n, path, "want aliases and what they stand for (gw-1: {url: …})") {
		if r.over {
			break
		}
		if !goodName.MatchString(e.name) || len(e.name) > maxName {
			r.faultAt(e.key, path, "a key that is no alias: want letters, digits, . _ and -, first a letter or digit, at most %d", maxName)
			continue
		}
		m := remote{alias: e.name, path: path + "[" + strconv.Itoa(i) + "]", line: e.key.Line}
		if k := keyed(path, e.name); k != "" && !strings.Contains(e.name, ".") {
			m.path = path + k
		}
		r.keys[m.path] = e.key
		r.value(e.value, m.path, reflect.ValueOf(&m).Elem())
		*out = append(*out, m)
	}
}

func (r *reading) instances(all remotes) {
	for i := range all {
		m := &all[i]
		at, file := m.path+".url", m.path+tokenSuffix
		if m.TokenFile != "" {
			r.token(file, &m.TokenFile)
		}
		if r.bad[m.path] || !r.required(at, m.URL, "the address of its feed, as in wss://gw-1.example:9640/feed") || r.bad[at] {
			continue
		}
		text := strings.TrimSpace(m.URL)
		if why := feedURLFault(text); why != "" {
			r.fault(at, "%s", why)
			continue
		}
		m.secret = secretOf(text)
	}
}

// feedURLFault says what is wrong with the address of a feed; empty = nothing.
// It shows nothing of it.
func feedURLFault(text string) string {
	if why := urlFault(text, socketSchemes); why != "" {
		return why
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // urlFault knows it
	case u.User != nil:
		return "a URL with a user: want token_file, a file that holds the token"
	case u.RawQuery != "" || u.ForceQuery:
		return "a URL with a ?: the feed takes no query; a token belongs into token_file"
	case u.Fragment != "":
		return "a URL with a #: remove it and what follows"
	}
	return ""
}
