package config

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	promconfig "github.com/prometheus/common/config"

	"chaintop/model"
)

// taken parses text, which must be in order.
func taken(t *testing.T, text string, env Env) *Config {
	t.Helper()
	c, err := Parse("conf/c.yml", []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const twoChains = `
chains:
  - name: ethereum
    chain_id: 0x1
    probe: {healthy_interval: 1m}
    upstreams:
      - {name: alchemy, url: "https://eth.example/v2/key"}
      - {name: infura, url_file: secrets/infura, tier: backup, http: {bearer_token_file: token}}
  - name: status
    family: http
    check: {fall: 1}
    upstreams:
      - name: page
        url: " http://status.example "
defaults:
  probe: {tries: 2, inconclusive_recovers: unknown, max_defer: 1h}
  check: {interval: 2s, timeout: 1s}
instance: {name: gw-1}
log: {file: top.log, level: warn, format: json}
`

// held is an Env with those files and no variables.
func held(files map[string]string) Env {
	return Env{
		Getenv: func(string) (string, bool) { return "", false },
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := files[path]; ok {
				return []byte(text), nil
			}
			return nil, errNoFile
		},
	}
}

var errNoFile = &noFile{}

type noFile struct{}

func (*noFile) Error() string { return "not among the files of this test" }

func TestInstanceOfAFile(t *testing.T) {
	c := taken(t, twoChains, held(map[string]string{"conf/secrets/infura": "wss://infura.example/key\n", "conf/token": "t"}))
	shared := model.DefaultSettings(model.EVM)
	shared.Tries, shared.Recovers, shared.MaxDefer = 2, model.RecoversUnknown, time.Hour
	shared.CheckInterval, shared.CheckTimeout = 2*time.Second, time.Second
	eth, status := shared, shared
	eth.HealthyInterval = time.Minute
	status.Fall = 1
	want := model.Instance{
		Name: "gw-1", Version: "v9", Policy: model.ReadyAll,
		Chains: []*model.Chain{
			{Name: "ethereum", Interface: "jsonrpc", Family: model.EVM, ExpectID: "1", Settings: eth,
				Upstreams: []model.Upstream{{Name: "alchemy"}, {Name: "infura", Tier: model.Backup}}},
			{Name: "status", Interface: "http", Family: model.HTTP, Settings: status,
				Upstreams: []model.Upstream{{Name: "page"}}},
		},
	}
	got := c.Instance("host", "v9")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got.Chains[0].Upstreams[0].Name = "changed"
	if again := c.Instance("host", "v9"); again.Chains[0].Upstreams[0].Name != "alchemy" {
		t.Error("two instances share their chains")
	}
	if got, want := c.Log(), (Log{File: filepath.Join("conf", "top.log"), Level: slog.LevelWarn, Format: "json"}); got != want {
		t.Errorf("log %+v, want %+v", got, want)
	}
}

func TestEndpointsOfAFile(t *testing.T) {
	c := taken(t, twoChains, held(map[string]string{"conf/secrets/infura": "wss://infura.example/key\n", "conf/token": "t"}))
	type row struct {
		name, url, path string
		line            int
	}
	want := [][]row{
		{{"alchemy", "https://eth.example/v2/key", "chains[0].upstreams[0]", 7},
			{"infura", "wss://infura.example/key", "chains[0].upstreams[1]", 8}},
		{{"page", "http://status.example", "chains[1].upstreams[0]", 13}},
	}
	var got [][]row
	for _, chain := range c.Endpoints() {
		var rows []row
		for _, e := range chain {
			rows = append(rows, row{e.Name, e.URL.Reveal(), e.Path, e.Line})
		}
		got = append(got, rows)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	if c.ChainsLine() != 2 || c.File() != "conf/c.yml" {
		t.Errorf("chains in line %d of %s", c.ChainsLine(), c.File())
	}
}

func TestInstanceIsNamedAfterHostAndBuild(t *testing.T) {
	c := taken(t, "instance: {name: \"\", version: }\nchains: []\n", Env{})
	i := c.Instance("host\x1b[1m 1\n", "v0.3.0")
	if i.Name != "host 1" || i.Version != "v0.3.0" {
		t.Errorf("is %q %q", i.Name, i.Version)
	}
	c = taken(t, "instance: {version: 1.10}\n", Env{})
	if i := c.Instance("host", "v0.3.0"); i.Version != "1.10" {
		t.Errorf("version %q, want the text of the file", i.Version)
	}
}

func TestNoChainsIsLegal(t *testing.T) {
	rows := []struct {
		text string
		line int
	}{
		{"log: {}\n\nchains: []\n", 3},
		{"log: {}\nchains:\n", 2},
		{"log: {level: info}\n", 0},
	}
	for _, r := range rows {
		c := taken(t, r.text, Env{})
		if c.ChainsLine() != r.line || len(c.Endpoints()) != 0 || len(c.Instance("h", "v").Chains) != 0 {
			t.Errorf("%q: chains in line %d, want %d", r.text, c.ChainsLine(), r.line)
		}
	}
}

func TestChainIDs(t *testing.T) {
	for given, want := range map[string]string{
		"1": "1", `"1"`: "1", "0x1": "1", "0X89": "137", `" 0xA4B1 "`: "42161", "0x01": "1", `""`: "", "~": "",
		"115792089237316195423570985008687907853269984665640564039457584007913129639935": "115792089237316195423570985008687907853269984665640564039457584007913129639935",
	} {
		c := taken(t, "chains: [{name: a, chain_id: "+given+", upstreams: [{name: b, url: \"http://a.example\"}]}]\n", Env{})
		if got := c.Instance("h", "v").Chains[0].ExpectID; got != want {
			t.Errorf("%s is %q, want %q", given, got, want)
		}
	}
}

func TestMaxLagZeroIsNotTheDefault(t *testing.T) {
	c := taken(t, "chains: [{name: a, max_lag: 0, upstreams: [{name: b, url: \"http://a.example\"}]}]\n", Env{})
	if got := c.Instance("h", "v").Chains[0].Settings.MaxLag; got != 0 {
		t.Errorf("max lag %d", got)
	}
}

func httpOf(t *testing.T, block string, env Env) promconfig.HTTPClientConfig {
	t.Helper()
	text := "chains:\n- name: a\n  upstreams:\n  - name: b\n    url: http://a.example\n"
	if block != "" {
		text += "    http: " + block + "\n"
	}
	return taken(t, text, env).Endpoints()[0][0].HTTP
}

// A block that is missing, or says something else, must not switch HTTP/2 off.
func TestHTTPBeginsWithItsDefaults(t *testing.T) {
	for _, block := range []string{"", "{}", "~", "{tls_config: {server_name: x}}"} {
		h := httpOf(t, block, Env{})
		h.TLSConfig.ServerName = ""
		if diff := cmp.Diff(promconfig.DefaultHTTPClientConfig, h, cmp.AllowUnexported(promconfig.ProxyConfig{})); diff != "" {
			t.Errorf("%q: %s", block, diff)
		}
	}
	if h := httpOf(t, "{enable_http2: no}", Env{}); h.EnableHTTP2 {
		t.Error("enable_http2: no is not heard")
	}
}

func TestHTTPIsValidated(t *testing.T) {
	h := httpOf(t, "{bearer_token: t0ken}", Env{})
	if h.BearerToken != "" || h.Authorization == nil || h.Authorization.Type != "Bearer" || h.Authorization.Credentials != "t0ken" {
		t.Errorf("bearer_token became %+v", h.Authorization)
	}
}

func TestFilesOfHTTPBeginInTheFolderOfTheConfig(t *testing.T) {
	block := `{authorization: {credentials_file: a}, http_headers: {X-A: {files: [b, /abs/c]}},
      tls_config: {ca_file: d, cert_file: e, key_file: f},
      oauth2: {client_id: i, token_url: "http://t.example", client_certificate_key_file: g, tls_config: {ca_file: h}}}`
	env := Env{ReadFile: func(string) ([]byte, error) { return []byte("x"), nil }}
	block = strings.Replace(block, "authorization: {credentials_file: a}, ", "", 1)
	h := httpOf(t, block, env)
	got := []string{
		h.HTTPHeaders.Headers["X-A"].Files[0], h.HTTPHeaders.Headers["X-A"].Files[1],
		h.TLSConfig.CAFile, h.TLSConfig.CertFile, h.TLSConfig.KeyFile,
		h.OAuth2.ClientCertificateKeyFile, h.OAuth2.TLSConfig.CAFile,
	}
	want := []string{"conf/b", "/abs/c", "conf/d", "conf/e", "conf/f", "conf/g", "conf/h"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	h = httpOf(t, "{authorization: {credentials_file: a}}", env)
	if h.Authorization.CredentialsFile != "conf/a" {
		t.Errorf("credentials in %s", h.Authorization.CredentialsFile)
	}
}

func TestAnchorsAndMerges(t *testing.T) {
	c := taken(t, `
defaults:
  probe: &slow {timeout: 9s, tries: 9, soon: 9s}
chains:
  - &base
    name: one
    max_lag: 1
    probe: &fast {timeout: 1s}
    upstreams: &ups
      - {name: a, url: "http://a.example"}
  - <<: *base
    name: two
    probe: {<<: [*fast, *slow], soon: 2s}
  - name: three
    probe: *fast
    upstreams: *ups
`, Env{})
	i := c.Instance("h", "v")
	type row struct {
		name    string
		lag     uint64
		timeout time.Duration
		tries   int
		soon    time.Duration
		ups     int
	}
	var got []row
	for _, ch := range i.Chains {
		s := ch.Settings
		got = append(got, row{ch.Name, s.MaxLag, s.Timeout, s.Tries, s.Soon, len(ch.Upstreams)})
	}
	want := []row{
		{"one", 1, time.Second, 9, 9 * time.Second, 1},
		{"two", 1, time.Second, 9, 2 * time.Second, 1},
		{"three", 5, time.Second, 9, 9 * time.Second, 1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

func TestVariables(t *testing.T) {
	env := Env{Getenv: func(name string) (string, bool) {
		v, ok := map[string]string{"N": "7", "T": "2s", "KEY": "k: {y}\n", "EMPTY": "", "AGAIN": "${N}"}[name]
		return v, ok
	}}
	c := taken(t, `
instance: {name: "gw${EMPTY}-${N}", version: "$${N}$5$$x"}
defaults: {probe: {tries: "${N}", timeout: "${T}"}}
chains:
  - name: a
    upstreams:
      - &u {name: b, url: "http://a.example/${KEY}${AGAIN}$${N}"}
      - {<<: *u, name: c}
`, env)
	i := c.Instance("h", "v")
	if i.Name != "gw-7" || i.Version != "${N}$5$$x" || i.Chains[0].Settings.Tries != 7 || i.Chains[0].Settings.Timeout != 2*time.Second {
		t.Errorf("is %q %q %+v", i.Name, i.Version, i.Chains[0].Settings)
	}
	for _, e := range c.Endpoints()[0] {
		// Written out once: what a variable holds is text, however often it is used.
		if got, want := e.URL.Reveal(), "http://a.example/k: {y}${N}${N}"; got != want {
			t.Errorf("%s: %q, want %q", e.Name, got, want)
		}
	}
}

func TestSpellings(t *testing.T) {
	for given, want := range map[string]string{
		"timeuot": "timeout", "healthyinterval": "healthy_interval", "Timeout": "timeout", "tires": "tries",
		"interval": "", "x": "", "": "",
	} {
		list := []string{"tries", "timeout", "healthy_interval", "unhealthy_interval", "soon"}
		if got := model.Nearest(given, list); got != want {
			t.Errorf("%q is near %q, want %q", given, got, want)
		}
	}
}
