package gateway

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/model"
)

// The window of the counts: slices of a minute.
const (
	sliceCount = 6
	sliceTime  = 10 * time.Second
	quiet      = 2 * time.Second // without trouble, a trouble is over
	histLeast  = 100 * time.Microsecond
	histStep   = 4 // buckets an octave
	histLength = 80
)

// histogram is how often what took how long: bucket n ends at
// histLeast × 2^(n/histStep).
type histogram [histLength]uint32

func (h *histogram) add(d time.Duration) {
	n := 0
	if d > histLeast {
		n = min(int(math.Ceil(histStep*math.Log2(float64(d)/float64(histLeast)))), histLength-1)
	}
	h[n]++
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o {
		h[i] += n
	}
}

// quantile is the q-th quantile, to a fifth of it; 0 when there is nothing.
func (h *histogram) quantile(q float64) time.Duration {
	total := uint32(0)
	for _, n := range h {
		total += n
	}
	if total == 0 {
		return 0
	}
	left := uint32(math.Ceil(q * float64(total)))
	for i, n := range h {
		if n >= left {
			return time.Duration(float64(histLeast) * math.Exp2((float64(i)-0.5)/histStep))
		}
		left -= n
	}
	return 0
}

// slice is what was counted in ten seconds.
type slice struct {
	from                              time.Time
	requests, failed, retried, hedged int
	took                              histogram
	upstreams                         []upstreamSlice
}

type upstreamSlice struct {
	requests, noAnswers int
	took                histogram
}

// stats is what clients asked of one chain. Its lock is held for a few
// additions.
type stats struct {
	heard atomic.Int64 // when a client last got a result, unix ns; 0 = never

	mu      sync.Mutex
	ring    []slice // made with the first request
	at      int     // the newest of ring
	started time.Time
	now     model.Traffic // its totals
	felt    model.Felt    // the trouble that goes on; zero = none
	trouble time.Time     // when it was last felt
	over    *model.Felt   // a trouble that is over and was not told
	shown   bool          // the last sums had requests in them
}

func (s *stats) open(upstreams int) { s.now.Upstreams = make([]model.UpstreamTraffic, upstreams) }

// slice is the slice of now. Called with the lock held.
func (s *stats) slice(now time.Time) *slice {
	if s.ring == nil {
		s.ring = make([]slice, sliceCount)
		for i := range s.ring {
			s.ring[i].upstreams = make([]upstreamSlice, len(s.now.Upstreams))
		}
		s.started = now
	}
	cur := &s.ring[s.at]
	if cur.from.IsZero() {
		cur.from = now
	}
	if now.Sub(cur.from) < sliceTime {
		return cur
	}
	s.at = (s.at + 1) % sliceCount
	cur = &s.ring[s.at]
	clear(cur.upstreams)
	*cur = slice{from: now, upstreams: cur.upstreams}
	return cur
}

// asked counts a request that came.
func (s *stats) asked(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slice(now).requests++
	s.now.Total++
	s.now.Last = now
}

func (s *stats) refused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Refused++
}

// served is what became of a request.
type served struct {
	took                    time.Duration
	failed, retried, hedged bool
}

func (s *stats) served(now time.Time, r served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cur := s.slice(now)
	cur.took.add(r.took)
	if r.failed {
		cur.failed++
		s.now.Errors++
	}
	if r.retried {
		cur.retried++
	}
	if r.hedged {
		cur.hedged++
	}
	if r.failed || r.retried || r.hedged {
		s.feel(now, r)
	}
}

// feel adds to the trouble that clients feel, which begins here if none goes on.
func (s *stats) feel(now time.Time, r served) {
	s.close(now)
	if s.felt.Began.IsZero() {
		s.felt.Began = now.Add(-r.took)
	}
	s.trouble = now
	switch {
	case r.failed:
		s.felt.Failed++
	case r.retried:
		s.felt.Retried++
	default:
		s.felt.Hedged++
	}
	if !r.failed {
		s.felt.Slowest = max(s.felt.Slowest, r.took)
	}
}

// close ends the trouble that nobody felt for a while.
func (s *stats) close(now time.Time) {
	if s.felt.Began.IsZero() || now.Sub(s.trouble) < quiet {
		return
	}
	over := s.felt
	over.Ended = s.trouble
	s.over, s.felt = &over, model.Felt{}
}

// attempt counts an attempt at an upstream.
func (s *stats) attempt(now time.Time, upstream int, kind model.OutcomeKind, took time.Duration) {
	if kind == model.Result {
		s.heard.Store(now.UnixNano())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, t := &s.slice(now).upstreams[upstream], &s.now.Upstreams[upstream]
	u.requests++
	switch kind {
	case model.Result:
		t.Results++
		u.took.add(took)
	case model.Answer:
		t.Answers++
	case model.NoAnswer:
		t.Silences++
		u.noAnswers++
	case model.NoOutcome:
	}
}

func (s *stats) abandoned(upstream int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Upstreams[upstream].Abandoned++
}

// sums is the traffic of the last minute; ok is false when there is none and
// that was said.
func (s *stats) sums(now time.Time) (t model.Traffic, felt *model.Felt, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ring == nil {
		return t, nil, false
	}
	s.close(now)
	t = s.now
	t.Upstreams = append([]model.UpstreamTraffic(nil), s.now.Upstreams...)
	var took histogram
	by := make([]histogram, len(t.Upstreams))
	oldest := now
	for i := range s.ring {
		cur := &s.ring[i]
		if cur.from.IsZero() || now.Sub(cur.from) >= sliceCount*sliceTime {
			continue
		}
		if cur.from.Before(oldest) {
			oldest = cur.from
		}
		t.Requests += cur.requests
		t.Failed += cur.failed
		t.Retried += cur.retried
		t.Hedged += cur.hedged
		took.merge(&cur.took)
		for u := range cur.upstreams {
			t.Upstreams[u].Requests += cur.upstreams[u].requests
			t.Upstreams[u].NoAnswers += cur.upstreams[u].noAnswers
			by[u].merge(&cur.upstreams[u].took)
		}
	}
	t.Window = now.Sub(oldest)
	t.P50, t.P95 = took.quantile(0.5), took.quantile(0.95)
	for u := range by {
		t.Upstreams[u].P50, t.Upstreams[u].P95 = by[u].quantile(0.5), by[u].quantile(0.95)
	}
	felt, s.over = s.over, nil
	ok = t.Requests > 0 || s.shown || felt != nil || !s.felt.Began.IsZero()
	s.shown = t.Requests > 0
	return t, felt, ok
}

// Sums is what clients asked of the chains that had traffic in the last minute.
func (g *Gateway) Sums(now time.Time) (model.Sums, bool) {
	g.stirs.Store(false)
	out := model.Sums{At: now}
	for _, rt := range g.routes {
		t, felt, ok := rt.stats.sums(now)
		if news := rt.streams.sums(&t, len(rt.upstream)); !ok && !news {
			continue
		}
		t.HedgeAfter = rt.hedgeShown()
		out.Chains = append(out.Chains, model.ChainSums{Chain: rt.n, Heard: g.Heard(rt.n), Traffic: t, Felt: felt})
	}
	return out, len(out.Chains) > 0
}

// Heard is when a client last got a result from a chain, zero for never (H3).
func (g *Gateway) Heard(chain int) time.Time {
	ns := g.routes[chain].stats.heard.Load()
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).In(g.o.Now().Location())
}
