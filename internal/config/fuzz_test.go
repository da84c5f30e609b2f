package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// Any bytes are a config that maps, or an error of bounded, printable lines
// that all name the file.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, "example.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(twoChains))
	f.Add([]byte(canaryText()))
	f.Add([]byte(doubling()))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("c.yml", text, canaryEnv())
		if err == nil {
			maps(t, c)
			return
		}
		var all Errors
		if !errors.As(err, &all) || len(all) == 0 || len(all) > maxFaults+1 {
			t.Fatalf("%T of %d faults", err, len(all))
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.HasPrefix(line, "c.yml:") || clean.Text(line, maxFault) != line || strings.HasSuffix(line, ": ") {
				t.Errorf("a line reads %q", line)
			}
		}
	})
}

// maps checks that a config that was taken is fit to begin with.
func maps(t *testing.T, c *Config) {
	i := c.Instance("host", "build")
	ends := c.Endpoints()
	if len(ends) != len(i.Chains) || i.Name == "" {
		t.Fatalf("%d chains, endpoints of %d", len(i.Chains), len(ends))
	}
	keys := map[string]bool{}
	for n, chain := range i.Chains {
		if len(chain.Upstreams) == 0 || len(chain.Upstreams) > maxUpstreams || len(ends[n]) != len(chain.Upstreams) || keys[chain.Key()] {
			t.Fatalf("chain %s: %d upstreams, %d endpoints", chain.Key(), len(chain.Upstreams), len(ends[n]))
		}
		keys[chain.Key()] = true
		s := chain.Settings
		for _, d := range []time.Duration{s.Timeout, s.HealthyInterval, s.UnhealthyInterval, s.Soon, s.CheckInterval, s.CheckTimeout} {
			if d < shortest || d > longest {
				t.Errorf("chain %s: a duration of %s", chain.Key(), d)
			}
		}
		if s.Tries < 1 || s.Fall < 1 || s.MaxDefer < 0 {
			t.Errorf("chain %s: %+v", chain.Key(), s)
		}
		for u, e := range ends[n] {
			if e.Name != chain.Upstreams[u].Name || e.Line < 1 || urlFault(e.URL.Reveal(), families[0].schemes) != "" {
				t.Errorf("endpoint %v, line %d", e, e.Line)
			}
		}
	}
	serves(t, c, len(i.Chains))
	if begun := model.Begin(i, time.Unix(0, 0)); len(begun.Chains) != len(i.Chains) {
		t.Errorf("began with %d chains", len(begun.Chains))
	}
}

// serves checks that what listens, drains and passes requests on has values that
// can be worked with.
func serves(t *testing.T, c *Config, chains int) {
	l, d, f := c.Listen(), c.Drain(), c.Feed()
	for _, at := range []string{l.Gateway, l.Ops} {
		if at != "" && hostPortFault(at) != "" {
			t.Errorf("listens at %q", at)
		}
	}
	if d.Idle < 0 || d.Max < 0 || d.Immediate < 0 || (d.Mode == DrainIdle && (d.Idle < shortest || d.Max > 0 && d.Max < d.Idle)) {
		t.Errorf("drains by %+v", d)
	}
	if r := c.Ready(); (r.Mode == ReadyChains) != (len(r.Chains) > 0) {
		t.Errorf("ready by %+v", r)
	}
	if (f.CertFile == "") != (f.KeyFile == "") {
		t.Errorf("feed %+v", f)
	}
	for _, tok := range f.Tokens {
		if tok.Name == "" || tok.File == "" || (tok.Role != RoleViewer && tok.Role != RoleOperator) {
			t.Errorf("token %+v", tok)
		}
	}
	gateways := c.Gateways()
	if len(gateways) != chains {
		t.Fatalf("%d gateways of %d chains", len(gateways), chains)
	}
	for _, g := range append(gateways, c.DefaultGateway()) {
		if g.Timeout < shortest || g.HedgeAfter < 0 || (g.HedgeAuto && g.HedgeAfter != 0) || g.MaxBody < 1 || g.MaxBody > maxBody ||
			g.MaxBatch < 1 || g.MaxBatch > maxBatch || g.FailbackAfter < 0 {
			t.Errorf("gateway %+v", g)
		}
	}
	for _, i := range c.Instances() {
		if i.Alias == "" || i.Line < 1 || feedURLFault(i.URL.Reveal()) != "" {
			t.Errorf("instance %v, line %d", i, i.Line)
		}
	}
	if served, err := c.FeedOn(l.Ops, false); served && err != nil {
		t.Errorf("a feed is served and refused: %v", err)
	}
}
