package config

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/*.err")

// testEnv is a world of four variables and the folder the test stands in.
func testEnv() Env {
	vars := map[string]string{
		"KEY": "hunter2", "SECRET": "https://eth.example/hunter2", "NUMBER": "15", "SPACED": "hun ter2",
	}
	return Env{Getenv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
}

func TestInvalidFiles(t *testing.T) {
	t.Chdir("testdata")
	files, err := filepath.Glob("invalid-*.yml")
	if err != nil || len(files) < 80 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			c, err := Load(file, testEnv())
			if err == nil {
				t.Fatalf("taken as %v", c)
			}
			got, golden := err.Error()+"\n", strings.TrimSuffix(file, ".yml")+".err"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got, "hunter2") {
				t.Errorf("shows a secret:\n%s", got)
			}
		})
	}
}

// unloadable are the faults that a small text file cannot show.
func unloadable(t *testing.T) []struct {
	name, want string
	load       func() error
} {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yml")
	if err := os.WriteFile(big, []byte(strings.Repeat("# a line of sixteen\n", 10<<20/20)), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(path string, env Env) func() error {
		return func() error { _, err := Load(path, env); return err }
	}
	failing := func(err error) Env {
		return Env{ReadFile: func(path string) ([]byte, error) {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}}
	}
	parse := func(text string, env Env) func() error {
		return func() error { _, err := Parse("c.yml", []byte(text), env); return err }
	}
	allowed := func(text string) func() error {
		return func() error {
			c, err := Parse("c.yml", []byte(text), Env{ReadFile: func(string) ([]byte, error) { return []byte("0123456789abcdef"), nil }})
			if err != nil {
				return err
			}
			return c.FeedAllowed(false)
		}
	}
	one := "chains: [{name: a, upstreams: [{name: b, url: \"http://a.example\", http: {bearer_token_file: big}}]}]"
	return []struct {
		name, want string
		load       func() error
	}{
		{"no file", dir + "/none.yml: no such file", load(dir+"/none.yml", Env{})},
		{"a directory", dir + ": is a directory, not a file", load(dir, Env{})},
		{"no name", ": no such file", load("", Env{})},
		{"not allowed", "c.yml: permission denied", load("c.yml", failing(fs.ErrPermission))},
		{"any other failure", "c.yml: cannot be read", load("c.yml", failing(errors.New("disk of hunter2 is on fire")))},
		{"10 MiB", big + ": larger than 1 MiB, the most a config may be", load(big, Env{})},
		{"a big secret", "c.yml:1: chains[0].upstreams[0].http.bearer_token_file: big: larger than 1 MiB", parse(one,
			Env{ReadFile: func(string) ([]byte, error) { return make([]byte, maxFile+1), nil }})},
		{"a long URL", "c.yml:1: chains[0].upstreams[0].url: a URL longer than 8192 bytes",
			parse(strings.Replace(one, "http://a.example", "http://a.example/"+strings.Repeat("a", 8192), 1),
				Env{ReadFile: func(string) ([]byte, error) { return []byte("x"), nil }})},
		{"a name with controls", "c yml: no such file", load("c\x1b[31m\nyml", Env{})},
		{"a panic of the parser", "c.yml:1: not YAML: the YAML parser gave up: move or remove comments", func() error {
			return Errors{*syntax(nil, errGaveUp)}.inOrder("c.yml")
		}},
		{"a long variable", "c.yml:1: instance.name: longer than 1 MiB once variables are written out",
			parse("instance: {name: \"${A}${A}\"}", Env{Getenv: func(string) (string, bool) { return strings.Repeat("x", maxFile), true }})},
		{"a feed without a token",
			"c.yml:2: feed.tokens: required where the feed is not on loopback only: at least one token, or --insecure",
			allowed("listen: {ops: \":9640\"}\nfeed: {tls: {cert_file: c, key_file: k}}")},
		{"a feed without TLS",
			"c.yml:3: feed.tls: required where the feed is not on loopback only: cert_file and key_file, or --insecure",
			allowed("listen: {ops: \":9640\"}\nfeed:\n  tls: {}\n  tokens: [{name: a, role: viewer, token_file: t}]")},
		{"a drain without a bound", "conf/c.yml:1: drain.max: 0s: a client that never stops asking holds a drain for ever",
			func() error { return taken(t, "drain: {idle: 1s}", Env{}).read().warnings() }},
		{"an alias bomb", "c.yml:1: chains[537].upstreams[37].url: more than 100000 values once aliases are written out", parse(chainBomb, Env{})},
	}
}

func TestFilesThatCannotBeTaken(t *testing.T) {
	for _, row := range unloadable(t) {
		err := row.load()
		var all Errors
		if !errors.As(err, &all) || len(all) != 1 {
			t.Errorf("%s: got %v, want one fault", row.name, err)
			continue
		}
		if got := err.Error(); got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestFaultsComeInFileOrderOneALine(t *testing.T) {
	text := "chains: [{nam: a}]\nlog: {level: loud}\ninstance: {name: a b}\ndefaults: {check: {fall: 0}, probe: {tries: 0}}\n"
	_, err := Parse("c.yml", []byte(text), Env{})
	var all Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range all {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Path))
	}
	want := []string{
		"1 chains[0].name", "1 chains[0].upstreams", "1 chains[0].nam",
		"2 log.level", "3 instance.name", "4 defaults.check.fall", "4 defaults.probe.tries",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != len(all) {
		t.Errorf("%d lines for %d faults", len(lines), len(all))
	}
	var first Fault
	if !errors.As(err, &first) || first != all[0] {
		t.Errorf("unwrapped to %v", first)
	}
}

func TestReportIsCut(t *testing.T) {
	_, err := Parse("c.yml", []byte(strings.Repeat("x: 1\n", 150)), Env{})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxFaults+1 {
		t.Fatalf("%d lines", len(lines))
	}
	if got, want := lines[maxFaults], "c.yml: and 50 more faults"; got != want {
		t.Errorf("ends with %q, want %q", got, want)
	}
	if !slices.Contains(lines, "c.yml:2: x: a key given twice: the first is in line 1") {
		t.Errorf("begins %q", lines[:2])
	}
}
