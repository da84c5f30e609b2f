package core

import (
	"fmt"
	"testing"
	"time"

	"chaintop/model"
)

// BenchmarkDecide is an input through Decide, the fold and the append: the
// checks of a fleet, round after round, as the loop takes them (P2).
func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ chains, upstreams int }{{25, 4}, {1000, 4}} {
		b.Run(fmt.Sprintf("%dx%d", size.chains, size.upstreams), func(b *testing.B) { benchDecide(b, size.chains, size.upstreams) })
	}
}

func benchDecide(b *testing.B, chains, upstreams int) {
	inst := model.Instance{Name: "gw", Epoch: "e", Policy: model.ReadyAll}
	for n := range chains {
		c := &model.Chain{Name: fmt.Sprint(n), Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM)}
		c.Settings.HealthyInterval = 1000 * time.Hour
		for i := range upstreams {
			c.Upstreams = append(c.Upstreams, model.Upstream{Name: fmt.Sprint("u", i)})
		}
		inst.Chains = append(inst.Chains, c)
	}
	c, err := New(Options{Instance: inst, Prober: noProber{}})
	if err != nil {
		b.Fatal(err)
	}
	inputs, batch := 0, make([]model.Input, 0, batchInputs)
	give := func(in model.Input) {
		if batch = append(batch, in); len(batch) == batchInputs {
			c.benchTake(batch)
			inputs, batch = inputs+len(batch), batch[:0]
		}
	}
	dues := make([]time.Time, chains) // a chain's next round
	for n := range dues {
		dues[n] = c.inst.Chains[n].Checks.Due
	}
	b.ReportAllocs()
	for head := uint64(1); b.Loop(); head++ {
		// One round of one chain: it is due, and each upstream answers.
		n := int(head) % chains
		now := dues[n]
		dues[n] = now.Add(c.inst.Chains[n].Settings.CheckInterval)
		give(model.Due{At: now, Chain: n})
		for u := range upstreams {
			give(model.TryDone{
				Chain: n, Upstream: u, Stamp: now, Started: now, Ended: now.Add(time.Millisecond),
				Outcome: model.Outcome{Kind: model.Result, Facts: model.Facts{Head: model.Say(head)}, Took: time.Millisecond, Asked: 1},
			})
		}
	}
	b.ReportMetric(float64(inputs)/b.Elapsed().Seconds(), "inputs/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(inputs), "ns/input")
}

// benchTake is take without its effects: what dials is not what is measured.
func (c *Core) benchTake(batch []model.Input) {
	var events []model.Event
	for _, in := range batch {
		evs, _ := c.inst.Step(in)
		events = append(events, evs...)
		c.reschedule(in)
	}
	c.publish(events)
}

type noProber struct{ Prober }
