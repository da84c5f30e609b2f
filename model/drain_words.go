package model

import "fmt"

// Sign is the mark of a drain's state.
func (s DrainState) Sign() Sign {
	switch s {
	case Draining:
		return SignDraining
	case Drained:
		return SignDrained
	case DrainServing:
	}
	return SignHealthy
}

func (s DrainState) mark() string {
	switch s {
	case Draining:
		return "▼ draining"
	case Drained:
		return "□ drained"
	case DrainServing:
	}
	return "● serving"
}

// ofDrain is a change of the drain in words.
func (l *Line) ofDrain(b DrainChanged) {
	d := b.Drain
	l.Sign, l.What = d.State.Sign(), d.State.String()
	turned := b.From.mark() + " → " + d.State.mark()
	switch b.What {
	case DrainStarted:
		l.Detail = turned + " · " + d.by()
	case DrainFinal:
		l.Detail = d.Who + ": final now"
	case DrainStopped:
		l.Detail = turned
	case DrainReached:
		l.Detail = d.ended()
	case DrainExits:
		l.What, l.Detail = fmt.Sprintf("exit %d", d.Code), d.Cut.words()
	case DrainForced:
		l.What, l.Detail = fmt.Sprintf("exit %d", d.Code), "a second signal · open then: "+d.Cut.open()
	case DrainSimulated:
		l.Sign, l.What, l.Detail = SignSimulated, "simulated drain", d.by()+" · nothing outside changes"
	case DrainOldIdle:
		l.Sign, l.What = SignSimulated, "would have drained"
		l.Detail = d.Forecast.words()
	case DrainSimOver:
		l.Sign, l.What, l.Detail = SignSimulated, "simulation over", "a drain takes longer than it ran"
		if d.Forecast.Known() {
			l.Detail = d.Forecast.sum()
		}
	}
}

// by is who began the drain, and why: "SIGTERM, final", "by oncall · INC-4411".
func (d Drain) by() string {
	if d.By == DrainBySignal {
		return d.Who + ", final"
	}
	text := "by " + d.Who
	if d.Who == "" {
		text = "by command"
	}
	if d.Reason != "" {
		text += " · " + d.Reason
	}
	return text
}

// ended is why and after how long it was drained.
func (d Drain) ended() string {
	after := " after " + Age(d.Drained.Sub(d.Since))
	switch d.End {
	case DrainEndIdle:
		return "idle " + Every(d.Settings.Idle) + " reached" + after
	case DrainEndMax:
		return "drain.max " + Every(d.Settings.Max) + " reached, cuts " + Cut{d.Activity.InFlight, d.Activity.Streams}.open()
	case DrainEndImmediate:
		return "mode immediate" + after
	}
	return ""
}

// words is what an exit cut off.
func (c Cut) words() string {
	return plural(c.Requests, "request") + " cut, " + plural(c.Streams, "stream") + " closed 1001"
}

// open is the same before it is cut.
func (c Cut) open() string {
	return plural(c.Requests, "request") + " and " + plural(c.Streams, "stream")
}

// sum is the forecast in a few words.
func (f Forecast) sum() string {
	text := "a drain takes about " + Age(f.Takes())
	if f.End == DrainEndMax {
		text += ", to its bound,"
	}
	return text + " and cuts " + plural(f.Streams, "stream")
}

// words is the forecast with what it assumes.
func (f Forecast) words() string {
	text := "at " + f.At.UTC().Format("15:04:05") + ", " + Age(f.Takes()) + " after its start"
	switch {
	case f.End == DrainEndMax:
		text += " · its bound"
	case f.NewComes:
		text += " · from the old connections, and new ones for the first " + Every(f.LetsGo) + " (assumed)"
	default:
		text += " · from the old connections"
	}
	return text + " · " + plural(f.Streams, "stream") + " cut"
}
