package ui

import (
	"fmt"
	"strconv"
	"time"

	"chaintop/model"
)

// upstreamColumns are the columns of a table of upstreams; 0 = not shown. What
// is left over goes to fit.
type upstreamColumns struct {
	name, tier, health, fall, head, age, lag, asks, silent, p50, p95, rate, checked, streams, fit int
}

// columnFrom is a column, and the width of the window it is shown from.
type columnFrom struct {
	from int
	to   *int
	w    int
}

// upstreamColumnsAt are the columns at a width of w cells; where a gateway runs
// what clients ask goes before what checks cost.
func upstreamColumnsAt(w int, gateway bool) upstreamColumns {
	c := upstreamColumns{name: 10, tier: 7, health: 11}
	grows := []columnFrom{{66, &c.fall, 5}, {72, &c.head, 11}, {80, &c.age, 6}, {80, &c.lag, 4}, {120, &c.name, 12}}
	if gateway {
		grows = append(grows, columnFrom{88, &c.asks, 5}, columnFrom{96, &c.silent, 6}, columnFrom{104, &c.p50, 5},
			columnFrom{112, &c.p95, 5}, columnFrom{130, &c.streams, 7}, columnFrom{138, &c.rate, 7}, columnFrom{146, &c.checked, 7})
	} else {
		grows = append(grows, columnFrom{88, &c.p50, 5}, columnFrom{96, &c.rate, 7}, columnFrom{104, &c.p95, 5}, columnFrom{112, &c.checked, 7})
	}
	for _, grow := range grows {
		if w >= grow.from {
			*grow.to = grow.w
		}
	}
	c.fit = w - 1
	for _, n := range []int{c.name, c.tier, c.health, c.fall, c.head, c.age, c.lag, c.asks, c.silent, c.p50, c.p95, c.rate, c.checked, c.streams} {
		if n > 0 {
			c.fit -= n + 1
		}
	}
	return c
}

// upstreamHeading is the line above a table of upstreams.
func (s scene) upstreamHeading(c upstreamColumns) string {
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, "UPSTREAM", c.name+1)
	p.left(dim, "TIER", c.tier+1)
	p.left(dim, "HEALTH", c.health)
	s.headOf("FALL", c.fall)
	s.headOf("HEAD", c.head)
	s.headOf("AGE", c.age)
	s.headOf("LAG", c.lag)
	s.headOf("REQ/S", c.asks)
	s.headOf("NO ANS", c.silent)
	s.headOf("P50", c.p50)
	s.headOf("P95", c.p95)
	s.headOf("STREAMS", c.streams)
	s.headOf("REQ/MIN", c.rate)
	s.headOf("CHECKED", c.checked)
	p.blank(1)
	p.left(dim, "FIT FOR TRAFFIC", c.fit)
	return p.end()
}

// upstream is the row of upstream i of a chain.
func (s scene) upstream(c upstreamColumns, chain *model.Chain, i int, selected bool) string {
	u := &chain.Upstreams[i]
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	p.left(text, cutMiddle(u.Name, c.name), c.name+1)
	p.left(text, u.Tier.String(), c.tier+1)
	s.healthCell(u.State.Health, c.health)
	s.upstreamNumbers(c, chain, i)
	p.blank(1)
	p.open(c.fit)
	p.puts(s.fitness(chain, i, c.fit)...)
	p.shut()
	return p.end()
}

func (s scene) upstreamNumbers(c upstreamColumns, chain *model.Chain, i int) {
	u := &chain.Upstreams[i]
	head, age, checked, asked := unknownValue, unknownValue, unknownValue, unknownValue
	if u.State.Facts.Head.Known() {
		head = heightIn(u.State.Facts.Head.Value, c.head)
		if !u.State.HeadSince.IsZero() {
			age = model.Age(s.now.Sub(u.State.HeadSince))
		}
	}
	if at := u.State.Last.At; !at.IsZero() {
		checked = model.Age(s.now.Sub(at))
	}
	if n, ok := u.Asked.PerMinute(s.now); ok {
		asked = strconv.Itoa(n)
	}
	s.number(strconv.Itoa(u.State.Streak)+"/"+strconv.Itoa(chain.Settings.Fall), c.fall)
	s.number(head, c.head)
	s.number(age, c.age)
	s.number(lagIn(u.State.Lag, c.lag), c.lag)
	asks := attemptsOf(chain, i, s.now)
	s.number(s.attempts(chain, asks), c.asks)
	if c.silent > 0 {
		r := text
		if asks.NoAnswers > 0 {
			r = bad
		}
		s.pen.right(r, heightIn(uint64(asks.NoAnswers), c.silent), c.silent+1)
	}
	s.number(s.quantile(chain, i, 0.5, c.p50), c.p50)
	s.number(s.quantile(chain, i, 0.95, c.p95), c.p95)
	s.number(strconv.Itoa(asks.Streams), c.streams)
	s.number(asked, c.rate)
	s.number(checked, c.checked)
}

// attempts is how many requests a second go to an upstream.
func (s scene) attempts(c *model.Chain, t model.UpstreamTraffic) string {
	return model.PerSecond(model.Traffic{Requests: t.Requests, Window: c.Traffic.Window}.PerSecond())
}

// quantile is a latency of upstream i, not computed where it is not shown: how
// long clients waited for it, or, when none asked, its checks.
func (s scene) quantile(c *model.Chain, i int, q float64, w int) string {
	if w <= 0 {
		return unknownValue
	}
	if t := attemptsOf(c, i, s.now); t.Requests > 0 && t.P50 > 0 {
		if q > 0.5 {
			return model.Took(t.P95)
		}
		return model.Took(t.P50)
	}
	return ofChecks(&c.Upstreams[i], q)
}

// ofChecks is a latency of the results of an upstream's checks and tries.
func ofChecks(u *model.Upstream, q float64) string {
	if d, ok := u.Latency.Quantile(q); ok {
		return model.Took(d)
	}
	return unknownValue
}

// fitness says whether upstream i may be given a request now, and why not, in w
// cells: what there is no room for is left out.
func (s scene) fitness(chain *model.Chain, i, w int) []span {
	st := &chain.Upstreams[i].State
	more := func(r role, mark, word, more string) []span {
		if width(mark)+width(word)+width(more) > w {
			more = ""
		}
		return []span{{r, mark}, {text, word + more}}
	}
	switch chain.Fitness(i, s.now) {
	case model.UnfitHeld:
		word := ""
		if f, ok := (st.Findings & limits).Worst(); ok {
			word = " " + f.String()
		}
		return more(hold, markHeld+" held", " "+model.Countdown(st.Hold.Until, s.now), word)
	case model.UnfitHealth:
		return s.unwell(st, w)
	case model.UnfitFinding:
		if f, ok := (st.Findings & model.Row1).Worst(); ok {
			return more(warn, markWarn, " no: "+f.String(), s.since(st, f))
		}
	case model.UnfitSuspect:
		return more(warn, markWarn, " no: suspect", suspicion(st.Suspect, s.now))
	case model.UnfitLastResort:
		if f, ok := (st.Findings & model.Row2).Worst(); ok {
			return more(warn, markWarn, " last: "+f.String(), "")
		}
	case model.Fit:
		if chain.Serving.Upstream == i {
			return more(good, markHealthy, " yes", ", serving")
		}
		return more(good, markHealthy, " yes", "")
	}
	return more(warn, markWarn, " no", "")
}

// suspicion is why an upstream is suspect, and how long it stays so once a check
// has passed.
func suspicion(k model.Suspect, now time.Time) string {
	if !k.Until.IsZero() {
		return " " + model.Countdown(k.Until, now)
	}
	if k.Missed > 0 && k.Reason != "" {
		return fmt.Sprintf(" %s×%d", k.Reason, k.Missed)
	}
	return ""
}

// limits are the findings that come with a hold.
var limits = model.FindingSet(model.RateLimited, model.Quota)

// unwell says what the last check of an upstream without health brought; how
// long that took gives way first.
func (s scene) unwell(st *model.UpstreamState, w int) []span {
	last := st.Last
	if last.Kind != model.NoAnswer && last.Kind != model.Answer {
		return []span{{bad, markUnreachable}, {text, " not healthy"}}
	}
	word, took, layer := " "+last.Word(), "", ""
	if last.Kind == model.NoAnswer && last.Took > 0 {
		took = " " + model.Took(last.Took)
	}
	if last.Evidence.Layer != "" {
		layer = " at " + string(last.Evidence.Layer)
	}
	if 1+width(word)+width(took)+width(layer) > w {
		took = ""
	}
	return []span{{outcomeRole(last.Kind), markUnreachable}, {text, word + took + layer}}
}

// since is the age of a finding about a head that stands still.
func (s scene) since(st *model.UpstreamState, f model.Finding) string {
	if f == model.StaleHead && !st.HeadSince.IsZero() {
		return " " + model.Age(s.now.Sub(st.HeadSince))
	}
	if f == model.Behind && st.Lag.Known {
		return fmt.Sprintf(" %d", st.Lag.Blocks)
	}
	return ""
}

// upstreamsKey is what the pane of a selection's upstreams is drawn from.
type upstreamsKey struct {
	era    uint64
	second int64
	chain  *model.Chain
	rows   int
}

// upstreamsOf appends the upstreams of the selected chain, heading and n rows.
func (m *Model) upstreamsOf(s scene, lines []string, n int) []string {
	key := upstreamsKey{m.draw.era, m.asOf.Unix(), m.chain(), n}
	return append(lines, m.draw.ups.of(key, func(l []string) []string {
		c := upstreamColumnsAt(s.w, s.inst.Gateway)
		l = append(l, s.upstreamHeading(c))
		if key.chain == nil {
			return s.pad(l, n)
		}
		total := len(key.chain.Upstreams)
		for i := range n {
			switch {
			case i == n-1 && total > n:
				l = append(l, s.plain(span{dim, fmt.Sprintf(" +%d more", total-n+1)}))
			case i < total:
				l = append(l, s.upstream(c, key.chain, i, false))
			default:
				l = append(l, s.plain())
			}
		}
		return l
	})...)
}
