package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const keyed = "https://us3rname:p4ssword@eth.example:8443/v2/k3y-in-the-path?apikey=k3y-in-the-query"

// canaries are the secret parts of keyed.
var canaries = []string{"us3rname", "p4ssword", "k3y-in-the-path", "k3y-in-the-query"}

func leaks(t *testing.T, where, text string) {
	t.Helper()
	for _, c := range canaries {
		if strings.Contains(text, c) {
			t.Errorf("%s shows %q: %s", where, c, text)
		}
	}
}

func mustURL(t *testing.T, raw string) URL {
	t.Helper()
	u, err := ParseURL("alchemy", raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestURLPrintsRedactedInEveryForm(t *testing.T) {
	u := mustURL(t, keyed)
	const want = "alchemy(https://eth.example:8443)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, u); got != want {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, &u); got != want {
			t.Errorf("%s of a pointer prints %s", verb, got)
		}
	}
	if got := fmt.Sprintf("%q", u); got != `"`+want+`"` {
		t.Errorf("%%q prints %s", got)
	}
	j, err := json.Marshal(map[string]any{"u": u})
	if err != nil || string(j) != `{"u":"`+want+`"}` {
		t.Errorf("JSON %s %v", j, err)
	}
	text, err := u.MarshalText()
	if err != nil || string(text) != want {
		t.Errorf("text %s %v", text, err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "u", u, "p", &u)
	leaks(t, "a log", log.String())
	if !strings.Contains(log.String(), want) {
		t.Errorf("log %s", log.String())
	}
	// Fields that reflection cannot call methods on.
	leaks(t, "a struct", fmt.Sprintf("%+v %#v", struct{ u URL }{u}, struct{ u URL }{u}))
}

func TestClientPrintsNoSecret(t *testing.T) {
	c := newClient(t, keyed, Options{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		leaks(t, "a client", fmt.Sprintf(verb, c))
		leaks(t, "a struct with a client", fmt.Sprintf(verb, struct{ C *Client }{c}))
	}
}

func TestParseURLNamesTheFaultAndNoSecret(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                   "empty URL",
		"k3y-in-the-path":                    "no scheme: want http://, https://, ws:// or wss://",
		"us3rname:p4ssword@h:8545":           "no scheme: want http://, https://, ws:// or wss://",
		"ftp://us3rname:p4ssword@h/":         `unknown scheme "ftp": want http, https, ws or wss`,
		"http://":                            "no host",
		"http:///k3y-in-the-path":            "no host",
		"http://:8545/k3y-in-the-path":       "no host",
		"http://h:0/k3y-in-the-path":         "port 0 is not between 1 and 65535",
		"http://h:99999/k3y-in-the-path":     "port 99999 is not between 1 and 65535",
		"http://h:x/k3y-in-the-path":         "not a URL: the port is no number",
		"http://h/%zz/k3y-in-the-path":       "not a URL: a % that is followed by no code",
		"http://h h/k3y-in-the-path":         "not a URL: a character a host cannot have",
		"http://us3rname:p4ss word@h/":       "not a URL: a character a user name cannot have",
		"http://h/k3y-in-the-path\x1b[31m":   "not a URL: a control character",
		"http://[::1/k3y-in-the-path":        "not a URL",
		"http://us3rname:p4ssword@[h/%zz":    "not a URL",
		"https://us3rname:p4ssword@:443/key": "no host",
	} {
		_, err := ParseURL("up", raw)
		if err == nil {
			t.Errorf("%q is taken", raw)
			continue
		}
		leaks(t, "an error", err.Error())
		if err.Error() != want {
			t.Errorf("%q: %s, want %s", raw, err, want)
		}
	}
}

func TestParseURLTakesWhatANodeListensOn(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:8545":     "up(http://127.0.0.1:8545)",
		" HTTP://Node.Example/rpc ": "up(http://Node.Example)",
		"wss://h/ws#part":           "up(wss://h)",
		"http://[::1]:8545/":        "up(http://[::1]:8545)",
	} {
		u, err := ParseURL("up", raw)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v %v, want %s", raw, u, err, want)
		}
	}
	if got := (URL{}).String(); got != "()" {
		t.Errorf("the zero URL prints %q", got)
	}
}
