package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chaintop/feed"
	"chaintop/model"
)

// fakeRemote is a connection in a state, and counts who asks for another try.
type fakeRemote struct {
	status  feed.Status
	changed chan struct{}
	retried int
	theirs  time.Time // its clock; zero = at
}

func (r *fakeRemote) Watch() (feed.Status, <-chan struct{}) { return r.status, r.changed }
func (r *fakeRemote) RetryNow()                             { r.retried++ }
func (r *fakeRemote) Now() time.Time {
	if r.theirs.IsZero() {
		return at
	}
	return r.theirs
}

func lost() *fakeRemote {
	return &fakeRemote{status: feed.Status{
		Phase: feed.Reconnecting, Since: before(3 * sec), Try: 3, Next: at.Add(4 * sec), Stale: true, Heard: before(18 * sec), Role: feed.RoleOperator,
	}}
}

func live(role feed.Role) *fakeRemote {
	return &fakeRemote{status: feed.Status{Phase: feed.Live, Since: before(mins), Heard: before(sec), Role: role}}
}

func withLost(o *Options) { o.Remote = lost() }

// byCommand is an instance that somebody drains for real.
func byCommand() *model.Instance {
	i := keptAwake()
	i.Drain.By, i.Drain.Final, i.Drain.Who = model.DrainByCommand, false, "oncall"
	return i
}

// places are screens for each place: in one or another of them every key has
// something to do.
func places(t *testing.T) map[place][]func() *Model {
	demo := func(o *Options) { o.Faults, o.Demo = []string{"kill", "heal"}, true }
	all := map[place][]func() *Model{}
	add := func(at place, make func() *Model) { all[at] = append(all[at], make) }
	for _, of := range []struct {
		inst   func() *model.Instance
		change func(*Options)
	}{{busy, demo}, {func() *model.Instance { return asIf(true) }, demo}, {byCommand, demo}, {busy, withLost}, {night, demo}} {
		on := func(w, h int, keys ...string) func() *Model {
			return func() *Model {
				m := screen(t, of.inst(), w, h, of.change)
				if keys[0] == "base" {
					m.choose(m.inst.Find("base/jsonrpc"))
					keys = keys[1:]
				}
				press(m, keys...)
				return m
			}
		}
		add(inChains, on(80, 24, "down", "down"))
		add(inChain, on(80, 24, "base", "enter", "down"))
		add(inUpstream, on(60, 16, "base", "enter", "down", "enter", "down"))
		add(inDrain, on(80, 40, "4", "down", "down"))
		add(inHelp, on(60, 16, "?", "down", "down"))
		add(inSmall, on(50, 14, "down", "down"))
		add(inPrompt, on(80, 24, "/", "b"))
		add(inMenu, on(80, 24, "y", "down"))
	}
	add(inEvents, func() *Model {
		m := screen(t, night(), 80, 24, demo)
		press(m, "3", "down", "down", "down", "down", "down", "down", "down", "down")
		return m
	})
	for _, i := range []func() *model.Instance{func() *model.Instance { return asIf(true) }, byCommand, busy} {
		add(inEvents, func() *Model { m := screen(t, i(), 80, 24, demo); press(m, "3", "down"); return m })
	}
	add(inEvents, func() *Model { m := screen(t, night(), 80, 24, withLost); press(m, "3", "down"); return m })
	add(inAsk, func() *Model {
		m := screen(t, busy(), 80, 24, func(o *Options) { o.Serves, o.Interrupt = true, func() {} })
		press(m, "q", "right")
		return m
	})
	add(inPin, func() *Model {
		m := chainScreen(t, busy(), "base/jsonrpc", 80, 24)
		press(m, "down", "F")
		return m
	})
	add(inDrainBox, func() *Model { m := screen(t, busy(), 80, 24); press(m, "D"); typeIn(m, "gw-7f9c"); return m })
	return all
}

// Each key of the table, pressed in each place it is for, changes the frame or
// what the terminal is told, or hands back a command; where it is off, and in
// other places, it does neither. No key is shown that does nothing, and none is
// off everywhere.
func TestEveryKeyActsWhereItIsShown(t *testing.T) {
	type pressed struct {
		at  place
		key string
		row int
	}
	acts := map[pressed]bool{}
	for at, screens := range places(t) {
		for n, make := range screens {
			for row, b := range make().binds {
				for _, k := range b.Keys() {
					m := make()
					if m.place() != at {
						t.Fatalf("screen %d of place %d is in %d", n, at, m.place())
					}
					on := b.where&at != 0 && m.acts(&m.binds[row])
					was := shown(m)
					cmd := press(m, k)
					if !on { // that it is off, and why, is all that may be said
						why, _ := m.why(&m.binds[row])
						if b.where&at != 0 && why != "" && at != inPrompt && at&inBoxes == 0 && !elsewhere(make(), at, k) && !strings.HasSuffix(m.flash.text, " is off: "+why) {
							t.Errorf("place %d: %q is off because %q, and says %q", at, k, why, m.flash.text)
						}
						m.flash = make().flash
					}
					acted := cmd != nil || shown(m) != was
					switch {
					case on && acted:
						acts[pressed{at, k, row}] = true
					case !on && acted && at != inPrompt && at&inBoxes == 0 && !elsewhere(make(), at, k):
						t.Errorf("place %d: %q acts, and is not for it", at, k)
					}
				}
			}
		}
		for row, b := range screens[0]().binds {
			for _, k := range b.Keys() {
				open := map[place]string{inChains: "1", inChain: "2", inEvents: "3", inDrain: "4"}[at]
				if b.where&at != 0 && k != open && !acts[pressed{at, k, row}] {
					t.Errorf("place %d: %q (%s) does nothing on any screen", at, k, b.Help().Desc)
				}
			}
		}
	}
}

// shown is the frame and where its cursor is.
func shown(m *Model) string {
	at := "no cursor"
	if c := m.View().Cursor; c != nil {
		at = fmt.Sprint(c.X, c.Y)
	}
	return seen(m) + at
}

// elsewhere says whether another row of the table has the key act now.
func elsewhere(m *Model, at place, k string) bool {
	for i := range m.binds {
		b := &m.binds[i]
		if b.where&at != 0 && m.acts(b) && slices.Contains(b.Keys(), k) {
			return true
		}
	}
	return false
}

// bound says whether a key is in the table for a place.
func bound(binds []binding, at place, k string) bool {
	return slices.ContainsFunc(binds, func(b binding) bool { return b.where&at != 0 && slices.Contains(b.Keys(), k) })
}
