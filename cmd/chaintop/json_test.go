package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"chaintop/internal/core"
	"chaintop/model"
)

// scripted answers by chain: a result with facts, a rate limit, silence.
type scripted struct{}

func (scripted) Try(ctx context.Context, chain, _ int) (model.Outcome, error) {
	switch chain {
	case 0:
		<-time.After(41800 * time.Microsecond)
		return model.Outcome{
			Kind: model.Result, Took: 41800 * time.Microsecond, Asked: 1,
			Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200, Text: "head 21034112"},
			Facts:    model.Facts{Head: model.Say(uint64(21034112))},
		}, nil
	case 1:
		return model.Outcome{
			Kind: model.Answer, Reason: model.ReasonRateLimit, Took: time.Millisecond, Asked: 1,
			Evidence:   model.Evidence{Layer: model.LayerRPC, HTTP: 429, Code: -32005, Text: `"slow" down`},
			Findings:   model.FindingSet(model.RateLimited),
			RetryAfter: 40 * time.Second,
		}, nil
	}
	<-ctx.Done()
	return model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTimeout, Took: 5 * time.Second, Asked: 1,
		Evidence: model.Evidence{Layer: model.LayerTCP, Text: "connecting"}}, nil
}

func (scripted) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	<-time.After(50 * time.Millisecond)
	return model.Told{Asked: 7, Facts: model.Facts{
		ChainID: model.Say("1"), Syncing: model.Say(true), Peers: model.Lacks[uint64](), Safe: model.Say(uint64(21034080)),
		Finalized: model.Say(uint64(21034048)), Client: model.Say("node/v1"),
		Block: model.Say(model.Block{Number: 21034112, Time: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}),
	}}, nil
}

func scriptedPicture(t *testing.T) *model.Instance {
	t.Helper()
	def := model.Instance{Name: "gw-1", Version: "v9", Epoch: "e", Policy: model.ReadyAll}
	for _, name := range []string{"ethereum", "base", "gone"} {
		set := model.DefaultSettings(model.EVM)
		set.Jitter, set.Tries = 0, 2
		def.Chains = append(def.Chains, &model.Chain{
			Name: name, Interface: "jsonrpc", Family: model.EVM, ExpectID: "1", Settings: set,
			Upstreams: []model.Upstream{{Name: "alchemy"}},
		})
	}
	picture, err := core.Once(t.Context(), def, scripted{})
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// The schema of `probe -o json` is promised in docs/probe.md: what is there may
// grow at its end and changes in nothing else.
func TestProbeJSONSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := writeJSON(&out, scriptedPicture(t), time.Now()); err != nil {
			t.Fatal(err)
		}
		golden.RequireEqual(t, out.Bytes())
	})
}

// Every field that the report has is described, and no other.
func TestProbeJSONIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/probe.md")
	if err != nil {
		t.Fatal(err)
	}
	report, err := os.ReadFile("testdata/TestProbeJSONSchema.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Split(string(report), `"`) {
		if strings.ContainsAny(field, " \n:,{}[]") || field == "" || strings.ToLower(field) != field {
			continue
		}
		isKey := strings.Contains(string(report), `"`+field+`": `)
		if isKey && !strings.Contains(string(doc), "`"+field+"`") {
			t.Errorf("docs/probe.md does not describe %q", field)
		}
	}
}

func TestProbeTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := writeTable(&out, scriptedPicture(t)); err != nil {
			t.Fatal(err)
		}
		golden.RequireEqual(t, out.Bytes())
	})
}
