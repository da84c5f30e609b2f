package gateway

import (
	"slices"
	"sync"
	"time"

	"chaintop/model"
)

// slot is what requests saw of one upstream that the core has not heard yet. A
// run of no-answers is kept as a count: the newest alone would lose it (F5).
type slot struct {
	mu     sync.Mutex
	queued bool // it is in told

	run    int       // no-answers in a row, with no byte from it in between
	missed time.Time // when the last of them was seen, by this machine's clock
	reason model.Reason
	fresh  bool // the run grew since it was told

	limit      *model.Outcome // the newest rate limit that was not told
	limitBegan time.Time
	gateway    bool
	result     time.Time
}

// told is what the core has to be told.
type told struct {
	slots  []place
	missed []*route
}

type place struct {
	route    *route
	upstream int
}

// saw notes what an attempt says of its upstream.
func (g *Gateway) saw(c *call, a *answer) {
	rt := c.route
	if a.lost || a.left {
		rt.stats.abandoned(a.upstream)
		return
	}
	now := g.o.Now()
	rt.stats.attempt(now, a.upstream, a.outcome.Kind, a.took)
	o := &a.outcome
	switch {
	case o.Kind == model.NoAnswer:
		g.noAnswer(rt, a.upstream, o.Reason)
	case a.limited():
		limit := a.outcome
		limit.Reason = model.ReasonRateLimit
		g.say(rt, a.upstream, func(s *slot) { s.limit, s.limitBegan = &limit, a.began })
	case o.Kind == model.Answer && o.Findings.Has(model.Gateway):
		g.say(rt, a.upstream, func(s *slot) { s.gateway = true })
	case o.Kind == model.Result:
		rt.methods.took(c.method, a.took)
		if g.o.Picture().Chains[rt.n].Upstreams[a.upstream].State.Hold.Run > 0 {
			g.say(rt, a.upstream, func(s *slot) { s.result = a.began })
		}
	}
}

// stalled notes that a hedge was sent because an upstream is silent to everybody.
func (g *Gateway) stalled(c *call, upstream int, sent time.Time) {
	c.route.stats.attempt(g.o.Now(), upstream, model.NoAnswer, time.Since(sent))
	g.noAnswer(c.route, upstream, model.ReasonStalled)
}

func (g *Gateway) noAnswer(rt *route, upstream int, why model.Reason) {
	g.say(rt, upstream, func(s *slot) {
		if rt.clients[upstream].HeardSince(s.missed) {
			s.run = 0
		}
		s.run++
		s.missed, s.reason, s.fresh = time.Now(), why, true
	})
}

// say changes a slot and sees to it that the core reads it. It waits for
// nobody.
func (g *Gateway) say(rt *route, upstream int, change func(*slot)) {
	s := &rt.slots[upstream]
	s.mu.Lock()
	change(s)
	queued := s.queued
	s.queued = true
	s.mu.Unlock()
	if !queued {
		g.mu.Lock()
		g.told.slots = append(g.told.slots, place{rt, upstream})
		g.mu.Unlock()
	}
	g.wake()
}

// missed notes that a request got no answer from anybody (H3).
func (g *Gateway) missed(rt *route) {
	g.mu.Lock()
	if !slices.Contains(g.told.missed, rt) {
		g.told.missed = append(g.told.missed, rt)
	}
	g.mu.Unlock()
	g.wake()
}

func (g *Gateway) wake() {
	select {
	case g.news <- struct{}{}:
	default: // it is awake
	}
}

// busy notes that there are sums to read.
func (g *Gateway) busy() {
	if g.stirs.Swap(true) {
		return
	}
	g.wake()
}

// News is ready when Take or Sums have something new.
func (g *Gateway) News() <-chan struct{} { return g.news }

// Take is what requests said since the last call that a rule acts on.
func (g *Gateway) Take(now time.Time) []model.Input {
	g.mu.Lock()
	what := g.told
	g.told = told{}
	g.mu.Unlock()
	var all []model.Input
	for _, p := range what.slots {
		all = append(all, p.route.slots[p.upstream].tell(now, p))
	}
	for _, rt := range what.missed {
		all = append(all, model.Missed{At: now, Chain: rt.n})
	}
	return all
}

func (s *slot) tell(now time.Time, p place) model.Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := model.Live{
		At: now, Chain: p.route.n, Upstream: p.upstream,
		Limit: s.limit, LimitBegan: s.limitBegan, Gateway: s.gateway, Result: s.result,
	}
	if s.fresh {
		in.Run, in.Reason = s.run, s.reason
	}
	s.queued, s.fresh, s.limit, s.gateway, s.result = false, false, nil, false, time.Time{}
	return in
}
