package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	promconfig "github.com/prometheus/common/config"

	"chaintop/model"
)

func TestExampleEqualsNoConfigAtAll(t *testing.T) {
	c, err := Parse("example.yml", Example(), held(nil))
	if err != nil {
		t.Fatal(err)
	}
	d := Default()
	if diff := cmp.Diff(d.Instance("h", "v"), c.Instance("h", "v")); diff != "" {
		t.Error(diff)
	}
	// With what a file without a field has: whatever is added to the schema is compared.
	if !reflect.DeepEqual(d.read().doc, withoutChains(c)) {
		t.Errorf("defaults are %+v, the example says %+v", d.read().doc, c.read().doc)
	}
	if len(c.Endpoints()) != 0 || c.ChainsLine() == 0 {
		t.Errorf("chains %v in line %d", c.Endpoints(), c.ChainsLine())
	}
	Example()[0] = 'x'
	if Example()[0] != '#' {
		t.Error("the example can be changed")
	}
}

// withoutChains is what was read, with no chains where it has an empty list.
func withoutChains(c *Config) document {
	doc := c.read().doc
	if len(doc.Chains) == 0 {
		doc.Chains = nil
	}
	return doc
}

// sample is the example with its chains taken out of their comments.
func sample(t *testing.T) string {
	t.Helper()
	head, chains, found := strings.Cut(string(Example()), "chains: []\n")
	if !found {
		t.Fatal("the example has no chains: []")
	}
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.Lines(chains) {
		text, found := strings.CutPrefix(line, "#")
		text = strings.TrimPrefix(text, " ")
		if !found {
			t.Fatalf("%q is no comment", line)
		}
		b.WriteString(text)
	}
	return b.String()
}

func TestExampleChainsLoad(t *testing.T) {
	env := held(map[string]string{
		"/run/secrets/infura": "https://infura.example/key", "/run/secrets/infura-token": "token",
		"/run/secrets/oncall": "0123456789abcdef", "/run/secrets/gw-1": "fedcba9876543210",
		"/run/secrets/feed.crt": "c", "/run/secrets/feed.key": "k",
	})
	env.Getenv = func(name string) (string, bool) { return "key", name == "ALCHEMY_KEY" }
	c, err := Parse("example.yml", []byte(sample(t)), env)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	i := c.Instance("h", "v")
	for n, chain := range i.Chains {
		for u, up := range chain.Upstreams {
			e := c.Endpoints()[n][u]
			got = append(got, fmt.Sprint(chain.Key(), " ", up.Name, " ", up.Tier, " ", e.URL.Reveal()))
		}
	}
	want := []string{
		"ethereum/jsonrpc alchemy primary https://eth.example/v2/key",
		"ethereum/jsonrpc infura backup https://infura.example/key",
		"status/http page primary https://status.example/health",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// What the sample shows as a default is one, but for what it overrides.
	set := model.DefaultSettings(model.EVM)
	set.HealthyInterval = i.Chains[0].Settings.HealthyInterval
	if diff := cmp.Diff(set, i.Chains[0].Settings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Default().DefaultGateway(), c.Gateways()[0]); diff != "" {
		t.Error(diff)
	}
	listen := c.Listen()
	if !listen.GatewaySet || !listen.OpsSet {
		t.Errorf("it names where it listens: %+v", listen)
	}
	listen.GatewaySet, listen.OpsSet = false, false
	if listen != Default().Listen() {
		t.Errorf("listens at %+v", listen)
	}
	if f := c.Feed(); !f.Configured || len(f.Tokens) != 1 || len(f.Origins) != 1 || len(f.Hosts) != 1 || len(c.Instances()) != 1 {
		t.Errorf("feed %+v, instances %v", f, c.Instances())
	}
}

// Every field stands in the example, with its meaning beside it or above it;
// of http, which is Prometheus's, the names of its fields.
func TestExampleHasEveryField(t *testing.T) {
	text := sample(t)
	var walk func(t reflect.Type)
	keys := map[string]bool{}
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for _, own := range (&reading{known: map[reflect.Type]*fields{}}).fieldsOf(typ).list {
			keys[own.key] = true
			if own.typ != reflect.TypeFor[promconfig.HTTPClientConfig]() {
				walk(own.typ)
			}
		}
	}
	walk(reflect.TypeFor[document]())
	if len(keys) < 50 {
		t.Errorf("found %d keys", len(keys))
	}
	for key := range keys {
		if !regexp.MustCompile(`(?m)^[ -]*\{?` + key + `: *[^#\n]*(#.*)?$`).MatchString(text) {
			t.Errorf("%s is not in the example", key)
		}
	}
	for _, own := range (&reading{known: map[reflect.Type]*fields{}}).fieldsOf(reflect.TypeFor[promconfig.HTTPClientConfig]()).list {
		switch own.key {
		case "bearer_token", "bearer_token_file", "follow_redirects":
			continue // authorization says the first two; the last only complains
		}
		if !strings.Contains(text, own.key) {
			t.Errorf("http.%s is not in the example", own.key)
		}
	}
}

func TestExampleFits120Columns(t *testing.T) {
	for line := range strings.Lines(string(Example())) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 120 || strings.Contains(line, "\t") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
