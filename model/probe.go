package model

import (
	"slices"
	"time"
)

// startOver is the pause before a probe asks the same upstreams again (T3), so
// that six refused tries of one upstream are not one instant.
const startOver = 250 * time.Millisecond

// probeDue starts the probe whose time has come, unless a client heard from
// the chain since or all its upstreams are held.
func (d *decider) probeDue(heard time.Time) {
	st := d.c.State
	if d.c.Probe != nil || d.now.Before(st.Next.At) {
		return
	}
	if at := d.putOff(heard); at.After(d.now) {
		st.Heard = Heard{At: heard, By: HeardClient}
		st.Next = Next{At: at, From: heard, Why: NextHeard}
		d.emit("", ChainChanged{What: ChangeHeard, From: st.Health, State: st})
		return
	}
	if at := d.c.firstHold(d.now); !at.IsZero() {
		st.Next = Next{At: at, From: d.now, Why: NextHeld}
		d.emit("", ChainChanged{What: ChangeNext, From: st.Health, State: st})
		return
	}
	d.startProbe(st.Next.Why.trigger(), "")
}

// putOff is the due time after a client's result at heard: one healthy
// interval from it while the chain is healthy, never past max_defer from the
// last probe (H3). A result from before the schedule was made says nothing.
func (d *decider) putOff(heard time.Time) time.Time {
	st, set := &d.c.State, &d.c.Settings
	if st.Health != Healthy || !heard.After(st.Next.From) {
		return time.Time{}
	}
	at := heard.Add(set.HealthyInterval)
	if set.MaxDefer > 0 && d.c.Last != nil {
		if bound := d.c.Last.Ended.Add(set.MaxDefer); at.After(bound) {
			at = bound
		}
	}
	return at
}

func (w NextWhy) trigger() Trigger {
	switch w {
	case NextSoon:
		return TriggerSoon
	case NextPassed, NextAllFailed:
		return TriggerCheck
	case NextFirst, NextInterval, NextHeard, NextHeld:
	}
	return TriggerScheduled
}

// startProbe starts a probe. Without an upstream it is one try with nobody to
// ask (T1), over at once.
func (d *decider) startProbe(trigger Trigger, who string) {
	p := Probe{
		ID: d.c.State.Probes + 1, Trigger: trigger, Who: who,
		Started: d.now, Max: d.c.Settings.Tries,
	}
	if len(d.c.Upstreams) == 0 {
		p.Max = 1
		d.emit(who, ProbeStarted{Probe: p, Probes: p.ID})
		d.emit("", TryEnded{Probe: p.ID, Made: 1, Try: Try{
			N: 1, Upstream: -1, Kind: NoAnswer, Reason: ReasonNoUpstream, Started: d.now,
		}})
		d.endProbe()
		return
	}
	p.Flight = d.nextTry(&p)
	d.emit(who, ProbeStarted{Probe: p, Probes: p.ID})
	d.fly(p.Flight)
}

// nextTry picks the upstream of the probe's next try: one no earlier try used,
// while there is one, in routing order; then they start over, leaving out those
// that said rate limit (T3). The zero Flight says that nobody is left.
func (d *decider) nextTry(p *Probe) Flight {
	if p.Made >= p.Max {
		return Flight{}
	}
	used := make([]int, len(d.c.Upstreams))
	limited := make([]bool, len(d.c.Upstreams))
	for _, t := range p.Tries {
		used[t.Upstream]++
		limited[t.Upstream] = limited[t.Upstream] || t.Reason == ReasonRateLimit
	}
	pick, over := -1, true
	for _, i := range d.c.probeOrder(d.now) {
		if limited[i] {
			continue
		}
		switch {
		case pick < 0:
			pick = i
		case used[i] < used[pick]:
			pick, over = i, false
		case used[i] > used[pick]:
			over = false
		}
	}
	if pick < 0 {
		return Flight{}
	}
	f := Flight{N: p.Made + 1, Upstream: pick, Stamp: d.now, Start: d.now}
	if over && used[pick] > 0 {
		f.Start = d.now.Add(startOver)
	}
	return f
}

func (d *decider) fly(f Flight) {
	d.effects = append(d.effects, EffectTry{
		Chain: d.n, Upstream: f.Upstream, Probe: d.c.Probe.ID, N: f.N, Stamp: f.Stamp,
		Delay: f.Start.Sub(f.Stamp), Timeout: d.c.Settings.Timeout,
		Ask: d.c.Upstreams[f.Upstream].questions(d.now, d.c.Settings.CheckInterval),
	})
}

// tryDone takes the end of the try in the air. The end of any other try is
// late, and changes nothing (T2).
func (d *decider) tryDone(in TryDone) {
	p := d.c.Probe
	if p == nil || p.ID != in.Probe || p.Flight.N != in.N ||
		p.Flight.Upstream != in.Upstream || !p.Flight.Stamp.Equal(in.Stamp) {
		return
	}
	after := *p
	after.Made++
	try := Try{N: in.N, Upstream: in.Upstream, Kind: in.Outcome.Kind, Started: in.Started}
	if in.Outcome.Kind != NoOutcome {
		try.Reason, try.Evidence = in.Outcome.Reason, in.Outcome.Evidence
		try.Findings, try.Took = in.Outcome.Findings, in.Outcome.Took
		after.Tries = append(slices.Clip(after.Tries), try)
		d.observe(in)
	}
	flight := Flight{}
	if in.Outcome.Kind != Result {
		flight = d.nextTry(&after)
	}
	d.emit("", TryEnded{Probe: p.ID, Try: try, Made: after.Made, Flight: flight, Asked: in.Outcome.Asked})
	if in.Outcome.Kind == NoAnswer {
		d.check(TriggerTry, in.Upstream, "")
	}
	if flight.N == 0 {
		d.endProbe()
		return
	}
	d.fly(flight)
}

// endProbe draws the verdict, moves the chain's health (H1) and makes the next
// schedule (H2). A probe whose every try was abandoned has no verdict and
// moves no health.
func (d *decider) endProbe() {
	p, st := *d.c.Probe, d.c.State
	from := st.Health
	p.Ended, p.Verdict, p.Flight = d.now, Judge(p.Tries), Flight{}
	st.Health = from.After(p.Verdict, d.c.Settings.Recovers)
	if st.Health != from {
		st.Since = d.now
	}
	p.Health = st.Health
	if p.Verdict != NoVerdict {
		st.Verdict, st.VerdictAt = p.Verdict, d.now
	}
	if p.Verdict == VerdictHealthy {
		st.Heard = Heard{At: d.now, By: HeardProbe}
	}
	st.Next = d.c.schedule(p.ID, st, d.now)
	st.Missed = time.Time{}
	d.emit(p.Who, ProbeEnded{Probe: p, State: st})
	if st.Health != from {
		d.emit(p.Who, ChainChanged{What: ChangeHealth, From: from, State: st})
	}
}

// schedule is when the probe after the one that ends at now is due: an
// interval by the health after it (H2), sooner where a client got no answer
// meanwhile (H3), not before the first hold ends where all are held (F6).
func (c *Chain) schedule(probe uint64, st ChainState, now time.Time) Next {
	every := c.Settings.UnhealthyInterval
	if st.Health == Healthy {
		every = c.Settings.HealthyInterval
	}
	share := 1 + c.Settings.Jitter*(2*roll(c.Seed, probe)-1)
	next := Next{At: now.Add(time.Duration(float64(every) * share)), From: now, Why: NextInterval}
	if !st.Missed.IsZero() {
		if soon := c.soon(st.Missed, probe); soon.Before(next.At) {
			next.At, next.Why = soon, NextSoon
		}
		if next.At.Before(now) {
			next.At = now
		}
	}
	if hold := c.firstHold(now); hold.After(next.At) {
		next.At, next.Why = hold, NextHeld
	}
	return next
}

// soon is within `soon` of a moment, never later: its jitter only brings it
// forward (H2, H3).
func (c *Chain) soon(from time.Time, salt uint64) time.Time {
	share := 1 - c.Settings.Jitter*roll(c.Seed, salt, 1)
	return from.Add(time.Duration(float64(c.Settings.Soon) * share))
}

// missed takes that a client got no answer. It moves when the next probe runs
// and nothing else (H3); during a probe it waits for the schedule made at its
// end.
func (d *decider) missed() {
	st := d.c.State
	if d.c.Probe != nil {
		if st.Missed.IsZero() {
			st.Missed = d.now
			d.emit("", ChainChanged{What: ChangeNext, From: st.Health, State: st})
		}
		return
	}
	if soon := d.c.soon(d.now, st.Probes); soon.Before(st.Next.At) {
		st.Next = Next{At: soon, From: d.now, Why: NextSoon}
		d.emit("", ChainChanged{What: ChangeNext, From: st.Health, State: st})
	}
}
