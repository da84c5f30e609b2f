package ui

import (
	"time"

	"chaintop/model"
)

// quietFrom is after how long without a request it is said that none comes.
const quietFrom = 10 * time.Second

// askedOf is what clients asked of a chain in the minute before now: the numbers
// of a window that is over by now are none.
func askedOf(c *model.Chain, now time.Time) model.Traffic {
	t := c.Traffic
	if t.Requests > 0 && now.Sub(t.Last) >= max(t.Window, time.Minute) {
		t = model.Traffic{
			Window: t.Window, Last: t.Last, Total: t.Total, Errors: t.Errors, Refused: t.Refused,
			Streams: t.Streams, Moves: t.Moves, Filled: t.Filled, Gaps: t.Gaps,
		}
	}
	return t
}

// clients is what clients ask of an instance, all chains together. Latencies
// have no sum, so there is none here.
type clients struct {
	gateway   bool // one runs: otherwise nothing is known of clients
	perSecond float64
	failed    int
	retried   int
	hedged    int
	streams   int
	total     uint64
	window    time.Duration // of the counts: the longest of the chains'
	last      int64         // Unix nanoseconds of the last request; 0 = none yet
}

func (s scene) clients() clients { return clientsOf(s.inst, s.now) }

func clientsOf(i *model.Instance, now time.Time) clients {
	sum := clients{gateway: i.Gateway}
	if !i.Gateway {
		return sum
	}
	for _, c := range i.Chains {
		sum.add(askedOf(c, now))
	}
	return sum
}

func (a *clients) add(t model.Traffic) {
	a.perSecond += t.PerSecond()
	a.failed += t.Failed
	a.retried += t.Retried
	a.hedged += t.Hedged
	a.streams += t.Streams
	a.total += t.Total
	a.window = max(a.window, t.Window)
	if !t.Last.IsZero() {
		a.last = max(a.last, t.Last.UnixNano())
	}
}

// quiet is how long no request came, when that is long enough to be said.
func (a clients) quiet(now time.Time) (time.Duration, bool) {
	if a.last == 0 {
		return 0, false
	}
	d := now.Sub(time.Unix(0, a.last))
	return d, d >= quietFrom
}

// words is what the header says of clients: how many requests a second, how many
// of them failed; that none comes, and since when.
func (s scene) clientWords(a clients) []span {
	if !a.gateway {
		return nil
	}
	if d, quiet := a.quiet(s.now); quiet {
		return []span{{text, "0 req/s"}, {dim, ", none for " + model.Age(d)}}
	}
	out := []span{{text, model.PerSecond(a.perSecond) + " req/s"}}
	if a.failed > 0 {
		out = append(out, span{text, "  "}, span{warn, shortCount(uint64(a.failed)) + " failed/min"})
	}
	return out
}

// latencyOf is the median a chain is shown with: how long clients waited in the
// last minute, or, when none asked, the results of checks of the one that serves.
func latencyOf(c *model.Chain, now time.Time) (time.Duration, bool) {
	if t := askedOf(c, now); t.Requests > 0 && t.P50 > 0 {
		return t.P50, true
	}
	if u := servingUpstream(c); u != nil {
		return u.Latency.Quantile(0.5)
	}
	return 0, false
}

// attemptsOf is the part of upstream i in what clients asked in the last minute.
func attemptsOf(c *model.Chain, i int, now time.Time) model.UpstreamTraffic {
	if t := askedOf(c, now); i < len(t.Upstreams) {
		return t.Upstreams[i]
	}
	var was model.UpstreamTraffic
	if i < len(c.Traffic.Upstreams) {
		k := c.Traffic.Upstreams[i]
		was = model.UpstreamTraffic{Streams: k.Streams, Results: k.Results, Answers: k.Answers, Silences: k.Silences, Abandoned: k.Abandoned}
	}
	return was
}

// shortCount is a count in at most five cells or so: 702, 12.9k.
func shortCount(n uint64) string { return heightIn(n, 6) }
