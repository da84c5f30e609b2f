package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

func selectedEvent(m *Model) string {
	l := m.read()
	if l == nil {
		return ""
	}
	return l.line.Subject + " " + l.line.What
}

func TestEventsFollowTheNewest(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	press(m, "3")
	if got := selectedEvent(m); got != "arbitrum/jsonrpc unreachable" {
		t.Fatalf("%s is selected", got)
	}
	pass(time.Second)
	m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	if got := selectedEvent(m); got != "sui/grpc unhealthy" || !strings.Contains(seen(m), "follows the newest") {
		t.Errorf("%s is selected, not the newest", got)
	}
	for range 20 {
		m.Update(turnTo(m, "sui/grpc", model.Healthy, m.now))
		m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	}
	// What one reads stays selected, in its row, whatever comes.
	press(m, "down", "down", "down", "down")
	was := selectedEvent(m)
	row := m.news.row - m.news.top
	for range 20 {
		m.Update(turnTo(m, "sui/grpc", model.Healthy, m.now))
		m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	}
	if got := selectedEvent(m); got != was || m.news.row-m.news.top != row {
		t.Errorf("%s in row %d is selected, was %s in row %d", got, m.news.row-m.news.top, was, row)
	}
	for _, k := range []string{"G", "end"} {
		press(m, "down", k)
		if m.news.sel != 0 || m.news.row != 0 {
			t.Errorf("%s does not follow", k)
		}
	}
	press(m, "g")
	if got := selectedEvent(m); got != "gw-7fe3 started" {
		t.Errorf("g selects %s", got)
	}
	// An event that is forgotten cannot stay selected.
	for range model.RecentChanges {
		m.Update(turnTo(m, "sui/grpc", model.Healthy, m.now))
	}
	if got := m.news.row; got != len(m.news.lines)-1 {
		t.Errorf("row %d of %d is selected", got, len(m.news.lines))
	}
}

func TestTransitionKeys(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "3")
	for _, r := range []struct{ key, want string }{
		{"[", "gw-7fe3 NOT READY"}, {"[", "arbitrum/jsonrpc unhealthy"}, {"[", "sepolia/jsonrpc unhealthy"},
		{"[", "sepolia/jsonrpc unhealthy"}, {"]", "arbitrum/jsonrpc unhealthy"},
	} {
		press(m, r.key)
		if got := selectedEvent(m); got != r.want {
			t.Errorf("%s selects %s, want %s", r.key, got, r.want)
		}
	}
	press(m, "n")
	if got := selectedEvent(m); got != "sepolia/jsonrpc unhealthy" {
		t.Errorf("n selects %s", got)
	}
}

func TestEnterGoesToTheChainOfAnEvent(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "3", "down", "down", "down", "enter")
	if m.view != viewChain || m.keys[m.selected()] != "base/jsonrpc" || m.pick.upstream != 1 {
		t.Errorf("view %d of %s:%d", m.view, m.keys[m.selected()], m.pick.upstream)
	}
	press(m, "3", "g", "enter")
	if m.view != viewEvents || !strings.Contains(seen(m), "of no one chain") {
		t.Errorf("an event of the instance opens something:\n%s", seen(m))
	}
}

// An event of a probe opens that probe.
func TestEnterGoesToTheProbeOfAnEvent(t *testing.T) {
	i := remembering(3)
	b := i.Find("base/jsonrpc")
	past := i.Chains[b].History[1]
	i.Recent = append(i.Recent, model.Event{At: at, Chain: b, Body: model.ProbeEnded{Probe: past, State: i.Chains[b].State}})
	m := screen(t, i, 120, 40)
	press(m, "3", "enter")
	if !strings.Contains(seen(m), "PAST PROBE #87") {
		t.Errorf("another probe is open:\n%s", seen(m))
	}
}

// A flash of a key goes with the next key; what went wrong stays its time.
func TestFlashGoesWithTheNextKey(t *testing.T) {
	m := chainScreen(t, night(), "base/jsonrpc", 80, 24)
	press(m, "tab")
	if !strings.Contains(seen(m), "↑↓ move in the probe") {
		t.Fatal("no flash")
	}
	if press(m, "down"); strings.Contains(seen(m), "move in the probe") {
		t.Error("the flash stays after a key")
	}
	m.say(bad, "it broke", at.Add(sec))
	if press(m, "down"); !strings.Contains(seen(m), "it broke") {
		t.Error("what went wrong goes with a key")
	}
}

// The pane below shows the whole event: who asked, and all of the evidence.
func TestWholeEvent(t *testing.T) {
	m := screen(t, night(), 120, 60)
	press(m, "3", "down", "down")
	if frame := seen(m); !containsAll(frame, "asked by oncall", `3 infura no answer`) && !containsAll(frame, "asked by oncall",
		`3 infura answer quota at http 212ms HTTP 429 · -32005 "daily request count exceeded, request rate limited"`) {
		t.Errorf("the event is not whole:\n%s", frame)
	}
	m = screen(t, night(), 80, 24)
	press(m, "3")
	if !strings.Contains(seen(m), "more lines, y copies all") {
		t.Errorf("what is cut is not said:\n%s", seen(m))
	}
}

func TestClicksInEvents(t *testing.T) {
	click := func(x, y int) tea.MouseClickMsg { return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft} }
	for _, keys := range [][]string{nil, {"!"}, {"space", "!"}} {
		m := screen(t, night(), 80, 24, func(o *Options) { o.Banner = "DEMO" })
		press(m, keys...)
		m.Update(click(23, m.bannerRows()))
		if m.view != viewEvents {
			t.Fatalf("%v: a click on the tab Events opens view %d", keys, m.view)
		}
		want := m.news.lines[2].line
		y := m.bannerRows() + headerRows + m.filterRows() + 1 + 2
		m.Update(click(10, y))
		if got := m.read().line; got != want || !strings.HasPrefix(strings.Split(seen(m), "\n")[y], "▸") {
			t.Errorf("%v: a click on the third row selects %v", keys, got)
		}
		if m.Update(click(10, y)); m.view != viewChain || m.keys[m.selected()] != want.Subject {
			t.Errorf("%v: two clicks open %d %s, want %s", keys, m.view, m.keys[m.selected()], want.Subject)
		}
	}
}
