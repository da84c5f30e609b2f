package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const aFeed = `
feed:
  tokens:
    - {name: oncall, role: operator, token_file: secrets/oncall, expires: 2030-12-31T23:59:59+01:00}
    - {name: wall, role: viewer, token_file: /run/wall, expires: ""}
  tls: {cert_file: feed.crt, key_file: /run/feed.key}
  origins: ["HTTPS://Status.example:443", "http://[::1]:8080", "https://a.example:80", "tauri://localhost"]
  hosts: [GW.example, "gw.example:9640", "10.0.0.1", "::1", "[::1]", "[::1]:9640"]
`

func feedEnv() Env {
	return held(map[string]string{
		"conf/secrets/oncall": "  0123456789abcdef\n", "/run/wall": strings.Repeat("w", maxToken),
		"conf/feed.crt": "c", "/run/feed.key": "k",
	})
}

func TestFeedOfAFile(t *testing.T) {
	c := taken(t, aFeed, feedEnv())
	want := Feed{
		Configured: true,
		Tokens: []Token{
			{Name: "oncall", Role: RoleOperator, File: "conf/secrets/oncall", Expires: time.Date(2030, 12, 31, 22, 59, 59, 0, time.UTC)},
			{Name: "wall", Role: RoleViewer, File: "/run/wall"},
		},
		CertFile: "conf/feed.crt", KeyFile: "/run/feed.key",
		Origins: []string{"https://status.example", "http://[::1]:8080", "https://a.example:80", "tauri://localhost"},
		Hosts:   []string{"gw.example", "gw.example:9640", "10.0.0.1", "::1", "[::1]", "[::1]:9640"},
	}
	if diff := cmp.Diff(want, c.Feed()); diff != "" {
		t.Error(diff)
	}
	f := c.Feed()
	f.Hosts[0], f.Origins[0], f.Tokens[0].Name = "x", "x", "x"
	if diff := cmp.Diff(want, c.Feed()); diff != "" {
		t.Errorf("two callers share it: %s", diff)
	}
}

func TestAFeedIsConfiguredByItsKey(t *testing.T) {
	for text, want := range map[string]bool{"{}": false, "feed: ~": false, "feed: {}": true, "feed: {hosts: []}": true} {
		if got := taken(t, text, Env{}).Feed().Configured; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Elsewhere than on loopback there is no feed without a token or in the clear
// (SPEC E5); what has no feed starts anywhere.
func TestWhereTheFeedIsServed(t *testing.T) {
	const token = "tokens: [{name: a, role: viewer, token_file: /run/wall}]"
	const tls = "tls: {cert_file: feed.crt, key_file: /run/feed.key}"
	rows := []struct {
		feed, ops string
		insecure  bool
		served    bool
		fields    string
	}{
		{"", "127.0.0.1:9640", false, true, ""},
		{"", "localhost:9640", true, true, ""},
		{"", ":9640", false, false, ""},
		{"", ":9640", true, false, ""},
		{"feed: {}", "[::1]:9640", false, true, ""},
		{"feed: {}", "0.0.0.0:9640", false, false, "feed.tokens feed.tls"},
		{"feed: {}", "0.0.0.0:9640", true, true, ""},
		{"feed: {}", "", false, false, ""},
		{"feed: {" + token + "}", "gw.example:9640", false, false, "feed.tls"},
		{"feed: {" + tls + "}", "gw.example:9640", false, false, "feed.tokens"},
		{"feed: {" + token + ", " + tls + "}", "gw.example:9640", false, true, ""},
		{"feed: {" + token + "}", "gw.example:9640", true, true, ""},
	}
	for _, r := range rows {
		c := taken(t, "listen: {ops: \""+r.ops+"\"}\n"+r.feed, feedEnv())
		served, err := c.FeedOn(r.ops, r.insecure)
		if served != r.served || fieldsOf(err) != r.fields {
			t.Errorf("%s at %q, insecure %v: served %v, %v", r.feed, r.ops, r.insecure, served, err)
		}
		if got := fieldsOf(c.FeedAllowed(r.insecure)); got != r.fields {
			t.Errorf("%s, listening there: %q", r.feed, got)
		}
	}
	if served, err := Default().FeedOn(":9640", false); served || err != nil {
		t.Errorf("without a file: %v %v", served, err)
	}
}

// fieldsOf are the paths that an error names.
func fieldsOf(err error) string {
	var all Errors
	if err != nil && !errors.As(err, &all) {
		return err.Error()
	}
	var paths []string
	for _, f := range all {
		paths = append(paths, f.Path)
	}
	return strings.Join(paths, " ")
}

func TestTokensAreCutWhereTheyEnd(t *testing.T) {
	for length, ok := range map[int]bool{15: false, 16: true, 4096: true, 4097: false} {
		if why := tokenFault(strings.Repeat("~", length)); (why == "") != ok {
			t.Errorf("%d bytes: %q", length, why)
		}
	}
}

func TestATokenIsReadAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for content, want := range map[string]string{
		" 0123456789abcdef\n": "0123456789abcdef",
		"hunter2":             "",
		"":                    "",
		"hunter2-hunter2-\nx": "",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadToken(file)
		if got.Reveal() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", content, got.Reveal(), err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), file+": ") || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := ReadToken(file + ".none"); err == nil || !strings.HasSuffix(err.Error(), ": no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
