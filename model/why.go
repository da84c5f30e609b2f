package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ReasonCount is how often a reason stands in a probe's tries.
type ReasonCount struct {
	Word string
	N    int
}

// Reasons counts the reasons of the tries that got no result, most frequent
// first, then in order of appearance.
func Reasons(tries []Try) []ReasonCount {
	var out []ReasonCount
	for _, t := range tries {
		if t.Kind == Result || t.Kind == NoOutcome {
			continue
		}
		word := t.Word()
		if i := slices.IndexFunc(out, func(r ReasonCount) bool { return r.Word == word }); i >= 0 {
			out[i].N++
		} else {
			out = append(out, ReasonCount{Word: word, N: 1})
		}
	}
	slices.SortStableFunc(out, func(a, b ReasonCount) int { return b.N - a.N })
	return out
}

// counted writes reasons with a sign between the word and its count, and
// something between one and the next: "refused×4 timeout×2".
func counted(rs []ReasonCount, times, sep string) string {
	parts := make([]string, len(rs))
	for i, r := range rs {
		parts[i] = fmt.Sprintf("%s%s%d", r.Word, times, r.N)
	}
	return strings.Join(parts, sep)
}

// Why is what stands beside a chain's verdict in a table: the reasons of its
// last probe, and what is not as meant of its upstreams.
type Why struct {
	Reasons []ReasonCount // of the last probe's tries, when it got no result

	Sign     Sign          // of Word
	Word     string        // what is not as meant: a finding, "unhealthy", "held", "halted"; empty = nothing
	Detail   string        // of Word: "9m12s", "lag 214"; may be empty
	Upstream int           // whose Word it is; -1 = the chain's, or nothing
	Finding  Finding       // when Word is a finding
	Halted   time.Duration // age of the newest head of a halted chain; 0 = not halted
}

// WhyOf is the Why of c at now.
func WhyOf(c *Chain, now time.Time) Why {
	w := Why{Upstream: -1}
	if c.Last != nil && c.State.Verdict != VerdictHealthy {
		w.Reasons = Reasons(c.Last.Tries)
	}
	if !c.State.Halted.IsZero() {
		w.Sign, w.Word, w.Halted = SignHalted, "halted", now.Sub(c.State.Halted)
		w.Detail = Age(w.Halted)
		return w
	}
	if i := c.worst(now); i >= 0 {
		w.trouble(c, i, now)
	}
	return w
}

// worst is the first upstream with the worst trouble, -1 when there is none.
// Trouble that keeps requests away comes first, what is shown only last; no
// answer is no word here while the chain's own reasons say it.
func (c *Chain) worst(now time.Time) int {
	rank := func(i int) int {
		s := &c.Upstreams[i].State
		switch {
		case s.Findings&Row1 != 0 || s.Suspect.Active:
			return 4
		case s.Health == Unhealthy && c.State.Verdict == VerdictHealthy:
			return 3
		case s.Findings&Row2 != 0 || s.Hold.Held(now):
			return 2
		case s.Findings&Row3 != 0:
			return 1
		}
		return 0
	}
	worst, most := -1, 0
	for i := range c.Upstreams {
		if r := rank(i); r > most {
			worst, most = i, r
		}
	}
	return worst
}

func (w *Why) trouble(c *Chain, i int, now time.Time) {
	s := &c.Upstreams[i].State
	w.Upstream, w.Sign = i, SignWarn
	f, found := s.Findings.Worst()
	if s.Health == Unhealthy && s.Findings&Row1 == 0 {
		w.Word, w.Sign, w.Detail = "unhealthy", SignUnhealthy, s.Last.Word()
		return
	}
	if s.Suspect.Active && s.Findings&Row1 == 0 {
		w.Word, w.Detail = "suspect", string(s.Suspect.Reason)
		return
	}
	if s.Hold.Held(now) {
		w.Word, w.Sign, w.Detail = "held", SignHeld, Countdown(s.Hold.Until, now)
		return
	}
	if !found {
		w.Upstream, w.Sign = -1, SignNone
		return
	}
	w.Word, w.Finding = f.String(), f
	switch f {
	case StaleHead:
		w.Detail = Age(now.Sub(s.HeadSince))
	case Behind, Syncing:
		if s.Lag.Known && s.Lag.Blocks > 0 {
			w.Detail = fmt.Sprintf("lag %d", s.Lag.Blocks)
		}
	case WrongChain:
		w.Detail = "id " + s.Facts.ChainID.Value
	case HeadRegressed:
		w.Detail = fmt.Sprintf("by %d", s.HighHead-min(s.HighHead, s.Facts.Head.Value))
	case Optimistic, ELOffline, NotReady, Gateway, Erroring, AccessDenied, Quota, RateLimited,
		Misconfigured, HeadZero, NoPeers, Pruned, Noncompliant:
	}
}

// Class is how much attention a chain needs; lower sorts first.
type Class uint8

// The classes of "problems first".
const (
	ClassUnhealthyCounts Class = iota // unhealthy, and counts for readiness
	ClassUnhealthy
	ClassUnknown
	ClassInconclusive // inconclusive, or an upstream is held
	ClassHalted
	ClassBackup // on a backup, an upstream unhealthy, or a finding
	ClassHealthy
)

// ClassOf is the class of c at now under a readiness policy.
func ClassOf(c *Chain, p Policy, now time.Time) Class {
	switch {
	case c.State.Health == Unhealthy && p.Counts(c):
		return ClassUnhealthyCounts
	case c.State.Health == Unhealthy:
		return ClassUnhealthy
	case c.State.Health == Unknown:
		return ClassUnknown
	case c.State.Verdict == VerdictInconclusive || c.anyHeld(now):
		return ClassInconclusive
	case !c.State.Halted.IsZero():
		return ClassHalted
	case c.Serving.Why != RouteFit || c.worst(now) >= 0:
		return ClassBackup
	}
	return ClassHealthy
}

func (c *Chain) anyHeld(now time.Time) bool {
	for i := range c.Upstreams {
		if c.Upstreams[i].State.Hold.Held(now) {
			return true
		}
	}
	return false
}

// Head is the height a chain is shown with: its corroborated tip, else the
// highest head of an upstream that is not unhealthy.
func (c *Chain) Head() Fact[uint64] {
	if c.Checks.Tip.Known() {
		return c.Checks.Tip
	}
	var head Fact[uint64]
	for i := range c.Upstreams {
		s := &c.Upstreams[i].State
		if s.Health != Unhealthy && s.Facts.Head.Known() && (!head.Known() || s.Facts.Head.Value > head.Value) {
			head = s.Facts.Head
		}
	}
	return head
}

// Fresh says whether a head is known and young enough to stand without its age:
// said within the last three rounds of checks.
func (c *Chain) Fresh(head Fact[uint64], now time.Time) bool {
	limit := 3*c.Settings.CheckInterval + c.Settings.CheckTimeout
	if limit <= 0 {
		limit = 30 * time.Second
	}
	return head.Known() && now.Sub(head.At) <= limit
}
