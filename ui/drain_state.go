package ui

import (
	"fmt"
	"time"

	"chaintop/model"
)

// idleCells is the cells of an idle bar in Drain.
const idleCells = 10

// drainRule is the rule above the state of the drain.
func (m *Model) drainRule(s scene) string {
	d := s.inst.Drain
	set := d.Settings
	switch phaseOf(d) {
	case phaseSimulated:
		return s.rule("by "+orDash(d.Who)+" "+s.when(d.Since)+" · d stops it", span{drain, "SIMULATED DRAIN"})
	case phaseDraining:
		by := "by " + orDash(d.Who)
		if d.By == model.DrainBySignal {
			by = d.Who
		}
		return s.rule(by+" "+s.when(d.Since)+" · "+s.inst.Version, span{drain, "DRAIN"})
	case phaseServing:
	}
	if !m.listens() {
		return s.rule("", span{text, "DRAIN"})
	}
	most := "none"
	if set.Max > 0 {
		most = model.Every(set.Max)
	}
	says := "mode " + set.Mode.String() + " · idle " + model.Every(set.Idle) + " · max " + most
	if set.Mode == model.DrainImmediate {
		says = "mode immediate · " + model.Every(set.Immediate)
	}
	return s.rule(says, span{text, "DRAIN"})
}

// fact of the drain: a label and what there is to say.
func drainLine(label string, spans ...span) []span {
	return append([]span{{text, " "}, {dim, label}, {text, gapTo(width(label), drainLabel-1)}}, spans...)
}

// drainLabel is the cells of a label in Drain, and the one before it.
const drainLabel = 10

// drainLines are the state of the drain, line by line.
func (m *Model) drainLines(s scene) [][]span {
	d := s.inst.Drain
	lines := [][]span{drainLine("STATE", m.drainStands(s, d)...)}
	if !m.listens() {
		return lines
	}
	lines = append(lines, s.idleLines(d)...)
	if s.inst.Gateway {
		lines = append(lines, drainLine("LAST", span{text, s.lastAsked(d)}), drainLine("OPEN", span{text, s.openNow(d)}))
	}
	switch phaseOf(d) {
	case phaseServing:
		return append(lines, drainLine("FORECAST", span{text, s.forecastWords(d)}))
	case phaseDraining:
		lines = append(lines, drainLine("TRAFFIC", span{text, s.drainTraffic(d)}))
	case phaseSimulated:
	}
	if d.State == model.Drained {
		return lines
	}
	return append(lines, drainLine("BOUND", span{text, s.boundWords(d)}))
}

// forecastWords is how long a drain takes, once one was simulated.
func (s scene) forecastWords(d model.Drain) string {
	if f := d.Forecast; f.Known() {
		return s.fitting("a drain takes about "+model.Age(f.Takes()), "cuts "+countOf(f.Streams, "stream"), "simulated "+model.Age(s.now.Sub(later(f.At, f.Over)))+" ago")
	}
	return model.DiagnoseDrain(s.inst, s.now).Next.Long
}

// listens says whether there is anything that a drain would end: a process that
// only watches has no clients and no readiness that somebody reads.
func (m *Model) listens() bool { return m.o.Serves || m.o.Remote != nil || m.inst.Gateway }

// drainStands is the state in words, and what a probe of it gets.
func (m *Model) drainStands(s scene, d model.Drain) []span {
	ready := "/readyz 503"
	if model.Ready(s.inst, s.inst.Policy).Ready {
		ready = "/readyz 200"
	}
	if !m.listens() {
		return []span{{good, markHealthy + " running"}, {text, " · nothing listens in this process, so nobody is sent here"}}
	}
	switch {
	case d.Simulated:
		return []span{{drain, markAway + " would be draining"}, {text, " · really: " + ready + " · /healthz 200"}}
	case d.State == model.Drained && !d.Exited.IsZero():
		return []span{{drain, markDrained + " drained"}, {text, fmt.Sprintf(" · exit %d at %s · %s", d.Code, s.clock(d.Exited), cutWords(d.Cut))}}
	case d.State == model.Drained:
		return []span{{drain, markDrained + " drained"}, {text, " · listeners close · in flight finish · streams get 1001"}}
	case d.Refuses():
		return []span{{drain, markDraining + " draining"}, {text, " · /readyz 503 · /healthz 503 · every request is refused"}}
	case d.State == model.Draining:
		return []span{{drain, markDraining + " draining"}, {text, " · " + ready + " · /healthz 200 · requests are still served"}}
	}
	return []span{{good, markHealthy + " serving"}, {text, " · " + ready + " · /healthz 200"}}
}

func cutWords(c model.Cut) string {
	return countOf(c.Requests, "request") + " cut, " + countOf(c.Streams, "stream") + " closed 1001"
}

// idleLines are the idle timers.
func (s scene) idleLines(d model.Drain) [][]span {
	set, a := d.Settings, d.Activity
	if set.Mode == model.DrainImmediate {
		return [][]span{drainLine("IDLE", span{text, "mode immediate waits for nobody"})}
	}
	says := func(parts ...string) span {
		on := s
		on.w -= idleCells + 1
		return span{text, " " + on.fitting(parts...)}
	}
	timer := func(at time.Time, parts ...string) []span {
		quiet := max(0, min(set.Idle-at.Sub(s.now), set.Idle))
		return []span{idleBar(quiet, set.Idle, idleCells), says(append([]string{tenths(quiet) + " of " + model.Every(set.Idle)}, parts...)...)}
	}
	const onlyOld = "connections older than the simulation"
	longest := ""
	if a.Quiet > 0 {
		longest = "longest quiet " + tenths(a.Quiet)
	}
	switch {
	case d.Simulated:
		old := timer(d.OldIdleAt(), onlyOld)
		if !d.OldIdle.IsZero() {
			old = []span{idleBar(1, 1, idleCells), says("since "+s.when(d.OldIdle), onlyOld)}
		}
		return [][]span{drainLine("IDLE", old...), drainLine("", timer(d.IdleAt(), "all traffic, as it still comes")...)}
	case d.State == model.Drained:
		return [][]span{drainLine("IDLE", idleBar(1, 1, idleCells), says("over at "+s.when(d.Drained), "after "+model.Age(d.Drained.Sub(d.Since)), endWords[d.End]))}
	case d.State == model.Draining:
		return [][]span{drainLine("IDLE", timer(d.IdleAt(), longest, "bumped by "+countOf(a.Requests, "request"))...)}
	case !s.inst.Gateway:
		return [][]span{drainLine("IDLE", span{text, "this instance runs no gateway: a drain meets no client, and takes " + model.Every(set.Idle)})}
	case a.Last.IsZero():
		return [][]span{drainLine("IDLE", span{text, "no client has asked yet"})}
	}
	if longest == "" {
		longest = "nothing is known of the time before"
	} else {
		longest += " in the last 5m"
	}
	return [][]span{drainLine("IDLE", timer(a.Last.Add(set.Idle), longest)...)}
}

// endWords are why a drain was over.
var endWords = map[model.DrainEnd]string{
	model.DrainEndIdle: "nobody asked", model.DrainEndMax: "at its bound", model.DrainEndImmediate: "mode immediate",
}

// lastAsked is the last request that bumped the timer: of a simulation the last
// on an old connection.
func (s scene) lastAsked(d model.Drain) string {
	a := d.Activity
	last, method, kind, chain, client, where := a.Last, a.Method, a.Kind, a.Chain, a.Client, ""
	if d.Simulated {
		last, method, kind, chain, client, where = a.OldLast, a.OldMethod, a.OldKind, a.OldChain, a.OldClient, " on an old connection"
	}
	if last.IsZero() {
		if d.Simulated {
			return "none came on an old connection"
		}
		return "none came yet"
	}
	ago := "now"
	if d := s.now.Sub(last); d >= 100*time.Millisecond {
		ago = tenths(d) + " ago"
	}
	parts := []string{ago + where, method, string(kind)}
	if client != "" {
		parts = append(parts, "from "+client)
	}
	if chain >= 0 && chain < len(s.keys) {
		parts = append(parts, s.keys[chain])
	}
	return s.fitting(parts...)
}

// fitting is the first of the parts, and those after it that there is room for
// beside a label.
func (s scene) fitting(parts ...string) string {
	says := parts[0]
	for _, part := range parts[1:] {
		if part != "" && drainLabel+width(says)+width(" · "+part) < s.w {
			says += " · " + part
		}
	}
	return says
}

// openNow is what would be cut.
func (s scene) openNow(d model.Drain) string {
	a := d.Activity
	parts := []string{countOf(a.Streams, "stream"), fmt.Sprintf("%d in flight", a.InFlight)}
	if a.Streams == 0 {
		return s.fitting(parts...)
	}
	count := " (not counted)"
	if d.Settings.CountMessages {
		count = " (counted)"
	}
	message := "no message yet"
	if !a.Message.IsZero() {
		message = "last message " + model.Age(s.now.Sub(a.Message)) + " ago"
	}
	parts = append(parts, message+count)
	if !a.Oldest.IsZero() {
		parts = append(parts, "the oldest "+model.Age(s.now.Sub(a.Oldest)))
	}
	return s.fitting(parts...)
}

// drainTraffic is what still comes.
func (s scene) drainTraffic(d model.Drain) string {
	if !s.inst.Gateway {
		return "this instance runs no gateway: it sees no client"
	}
	sum := s.clients()
	fresh := "no new connection"
	if a := d.Activity; a.NewConn.After(d.Since) {
		fresh = "no new connection for " + model.Age(s.now.Sub(a.NewConn))
	}
	return s.fitting(model.PerSecond(sum.perSecond)+" req/s in the last minute", shortCount(uint64(sum.failed))+" failed", fresh)
}

// boundWords is when it ends at the latest.
func (s scene) boundWords(d model.Drain) string {
	most := d.Settings.Max
	if d.Settings.Mode == model.DrainImmediate {
		return s.when(d.Due()) + ", in " + model.Countdown(d.Due(), s.now) + " (drain.immediate " + model.Every(d.Settings.Immediate) + ")"
	}
	if most == 0 {
		if d.Simulated {
			return "none (drain.max 0s)"
		}
		return "none (drain.max 0s): this drain has no end of its own"
	}
	if at := d.BoundAt(); !at.IsZero() {
		return s.when(at) + ", in " + model.Countdown(at, s.now) + " (drain.max " + model.Every(most) + ")"
	}
	return "drain.max " + model.Every(most)
}

// forecastLines are what a real drain would have done, step by step.
func (m *Model) forecastLines(s scene) [][]span {
	d := s.inst.Drain
	if !d.Simulated {
		return nil
	}
	set, f := d.Settings, d.Forecast
	step := func(at time.Time, says string) []span {
		after := "+" + model.Age(at.Sub(d.Since))
		return []span{{text, " "}, {text, after}, {text, gapTo(width(after), 10)}, {dim, s.when(at)}, {text, " " + says}}
	}
	lines := [][]span{
		step(d.Since, "/readyz 503, /healthz 200"),
		step(d.Since.Add(set.LetsGo()), fmt.Sprintf("who reads /readyz lets go (assumed: every %s, %d failures)", model.Every(set.ReadyPeriod), set.ReadyFailures)),
	}
	if !f.Known() {
		return append(lines, []span{{text, " "}, {hold, unknownValue + "         " + unknownValue + "        " + " not known yet: an old connection has to be quiet for " + model.Every(set.Idle)}})
	}
	if !f.Last.IsZero() {
		lines = append(lines, step(f.Last, fmt.Sprintf("last request on an old connection · %d of them, %s", f.Requests, countOf(f.Clients, "client"))))
	}
	end := "drained: listeners close, in flight finish, exit 0"
	if f.End == model.DrainEndMax {
		end = "its bound, drain.max " + model.Every(set.Max) + ": listeners close, exit 0"
	}
	cuts := countOf(f.Streams, "stream") + " would get close 1001"
	if f.Streams > 0 && f.Client != "" && !f.Message.IsZero() {
		cuts += "; " + f.Client + " used one " + model.Age(s.now.Sub(f.Message)) + " ago"
	}
	return append(lines, step(f.At, end), step(f.At, cuts))
}

func (m *Model) forecast(s scene, lines []string, n int) []string {
	lines = append(lines, s.rule("what a real drain would have done", span{text, "FORECAST"}),
		s.plain(span{dim, " AT        CLOCK    WHAT"}))
	for _, l := range m.flow.steps[:n] {
		lines = append(lines, s.plain(l...))
	}
	return lines
}
