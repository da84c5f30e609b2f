package ui

import (
	"testing"
	"time"

	"chaintop/model"
)

// turning is a screen of a crowd, and the events that come to it: every round of
// checks reads each chain, and now and then a probe ends.
func turning(tb testing.TB, n, k int) (*Model, []changedMsg) {
	m := screen(tb, crowd(n, k), 140, 45)
	m.View()
	batches := make([]changedMsg, 0, n)
	for c, chain := range m.inst.Chains {
		s := chain.Upstreams[0].State
		s.Facts.Head.Value++
		e := model.Event{At: at, Chain: c, Body: model.UpstreamRead{Checks: chain.Checks, Reads: []model.UpstreamIndex{{State: s, Asked: 1, Sample: time.Millisecond}}}}
		if c%16 == 0 {
			e.Body = model.ProbeEnded{Probe: *chain.Last, State: chain.State}
		}
		batches = append(batches, changedMsg{[]model.Event{e}})
	}
	return m, batches
}

func benchFrame(b *testing.B, n, k int) {
	m, batches := turning(b, n, k)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Update(batches[i%len(batches)])
		m.View()
		i++
	}
}

// BenchmarkFrame1000x4 is P1's: one event folded and one frame drawn.
func BenchmarkFrame1000x4(b *testing.B) { benchFrame(b, 1000, 4) }

func BenchmarkFrame200(b *testing.B) { benchFrame(b, 200, 4) }

// BenchmarkEvents200 is the same in Events, whose lines are described anew at
// every change; BenchmarkChain200 in Chain.
func BenchmarkEvents200(b *testing.B) { benchView(b, "3") }

func BenchmarkChain200(b *testing.B) { benchView(b, "2") }

func benchView(b *testing.B, key string) {
	m, batches := turning(b, 200, 4)
	press(m, key)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Update(batches[i%len(batches)])
		m.View()
		i++
	}
}

// BenchmarkSecond is what a second costs in which nothing happens: the clock
// turns, and with it every countdown.
func BenchmarkSecond(b *testing.B) {
	now := at
	m := screen(b, crowd(1000, 4), 140, 45, func(o *Options) { o.Now = func() time.Time { return now } })
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		m.Update(tickMsg{})
		m.View()
	}
}

// BenchmarkFrameAnew is a frame with nothing kept: after a resize.
func BenchmarkFrameAnew(b *testing.B) {
	m := screen(b, crowd(1000, 4), 140, 45)
	b.ReportAllocs()
	for b.Loop() {
		m.draw.forget()
		m.View()
	}
}

// At 200 chains a frame after one chain changed makes few allocations, whichever
// chain it is and whatever changed.
func TestFrameAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, too")
	}
	for _, view := range tabs {
		m, batches := turning(t, 200, 4)
		m.show(view.view)
		m.arrange()
		i := 0
		mean := testing.AllocsPerRun(len(batches), func() {
			m.Update(batches[i%len(batches)])
			m.View()
			i++
		})
		if mean > 60 {
			t.Errorf("%s: %.0f allocations, want 60 at most", view.name, mean)
		}
		t.Logf("%s: %.0f allocations", view.name, mean)
	}
}
