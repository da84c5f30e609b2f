package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chaintop/model"
)

// asks runs the keys of a screen and returns what was sent to its sink.
func asks(t *testing.T, i *model.Instance, keys ...string) (*Model, []model.Command) {
	t.Helper()
	s := &sink{}
	m := screen(t, i, 80, 24, func(o *Options) { o.Sink = s })
	for _, k := range keys {
		if cmd := press(m, k); cmd != nil {
			cmd()
		}
	}
	return m, s.sent
}

func wants(t *testing.T, got []model.Command, want ...model.Command) {
	t.Helper()
	for n := range want {
		want[n].At, want[n].Who = at, "oncall"
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Command{}, "ID"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPinBoxSendsAPin(t *testing.T) {
	i := busy()
	poly := i.Find("polygon/jsonrpc")
	i.Chains = []*model.Chain{i.Chains[poly]}
	m, sent := asks(t, i, "F")
	if len(sent) != 0 || !containsAll(seen(m), "Pin polygon/jsonrpc on gw-7f9c to one upstream?", "▸ alchemy", "[30m]", "$ chaintop pin gw-7f9c polygon/jsonrpc alchemy --for 30m") {
		t.Fatalf("F sends %v, and shows\n%s", sent, seen(m))
	}
	_, sent = asks(t, i.Clone(), "F", "up", "right", "tab", "w", "h", "y", "left", "space", "q", "enter")
	wants(t, sent, model.Command{Op: model.OpPin, Chains: []int{0}, Upstream: 0, For: time.Hour, Reason: "wh qy"})
	m, sent = asks(t, i.Clone(), "F", "left", "left", "left", "esc", "enter")
	if len(sent) != 0 || m.box.kind != boxNone {
		t.Errorf("esc leaves the box open, or pins: %v", sent)
	}
}

// A pinned chain shows how long it is, and F lets go of it, but only by a Yes.
func TestUnpinAsksAndDefaultsToNo(t *testing.T) {
	pinned := func() *model.Instance {
		i := busy()
		c := *i.Chains[i.Find("polygon/jsonrpc")]
		c.State.Pin = model.Pin{On: true, Upstream: 1, Since: before(18 * mins), Until: at.Add(11*mins + 20*sec), Who: "oncall"}
		i.Chains = []*model.Chain{route(&c)}
		return i
	}
	m, sent := asks(t, pinned(), "F", "enter")
	if len(sent) != 0 || !containsAll(seen(m), "alchemy PINNED") {
		t.Errorf("F enter unpins: %v\n%s", sent, seen(m))
	}
	m, _ = asks(t, pinned(), "F")
	if !containsAll(seen(m), "Unpin polygon/jsonrpc on gw-7f9c?", "[No]", "another 11m20s by oncall") {
		t.Errorf("nothing is asked:\n%s", seen(m))
	}
	_, sent = asks(t, pinned(), "F", "right", "enter")
	wants(t, sent, model.Command{Op: model.OpUnpin, Chains: []int{0}})
	for w, want := range map[int]string{20: "alchemy PINNED 11m20s", 21: "alchemy PINNED 11m20s", 18: "alchemy PINNED 12m", 14: "alchemy PINNED"} {
		got := drawnCell(func(s scene) { s.servingCell(pinned().Chains[0], w) }, w)
		if got != want && !(w == 20 && got == "alchemy PINNED 12m") {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

// Only the whole name lets a drain begin; the state that was seen goes with it.
func TestDrainIsTyped(t *testing.T) {
	m, sent := asks(t, busy(), "D", "g", "w", "enter")
	if len(sent) != 0 || m.box.kind != boxDrain || !containsAll(seen(m), "Drain gw-7f9c for real?", "enter is off until the name is whole", "212 req/s · 14 streams · 6 in flight", "none: drain.max is 0s") {
		t.Errorf("half a name drains, or nothing is asked: %v\n%s", sent, seen(m))
	}
	keys := append([]string{"D", "tab", "U", "P", "tab"}, strings.Split("gw-7f9c", "")...)
	m, sent = asks(t, busy(), append(keys, "enter")...)
	wants(t, sent, model.Command{Op: model.OpDrain, Confirm: "gw-7f9c", IfState: "serving", Reason: "UP"})
	if m.box.kind != boxNone {
		t.Error("the box stays")
	}
	// Whoever else begins one takes the question away.
	m, _ = asks(t, busy(), "D")
	d := m.inst.Drain
	d.State = model.Draining
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.DrainChanged{What: model.DrainStarted, Drain: d}}}})
	if m.box.kind != boxNone || !strings.Contains(seen(m), "gw-7f9c drains already") {
		t.Errorf("the box stays over a drain:\n%s", seen(m))
	}
}

func TestDrainKeys(t *testing.T) {
	_, sent := asks(t, busy(), "d")
	wants(t, sent, model.Command{Op: model.OpSimulate})
	_, sent = asks(t, asIf(true), "d")
	wants(t, sent, model.Command{Op: model.OpUndrain, Kind: model.OnlySimulation})
	_, sent = asks(t, byCommand(), "U", "enter", "U", "left", "enter")
	wants(t, sent, model.Command{Op: model.OpUndrain})
	m, sent := asks(t, keptAwake(), "U", "d", "D", "?")
	if len(sent) != 0 || m.box.kind != boxNone {
		t.Errorf("keys act on a drain that is final: %v", sent)
	}
	m = screen(t, keptAwake(), 120, 40)
	press(m, "?")
	if !containsAll(seen(m), "U is off: a signal began the drain: it is final", "d, D are off: it drains already") {
		t.Errorf("Help does not say why:\n%s", seen(m))
	}
}

// Where the process serves, q asks, and ctrl+c is told to it, once each.
func TestLeaving(t *testing.T) {
	told := 0
	serving := func() *Model {
		told = 0
		return screen(t, busy(), 80, 24, func(o *Options) { o.Serves, o.Interrupt = true, func() { told++ } })
	}
	quits := func(cmd tea.Cmd) bool {
		if cmd == nil {
			return false
		}
		_, ok := cmd().(tea.QuitMsg)
		return ok
	}
	m := serving()
	if press(m, "q") != nil || !containsAll(seen(m), "Leave? This process serves 212 req/s and 14 streams", "[stay]", "leave now: cuts 6 and 14") {
		t.Fatalf("q does not ask:\n%s", seen(m))
	}
	if press(m, "enter") != nil || m.box.kind != boxNone {
		t.Error("the default is not to stay")
	}
	if press(m, "q"); quits(press(m, "esc")) || m.box.kind != boxNone {
		t.Error("esc leaves")
	}
	if press(m, "q", "right", "right"); !quits(press(m, "enter")) || told != 0 {
		t.Error("leave now does not leave")
	}
	if press(m, "q", "right"); quits(press(m, "enter")) || told != 1 || !strings.Contains(seen(m), "ctrl+c again exits at once") {
		t.Errorf("drain first told %d times:\n%s", told, seen(m))
	}
	m = serving()
	for n := 1; n <= 2; n++ {
		if quits(press(m, "ctrl+c")) || told != n {
			t.Errorf("ctrl+c number %d: told %d times", n, told)
		}
	}
	if cmd := press(m, "ctrl+c"); cmd == nil {
		t.Error("a third ctrl+c holds its user")
	}
	small := screen(t, busy(), 40, 10, func(o *Options) { o.Serves = true })
	if quits(press(small, "q")) || !strings.Contains(seen(small), "this process serves") {
		t.Errorf("q in a small window:\n%s", seen(small))
	}
}

func TestReadOnlySaysWhy(t *testing.T) {
	m := screen(t, busy(), 120, 40, func(o *Options) { o.ReadOnly = "--read-only" })
	if cmd := press(m, "p", "d", "D", "F", "P"); cmd != nil || m.box.kind != boxNone {
		t.Error("a screen that only looks acts")
	}
	if lines := strings.Split(seen(m), "\n"); strings.Contains(lines[39], "p probe") || strings.Contains(lines[39], "drain") {
		t.Errorf("the footer shows keys that are off: %s", lines[39])
	}
	if press(m, "?"); !strings.Contains(seen(m), "p, P, x, d, D, U, F are off: --read-only") {
		t.Errorf("Help does not say why:\n%s", seen(m))
	}
}

// Every act is read as the command line that does the same.
func TestEcho(t *testing.T) {
	i := busy()
	i.Name = "gw 1"
	poly := i.Find("polygon/jsonrpc")
	for _, r := range []struct {
		done model.CommandDone
		want string
	}{
		{model.CommandDone{Op: model.OpProbe, Answer: "accepted"}, "chaintop probe --on 'gw 1' → accepted"},
		{model.CommandDone{Op: model.OpProbe, Chains: []int{poly}, Answer: "accepted", Probes: []uint64{3}}, "chaintop probe --on 'gw 1' polygon/jsonrpc → accepted: probe #3"},
		{model.CommandDone{Op: model.OpCheck, Chains: []int{poly}, Upstream: 1, Answer: "accepted"}, "chaintop probe --on 'gw 1' polygon/jsonrpc:alchemy → accepted"},
		{model.CommandDone{Op: model.OpPin, Chains: []int{poly}, Upstream: 1, Answer: "accepted"}, "chaintop pin 'gw 1' polygon/jsonrpc alchemy --for 30m → accepted"},
		{model.CommandDone{Op: model.OpUnpin, Chains: []int{poly}, Answer: "it is not pinned"}, "chaintop unpin 'gw 1' polygon/jsonrpc → it is not pinned"},
		{model.CommandDone{Op: model.OpSimulate, Answer: "accepted"}, "chaintop drain 'gw 1' --simulate → accepted"},
		{model.CommandDone{Op: model.OpDrain, Answer: "accepted", Reason: "up it"}, "chaintop drain 'gw 1' --confirm 'gw 1' --reason 'up it' → accepted"},
		{model.CommandDone{Op: model.OpUndrain, Answer: "accepted"}, "chaintop undrain 'gw 1' → accepted"},
		{model.CommandDone{Op: model.OpUndrain, Kind: model.OnlySimulation, Answer: "accepted"}, "chaintop drain 'gw 1' --simulate=off → accepted"},
		{model.CommandDone{Op: model.OpFault, Chains: []int{poly}, Kind: "kill", Answer: "accepted"}, "fault polygon/jsonrpc:bor-1 kill → accepted"},
	} {
		l, ok := describe(i, model.Event{At: at, Chain: -1, Who: "oncall", Body: r.done})
		if got := l.What + " " + l.Detail; !ok || got != r.want {
			t.Errorf("%s reads %q, want %q", r.done.Op, got, r.want)
		}
	}
}

// A process without listeners has nothing to drain: the keys are off, and say so.
func TestNothingDrainsWhereNothingListens(t *testing.T) {
	s := &sink{}
	m := screen(t, night(), 120, 40, func(o *Options) { o.Sink = s })
	if cmd := press(m, "d", "D"); cmd != nil || m.box.kind != boxNone {
		t.Error("a screen that only watches drains")
	}
	if !strings.Contains(m.flash.text, "D is off: nothing listens in this process") {
		t.Errorf("the key does not say why it is off: %q", m.flash.text)
	}
	m.flash = flash{}
	lines := strings.Split(seen(m), "\n")
	if press(m, "?"); strings.Contains(lines[39], "drain") || !strings.Contains(seen(m), "d, D are off: nothing listens in this process, so nothing drains") {
		t.Errorf("the keys are shown, or Help does not say why:\n%s\n%s", lines[39], seen(m))
	}
	m = screen(t, night(), 120, 40, func(o *Options) { o.Serves = true })
	if press(m, "D"); m.box.kind != boxDrain {
		t.Error("a process with listeners cannot be drained")
	}
}
