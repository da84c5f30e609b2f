// Package config reads the file of `--config` and turns it into what the rest
// of the program is made of: a model.Instance, the endpoints of its upstreams,
// what their gateway may do, what listens and for whom, the drain, the other
// instances by their aliases, and where the log goes.
//
// Law: a file is taken whole or not at all. Defaults come first, then strict
// decoding, then every rule; all faults come back together, each with its line
// and its path, in the order of the file. What was read never changes.
//
// A value that may be a key (an address, credentials, what a secret file or an
// environment variable holds) stands in no error and in no printed form
// (SPEC X1). It is there only in Endpoint and Instance, for whoever makes the
// client; what a token file holds is looked at and not kept.
//
// Not promised: that a certificate fits its key, that a host exists, or that a
// secret file is still there, or still holds the same, later.
package config

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"chaintop/internal/clean"
	"chaintop/model"
)

// maxFile bounds the config file and any file it names, in bytes.
const maxFile = 1 << 20

// Env is the world a config file speaks of. The zero value is the real one.
type Env struct {
	// Getenv looks a variable of ${NAME} up; nil is os.LookupEnv.
	Getenv func(name string) (string, bool)
	// ReadFile reads the file itself and those it names; nil reads the disk,
	// little more than 1 MiB of a file. Of its errors only the kind is shown.
	ReadFile func(path string) ([]byte, error)
}

func (e Env) withDefaults() Env {
	if e.Getenv == nil {
		e.Getenv = os.LookupEnv
	}
	if e.ReadFile == nil {
		e.ReadFile = readBounded
	}
	return e
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Config is a file that was read and found in order, or none: see Default.
type Config struct {
	// Behind a function, so that a print of a struct that holds a Config shows a
	// number where fmt cannot call our methods: it follows a pointer.
	read func() *content
}

type content struct {
	file     string
	doc      document
	chainsAt int
	lines    map[string]int // of what is judged later, by path
}

// later are the paths that are judged after the file was read: by FeedOn and
// Warnings.
var later = []string{"drain.max", "feed.tokens", "feed.tls"}

// Default is what counts without a file: every default, and no chains.
func Default() *Config {
	return with(&content{doc: defaults()})
}

// Load reads the file at path. Its error is Errors.
func Load(path string, env Env) (*Config, error) {
	data, err := env.withDefaults().ReadFile(path)
	if err != nil {
		return nil, Errors{{File: path, Text: unread(err)}}
	}
	return Parse(path, data, env)
}

// Parse reads data as the content of the file called name: that is how errors
// call it, and relative paths in it begin in its folder. Its error is Errors.
func Parse(name string, data []byte, env Env) (*Config, error) {
	root, fault := parse(data)
	if fault != nil {
		fault.File = name
		return nil, Errors{*fault}
	}
	r := &reading{
		env: env.withDefaults(), dir: filepath.Dir(name), left: maxValues,
		at: map[string]*yaml.Node{"": root}, keys: map[string]*yaml.Node{}, bad: map[string]bool{}, holds: map[string]bool{},
		merging: map[*yaml.Node]bool{}, known: map[reflect.Type]*fields{},
	}
	doc := defaults()
	r.blank = doc.blank
	r.value(root, "", reflect.ValueOf(&doc).Elem())
	if !r.over {
		r.rules(&doc)
	}
	if len(r.faults) > 0 {
		return nil, r.faults.inOrder(name)
	}
	c := &content{file: name, doc: doc, lines: map[string]int{}}
	for _, path := range later {
		c.lines[path] = r.place(path).Line
	}
	if key := r.keys["chains"]; key != nil {
		c.chainsAt = key.Line
	}
	return with(c), nil
}

func with(c *content) *Config { return &Config{read: func() *content { return c }} }

// File is the name the config was read under; empty for Default.
func (c *Config) File() string { return c.read().file }

// ChainsLine is the line of `chains:` in the file; 0 when it is not there.
func (c *Config) ChainsLine() int { return c.read().chainsAt }

// Log is where log lines go and which.
type Log struct {
	File   string     // empty: serve writes to stderr, a screen nowhere
	Level  slog.Level // lines below it are left out
	Format string     // text or json
}

// Log is the `log:` of the file.
func (c *Config) Log() Log {
	l := c.read().doc.Log
	return Log{File: l.File, Level: levels[l.Level], Format: l.Format}
}

// Instance is the picture to begin with (model.Begin): the chains in the order
// of the file, each with its settings. hostname and version count where the
// file gives no name or version. Each call makes a new one.
func (c *Config) Instance(hostname, version string) model.Instance {
	doc := &c.read().doc
	i := model.Instance{Name: doc.Instance.Name, Version: doc.Instance.Version, Policy: doc.Ready.policy()}
	if i.Name == "" {
		i.Name = clean.Text(hostname, maxName)
	}
	if i.Version == "" {
		i.Version = clean.Text(version, maxName)
	}
	for n := range doc.Chains {
		i.Chains = append(i.Chains, doc.Chains[n].model())
	}
	return i
}

// Endpoints are how the upstreams are reached, by chain and upstream as in
// Instance.
func (c *Config) Endpoints() [][]Endpoint {
	chains := c.read().doc.Chains
	all := make([][]Endpoint, len(chains))
	for n := range chains {
		for _, u := range chains[n].Upstreams {
			all[n] = append(all[n], Endpoint{Name: u.Name, URL: u.secret, WSURL: u.ws, HTTP: u.HTTP, Path: u.path, Line: u.line})
		}
	}
	return all
}

// String says which file it is and how much is in it.
func (c Config) String() string {
	if c.read == nil {
		return "config: none"
	}
	in := c.read()
	upstreams := 0
	for n := range in.doc.Chains {
		upstreams += len(in.doc.Chains[n].Upstreams)
	}
	name := "defaults"
	if in.file != "" {
		name = clean.Text(in.file, maxPath)
	}
	return fmt.Sprintf("config %s: chains %d, upstreams %d", name, len(in.doc.Chains), upstreams)
}

// GoString is the same for %#v.
func (c Config) GoString() string { return c.String() }

// Format is the same for every other verb.
func (c Config) Format(s fmt.State, verb rune) { printText(s, verb, c.String()) }

// MarshalJSON is the same as a JSON string.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// MarshalYAML is the same in YAML.
func (c Config) MarshalYAML() (any, error) { return c.String(), nil }

// LogValue is the same in a log.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// printText is the whole of a Format that has one text for every verb.
func printText(s fmt.State, verb rune, text string) {
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	// A formatter has nobody to report to.
	_, _ = io.WriteString(s, text)
}
