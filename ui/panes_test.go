package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// remembering is base with its last probes in its history.
func remembering(n int) *model.Instance {
	i := night()
	c := *i.Chains[i.Find("base/jsonrpc")]
	c.History = nil
	for k := n - 1; k > 0; k-- {
		p := *c.Last
		p.ID, p.Who = c.Last.ID-uint64(k), fmt.Sprint("who-", k)
		c.History = append(c.History, p)
	}
	c.History = append(c.History, *c.Last)
	return replaced(i, &c)
}

func TestPanesTakeTheArrows(t *testing.T) {
	m := chainScreen(t, night(), "base/jsonrpc", 120, 40)
	mark := func() string {
		for _, l := range strings.Split(seen(m), "\n")[2:] {
			if strings.HasPrefix(l, "▸ ") {
				return strings.Fields(l)[1]
			}
		}
		return ""
	}
	for _, r := range []struct{ key, want string }{
		{"", "UPSTREAMS"}, {"tab", "LAST"}, {"tab", "FACTS"}, {"tab", "HISTORY"}, {"tab", "UPSTREAMS"}, {"shift+tab", "HISTORY"},
	} {
		if r.key != "" {
			press(m, r.key)
		}
		if got := mark(); got != r.want {
			t.Errorf("after %q %q has the arrows, want %s", r.key, got, r.want)
		}
	}
	press(m, "down")
	if m.pick.upstream != 0 {
		t.Error("the arrows move the upstreams from another pane")
	}
	press(m, "shift+tab", "down")
	if m.pick.upstream != 1 || !strings.Contains(seen(m), "FACTS of alchemy") {
		t.Errorf("the facts are not of the next upstream:\n%s", seen(m))
	}
	// At 80×24 there is no pane of facts, and none is stopped at.
	m = chainScreen(t, night(), "base/jsonrpc", 80, 24)
	for range 6 {
		if press(m, "tab"); !m.detail.shows(m.pick.focus) {
			t.Errorf("pane %d has the arrows, and is not there", m.pick.focus)
		}
	}
}

func TestTriesScroll(t *testing.T) {
	c := running()
	c.Settings.Tries = 30
	c.Probe.Max, c.Probe.Tries = 30, nil
	for n := range 20 {
		c.Probe.Tries = append(c.Probe.Tries, refused(n+1, n%3))
	}
	c.Probe.Flight.N = 21
	m := chainScreen(t, replaced(night(), c), "sepolia/jsonrpc", 80, 24)
	has := func(n int) bool { return strings.Contains(seen(m), fmt.Sprintf(" %2d sep-", n)) }
	if !has(20) || !has(21) || has(1) {
		t.Fatalf("the newest are not shown:\n%s", seen(m))
	}
	press(m, "tab", "g")
	if !has(1) || has(21) {
		t.Errorf("g does not show the first:\n%s", seen(m))
	}
	press(m, "G")
	if !has(21) {
		t.Errorf("G does not show the newest:\n%s", seen(m))
	}
	if press(m, "up"); has(21) || !has(20) {
		t.Errorf("up does not scroll by one:\n%s", seen(m))
	}
}

func TestHistoryScrolls(t *testing.T) {
	m := chainScreen(t, night(), "base/jsonrpc", 80, 24)
	press(m, "shift+tab", "G")
	if frame := seen(m); !strings.Contains(frame, "started") {
		t.Errorf("the oldest change is not shown:\n%s", frame)
	}
}

func TestPastProbes(t *testing.T) {
	m := chainScreen(t, remembering(3), "base/jsonrpc", 120, 40)
	for _, r := range []struct{ key, want string }{
		{"[", "PAST PROBE #87 manual by who-1"}, {"[", "PAST PROBE #86 manual by who-2"}, {"[", "no earlier probe is remembered"},
		{"[", "PAST PROBE #86"}, {"]", "PAST PROBE #87"}, {"]", "LAST PROBE #88 manual by oncall"}, {"]", "this is the newest probe"},
	} {
		if press(m, r.key); !strings.Contains(seen(m), r.want) {
			t.Errorf("%s does not show %q:\n%s", r.key, r.want, seen(m))
		}
	}
	// The one in flight is newer than all of them.
	i := remembering(3)
	c := *i.Chains[i.Find("base/jsonrpc")]
	c.Probe = running().Probe
	m = chainScreen(t, replaced(i, &c), "base/jsonrpc", 120, 40)
	for _, r := range []struct{ key, want string }{
		{"[", "PAST PROBE #88"}, {"[", "PAST PROBE #87"}, {"]", "PAST PROBE #88"}, {"]", "PROBE RUNNING #414"},
	} {
		if press(m, r.key); !strings.Contains(seen(m), r.want) {
			t.Errorf("%s does not show %q:\n%s", r.key, r.want, seen(m))
		}
	}
	// One that is forgotten gives way to the newest.
	press(m, "[", "[")
	gone := *m.chain()
	gone.History = gone.History[2:]
	m.Update(snapshotMsg{replaced(m.inst, &gone)})
	m.pick.past = 87
	m.Update(tickMsg{})
	if m.pick.past != 0 {
		t.Error("a probe that is forgotten stays selected")
	}
}

func TestUpstreamInFull(t *testing.T) {
	m := chainScreen(t, night(), "base/jsonrpc", 120, 40)
	press(m, "down", "down", "enter")
	if frame := seen(m); !containsAll(frame, "UPSTREAM infura · backup · 3 of 3", "HEALTH     ● healthy for 14m00s", "HOLD       29m48s left",
		"the plan is used up", "FINDINGS   quota:", "chain id", "8453 ✓", "3m00s ago", "P50 88ms") {
		t.Errorf("the upstream is not told in full:\n%s", frame)
	}
	if press(m, "l"); !strings.Contains(seen(m), "UPSTREAM llama") {
		t.Errorf("l does not go to the next upstream:\n%s", seen(m))
	}
	if press(m, "esc"); m.pick.inside || m.view != viewChain {
		t.Error("esc does not close the upstream alone")
	}
	m = chainScreen(t, night(), "sepolia/jsonrpc", 80, 24)
	press(m, "enter")
	if frame := seen(m); !containsAll(frame, "LAST CHECK 2s ago, check: no answer refused at tcp in 1.0ms · connect:", "connection refused") {
		t.Errorf("the evidence is not whole:\n%s", frame)
	}
	press(m, "n")
	if m.pick.inside {
		t.Error("n to another chain leaves an upstream open")
	}
}

func TestClicksInUpstreams(t *testing.T) {
	m := chainScreen(t, night(), "base/jsonrpc", 120, 40)
	click := tea.MouseClickMsg{X: 4, Y: m.detail.firstUpstream() + 1, Button: tea.MouseLeft}
	if m.Update(click); m.pick.upstream != 1 || m.pick.inside {
		t.Fatalf("a click selects upstream %d", m.pick.upstream)
	}
	if m.Update(click); !m.pick.inside {
		t.Error("a second click does not open it")
	}
}

// p asks what is open: the chain, or the one upstream.
func TestProbeKeyChecksAnOpenUpstream(t *testing.T) {
	s := &sink{}
	m := screen(t, night(), 120, 40, func(o *Options) { o.Sink = s })
	run := func(cmd tea.Cmd) model.Command {
		t.Helper()
		if cmd == nil {
			t.Fatal("p did nothing")
		}
		cmd()
		return s.sent[len(s.sent)-1]
	}
	press(m, "enter")
	if c := run(press(m, "p")); c.Op != model.OpProbe {
		t.Errorf("in Chain p sends %+v", c)
	}
	press(m, "down", "enter")
	if c := run(press(m, "p")); c.Op != model.OpCheck || c.Upstream != 1 || len(c.Chains) != 1 || c.Chains[0] != m.selected() {
		t.Errorf("in an upstream p sends %+v", c)
	}
}
