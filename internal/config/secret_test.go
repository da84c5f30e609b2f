package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// canary stands wherever a key may stand. It has the shape of one.
const canary = "c0ffee5ec7e70123456789abcdef4242"

const canaryConfig = `
instance: {name: gw}
log: {level: info}
defaults:
  probe: {timeout: 5s, tries: 6}
chains:
  - name: ethereum
    chain_id: 1
    upstreams:
      - name: a
        url: "https://user:CANARY@eth.example/v2/CANARY?key=CANARY"
        tier: primary
        http:
          basic_auth:
            username: CANARY
            password: CANARY
          proxy_url: "http://me:CANARY@proxy.example:3128"
          proxy_connect_header: {X-Proxy: [CANARY]}
          tls_config:
            cert: CANARY
            key: CANARY
            insecure_skip_verify: false
          http_headers:
            X-Key:
              values: [CANARY]
              secrets: [CANARY]
      - name: b
        url_file: file
        http:
          authorization:
            type: Bearer
            credentials: CANARY
      - name: c
        url: ${FROM_ENV}
        http:
          oauth2:
            client_id: CANARY
            client_secret: CANARY
            token_url: https://t.example/CANARY
            endpoint_params: {k: CANARY}
            claims: {k: CANARY}
      - name: d
        url: wss://d.example/CANARY
        ws_url: wss://d.example/CANARY
        http:
          bearer_token: CANARY
listen:
  gateway: 127.0.0.1:8640
  ops: 127.0.0.1:9640
ready: [ethereum/jsonrpc]
drain:
  mode: idle
  max: 1m
feed:
  tokens:
    - name: oncall
      role: operator
      token_file: file
      expires: 2030-12-31T23:59:59Z
  origins: ["https://status.example"]
  hosts: ["gw.example:9640"]
instances:
  gw-1:
    url: wss://gw-1.example/CANARY
    token_file: file
`

func canaryEnv() Env {
	return Env{
		Getenv:   func(name string) (string, bool) { return "https://env.example/" + canary, name == "FROM_ENV" },
		ReadFile: func(string) ([]byte, error) { return []byte("https://file.example/" + canary + "\n"), nil },
	}
}

func canaryText() string { return strings.ReplaceAll(canaryConfig, "CANARY", canary) }

func TestNoPrintedFormShowsASecret(t *testing.T) {
	c := taken(t, canaryText(), canaryEnv())
	var urls []string
	for _, e := range c.Endpoints()[0] {
		urls = append(urls, e.URL.Reveal(), e.WSURL.Reveal())
	}
	far := c.Instances()[0]
	urls = append(urls, far.URL.Reveal())
	if n := strings.Count(strings.Join(urls, " "), canary); n != 8 {
		t.Fatalf("the canary is %d times in the addresses: this tests nothing", n)
	}
	type holder struct {
		private any
		config  Config
		pointer *Config
		secret  Secret
		Public  *Config
	}
	e := c.Endpoints()[0][0]
	values := map[string]any{
		"*Config": c, "Config": *c, "Endpoints": c.Endpoints(), "Endpoint": e, "*Endpoint": &e,
		"Instances": c.Instances(), "remote": far, "*remote": &far, "Feed": c.Feed(), "Gateways": c.Gateways(),
		"Listen": c.Listen(), "Ready": c.Ready(), "Drain": c.Drain(), "Warnings": c.Warnings(),
		"Secret": e.URL, "*Secret": &e.URL, "Log": c.Log(),
		"holder": holder{c, *c, c, e.URL, c}, "map": map[string]any{"c": c, "e": e, "s": e.URL},
		"Instance": c.Instance("h", "v"),
	}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			hidden(t, name+" "+verb, fmt.Sprintf(verb, v))
		}
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "v", v)
		hidden(t, name+" slog", b.String())
		if j, err := json.Marshal(v); err == nil {
			hidden(t, name+" json", string(j))
		}
		if y, err := yaml.Marshal(v); err == nil {
			hidden(t, name+" yaml", string(y))
		}
	}
	if got := c.String(); got != "config conf/c.yml: chains 1, upstreams 4" {
		t.Errorf("printed as %q", got)
	}
	if got, want := fmt.Sprintf("%d %q %v", far, far, e), `instances.gw-1 gw-1 "instances.gw-1 gw-1" chains[0].upstreams[0] a`; got != want {
		t.Errorf("printed as %s", got)
	}
	if got := fmt.Sprintf("%d %q", c, *c); got != c.String()+` "`+c.String()+`"` {
		t.Errorf("printed as %s", got)
	}
	if got := fmt.Sprint(Config{}, Secret{}, Default()); got != "config: none  config defaults: chains 0, upstreams 0" {
		t.Errorf("zero values are printed as %q", got)
	}
}

func hidden(t *testing.T, what, text string) {
	t.Helper()
	for _, spelled := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("%d", []byte(canary))} {
		if strings.Contains(text, strings.Trim(spelled, "[]")) {
			t.Errorf("%s shows the secret:\n%.300s", what, text)
		}
	}
}

// Whatever is wrong with a file that holds keys, its errors hold none.
func TestNoErrorShowsASecret(t *testing.T) {
	lines := strings.Split(canaryText(), "\n")
	faults := 0
	try := func(text string) {
		_, err := Parse("c.yml", []byte(text), canaryEnv())
		if err == nil {
			return
		}
		faults++
		if strings.Contains(err.Error(), canary[:12]) {
			t.Fatalf("shows the secret: %v\n%s", err, text)
		}
	}
	edits := []func(line string) string{
		func(string) string { return "" },
		func(l string) string { return " " + l },
		func(l string) string { return strings.TrimPrefix(l, " ") },
		func(l string) string { return l + "\n" + l },
		func(l string) string { return strings.Replace(l, ": ", "", 1) },
		func(l string) string { return strings.Replace(l, ": ", ": : ", 1) },
		func(l string) string { return strings.ReplaceAll(l, "\"", "") },
		func(l string) string { return strings.Replace(l, "\"", "", 1) },
		func(l string) string { return strings.Replace(l, "{", "[", 1) },
		func(l string) string { return strings.Replace(l, "}", "", 1) },
		func(l string) string { return strings.Replace(l, canary, "*"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "&"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "!"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "%zz"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "@"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "[::1"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, ":"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "\\x01"+canary, 1) },
		func(l string) string { return strings.Replace(l, canary, "${}"+canary, 1) },
		func(l string) string { return strings.Replace(l, "://", "", 1) },
		func(l string) string { return strings.Replace(l, "://", "s://", 1) },
		func(l string) string { return strings.Replace(l, "@", "/", 1) },
		func(l string) string { return strings.Replace(l, ": ", "_file: ", 1) },
		func(l string) string { return strings.Replace(l, ": ", "_ref: ", 1) },
		func(l string) string { // the value where its key was
			key, value, _ := strings.Cut(l, ": ")
			return strings.Repeat(" ", len(key)-len(strings.TrimLeft(key, " -"))) + value + ": " + strings.Trim(key, " -")
		},
		func(l string) string { // a key in the wrong field
			key, _, found := strings.Cut(l, ": ")
			if !found {
				return l
			}
			return key + ": " + canary
		},
		func(l string) string {
			key, _, found := strings.Cut(l, ": ")
			if !found {
				return l
			}
			return key + ": https://eth.example/" + canary
		},
	}
	for i, line := range lines {
		for _, edit := range edits {
			text := append(append(append([]string{}, lines[:i]...), edit(line)), lines[i+1:]...)
			try(strings.Join(text, "\n"))
		}
	}
	for end := 0; end < len(canaryText()); end += 5 {
		try(canaryText()[:end])
	}
	if faults < 500 {
		t.Errorf("%d texts had faults: this tests little", faults)
	}
}
