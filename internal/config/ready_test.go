package config

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chaintop/model"
)

// Ready says which chains count for readiness (SPEC D2).
type Ready struct {
	Mode   string   // one of the Ready… words
	Chains []string // keys, in the order of the file; of ReadyChains only, and then not empty
}

// Ready is the `ready:` of the file as it stands there; the product has it as a
// model.Policy.
func (c *Config) Ready() Ready {
	r := c.read().doc.Ready
	return Ready{Mode: r.mode, Chains: slices.Clone(r.chains)}
}

func TestReadyOfAFile(t *testing.T) {
	const chains = `
chains:
  - {name: ethereum, upstreams: &u [{name: a, url: "http://a.example"}]}
  - {name: status, family: http, upstreams: *u}
`
	for text, want := range map[string]Ready{
		"":                                  {Mode: ReadyAll},
		"ready: ~":                          {Mode: ReadyAll},
		"ready: any":                        {Mode: ReadyAny},
		"ready: consensus":                  {Mode: ReadyConsensus},
		"ready: [status/http]":              {Mode: ReadyChains, Chains: []string{"status/http"}},
		"ready:\n- status/http\n- \"${K}\"": {Mode: ReadyChains, Chains: []string{"status/http", "ethereum/jsonrpc"}},
	} {
		env := Env{Getenv: func(string) (string, bool) { return "ethereum/jsonrpc", true }}
		c := taken(t, text+chains, env)
		if diff := cmp.Diff(want, c.Ready()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		for n, chain := range c.Instance("h", "v").Chains {
			counts := want.Mode == ReadyAll || want.Mode == ReadyAny || slices.Contains(want.Chains, chain.Key())
			if i := c.Instance("h", "v"); i.Policy.Counts(i.Chains[n]) != counts {
				t.Errorf("%q: %s counts, by the model: %v", text, chain.Key(), !counts)
			}
		}
		if list := c.Ready().Chains; len(list) > 0 {
			list[0] = "changed"
			if c.Ready().Chains[0] == "changed" {
				t.Error("two callers share the list")
			}
		}
	}
}

func TestReadyWordsAreTheModels(t *testing.T) {
	for ours, models := range map[string]model.Policy{ReadyAll: model.ReadyAll, ReadyAny: model.ReadyAny, ReadyConsensus: model.ReadyConsensus} {
		if got := taken(t, "ready: "+ours, Env{}).Instance("h", "v").Policy; got != models {
			t.Errorf("%s is %s, want %s", ours, got, models)
		}
	}
}

// A chain whose own name is at fault may be the one that is meant.
func TestReadyIsSilentWhereNamesAreAtFault(t *testing.T) {
	_, err := Parse("c.yml", []byte("ready: [base/jsonrpc]\nchains: [{name: b ase, upstreams: [{name: a, url: \"http://a.example\"}]}]\n"), Env{})
	if all := (Errors)(nil); !errors.As(err, &all) || len(all) != 1 || all[0].Path != "chains[0].name" {
		t.Errorf("got %v", err)
	}
}
