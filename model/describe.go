package model

import (
	"fmt"
	"strings"
	"time"
)

// Sign is the mark a word is shown with; never a mark without its word.
type Sign uint8

// The signs. Their glyphs and colours are the screen's.
const (
	SignNone         Sign = iota
	SignHealthy           // healthy, READY
	SignUnhealthy         // unhealthy, NOT READY
	SignUnknown           // unknown
	SignPass              // verdict healthy
	SignInconclusive      // verdict inconclusive
	SignUnreachable       // verdict unreachable
	SignWarn              // BACKUP, a finding
	SignHalted            // every head is old
	SignHeld              // a rate limit's pause
	SignCommand           // somebody asked
	SignDraining          // draining
	SignDrained           // drained
	SignSimulated         // a simulated drain
)

// Sign is the mark of a health.
func (h Health) Sign() Sign {
	switch h {
	case Healthy:
		return SignHealthy
	case Unhealthy:
		return SignUnhealthy
	case Unknown:
	}
	return SignUnknown
}

// Sign is the mark of a verdict.
func (v Verdict) Sign() Sign {
	switch v {
	case VerdictHealthy:
		return SignPass
	case VerdictInconclusive:
		return SignInconclusive
	case VerdictUnreachable:
		return SignUnreachable
	case NoVerdict:
	}
	return SignUnknown
}

// Line is one event in words, for an events pane and for plain output.
type Line struct {
	At      time.Time
	Subject string // chain, chain/upstream, instance or who
	Sign    Sign
	What    string // one or a few words
	Detail  string // may be empty
}

// Describe is the change e in words, as it reads in the picture i. Readings,
// and the steps of a probe that its end sums up, have no line.
func Describe(i *Instance, e Event) (Line, bool) {
	l := Line{At: e.At, Subject: i.Name}
	if e.Chain < 0 || e.Chain >= len(i.Chains) {
		return l, l.ofInstance(i, e)
	}
	c := i.Chains[e.Chain]
	l.Subject = c.Key()
	switch b := e.Body.(type) {
	case ProbeEnded:
		l.ofProbe(c, b)
	case ChainChanged:
		return l, l.ofChain(c, b)
	case UpstreamChanged:
		if b.Upstream < 0 || b.Upstream >= len(c.Upstreams) {
			return l, false
		}
		l.Subject = c.endpoint(b.Upstream)
		l.ofUpstream(b)
	case ServingChanged:
		l.ofServing(c, b)
	case ClientsFelt:
		l.What, l.Detail = "clients felt", b.Felt.words()
		if b.Felt.Failed > 0 {
			l.Sign = SignUnhealthy
		}
	case Started, ProbeStarted, TryEnded, ReadyChanged, DrainChanged, CommandDone, UpstreamRead, TrafficRead, Skipped:
		return l, false
	}
	return l, true
}

// endpoint names an upstream beside its chain.
func (c *Chain) endpoint(i int) string {
	if u := c.Upstreams[i].Name; u != c.Name {
		return c.Name + "/" + u
	}
	return c.Name
}

func (l *Line) ofInstance(i *Instance, e Event) bool {
	switch b := e.Body.(type) {
	case Started:
		l.What = "started"
		l.Detail = fmt.Sprintf("%s · epoch %s · %s", b.Instance.Version, b.Instance.Epoch, plural(len(i.Chains), "chain"))
	case ReadyChanged:
		l.Sign, l.What, l.Detail = SignHealthy, "READY", "✖ NOT READY → ● READY"
		if !b.Ready {
			l.Sign, l.What, l.Detail = SignUnhealthy, "NOT READY", "● READY → ✖ NOT READY"
		}
		if b.Cause >= 0 && b.Cause < len(i.Chains) {
			word := "healthy"
			if !b.Ready {
				word = "not healthy, and it counts"
			}
			l.Detail += " · " + i.Chains[b.Cause].Key() + " " + word
		}
		if b.Draining {
			l.Detail += " · draining"
		}
	case DrainChanged:
		l.ofDrain(b)
	case CommandDone:
		l.Subject, l.Sign, l.What = e.Who, SignCommand, string(b.Op)
		l.Detail = i.targets(b) + " → " + b.outcome()
	case ProbeStarted, TryEnded, ProbeEnded, ChainChanged, UpstreamChanged, ServingChanged, ClientsFelt, UpstreamRead, TrafficRead, Skipped:
		return false
	}
	return true
}

// targets is what a command was about.
func (i *Instance) targets(b CommandDone) string {
	switch {
	case b.Op == OpDrain || b.Op == OpSimulate || b.Op == OpUndrain:
		return i.Name
	case len(b.Chains) == 0:
		return "all chains"
	}
	n := b.Chains[0]
	if len(b.Chains) > 1 || n < 0 || n >= len(i.Chains) {
		return plural(len(b.Chains), "chain")
	}
	if b.Op == OpFault || b.Op == OpCheck || b.Op == OpPin || b.Op == OpUnpin {
		name := "?"
		if u := i.Chains[n].upstream(b.Upstream); u != nil {
			name = u.Name
		}
		return strings.TrimSpace(i.Chains[n].Key() + ":" + name + " " + b.Kind)
	}
	return i.Chains[n].Key()
}

func (b CommandDone) outcome() string {
	switch {
	case b.Answer == "accepted" && b.Op == OpCheck && b.Joined > 0:
		return "joined its check, in flight"
	case b.Answer != "accepted" || len(b.Probes) == 0:
		return b.Answer
	case len(b.Probes) == 1 && b.Joined == 1:
		return fmt.Sprintf("joined probe #%d, in flight", b.Probes[0])
	case len(b.Probes) == 1:
		return fmt.Sprintf("accepted: probe #%d", b.Probes[0])
	case b.Joined > 0:
		return fmt.Sprintf("accepted: %s, %d of them in flight already", plural(len(b.Probes), "probe"), b.Joined)
	}
	return "accepted: " + plural(len(b.Probes), "probe")
}

func (l *Line) ofProbe(c *Chain, b ProbeEnded) {
	p := b.Probe
	l.Sign, l.What = p.Verdict.Sign(), p.Verdict.String()
	if p.Verdict == NoVerdict {
		l.What, l.Detail = "abandoned", fmt.Sprintf("probe #%d ended without an outcome", p.ID)
		return
	}
	parts := []string{}
	if p.Verdict == VerdictHealthy {
		parts = append(parts, c.gotResult(p))
	} else {
		parts = append(parts, counted(Reasons(p.Tries), "×", " ")+at(p.Tries))
	}
	parts = append(parts, fmt.Sprintf("%s %s", tries(len(p.Tries)), Took(p.Ended.Sub(p.Started))))
	if p.Verdict == VerdictInconclusive {
		parts = append(parts, "health stays "+p.Health.String())
	}
	switch {
	case p.Trigger != TriggerManual:
		parts = append(parts, string(p.Trigger))
	case p.Who != "":
		parts = append(parts, "by "+p.Who)
	}
	parts = append(parts, "next in "+Countdown(b.State.Next.At, p.Ended))
	l.Detail = strings.Join(parts, " · ")
	if p.Trigger == TriggerManual {
		l.Detail = fmt.Sprintf("#%d manual: %s", p.ID, l.Detail)
	}
}

// gotResult says who gave the result that ended a healthy probe.
func (c *Chain) gotResult(p Probe) string {
	for _, t := range p.Tries {
		if t.Kind == Result && t.Upstream >= 0 && t.Upstream < len(c.Upstreams) {
			return fmt.Sprintf("%s: %s in %s", c.Upstreams[t.Upstream].Name, t.Evidence, Took(t.Took))
		}
	}
	return "a result"
}

// at is where the tries without a result ended, when all ended at one layer.
func at(tries []Try) string {
	var layer Layer
	for _, t := range tries {
		if t.Kind == Result {
			continue
		}
		if layer != "" && t.Evidence.Layer != layer {
			return ""
		}
		layer = t.Evidence.Layer
	}
	if layer == "" {
		return ""
	}
	return " at " + string(layer)
}

func (l *Line) ofChain(c *Chain, b ChainChanged) bool {
	switch b.What {
	case ChangeHealth:
		l.Sign, l.What = b.State.Health.Sign(), b.State.Health.String()
		l.Detail = turn(b.From, b.State.Health)
	case ChangeNext:
		if !b.State.Missed.IsZero() {
			return false // it shows in the schedule after the probe in flight
		}
		l.What = "next probe in " + Countdown(b.State.Next.At, l.At)
		l.Detail = b.State.Next.Why.words(&c.Settings, b.State.Health)
	case ChangeHeard:
		l.What = "put off " + Countdown(b.State.Next.At, l.At)
		l.Detail = b.State.Next.Why.words(&c.Settings, b.State.Health)
	case ChangeHalted:
		l.Sign, l.What = SignHalted, "halted"
		l.Detail = "every head is old, the newest " + Age(l.At.Sub(b.State.Halted)) + " · no failover"
	case ChangeMoving:
		l.Sign, l.What, l.Detail = SignHealthy, "moving", "heads move again"
	case ChangePinned:
		p := b.State.Pin
		l.Sign, l.What = SignWarn, "pinned to "+c.nameOf(p.Upstream)
		l.Detail = "for " + Every(p.Until.Sub(p.Since)) + ", while it is fit"
		if p.Who != "" {
			l.Detail += " · by " + p.Who
		}
		if p.Reason != "" {
			l.Detail += " · " + p.Reason
		}
	case ChangeUnpinned:
		l.What, l.Detail = "no longer pinned", "was pinned to "+c.nameOf(b.State.Pin.Upstream)
	case ChangeFindings, ChangeHeld, ChangeReleased, ChangeChecked, ChangeSuspect, ChangeTrusted:
		return false
	}
	return true
}

func (l *Line) ofUpstream(b UpstreamChanged) {
	s := b.State
	switch b.What {
	case ChangeHealth:
		l.Sign, l.What, l.Detail = s.Health.Sign(), s.Health.String(), turn(b.From, s.Health)
		if s.Health == Unhealthy {
			l.Detail += fmt.Sprintf(" · %s in a row: %s", plural(s.Streak, "failed check"), s.Last.Word())
		}
	case ChangeFindings:
		l.Sign = SignWarn
		if f, ok := b.Gained.Worst(); ok {
			l.What, l.Detail = f.String(), strings.Join(b.Gained.Words()[1:], " ")
			if b.Lost != 0 {
				l.Detail = strings.TrimSpace(l.Detail + " no longer " + strings.Join(b.Lost.Words(), " "))
			}
			return
		}
		l.Sign, l.What, l.Detail = SignNone, "no longer", strings.Join(b.Lost.Words(), " ")
	case ChangeHeld:
		l.Sign, l.What, l.Detail = SignHeld, "held "+Countdown(s.Hold.Until, s.Hold.From), s.Hold.words()
	case ChangeReleased:
		l.What, l.Detail = "hold over", "it may be asked again"
	case ChangeChecked:
		l.Sign, l.What = s.Health.Sign(), "checked"
		l.Detail = fmt.Sprintf("%s in %s · %s, streak %d", s.Last.evidence(), Took(s.Last.Took), s.Health.mark(), s.Streak)
	case ChangeSuspect:
		l.Sign, l.What = SignWarn, "suspect"
		l.Detail = plural(s.Suspect.Missed, "request") + " in a row got no answer: " + string(s.Suspect.Reason)
	case ChangeTrusted:
		l.Sign, l.What, l.Detail = SignHealthy, "trusted again", "a later check passed"
	case ChangeNext, ChangeHeard, ChangeHalted, ChangeMoving, ChangePinned, ChangeUnpinned:
	}
}

func (l *Line) ofServing(c *Chain, b ServingChanged) {
	name := c.nameOf
	s := b.Serving
	switch s.Why {
	case RouteFit:
		l.Sign, l.What, l.Detail = SignHealthy, name(s.Upstream), "serves, was "+name(b.From)
	case RoutePinned:
		l.Sign, l.What, l.Detail = SignWarn, name(s.Upstream)+" PINNED", "serves, was "+name(b.From)
	case RouteBackup:
		l.Sign, l.What, l.Detail = SignWarn, name(s.Upstream)+" BACKUP", "failover from "+name(b.From)+": no primary is fit"
	case RouteLast:
		l.Sign, l.What, l.Detail = SignWarn, name(s.Upstream), "last resort, was "+name(b.From)+": no upstream is fit"
	case RouteHeld:
		l.Sign, l.What, l.Detail = SignHeld, name(s.Upstream)+" held", "all are held, its hold ends first"
	case RouteNone:
		l.Sign, l.What, l.Detail = SignUnhealthy, "none → 503", "no upstream is fit, was "+name(b.From)
	}
}

// nameOf is the name of upstream i; "none" when there is no such.
func (c *Chain) nameOf(i int) string {
	if u := c.upstream(i); u != nil {
		return u.Name
	}
	return "none"
}

// words is what clients felt: "0 failed, 14 retried, slowest 38ms".
func (f Felt) words() string {
	text := fmt.Sprintf("%d failed, %d retried", f.Failed, f.Retried)
	if f.Hedged > 0 {
		text += fmt.Sprintf(", %d hedged", f.Hedged)
	}
	if f.Slowest > 0 {
		text += ", slowest " + Took(f.Slowest)
	}
	return text
}

func (h Hold) words() string {
	what := "429"
	if h.Quota {
		return "quota used up"
	}
	if h.Asked > 0 {
		return fmt.Sprintf("%s, Retry-After %ds", what, int64(h.Asked/time.Second))
	}
	return fmt.Sprintf("%s without Retry-After, %s in a row", what, ordinal(h.Run))
}

func turn(from, to Health) string { return from.mark() + " → " + to.mark() }

func (h Health) mark() string {
	switch h {
	case Healthy:
		return "● healthy"
	case Unhealthy:
		return "✖ unhealthy"
	case Unknown:
	}
	return "◌ unknown"
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
