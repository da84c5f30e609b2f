package ui

import (
	"strconv"
	"time"

	"chaintop/model"
)

// bar is what the second line says of a drain, real or simulated: everything it
// is drawn from.
type bar struct {
	state     model.DrainState
	mode      model.DrainMode
	simulated bool
	exited    bool
	since     int64 // Unix nanoseconds, as all times here
	drained   int64
	idle      time.Duration
	idleAt    int64         // when it is over if nobody asks any more: of a simulation, its old connections
	exitAt    int64         // of mode immediate
	takes     time.Duration // of a simulation: the forecast; 0 = none yet
	method    string
	chain     int // of the last request, -1 = none
	streams   int
}

// on says whether there is anything to say.
func (b bar) on() bool { return b.state != model.DrainServing }

func barOf(i *model.Instance) bar {
	d := i.Drain
	if d.State == model.DrainServing {
		return bar{}
	}
	a := d.Activity
	b := bar{
		state: d.State, mode: d.Settings.Mode, simulated: d.Simulated, exited: !d.Exited.IsZero(), since: d.Since.UnixNano(),
		drained: d.Drained.UnixNano(), idle: d.Settings.Idle, method: a.Method, chain: a.Chain, streams: a.Streams,
	}
	at := d.IdleAt()
	if d.Simulated {
		at, b.method, b.chain = d.OldIdleAt(), a.OldMethod, a.OldChain
		if !d.OldIdle.IsZero() {
			at, b.takes = d.OldIdle, d.Forecast.Takes()
		}
	}
	if !at.IsZero() {
		b.idleAt = at.UnixNano()
	}
	if d.State == model.Draining && d.Settings.Mode == model.DrainImmediate {
		b.exitAt = d.Due().UnixNano()
	}
	if last := d.Activity.Last; last.IsZero() || d.Simulated && d.Activity.OldLast.IsZero() {
		b.chain, b.method = -1, ""
	}
	return b
}

// quiet is how long nobody asked, of what it takes.
func (b bar) quiet(now time.Time) time.Duration {
	return max(0, min(b.idle-time.Unix(0, b.idleAt).Sub(now), b.idle))
}

// idleBar is time gone in n cells, full only when it is over.
func idleBar(gone, of time.Duration, n int) span {
	k := 0
	if of > 0 {
		k = max(0, min(n, int(time.Duration(n)*gone/of)))
	}
	s := ""
	for i := range n {
		if i < k {
			s += "▰"
		} else {
			s += "▱"
		}
	}
	return span{drain, s}
}

// tenths is a short time to the tenth, a longer one as an age.
func tenths(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	}
	return model.Age(d)
}

// drainState is the second line while the instance drains, really or simulated:
// the word an eye meets first stays what is true.
func (s scene) drainState(sum summary) string {
	b := sum.bar
	var spans []span
	if b.simulated {
		spans = append(s.stateWord(sum), span{text, "  "}, span{drain, markAway + " SIMULATED DRAIN"}, span{text, " " + model.Age(s.now.Sub(time.Unix(0, b.since)))})
	} else {
		spans = s.drainWord(b)
	}
	says := s.drainSays(b)
	for len(says) > 0 && widthOf(spans)+widthOf(says) > s.w-1 {
		says = says[:len(says)-1]
	}
	spans = append(spans, says...)
	p := s.pen
	p.begin(s.w, false)
	p.puts(spans...)
	for hurry := 0; hurry <= mostHurry && s.w >= wideHeader; hurry++ {
		if counts := s.counts(sum, hurry); widthOf(counts)+2 <= p.room() {
			p.blank(p.room() - widthOf(counts))
			p.puts(counts...)
			break
		}
	}
	return p.end()
}

// drainWord is DRAINING or DRAINED, and since when.
func (s scene) drainWord(b bar) []span {
	if b.state == model.Drained {
		return []span{{drain, " " + markDrained + " DRAINED"}, {text, " " + model.Age(s.now.Sub(time.Unix(0, b.drained)))}}
	}
	return []span{{drain, " " + markDraining + " DRAINING"}, {text, " " + model.Age(s.now.Sub(time.Unix(0, b.since)))}}
}

// drainSays is what else there is to say, the first first.
func (s scene) drainSays(b bar) []span {
	switch {
	case b.state == model.Drained && b.exited:
		return []span{{text, "  after " + model.Age(time.Duration(b.drained-b.since))}, {text, " · the process exits"}}
	case b.state == model.Drained:
		return []span{{text, "  after " + model.Age(time.Duration(b.drained-b.since))}, {text, " · listeners close"}, {text, ", in flight finish"}, {text, ", then it exits"}}
	case b.exitAt != 0:
		return []span{{text, "  every request gets 503"}, {text, " · exit in " + model.Countdown(time.Unix(0, b.exitAt), s.now)}}
	}
	if b.takes > 0 {
		return []span{{text, "  a drain takes about " + model.Age(b.takes)}, {dim, " · nothing outside changes"}}
	}
	quiet := b.quiet(s.now)
	says := []span{{text, "  idle "}, idleBar(quiet, b.idle, 6), {text, " " + tenths(quiet) + " of " + model.Every(b.idle)}}
	if b.chain >= 0 && b.chain < len(s.keys) {
		method := b.method
		if method == "" {
			method = "a request"
		}
		says = append(says, span{text, " · " + cut(method, 24) + " on " + s.inst.Chains[b.chain].Name})
	}
	says = append(says, span{text, " · " + countOf(b.streams, "stream")})
	if b.simulated {
		says = append(says[:3], span{dim, " · nothing outside changes"})
	}
	return says
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
