package model

import (
	"slices"
	"time"
)

// round starts the checks of a chain whose time has come: together, so that
// its heads can be compared (U1). A held upstream is not checked (F6); one whose
// check is in flight is left to it.
func (d *decider) round() {
	due, every := d.c.Checks.Due, d.c.Settings.CheckInterval
	if due.IsZero() || d.now.Before(due) {
		return
	}
	k := d.c.Checks
	// Slots that passed while nobody looked are not made up for.
	k.Due = due.Add((d.now.Sub(due)/every + 1) * every)
	k.Flying = slices.Clone(k.Flying)
	for i := range d.c.Upstreams {
		if !d.c.Upstreams[i].State.Hold.Held(d.now) && !k.Flies(i) {
			k.Round = d.now
			k.Flying = append(k.Flying, Check{Upstream: i, Stamp: d.now, Trigger: TriggerCheck})
		}
	}
	d.launch(k)
}

// check starts a check of one upstream now, unless one is in flight. A held one
// is checked only when somebody asks.
func (d *decider) check(trigger Trigger, i int, who string) {
	k := d.c.Checks
	if u := d.c.upstream(i); u == nil || k.Flies(i) || (u.State.Hold.Held(d.now) && trigger != TriggerManual) {
		return
	}
	k.Flying = append(slices.Clone(k.Flying), Check{Upstream: i, Stamp: d.now, Trigger: trigger, Who: who})
	d.launch(k)
}

// launch publishes the checks and sends off those stamped now.
func (d *decider) launch(k Checks) {
	was := d.c.Checks.Flying
	d.emit("", UpstreamRead{Checks: k})
	for _, c := range k.Flying {
		if slices.Contains(was, c) {
			continue
		}
		d.effects = append(d.effects, EffectTry{
			Chain: d.n, Upstream: c.Upstream, Stamp: c.Stamp,
			Timeout: d.c.Settings.CheckTimeout,
			Ask:     d.c.Upstreams[c.Upstream].questions(d.now, d.c.Settings.CheckInterval),
		})
	}
}

// checkDone takes the end of a check: it moves the upstream's record, and when
// it was the last of its round the heads are compared. An end nobody waits for
// changes nothing.
func (d *decider) checkDone(in TryDone) {
	k := d.c.Checks
	at := slices.IndexFunc(k.Flying, func(c Check) bool { return c.Upstream == in.Upstream && c.Stamp.Equal(in.Stamp) })
	if at < 0 {
		return
	}
	check := k.Flying[at]
	k.Flying = slices.Delete(slices.Clone(k.Flying), at, at+1)

	was := d.c.Upstreams[in.Upstream].State
	is, again := was, false
	if in.Outcome.Kind != NoOutcome {
		is = d.c.saw(in.Upstream, in)
		is.Last = Last{
			At: d.now, Trigger: check.Trigger, Kind: in.Outcome.Kind, Reason: in.Outcome.Reason,
			Evidence: in.Outcome.Evidence, Findings: in.Outcome.Findings, Took: in.Outcome.Took,
		}
		d.c.record(&is, in)
		again = is.Suspect.clear(in.Started, d.now, d.c.Family.passes(in.Outcome))
	}
	moved := []moved{{in.Upstream, was, is}}
	halted := d.c.State.Halted
	if in.Stamp.Equal(k.Round) && !slices.ContainsFunc(k.Flying, func(c Check) bool { return c.Stamp.Equal(k.Round) }) {
		moved, halted = d.c.compare(&k, moved[0], d.now)
	}
	d.read(k, in, moved)
	if check.Trigger == TriggerManual && in.Outcome.Kind != NoOutcome {
		d.emit(check.Who, UpstreamChanged{Upstream: in.Upstream, What: ChangeChecked, From: was.Health, State: d.c.Upstreams[in.Upstream].State})
	}
	d.halt(halted)
	d.hurry(in, was.Health)
	if again {
		d.check(TriggerClient, in.Upstream, "")
	}
}

// moved is an upstream whose state an input moves.
type moved struct {
	upstream int
	was, is  UpstreamState
}

// observe takes what a probe's try saw into its upstream: facts, findings and
// holds. Streak and health are the checks' own (H7).
func (d *decider) observe(in TryDone) {
	m := moved{in.Upstream, d.c.Upstreams[in.Upstream].State, d.c.saw(in.Upstream, in)}
	in.Outcome.Asked = 0 // TryEnded counts them
	d.read(d.c.Checks, in, []moved{m})
}

// factsDone takes what the fact questions of the upstream's newest answered try
// brought. Those of an older one are late, and change nothing.
func (d *decider) factsDone(in FactsDone) {
	u := d.c.upstream(in.Upstream)
	if u == nil || in.Told.Asked == 0 || !in.Stamp.Equal(u.State.Answered) {
		return
	}
	was, k := u.State, d.c.Checks
	is := d.c.told(was, in)
	k.BlockTime = blockTime(k.BlockTime, was.Facts.Block, is.Facts.Block)
	d.emit("", UpstreamRead{Checks: k, Reads: []UpstreamIndex{{Upstream: in.Upstream, State: is, Asked: in.Told.Asked}}})
	d.turned(in.Upstream, &was, &is)
}

// read publishes the states that moved: the numbers in one reading, then a
// change for each thing that turned.
func (d *decider) read(k Checks, in TryDone, all []moved) {
	r := UpstreamRead{Checks: k, Reads: make([]UpstreamIndex, 0, len(all))}
	for i := range all {
		m := &all[i]
		mine := m.upstream == in.Upstream && in.Outcome.Kind != NoOutcome
		if m.is == m.was && !(mine && in.Outcome.Asked > 0) {
			continue
		}
		u := UpstreamIndex{Upstream: m.upstream, State: m.is}
		if mine {
			u.Asked = in.Outcome.Asked
			if in.Outcome.Kind == Result {
				u.Sample = in.Outcome.Took
			}
		}
		r.Reads = append(r.Reads, u)
	}
	if len(r.Reads) > 0 || in.Probe == 0 {
		d.emit("", r)
	}
	for i := range all {
		d.turned(all[i].upstream, &all[i].was, &all[i].is)
	}
}

// turned publishes what changed about an upstream, a line each.
func (d *decider) turned(i int, was, is *UpstreamState) {
	if is.Health == was.Health && is.Hold == was.Hold && is.Findings == was.Findings && is.Suspect == was.Suspect {
		return
	}
	change := UpstreamChanged{Upstream: i, From: was.Health, State: *is}
	if is.Health != was.Health {
		change.What = ChangeHealth
		d.emit("", change)
	}
	switch {
	case is.Suspect.Active && !was.Suspect.Active:
		change.What = ChangeSuspect
		d.emit("", change)
	case was.Suspect.Active && !is.Suspect.Active:
		change.What = ChangeTrusted
		d.emit("", change)
	}
	switch {
	case is.Hold.Active && is.Hold.Run != was.Hold.Run:
		change.What = ChangeHeld
		d.emit("", change)
	case was.Hold.Active && !is.Hold.Active:
		change.What = ChangeReleased
		d.emit("", change)
	}
	if gained, lost := is.Findings&^was.Findings, was.Findings&^is.Findings; gained|lost != 0 {
		change.What, change.Gained, change.Lost = ChangeFindings, gained, lost
		d.emit("", change)
	}
}

// halt publishes that the chain stopped, or moves again.
func (d *decider) halt(since time.Time) {
	st := d.c.State
	if since.IsZero() == st.Halted.IsZero() {
		return
	}
	what := ChangeHalted
	if since.IsZero() {
		what = ChangeMoving
	}
	st.Halted = since
	d.emit("", ChainChanged{What: what, From: st.Health, State: st})
}

// hurry makes the probe due now when checks say that its verdict is old: the
// last upstream turned unhealthy, or one passes while the chain is not healthy
// (H7). At most once per soon.
func (d *decider) hurry(in TryDone, was Health) {
	st := d.c.State
	var why NextWhy
	switch {
	case d.c.Upstreams[in.Upstream].State.Health == Unhealthy && was != Unhealthy && d.c.allUnhealthy():
		why = NextAllFailed
	case d.c.Family.passes(in.Outcome) == Result && st.Health != Healthy:
		why = NextPassed
	default:
		return
	}
	at := d.now
	if free := st.Hurried.Add(d.c.Settings.Soon); !st.Hurried.IsZero() && free.After(at) {
		at = free
	}
	if d.c.Probe != nil || !at.Before(st.Next.At) {
		return
	}
	st.Hurried = at
	st.Next = Next{At: at, From: d.now, Why: why}
	d.emit("", ChainChanged{What: ChangeNext, From: st.Health, State: st})
	d.probeDue(time.Time{})
}

func (c *Chain) allUnhealthy() bool {
	for i := range c.Upstreams {
		if c.Upstreams[i].State.Health != Unhealthy {
			return false
		}
	}
	return true
}
