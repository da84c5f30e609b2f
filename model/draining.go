package model

import "time"

// Operations on the drain.
const (
	OpDrain    Op = "drain.start"    // needs the instance's name as Confirm
	OpSimulate Op = "drain.simulate" // changes nothing outside (D6)
	OpUndrain  Op = "drain.stop"     // ends a simulation, or a drain that a command began
)

// OnlySimulation is the Kind of an OpUndrain that ends no real drain.
const OnlySimulation = "simulation"

// Signal says that the process was asked to end. A second one ends it at once.
type Signal struct {
	At   time.Time
	Name string // SIGTERM, SIGINT
}

// DrainDue says that the drain's timer rang. It carries the activity read when
// it did: exact, without polling and without an input a request.
type DrainDue struct {
	At       time.Time
	Activity Activity
}

// Closed says that after EffectCloseListeners the listeners are closed and what
// was in flight is over or cut.
type Closed struct {
	At  time.Time
	Cut Cut
}

func (i Signal) When() time.Time   { return i.At }
func (i DrainDue) When() time.Time { return i.At }
func (i Closed) When() time.Time   { return i.At }

func (Signal) input()   {}
func (DrainDue) input() {}
func (Closed) input()   {}

// EffectCloseListeners ends the service: listeners close, requests in flight
// finish, streams get close 1001. A Closed answers it.
type EffectCloseListeners struct{}

// EffectExit ends the process.
type EffectExit struct{ Code int }

func (EffectCloseListeners) effect() {}
func (EffectExit) effect()           {}

// DrainChanged assigns the instance's drain.
type DrainChanged struct {
	What  DrainChange `json:"what"`
	From  DrainState  `json:"from"` // the real state before
	Drain Drain       `json:"drain"`
}

func (DrainChanged) kind() EventKind { return "drain_changed" }

// DrainChange is what changed about a drain. The set is closed.
type DrainChange string

// The changes of a drain.
const (
	DrainStarted   DrainChange = "started"
	DrainFinal     DrainChange = "final"     // a signal made a commanded drain final
	DrainStopped   DrainChange = "stopped"   // back to serving
	DrainReached   DrainChange = "drained"   // idle, or at its bound
	DrainExits     DrainChange = "exits"     // what was in flight is over; the process ends
	DrainForced    DrainChange = "forced"    // a second signal: the process ends at once
	DrainSimulated DrainChange = "simulated" // a simulation began
	DrainOldIdle   DrainChange = "old_idle"  // its old connections were idle for long enough; the forecast is known
	DrainSimOver   DrainChange = "sim_over"  // the simulation ended: stopped, or all traffic was idle, or at its bound
)

// Decide is what an input does to the drain. A command it gets was accepted by
// the instance, which knows the name to confirm.
func (d Drain) Decide(in Input) ([]Event, []Effect) {
	w := drainer{d: d, now: in.When()}
	switch in := in.(type) {
	case Signal:
		w.signal(in)
	case DrainDue:
		w.due(in)
	case Closed:
		w.closed(in)
	case Command:
		w.command(in)
	case Due, TryDone, FactsDone, Missed, Live, Sums:
	}
	return w.events, w.effects
}

// drainer is one decision about a drain in the making.
type drainer struct {
	d       Drain
	now     time.Time
	who     string // of the events
	events  []Event
	effects []Effect
}

func (w *drainer) emit(what DrainChange, after Drain) {
	w.events = append(w.events, Event{At: w.now, Chain: -1, Who: w.who, Body: DrainChanged{What: what, From: w.d.Real(), Drain: after}})
	w.d = after
}

// fresh is the drain of an instance that serves.
func (d Drain) fresh() Drain {
	return Drain{Settings: d.Settings, Forecast: d.Forecast, Activity: d.Activity}
}

func (w *drainer) signal(in Signal) {
	d := w.d
	switch {
	case d.Final:
		d.State, d.Exited, d.Code = Drained, w.now, 1
		d.Cut = Cut{Requests: d.Activity.InFlight, Streams: d.Activity.Streams}
		if d.Drained.IsZero() {
			d.Drained = w.now
		}
		w.emit(DrainForced, d)
		w.effects = append(w.effects, EffectExit{Code: 1})
	case d.Leaving():
		d.Final, d.By, d.Who = true, DrainBySignal, in.Name
		w.emit(DrainFinal, d)
	default:
		w.start(Drain{By: DrainBySignal, Who: in.Name, Final: true})
	}
}

// start begins a drain by what with says of it. A simulation is over then: the
// real thing says more.
func (w *drainer) start(with Drain) {
	w.endSimulation()
	d := w.d.fresh()
	d.State, d.Since = Draining, w.now
	d.By, d.Who, d.Reason, d.Final = with.By, with.Who, with.Reason, with.Final
	w.emit(DrainStarted, d)
}

func (w *drainer) command(in Command) {
	w.who = in.Who
	switch in.Op {
	case OpDrain:
		w.start(Drain{By: DrainByCommand, Who: in.Who, Reason: in.Reason})
	case OpSimulate:
		d := w.d.fresh()
		d.State, d.Simulated, d.Since = Draining, true, w.now
		d.By, d.Who, d.Reason, d.Forecast = DrainByCommand, in.Who, in.Reason, Forecast{}
		w.emit(DrainSimulated, d)
	case OpUndrain:
		if w.d.Simulated {
			w.endSimulation()
			return
		}
		w.emit(DrainStopped, w.d.fresh())
	case OpProbe, OpCheck, OpPin, OpUnpin, OpFault:
	}
}

// due ends what is over by the activity just read; what is not has a later due
// time by it.
func (w *drainer) due(in DrainDue) {
	if w.d.State != Draining {
		return
	}
	w.d.Activity = in.Activity
	seen := len(w.events)
	switch {
	case w.d.Simulated:
		w.simulate()
	case w.d.Settings.Mode == DrainImmediate:
		if !w.now.Before(w.d.Due()) {
			w.reach(DrainEndImmediate)
		}
	case !w.now.Before(w.d.IdleAt()):
		w.reach(DrainEndIdle)
	case w.atBound():
		w.reach(DrainEndMax)
	}
	if len(w.events) == seen {
		w.events = append(w.events, Event{At: w.now, Chain: -1, Body: TrafficRead{Activity: &in.Activity}})
	}
}

func (w *drainer) atBound() bool {
	at := w.d.BoundAt()
	return !at.IsZero() && !w.now.Before(at)
}

func (w *drainer) reach(end DrainEnd) {
	d := w.d
	d.State, d.Drained, d.End = Drained, w.now, end
	w.emit(DrainReached, d)
	w.effects = append(w.effects, EffectCloseListeners{})
}

// simulate is the same for a simulation: its second timer gives the forecast,
// and it goes on until the first one, too, is over.
func (w *drainer) simulate() {
	bound := w.atBound()
	if w.d.OldIdle.IsZero() && (bound || !w.now.Before(w.d.OldIdleAt())) {
		d := w.d
		d.OldIdle, d.Forecast = w.now, d.forecast(w.now)
		w.emit(DrainOldIdle, d)
	}
	if bound || !w.now.Before(w.d.IdleAt()) {
		w.endSimulation()
	}
}

// forecast is what a real drain would have done, known at now: when the old
// connections have been idle for long enough, or the bound has come.
func (d Drain) forecast(now time.Time) Forecast {
	a := d.Activity
	f := Forecast{
		Began: d.Since, At: now, End: DrainEndIdle, LetsGo: d.Settings.LetsGo(), NewComes: a.Requests > a.OldRequests,
		Requests: a.OldRequests, Clients: a.OldClients,
		InFlight: a.InFlight, Streams: a.Streams, Message: a.Message, Client: a.MessageClient,
	}
	if !a.OldLast.Before(d.Since) {
		f.Last = a.OldLast
	}
	if f.NewComes {
		f.At = later(f.At, d.Since.Add(f.LetsGo+d.Settings.Idle))
	}
	if bound := d.BoundAt(); !bound.IsZero() && !f.At.Before(bound) {
		f.At, f.End = bound, DrainEndMax
		if now.Equal(d.OldIdleAt()) && f.At.Equal(now) {
			f.End = DrainEndIdle // both at once: it was idle
		}
	}
	return f
}

// endSimulation takes a simulation back to serving; its forecast stays.
func (w *drainer) endSimulation() {
	if !w.d.Simulated {
		return
	}
	d := w.d.fresh()
	if d.Forecast.Known() {
		d.Forecast.Over = w.now
	}
	w.emit(DrainSimOver, d)
}

func (w *drainer) closed(in Closed) {
	if w.d.State != Drained || !w.d.Exited.IsZero() {
		return
	}
	d := w.d
	d.Exited, d.Cut = w.now, in.Cut
	w.emit(DrainExits, d)
	w.effects = append(w.effects, EffectExit{Code: 0})
}

// drain lets the drain decide, and adds what that means to readiness (D2).
func (i *Instance) drain(in Input) ([]Event, []Effect) {
	events, effects := i.Drain.Decide(in)
	after := *i
	for _, e := range events {
		if b, ok := e.Body.(DrainChanged); ok {
			after.Drain = b.Drain
		}
	}
	if was, is := Ready(i, i.Policy), Ready(&after, i.Policy); was.Ready != is.Ready {
		events = append(events, Event{At: in.When(), Chain: -1, Body: ReadyChanged{Ready: is.Ready, Cause: -1, Draining: is.Draining}})
	}
	return events, effects
}

// startDrain begins a drain for real. Its sender has typed the instance's name
// and, where it says so, seen the state it is in.
func (i *Instance) startDrain(in Command, done *CommandDone) ([]Event, []Effect) {
	state := i.Drain.Real()
	switch {
	case in.Confirm != i.Name:
		done.refuse(412, "confirm_required: the instance's name has to be typed")
	case in.IfState != "" && in.IfState != state.String():
		done.refuse(409, "state_moved: it is "+state.String())
	case state != DrainServing:
		done.refuse(409, "state_moved: it is "+state.String()+" already")
	default:
		return i.drain(in)
	}
	return nil, nil
}

func (i *Instance) simulateDrain(in Command, done *CommandDone) ([]Event, []Effect) {
	switch d := i.Drain; {
	case d.Leaving():
		done.refuse(409, "state_moved: it is "+d.State.String())
	case d.Simulated:
		done.refuse(409, "state_moved: it simulates a drain already")
	case d.Settings.Mode == DrainImmediate:
		done.refuse(409, "drain.mode is immediate: it waits for nobody, so there is nothing to forecast")
	default:
		return i.drain(in)
	}
	return nil, nil
}

func (i *Instance) stopDrain(in Command, done *CommandDone) ([]Event, []Effect) {
	done.Kind = in.Kind
	switch d := i.Drain; {
	case d.State == DrainServing:
		done.refuse(409, "state_moved: it does not drain")
	case in.Kind == OnlySimulation && !d.Simulated:
		done.refuse(409, "state_moved: it drains for real, there is no simulation to end")
	case d.State == Drained && !d.Simulated:
		done.refuse(409, "state_moved: it is drained")
	case d.Final:
		done.refuse(409, "a signal began the drain: it is final")
	default:
		return i.drain(in)
	}
	return nil, nil
}
