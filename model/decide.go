package model

import (
	"slices"
	"time"
)

// Decide is what an input does to the instance: events to fold, in order and
// as one batch, and effects to carry out. It changes nothing itself.
func (i *Instance) Decide(in Input) ([]Event, []Effect) {
	switch in := in.(type) {
	case Command:
		return i.command(in)
	case Due:
		return i.chain(in.Chain, in)
	case TryDone:
		return i.chain(in.Chain, in)
	case FactsDone:
		return i.chain(in.Chain, in)
	case Missed:
		return i.chain(in.Chain, in)
	case Live:
		return i.chain(in.Chain, in)
	case Sums:
		return i.sums(in), nil
	case Signal, DrainDue, Closed:
		return i.drain(in)
	}
	return nil, nil
}

// Step is Decide and Apply in one: it folds the events it returns. A decision
// folds its own events as it goes, so the chain is at hand.
func (i *Instance) Step(in Input) ([]Event, []Effect) {
	n := -1
	switch in := in.(type) {
	case Due:
		n = in.Chain
	case TryDone:
		n = in.Chain
	case FactsDone:
		n = in.Chain
	case Missed:
		n = in.Chain
	case Live:
		n = in.Chain
	case Command, Sums, Signal, DrainDue, Closed:
	}
	if n < 0 || n >= len(i.Chains) {
		events, effects := i.Decide(in)
		i.Apply(events...)
		return events, effects
	}
	events, effects, after := i.chainAfter(n, in)
	i.Chains[n] = after
	for _, e := range events {
		i.note(e)
	}
	return events, effects
}

func (i *Instance) chain(n int, in Input) ([]Event, []Effect) {
	if n < 0 || n >= len(i.Chains) {
		return nil, nil
	}
	events, effects, _ := i.chainAfter(n, in)
	return events, effects
}

// chainAfter lets the chain at n decide, and adds what it means to readiness.
func (i *Instance) chainAfter(n int, in Input) ([]Event, []Effect, *Chain) {
	d := decider{n: n, c: i.Chains[n], now: in.When()}
	d.decide(in)
	if d.c.State.Health != i.Chains[n].State.Health {
		if was, is := Ready(i, i.Policy), readyWith(i, i.Policy, n, d.c); was.Ready != is.Ready {
			d.events = append(d.events, Event{At: d.now, Chain: -1, Body: ReadyChanged{Ready: is.Ready, Cause: n}})
		}
	}
	return d.events, d.effects, d.c
}

// command carries out what somebody asked for and says what became of it.
func (i *Instance) command(in Command) ([]Event, []Effect) {
	done := CommandDone{ID: in.ID, Op: in.Op, Chains: in.Chains, Code: 202, Answer: "accepted", For: in.For, Reason: in.Reason}
	var events []Event
	var effects []Effect
	switch in.Op {
	case OpProbe:
		events, effects = i.probe(in, &done)
	case OpCheck:
		events, effects = i.check(in, &done)
	case OpPin:
		events, effects = i.pin(in, &done)
	case OpUnpin:
		events, effects = i.unpin(in, &done)
	case OpFault:
		effects = i.fault(in, &done)
	case OpDrain:
		events, effects = i.startDrain(in, &done)
	case OpSimulate:
		events, effects = i.simulateDrain(in, &done)
	case OpUndrain:
		events, effects = i.stopDrain(in, &done)
	default:
		done.refuse(404, "unknown command")
	}
	return append(events, Event{At: in.At, Chain: -1, Who: in.Who, Body: done}), effects
}

// refuse says that a command does nothing, and why.
func (b *CommandDone) refuse(code int, why string) {
	b.Code, b.Answer = code, "refused: "+why
}

// probe starts a probe of each chain asked for, or joins the one in flight (H4).
func (i *Instance) probe(in Command, done *CommandDone) (events []Event, effects []Effect) {
	targets := in.Chains
	if len(targets) == 0 {
		for n := range i.Chains {
			targets = append(targets, n)
		}
	}
	work := i.Clone()
	for _, n := range targets {
		if n < 0 || n >= len(work.Chains) {
			done.refuse(404, "no such chain")
			continue
		}
		one := in
		one.Chains = []int{n}
		if work.Chains[n].Probe != nil {
			done.Joined++
		}
		evs, effs := work.chain(n, one)
		work.Apply(evs...)
		events, effects = append(events, evs...), append(effects, effs...)
		done.Probes = append(done.Probes, work.Chains[n].State.Probes)
	}
	return events, effects
}

// check starts a check of one upstream, held or not, or joins the one in flight.
func (i *Instance) check(in Command, done *CommandDone) ([]Event, []Effect) {
	done.Upstream = in.Upstream
	if !i.names(in) {
		done.refuse(404, "no such upstream")
		return nil, nil
	}
	if i.Chains[in.Chains[0]].Checks.Flies(in.Upstream) {
		done.Joined = 1
		return nil, nil
	}
	return i.chain(in.Chains[0], in)
}

// names says whether a command names one upstream there is.
func (i *Instance) names(in Command) bool {
	return len(in.Chains) == 1 && in.Chains[0] >= 0 && in.Chains[0] < len(i.Chains) &&
		i.Chains[in.Chains[0]].upstream(in.Upstream) != nil
}

// fault passes a fault on to the demo. Nothing but a demo takes one.
func (i *Instance) fault(in Command, done *CommandDone) []Effect {
	done.Upstream, done.Kind = in.Upstream, in.Kind
	switch {
	case !i.Demo:
		done.refuse(403, "this is not a demo")
	case !i.names(in):
		done.refuse(404, "no such upstream")
	default:
		return []Effect{EffectFault{Chain: in.Chains[0], Upstream: in.Upstream, Kind: in.Kind}}
	}
	return nil
}

// Decide is every rule about one chain: what an input does to it, as events to
// fold and effects to carry out. It waits for nothing and changes nothing.
func (c *Chain) Decide(in Input) ([]Event, []Effect) {
	d := decider{c: c, now: in.When()}
	switch in := in.(type) {
	case Due:
		d.n = in.Chain
	case TryDone:
		d.n = in.Chain
	case FactsDone:
		d.n = in.Chain
	case Missed:
		d.n = in.Chain
	case Live:
		d.n = in.Chain
	case Sums, Signal, DrainDue, Closed:
	case Command:
		if len(in.Chains) > 0 {
			d.n = in.Chains[0]
		}
	}
	d.decide(in)
	return d.events, d.effects
}

// decider is one decision in the making. c is the chain as the events so far
// leave it, so that a later step of the same decision sees the earlier one, and
// the fold of the events is c by construction.
type decider struct {
	n       int
	c       *Chain
	own     bool // c is a clone, ours to write
	now     time.Time
	events  []Event
	effects []Effect
}

func (d *decider) emit(who string, b Body) {
	if !d.own {
		d.c, d.own = d.c.clone(), true
	}
	e := Event{At: d.now, Chain: d.n, Who: who, Body: b}
	d.c.apply(e)
	d.events = append(d.events, e)
}

func (d *decider) decide(in Input) {
	switch in := in.(type) {
	case Due:
		d.release()
		d.round()
		d.probeDue(in.Heard)
	case TryDone:
		if in.Probe == 0 {
			d.checkDone(in)
		} else {
			d.tryDone(in)
		}
	case FactsDone:
		d.factsDone(in)
	case Missed:
		d.missed()
	case Live:
		d.live(in)
	case Sums, Signal, DrainDue, Closed:
	case Command:
		switch {
		case in.Op == OpPin:
			d.pin(in)
		case in.Op == OpUnpin:
			d.unpin(in.Who)
		case in.Op == OpCheck:
			d.check(TriggerManual, in.Upstream, in.Who)
		case in.Op == OpProbe && d.c.Probe == nil:
			d.startProbe(TriggerManual, in.Who)
		}
	}
	d.serve()
}

// serve publishes where a request would go, in the step that changed it (F2).
func (d *decider) serve() {
	d.failback()
	was, is := d.c.Serving, d.c.routed(d.now)
	is.Since = was.Since
	if is == was {
		return
	}
	is.Since = d.now
	d.emit("", ServingChanged{From: was.Upstream, Serving: is})
}

// failback notes when an upstream that was not fit is fit again, where
// failback_after asks for it.
func (d *decider) failback() {
	if d.c.Settings.FailbackAfter <= 0 {
		return
	}
	var reads []UpstreamIndex
	for i := range d.c.Upstreams {
		s, out := d.c.Upstreams[i].State, d.c.Fitness(i, d.now) != Fit
		if out == s.Out {
			continue
		}
		if s.Out = out; !out {
			s.Back = d.now
		}
		reads = append(reads, UpstreamIndex{Upstream: i, State: s})
	}
	if len(reads) > 0 {
		d.emit("", UpstreamRead{Checks: d.c.Checks, Reads: reads})
	}
}

// release ends the holds, the suspicions and the pin that are over.
func (d *decider) release() {
	for i := range d.c.Upstreams {
		s := d.c.Upstreams[i].State
		if s.Hold.Active && !s.Hold.Held(d.now) {
			s.Hold.Active = false
			d.emit("", UpstreamChanged{Upstream: i, What: ChangeReleased, From: s.Health, State: s})
		}
		if !s.Back.IsZero() && !d.c.returning(i, d.now) {
			s.Back = time.Time{}
			d.emit("", UpstreamRead{Checks: d.c.Checks, Reads: []UpstreamIndex{{Upstream: i, State: s}}})
		}
		if s.Suspect.over(d.now) {
			d.emit("", UpstreamChanged{Upstream: i, What: ChangeTrusted, From: s.Health, State: s})
		}
	}
	if p := d.c.State.Pin; p.On && !p.Holds(d.now) {
		d.unpin("")
	}
}

// firstHold is when the first hold of a chain ends whose upstreams are all
// held; zero when one may be asked.
func (c *Chain) firstHold(now time.Time) time.Time {
	var first time.Time
	for i := range c.Upstreams {
		h := c.Upstreams[i].State.Hold
		if !h.Held(now) {
			return time.Time{}
		}
		if first.IsZero() || h.Until.Before(first) {
			first = h.Until
		}
	}
	return first
}

// probeOrder is the routing order of a chain's upstreams for a probe: those
// fit for traffic, those fit as a last resort, the others, the held ones;
// within each primaries before backups (T3).
func (c *Chain) probeOrder(now time.Time) []int {
	rank := func(i int) int {
		r := 0
		switch c.Fitness(i, now) {
		case Fit:
		case UnfitLastResort:
			r = 1
		case UnfitFinding, UnfitSuspect, UnfitHealth:
			r = 2
		case UnfitHeld:
			r = 3
		}
		if c.Upstreams[i].State.Hold.Held(now) {
			r = 3
		}
		return 2*r + int(c.Upstreams[i].Tier)
	}
	order := make([]int, len(c.Upstreams))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}
