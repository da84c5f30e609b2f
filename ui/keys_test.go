package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chaintop/model"
)

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// Every printable key of the table is text while the filter is typed.
func TestNoLetterActsInThePrompt(t *testing.T) {
	for _, b := range bindings(Options{Sink: &sink{}, Faults: []string{"kill"}}) {
		for _, k := range b.Keys() {
			if len([]rune(k)) != 1 && k != "space" {
				continue
			}
			m := screen(t, night(), 80, 24)
			press(m, "/")
			view, order := m.view, m.order.by
			cmd := press(m, k)
			if want := strings.ReplaceAll(k, "space", " "); m.search.input.Value() != want || m.view != view || m.order.by != order || m.help.open || m.menu.open || m.freeze.on {
				t.Errorf("%q acts in the prompt, which holds %q", k, m.search.input.Value())
			}
			if cmd != nil {
				if _, ok := cmd().(tea.QuitMsg); ok {
					t.Errorf("%q quits from the prompt", k)
				}
			}
		}
	}
}

// A key that is off does nothing but say so, and Help says why.
func TestKeysThatAreOff(t *testing.T) {
	m := screen(t, night(), 120, 40, func(o *Options) { o.Sink = nil })
	press(m, "?")
	help := seen(m)
	off := 0
	for _, b := range m.binds {
		if b.off == "" {
			continue
		}
		off++
		if !strings.Contains(help, b.off) || !strings.Contains(help, b.Help().Key) {
			t.Errorf("Help does not say that %q is off: %s", b.Help().Key, b.off)
		}
		for _, k := range b.Keys() {
			m := screen(t, night(), 120, 40, func(o *Options) { o.Sink = nil })
			was := seen(m)
			cmd := press(m, k)
			if !strings.Contains(m.flash.text, " is off: ") {
				t.Errorf("%q is off, and does not say why: %q", k, m.flash.text)
			}
			if m.flash = (flash{}); cmd != nil || seen(m) != was {
				t.Errorf("%q is off, and acts", k)
			}
		}
	}
	if off != 9 { // p for a chain and for an upstream, P, x, d both ways, D, U, F
		t.Errorf("%d keys are off", off)
	}
}

// A row of the table that only names keys names keys that other rows act on.
func TestShownKeysAreBound(t *testing.T) {
	spelled := map[string]string{"↑↓": "up down", "←": "left", "→": "right", "pgdn": "pgdown"}
	for _, b := range bindings(Options{Sink: &sink{}, Faults: []string{"kill"}}) {
		if b.do != nil || strings.Contains(b.Help().Key, "click") || b.Help().Key == "wheel" {
			continue
		}
		for _, k := range strings.Fields(b.Help().Key) {
			if s, ok := spelled[k]; ok {
				k = s
			}
			for _, k := range strings.Fields(k) {
				for at := inChains; at != 0; at <<= 1 {
					if b.where&at != 0 && !bound(bindings(Options{Sink: &sink{}, Faults: []string{"kill"}}), at, k) {
						t.Errorf("%q is shown in place %d, and nothing is bound to it", k, at)
					}
				}
			}
		}
	}
}

// Without a sink the keys that act are not bound, and Help says why.
func TestViewerHasNoKeysThatAct(t *testing.T) {
	m := screen(t, night(), 80, 24, func(o *Options) { o.Sink = nil })
	if cmd := press(m, "p", "P"); cmd != nil {
		t.Error("p or P hands back a command")
	}
	press(m, "?")
	if !strings.Contains(seen(m), "p, P, x, d, D, U, F are off: "+offLooks) {
		t.Errorf("Help does not say why keys are off:\n%s", seen(m))
	}
}

func TestProbeSendsACommand(t *testing.T) {
	s := &sink{}
	m := screen(t, night(), 80, 24, func(o *Options) { o.Sink = s })
	var msgs []tea.Msg
	for _, k := range []string{"p", "down", "p", "P"} {
		if cmd := press(m, k); cmd != nil {
			msgs = append(msgs, cmd())
		}
	}
	want := []model.Command{
		{At: at, Op: model.OpProbe, Chains: []int{m.inst.Find("arbitrum/jsonrpc")}, Who: "oncall"},
		{At: at, Op: model.OpProbe, Chains: []int{m.inst.Find("sepolia/jsonrpc")}, Who: "oncall"},
		{At: at, Op: model.OpProbe, Who: "oncall"},
	}
	if diff := cmp.Diff(want, s.sent, cmpopts.IgnoreFields(model.Command{}, "ID")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	ids := map[string]bool{}
	for _, c := range s.sent {
		ids[c.ID] = true
	}
	if len(ids) != 3 || ids[""] {
		t.Errorf("ids are %v", ids)
	}
	if _, ok := s.ctx.Deadline(); !ok {
		t.Error("a command is sent without a bound on the wait")
	}
	for _, msg := range msgs {
		m.Update(msg)
	}
	// The answer is the event's, and only our own is flashed.
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.CommandDone{ID: "theirs-1", Op: model.OpProbe, Answer: "refused"}}}})
	if !strings.Contains(seen(m), "asked: probe all 12 chains") {
		t.Errorf("the act is not echoed:\n%s", seen(m))
	}
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.CommandDone{ID: s.sent[2].ID, Op: model.OpProbe, Answer: "accepted", Probes: []uint64{1, 2, 3}, Joined: 1}}}})
	if !strings.Contains(seen(m), "probe all chains → accepted: 3 probes, 1 of them in flight already") {
		t.Errorf("the answer is not shown:\n%s", seen(m))
	}
}

func TestCommandThatIsNotSentSaysSo(t *testing.T) {
	m := screen(t, night(), 80, 24, func(o *Options) { o.Sink = &sink{err: errors.New("core takes no more")} })
	m.Update(press(m, "p")())
	if !containsAll(seen(m), "probe arbitrum/jsonrpc was not sent", "core takes no more") {
		t.Errorf("nothing is said:\n%s", seen(m))
	}
}

// Two ids of two screens differ.
func TestCommandIDsAreTheScreensOwn(t *testing.T) {
	ids := map[string]bool{}
	for range 8 {
		s := &sink{}
		press(screen(t, night(), 80, 24, func(o *Options) { o.Sink = s }), "p")()
		ids[s.sent[0].ID] = true
	}
	if len(ids) != 8 {
		t.Errorf("8 screens made %d ids", len(ids))
	}
}

func TestManyRequestsAreAskedFor(t *testing.T) {
	s := &sink{}
	i := crowd(200, 2)
	now := at
	m := screen(t, i, 80, 24, func(o *Options) { o.Sink, o.Now = s, func() time.Time { return now } })
	if press(m, "P") != nil || !strings.Contains(seen(m), "P again probes all 200 chains") {
		t.Fatalf("200 probes are not asked for:\n%s", seen(m))
	}
	now = now.Add(askFor)
	if press(m, "P") != nil {
		t.Fatal("a question of 5s ago is an answer")
	}
	if press(m, "esc"); press(m, "P") != nil {
		t.Fatal("a question that was taken back is an answer")
	}
	cmd := press(m, "P")
	if cmd == nil {
		t.Fatal("the second P does nothing")
	}
	cmd()
	if len(s.sent) != 1 || s.sent[0].Chains != nil {
		t.Errorf("sent %v", s.sent)
	}
}

func TestProblemKeysGoRoundTheProblems(t *testing.T) {
	m := screen(t, night(), 80, 24)
	var got []string
	for range 8 {
		press(m, "n")
		got = append(got, m.keys[m.selected()])
	}
	want := append(rows(m)[1:7], rows(m)[0], rows(m)[1])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("n visits (-want +got):\n%s", diff)
	}
	press(m, "N")
	if got := m.keys[m.selected()]; got != rows(m)[0] {
		t.Errorf("N goes to %s", got)
	}
	press(m, "G", "n")
	if got := m.keys[m.selected()]; got != rows(m)[0] {
		t.Errorf("n below the problems goes to %s", got)
	}
	well := &model.Instance{Policy: model.ReadyAll, Chains: []*model.Chain{night().Chains[0]}}
	m = screen(t, well, 80, 24)
	press(m, "n")
	if !strings.Contains(seen(m), "no other chain needs attention") {
		t.Error("n says nothing where there is no problem")
	}
}

func TestMouse(t *testing.T) {
	click := func(x, y int) tea.MouseClickMsg { return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft} }
	for _, banner := range []string{"", "DEMO"} {
		now := at
		m := screen(t, night(), 80, 24, func(o *Options) {
			o.Banner, o.Now = banner, func() time.Time { return now }
		})
		top := m.bannerRows()
		m.Update(click(10, top+5))
		if got := m.keys[m.selected()]; got != "solana/jsonrpc" {
			t.Errorf("banner %q: a click on the third row selects %s", banner, got)
		}
		m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		if got := m.keys[m.selected()]; got != "base/jsonrpc" {
			t.Errorf("banner %q: the wheel selects %s", banner, got)
		}
		now = now.Add(time.Second)
		m.Update(click(10, top+6))
		if m.view != viewChains {
			t.Errorf("banner %q: one click opens", banner)
		}
		now = now.Add(doubleClick)
		m.Update(click(10, top+6))
		if m.view != viewChain {
			t.Errorf("banner %q: two clicks do not open", banner)
		}
		first := m.detail.firstUpstream()
		m.Update(click(3, top+first+1))
		if frame := strings.Split(seen(m), "\n"); m.pick.upstream != 1 || !strings.HasPrefix(frame[top+first+1], "▸alchemy") {
			t.Errorf("banner %q: a click on the second upstream selects %d:\n%s", banner, m.pick.upstream, seen(m))
		}
		m.Update(click(2, top))
		if m.view != viewChains {
			t.Errorf("banner %q: a click on the tab Chains does not open it", banner)
		}
		m.Update(click(13, top))
		if m.view != viewChain {
			t.Errorf("banner %q: a click on the tab Chain does not open it", banner)
		}
		for _, c := range []tea.MouseClickMsg{click(40, top), click(0, 23), click(0, -1), click(200, 90)} {
			m.Update(c)
		}
	}
}

func TestQuitKeys(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		for _, keys := range views {
			m := screen(t, night(), 80, 24)
			press(m, keys...)
			cmd := press(m, k)
			if cmd == nil {
				t.Errorf("%s after %v does nothing", k, keys)
				continue
			}
			if _, ok := cmd().(tea.QuitMsg); !ok {
				t.Errorf("%s after %v does not quit", k, keys)
			}
		}
	}
}

// The footer drops keys from the right, never the one that shows the others.
func TestFooterDropsFromTheRight(t *testing.T) {
	for w := leastWidth; w <= 200; w++ {
		m := screen(t, night(), w, 24)
		lines := strings.Split(seen(m), "\n")
		foot := strings.TrimSpace(lines[len(lines)-1])
		if !strings.HasPrefix(foot, "? help") {
			t.Fatalf("at %d the footer begins %q", w, foot)
		}
		whole := "? help ↑↓ move enter open n problem p probe / filter ! problems s sort y copy q quit"
		if got := strings.ReplaceAll(foot, "  ", " "); !strings.HasPrefix(whole, got) {
			t.Fatalf("at %d the footer is %q", w, foot)
		}
	}
}
