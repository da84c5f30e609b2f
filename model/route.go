package model

import "time"

// RouteWhy is why Route chose what it chose. The set is closed.
type RouteWhy string

// Why an upstream serves, or none does.
const (
	RouteFit    RouteWhy = "fit"    // the first fit primary
	RoutePinned RouteWhy = "pinned" // somebody prefers it, and it is fit (F8)
	RouteBackup RouteWhy = "backup" // the first fit backup: no primary is fit
	RouteLast   RouteWhy = "last"   // nothing is fit; unfit only by a finding of F1's row 2
	RouteHeld   RouteWhy = "held"   // nothing is fit; of the held, its hold ends first
	RouteNone   RouteWhy = "none"   // nobody may be asked: HTTP 503
)

// Tried is the set of upstreams, by index, that a request has been to already.
type Tried uint64

// Has says whether upstream i was tried.
func (t Tried) Has(i int) bool { return i < 64 && t&(1<<i) != 0 }

// With is the set and i.
func (t Tried) With(i int) Tried { return t | 1<<i }

// Unfit is why an upstream may not be given a request, worst first.
type Unfit uint8

// The reasons of F1.
const (
	Fit             Unfit = iota
	UnfitLastResort       // a finding of row 2: only when nothing is fit
	UnfitHeld             // held off by a rate limit
	UnfitFinding          // a finding of row 1: never while present
	UnfitSuspect          // clients' requests got no answer from it (F5)
	UnfitHealth           // unhealthy, or unknown and it has failed
)

// Fitness says whether upstream i may be given a client's request at now, and
// why not (F1).
func (c *Chain) Fitness(i int, now time.Time) Unfit {
	s := &c.Upstreams[i].State
	never := Row1
	if !c.State.Halted.IsZero() {
		never = never.Without(StaleHead) // a chain whose every head is old does not fail over (F7)
	}
	switch {
	case s.Health == Unhealthy, s.Health == Unknown && s.Streak > 0:
		return UnfitHealth
	case s.Findings&never != 0:
		return UnfitFinding
	case s.Suspect.Active:
		return UnfitSuspect
	case s.Hold.Held(now):
		return UnfitHeld
	case s.Findings&Row2 != 0:
		return UnfitLastResort
	}
	return Fit
}

// Route is the upstream that a request goes to at now, leaving out those it was
// at already; -1 when there is none (F1). It reads the live state and nothing
// that was computed from it earlier (F2).
func Route(c *Chain, now time.Time, tried Tried) (int, RouteWhy) {
	if p := c.State.Pin; p.Holds(now) && c.upstream(p.Upstream) != nil && !tried.Has(p.Upstream) && c.Fitness(p.Upstream, now) == Fit {
		return p.Upstream, RoutePinned
	}
	backup, last, held, back := -1, -1, -1, -1
	for i := range c.Upstreams {
		if tried.Has(i) {
			continue
		}
		tier := c.Upstreams[i].Tier
		switch c.Fitness(i, now) {
		case Fit:
			if tier == Primary && !c.returning(i, now) {
				return i, RouteFit
			}
			if tier == Primary {
				if back < 0 {
					back = i
				}
				continue
			}
			if backup < 0 {
				backup = i
			}
		case UnfitLastResort:
			if last < 0 || (tier == Primary && c.Upstreams[last].Tier == Backup) {
				last = i
			}
		case UnfitHeld:
			if held < 0 || c.Upstreams[i].State.Hold.Until.Before(c.Upstreams[held].State.Hold.Until) {
				held = i
			}
		case UnfitFinding, UnfitSuspect, UnfitHealth:
		}
	}
	switch {
	case backup >= 0:
		return backup, RouteBackup
	case back >= 0:
		return back, RouteFit
	case last >= 0:
		return last, RouteLast
	case held >= 0:
		return held, RouteHeld
	}
	return -1, RouteNone
}

// returning says that a primary is fit again, but not for long enough to be
// preferred (failback_after, F3).
func (c *Chain) returning(i int, now time.Time) bool {
	s := &c.Upstreams[i].State
	return c.Settings.FailbackAfter > 0 && !s.Back.IsZero() && now.Before(s.Back.Add(c.Settings.FailbackAfter))
}

// routed is where a request would go now, as it is shown.
func (c *Chain) routed(now time.Time) Serving {
	i, why := Route(c, now, 0)
	return Serving{Upstream: i, Why: why, Failover: i >= 0 && c.Upstreams[i].Tier == Backup && why == RouteBackup}
}
