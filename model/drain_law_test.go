package model

import (
	"time"

	"pgregory.net/rapid"
)

// drawDrain is what may happen to a drain.
func drawDrain(t *rapid.T, i *Instance, now time.Time) Input {
	switch rapid.IntRange(0, 7).Draw(t, "drain") {
	case 0:
		return Signal{At: now, Name: "SIGTERM"}
	case 1:
		return Closed{At: now, Cut: Cut{Requests: 1, Streams: 2}}
	case 2, 3, 4:
		return DrainDue{At: now, Activity: drawActivity(t, now)}
	}
	return Command{
		At: now, ID: "d", Op: rapid.SampledFrom([]Op{OpDrain, OpSimulate, OpUndrain}).Draw(t, "op"), Who: "oncall",
		Confirm: rapid.SampledFrom([]string{i.Name, i.Name, "gw-2"}).Draw(t, "confirm"),
		IfState: rapid.SampledFrom([]string{"", "serving", "draining"}).Draw(t, "if"),
	}
}

func drawActivity(t *rapid.T, now time.Time) Activity {
	ago := func(name string) time.Time {
		return now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, name)) * time.Second)
	}
	old := ago("old")
	return Activity{
		At: now, Last: later(old, ago("last")), Client: "10.83.2.9", Kind: ClientHTTP, OldLast: old, OldClient: "2001:db8:7:1::9", Message: ago("message"),
		InFlight: 2, Streams: 1, Requests: 4, OldRequests: rapid.IntRange(0, 4).Draw(t, "of old"),
		Clients: []Client{{Addr: "10.83.2.9", Kind: ClientHTTP, Count: 4}},
	}
}

// lawOfDrain is what must hold of a step of any drain.
func lawOfDrain(t *rapid.T, was, is Drain, in Input, effects []Effect) {
	if was.Real() == Drained && is.Real() != Drained {
		t.Fatalf("%T takes a drained instance back", in)
	}
	if was.Final && !is.Final {
		t.Fatalf("%T takes a final drain back", in)
	}
	if was.State == Draining && is.Real() == Drained && is.End == DrainEndIdle && is.Drained.Before(later(is.Since, is.Activity.Last).Add(is.Settings.Idle)) {
		t.Fatalf("drained too early: %+v", is)
	}
	closes, exits := 0, 0
	for _, e := range effects {
		switch e := e.(type) {
		case EffectCloseListeners:
			closes++
		case EffectExit:
			exits++
			if !is.Exited.Equal(in.When()) || e.Code != is.Code {
				t.Fatalf("exit %d of %+v", e.Code, is)
			}
		case EffectTry, EffectFault:
		}
	}
	if want := was.Real() == Draining && is.Real() == Drained && is.Code == 0; (closes == 1) != want {
		t.Fatalf("%d closings, from %+v to %+v", closes, was, is)
	}
	if (closes+exits > 0) && is.Real() != Drained {
		t.Fatalf("an effect of a drain that is %v, simulated %v", is.State, is.Simulated)
	}
	if due := is.Due(); is.State == Draining && due.IsZero() || is.State != Draining && !due.IsZero() {
		t.Fatalf("a drain that is %v is due at %v", is.State, due)
	}
}
