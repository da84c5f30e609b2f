package ops

import (
	"chaintop/model"
)

// The closed sets that are labels.
var (
	healths  = []model.Health{model.Unknown, model.Healthy, model.Unhealthy}
	verdicts = []model.Verdict{model.VerdictHealthy, model.VerdictInconclusive, model.VerdictUnreachable}
	routes   = []model.RouteWhy{model.RouteFit, model.RoutePinned, model.RouteBackup, model.RouteLast, model.RouteHeld, model.RouteNone}
)

func (s scrape) chain(i *model.Instance, c *model.Chain, name string) {
	for _, h := range healths {
		s.flag(chainHealth, c.State.Health == h, name, h.String())
	}
	for _, v := range verdicts {
		s.flag(chainVerdict, c.State.Verdict == v, name, v.String())
	}
	s.flag(chainCounted, i.Policy.Counts(c), name)
	next := 0.0
	if c.Probe == nil {
		next = c.State.Next.At.Sub(s.now).Seconds()
	}
	s.put(chainNext, next, name)
	s.flag(chainFlying, c.Probe != nil, name)
	s.time(chainHeard, c.State.Heard.At, name)
	s.head(chainHead, chainHeadTime, c.Head(), name)
	s.flag(chainHalted, !c.State.Halted.IsZero(), name)

	to, why := model.Route(c, s.now, 0)
	for _, r := range routes {
		s.flag(chainRoute, why == r, name, string(r))
	}
	s.flag(chainFailover, c.Serving.Failover, name)
	if to >= 0 {
		s.lag(chainLag, c.Upstreams[to].State.Lag, name)
	}
}

// head leaves out a height that nobody reported: unknown is never zero (V7).
func (s scrape) head(height, at *family, f model.Fact[uint64], labels ...string) {
	if f.Known() {
		s.put(height, float64(f.Value), labels...)
		s.time(at, f.At, labels...)
	}
}

func (s scrape) lag(f *family, l model.Lag, labels ...string) {
	if l.Known {
		s.put(f, float64(l.Blocks), labels...)
	}
}

func (s scrape) probes(n chainCounts, name string) {
	for _, v := range verdicts {
		s.put(chainProbes, float64(n.probes[v]), name, v.String())
	}
}

func (s scrape) upstreams(c *model.Chain, n chainCounts, chain string, names []string) {
	serves, _ := model.Route(c, s.now, 0)
	pin := c.State.Pin
	for i := range c.Upstreams {
		u, name := &c.Upstreams[i], names[i]
		s.put(upstreamInfo, 1, chain, name, u.Tier.String())
		s.flag(upstreamServing, i == serves, chain, name)
		s.flag(upstreamPinned, pin.Holds(s.now) && pin.Upstream == i, chain, name)
		s.upstream(&u.State, chain, name)
		if i < len(n.upstreams) {
			s.tries(&n.upstreams[i], chain, name)
		}
	}
}

func (s scrape) upstream(st *model.UpstreamState, chain, name string) {
	for _, h := range healths {
		s.flag(upstreamHealth, st.Health == h, chain, name, h.String())
	}
	s.put(upstreamStreak, float64(st.Streak), chain, name)
	for _, f := range st.Findings.List() {
		s.put(upstreamFinding, 1, chain, name, f.String())
	}
	held := 0.0
	if st.Hold.Held(s.now) {
		held = st.Hold.Until.Sub(s.now).Seconds()
	}
	s.put(upstreamHeld, held, chain, name)
	s.flag(upstreamSuspect, st.Suspect.Active, chain, name)
	s.head(upstreamHead, upstreamHeadTime, st.Facts.Head, chain, name)
	s.lag(upstreamLag, st.Lag, chain, name)
}

func (s scrape) traffic(c *model.Chain, chain string, names []string) {
	t := &c.Traffic
	s.put(gatewayRequests, float64(t.Total), chain)
	s.put(gatewayFailed, float64(t.Errors), chain)
	s.put(gatewayRefused, float64(t.Refused), chain)
	s.put(gatewayStreams, float64(t.Streams), chain)
	s.put(gatewayMoves, float64(t.Moves), chain)
	s.put(gatewayFilled, float64(t.Filled), chain)
	s.put(gatewayGaps, float64(t.Gaps), chain)
	for i, name := range names {
		var u model.UpstreamTraffic // nobody was sent there yet
		if i < len(t.Upstreams) {
			u = t.Upstreams[i]
		}
		s.put(gatewayAttempts, float64(u.Results), chain, name, model.Result.String())
		s.put(gatewayAttempts, float64(u.Answers), chain, name, model.Answer.String())
		s.put(gatewayAttempts, float64(u.Silences), chain, name, model.NoAnswer.String())
		s.put(gatewayAttempts, float64(u.Abandoned), chain, name, "abandoned")
	}
}
