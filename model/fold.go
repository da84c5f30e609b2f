package model

import (
	"slices"
	"time"
)

// Apply folds events into the picture. It assigns and never judges; an event of
// a kind or about a thing it does not know is skipped, so that an old screen
// follows a new server.
func (i *Instance) Apply(events ...Event) {
	var mine *Chain // the clone this batch writes to
	for _, e := range events {
		if e.Chain >= 0 && e.Chain < len(i.Chains) {
			if i.Chains[e.Chain] != mine {
				mine = i.Chains[e.Chain].clone()
				i.Chains[e.Chain] = mine
			}
			mine.apply(e)
		}
		i.note(e)
	}
}

// note folds what of an event is the instance's.
func (i *Instance) note(e Event) {
	if e.Chain < 0 {
		i.apply(e)
	}
	if !e.Reading() {
		i.keep(e)
	}
}

func (i *Instance) keep(e Event) {
	if s, ok := e.Body.(Started); ok {
		// The picture is not kept inside itself.
		s.Instance = Instance{Name: s.Instance.Name, Version: s.Instance.Version, Epoch: s.Instance.Epoch}
		e.Body = s
	}
	i.Recent = append(i.Recent, e)
	if over := len(i.Recent) - RecentChanges; over > 0 {
		i.Recent = i.Recent[over:]
	}
}

func (i *Instance) apply(e Event) {
	switch b := e.Body.(type) {
	case Started:
		*i = b.Instance
		i.Chains = slices.Clone(i.Chains)
		i.Recent = nil
	case ReadyChanged:
		i.ReadySince = e.At
	case DrainChanged:
		i.Drain = b.Drain
	case TrafficRead:
		i.applyTraffic(b)
	case CommandDone, Skipped:
	case ProbeStarted, TryEnded, ProbeEnded, ChainChanged, UpstreamChanged, ServingChanged, ClientsFelt, UpstreamRead:
	}
}

// clone is a chain that may be written to: nothing it shares with c is written
// in place by apply.
func (c *Chain) clone() *Chain {
	n := *c
	n.Upstreams = slices.Clone(c.Upstreams)
	return &n
}

func (c *Chain) apply(e Event) {
	switch b := e.Body.(type) {
	case ProbeStarted:
		p := b.Probe
		c.Probe, c.State.Probes = &p, b.Probes
	case TryEnded:
		c.applyTry(b)
	case ProbeEnded:
		p := b.Probe
		c.Probe, c.Last, c.State = nil, &p, b.State
		c.History = remember(c.History, p)
		c.Strip.note(e.At, b.State.Health, b.State.Verdict)
	case ChainChanged:
		c.State = b.State
		c.Strip.note(e.At, b.State.Health, b.State.Verdict)
	case UpstreamChanged:
		if u := c.upstream(b.Upstream); u != nil {
			u.State = b.State
		}
	case ServingChanged:
		c.Serving = b.Serving
	case UpstreamRead:
		c.applyRead(e.At, b)
	case ClientsFelt:
		c.Felt = b.Felt
	case Started, ReadyChanged, DrainChanged, TrafficRead, CommandDone, Skipped:
	}
}

func (c *Chain) applyTry(b TryEnded) {
	if u := c.upstream(b.Try.Upstream); u != nil && b.Asked > 0 {
		u.Asked.add(b.Try.Started.Add(b.Try.Took), b.Asked)
	}
	if c.Probe == nil || c.Probe.ID != b.Probe {
		return
	}
	p := *c.Probe
	if b.Try.Kind != NoOutcome {
		p.Tries = append(slices.Clip(p.Tries), b.Try)
	}
	p.Made, p.Flight = b.Made, b.Flight
	c.Probe = &p
}

func (c *Chain) applyRead(at time.Time, b UpstreamRead) {
	c.Checks = b.Checks
	for _, r := range b.Reads {
		u := c.upstream(r.Upstream)
		if u == nil {
			continue
		}
		u.State = r.State
		if r.Asked > 0 {
			u.Asked.add(at, r.Asked)
		}
		if r.Sample > 0 {
			u.Latency.add(r.Sample)
		}
	}
}

func (c *Chain) upstream(i int) *Upstream {
	if i < 0 || i >= len(c.Upstreams) {
		return nil
	}
	return &c.Upstreams[i]
}

// historyRows bounds the probes of a chain that are part of the picture.
const historyRows = 16

// remember adds a probe to a history. When it is full the oldest healthy one
// goes first, since failures are what one looks for; of failures the oldest,
// once they fill it.
func remember(history []Probe, p Probe) []Probe {
	history = append(slices.Clip(history), p)
	if len(history) <= historyRows {
		return history
	}
	drop := slices.IndexFunc(history[:historyRows], func(p Probe) bool { return p.Verdict == VerdictHealthy })
	return slices.Delete(slices.Clone(history), max(drop, 0), max(drop, 0)+1)
}
