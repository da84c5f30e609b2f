package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

func TestFreeze(t *testing.T) {
	m, pass := clocked(t, night(), 80, 26)
	press(m, "space")
	was := strings.Split(seen(m), "\n")
	if !containsAll(was[0], "FROZEN 0s ago · 0 changes waiting", "space goes on") {
		t.Fatalf("the banner is %q", was[0])
	}
	pass(12 * time.Second)
	m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	m.Update(turnTo(m, "sui/grpc", model.Healthy, m.now))
	is := strings.Split(seen(m), "\n")
	if !strings.Contains(is[0], "FROZEN 12s ago · 2 changes waiting") {
		t.Errorf("the banner is %q", is[0])
	}
	for y := 2; y < len(is); y++ { // below the clock
		if is[y] != was[y] {
			t.Errorf("line %d moved: %q, was %q", y, is[y], was[y])
		}
	}
	if is[1] == was[1] {
		t.Error("the clock stands")
	}
	if cmd := press(m, "p"); cmd == nil {
		t.Error("no command while it stands")
	}
	m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	press(m, "space")
	pass(11 * time.Second)
	if frame := seen(m); strings.Contains(frame, "FROZEN") || !containsAll(frame, "sui/grpc         ✖ unhealthy", "NOT READY 1m14s") {
		t.Errorf("it does not go on:\n%s", frame)
	}
}

// A picture that comes anew, or a restart, waits too.
func TestFreezeHoldsANewPicture(t *testing.T) {
	for name, msg := range map[string]tea.Msg{
		"snapshot": snapshotMsg{few()},
		"started":  changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.Started{Instance: *few()}}}},
	} {
		m := screen(t, night(), 80, 24)
		press(m, "G", "space")
		m.Update(msg)
		if len(m.inst.Chains) != 12 || strings.Contains(seen(m), "3 of 3") {
			t.Errorf("%s: the picture moved", name)
		}
		press(m, "space")
		if !strings.Contains(seen(m), "3 of 3") {
			t.Errorf("%s: it does not go on:\n%s", name, seen(m))
		}
	}
}
