package core_test

import (
	"fmt"
	"testing"
	"time"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// T5 on real sockets, five times: each try has a place of its own for its
// result, so the late answer of the first is nobody's.
func TestStalledFirstRequestOnSockets(t *testing.T) {
	for i := range 5 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			sim := node(t, nil, simnode.Options{Name: "a", Latency: 50 * time.Millisecond}, simnode.StallFirst())
			short := func(s *model.Settings) { s.Timeout = 2 * time.Second }
			r := start(t, nil, [][]string{{sim.URL(), sim.URL(), sim.URL()}}, core.Options{
				Instance: model.Instance{Chains: []*model.Chain{chain("x", 3, rare, short)}},
			})
			p := r.probed(0)
			if len(p.Tries) != 2 || p.Verdict != model.VerdictHealthy || p.Tries[0].Reason != model.ReasonTimeout ||
				p.Tries[1].Kind != model.Result || p.Tries[1].Upstream != 1 {
				t.Fatalf("%+v", p)
			}
			if took := p.Tries[1].Took; took < 50*time.Millisecond || took >= 2*time.Second {
				t.Errorf("the second try took %v: that was not its own answer", took)
			}
		})
	}
}

// probed waits for the first probe of a chain to end.
func (r *rig) probed(chain int) model.Probe {
	r.t.Helper()
	at := feed.Cursor{Epoch: "e1"}
	for {
		events, next, err := r.core.Log().After(r.t.Context(), at)
		if err != nil {
			r.t.Fatal(err)
		}
		at = next
		for _, e := range events {
			if b, ok := e.Body.(model.ProbeEnded); ok && e.Chain == chain {
				return b.Probe
			}
		}
	}
}
