package ui

import (
	"image/color"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"chaintop/model"
)

// What is kept between frames is never stale: after anything that may happen,
// the frame is the one that is drawn with nothing kept.
func TestKeptTextIsNeverStale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := at
		m := New(Options{Sink: &sink{}, Demo: true, Faults: []string{"kill", "heal"}, Now: func() time.Time { return now }})
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		m.Update(snapshotMsg{busy().Clone()})
		m.View()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			// Within a second ages stand still: only whole ones are compared.
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "seconds")) * time.Second)
			m.Update(anything(t, m, now))
			got := m.View().Content
			anew := *m
			anew.draw = drawn{pen: pen{th: m.draw.pen.th}}
			anew.draw.reset(len(m.keys))
			if want := anew.View().Content; got != want {
				t.Fatalf("the frame (-anew +kept):\n%s", cmp.Diff(want, got))
			}
			if err := fits(got, m.w, m.h); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// anything is a message that may come: a key, a second, another size, an event.
func anything(t *rapid.T, m *Model, now time.Time) tea.Msg {
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2:
		return keyOf(rapid.SampledFrom([]string{
			"down", "up", "enter", "esc", "n", "N", "h", "l", "?", "p", "P", "g", "G", "pgdown", "1", "2",
			"3", "4", "d", "D", "U", "F", "r", "[", "]", "/", "b", "!", "s", "S", "space", "y", "x", "Z", "m", "tab", "shift+tab",
		}).Draw(t, "key"))
	case 3:
		return tickMsg{}
	case 4:
		return tea.WindowSizeMsg{Width: rapid.IntRange(40, 160).Draw(t, "w"), Height: rapid.IntRange(10, 50).Draw(t, "h")}
	case 5:
		return rapid.SampledFrom([]tea.Msg{
			endedMsg{}, lostMsg{errAway}, tea.BackgroundColorMsg{Color: color.White}, tea.FocusMsg{}, snapshotMsg{busy().Clone()},
		}).Draw(t, "other")
	}
	return changedMsg{rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Event { return someEvent(t, m.inst, now) }), 1, 3).Draw(t, "events")}
}

// someEvent is an event that changes something a frame may show.
func someEvent(t *rapid.T, i *model.Instance, now time.Time) model.Event {
	n := rapid.IntRange(0, len(i.Chains)-1).Draw(t, "chain")
	c := i.Chains[n]
	e := model.Event{At: now, Chain: n, Who: "oncall"}
	u := rapid.IntRange(0, len(c.Upstreams)-1).Draw(t, "upstream")
	state := c.Upstreams[u].State
	state.Facts.Head = said(rapid.Uint64Range(0, 1<<40).Draw(t, "head"), at.Sub(now))
	state.Findings = model.Findings(rapid.Uint32Range(0, 1<<18-1).Draw(t, "findings"))
	state.Health = model.Health(rapid.IntRange(0, 2).Draw(t, "health"))
	chain := c.State
	chain.Health, chain.Next.At = state.Health, now.Add(time.Minute)
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		e.Body = model.UpstreamRead{Checks: c.Checks, Reads: []model.UpstreamIndex{{Upstream: u, State: state, Asked: 2, Sample: time.Second}}}
	case 1:
		e.Body = model.UpstreamChanged{Upstream: u, What: model.ChangeHealth, State: state}
	case 2:
		e.Body = model.ChainChanged{What: model.ChangeHealth, From: c.State.Health, State: chain}
	case 3:
		e.Body = model.ProbeStarted{Probe: model.Probe{ID: 7, Max: 6, Started: now, Flight: model.Flight{N: 1, Upstream: u, Start: now}}, Probes: 7}
	case 4:
		e.Body = model.TryEnded{Probe: 7, Try: refused(1, u), Made: 1, Flight: model.Flight{N: 2, Upstream: u, Start: now}, Asked: 1}
	case 5:
		p := model.Probe{ID: 7, Max: 6, Made: 1, Started: now, Ended: now, Tries: []model.Try{refused(1, u)}, Verdict: model.VerdictUnreachable}
		chain.Verdict, chain.VerdictAt = p.Verdict, now
		e.Body = model.ProbeEnded{Probe: p, State: chain}
	case 6:
		i, why := model.Route(c, now, 0)
		e.Body = model.ServingChanged{From: c.Serving.Upstream, Serving: model.Serving{Upstream: i, Why: why, Failover: why == model.RouteBackup}}
	case 8:
		k := asked(c, rapid.IntRange(0, 9000).Draw(t, "requests"), rapid.IntRange(0, 9).Draw(t, "failed"), 1, 1, 2, time.Millisecond, time.Second, at.Sub(now))
		a := busy().Drain.Activity
		a.At, a.Last, a.OldLast, a.OldClient, a.OldKind, a.OldChain = now, now, now.Add(-time.Second), a.Client, a.Kind, a.Chain
		a.Clients[0].Count, a.Clients[0].OldCount = rapid.IntRange(0, 9).Draw(t, "count"), 3
		e.Chain, e.Body = -1, model.TrafficRead{Chains: []model.ChainSums{{Chain: n, Traffic: k.Traffic}}, Activity: &a}
	case 9:
		d := i.Drain
		d.State, d.Simulated = model.DrainState(rapid.IntRange(0, 2).Draw(t, "state")), rapid.Bool().Draw(t, "simulated")
		d.Since, d.Drained, d.By, d.Who = now.Add(-time.Second), now, model.DrainByCommand, "oncall"
		d.Simulated = d.Simulated && d.State == model.Draining
		e.Chain, e.Body = -1, model.DrainChanged{What: model.DrainStarted, Drain: d}
	case 7:
		e.Chain, e.Body = -1, model.ReadyChanged{Ready: rapid.Bool().Draw(t, "ready"), Cause: n}
	}
	return e
}
