package model

import (
	"fmt"
	"strings"
	"time"
)

// Fleet is what a diagnosis is made from: the instances one can see, now.
type Fleet struct {
	Now       time.Time
	Instances []*Instance
}

// Diagnosis says of one chain, or of the drain, what an engineer asks first (S1).
type Diagnosis struct {
	Instance, Chain int // indexes; Chain -1 = the instance's drain

	Why   Sentence // the evidence
	Whose Sentence // the fault
	Felt  Sentence // by clients, routing, readiness
	Next  Sentence // what is due, and why then
	Do    Sentence // what helps, with its key
}

// Sentence is one of the closed set, filled in: Long for a line of 112 cells,
// Short for one of 73.
type Sentence struct {
	ID          string // stable name of the sentence
	Long, Short string
}

func same(id, text string) Sentence { return Sentence{ID: id, Long: text, Short: text} }

// Diagnose says it of every chain of every instance.
func Diagnose(f Fleet) []Diagnosis {
	var all []Diagnosis
	for i, inst := range f.Instances {
		for c := range inst.Chains {
			all = append(all, f.Chain(i, c))
		}
	}
	return all
}

// Chain says it of one chain. Indexes out of range give no sentences.
func (f Fleet) Chain(instance, chain int) Diagnosis {
	d := Diagnosis{Instance: instance, Chain: chain}
	if instance < 0 || instance >= len(f.Instances) || chain < 0 || chain >= len(f.Instances[instance].Chains) {
		return d
	}
	i := f.Instances[instance]
	c := i.Chains[chain]
	s := subject{i: i, c: c, n: chain, now: f.Now, why: WhyOf(c, f.Now)}
	d.Why, d.Whose, d.Felt, d.Next, d.Do = s.whySentence(), s.whoseSentence(), s.feltSentence(), s.nextSentence(), s.doSentence()
	return d
}

// subject is the chain a diagnosis is of.
type subject struct {
	i   *Instance
	c   *Chain
	n   int
	now time.Time
	why Why
}

// whySentence is the evidence of the last probe, or of the checks since.
func (s subject) whySentence() Sentence {
	c := s.c
	switch {
	case len(c.Upstreams) == 0:
		return same("why.no_upstream", "it has no upstream to ask")
	case c.State.Verdict == NoVerdict && c.Probe != nil:
		return same("why.first_probe", "nothing is known yet: "+s.flying())
	case c.State.Verdict == NoVerdict || c.Last == nil:
		return same("why.never_probed", "nothing is known yet: its first probe has not begun")
	}
	switch c.State.Verdict {
	case VerdictUnreachable:
		return s.whyUnreachable()
	case VerdictInconclusive:
		return s.whyInconclusive()
	case VerdictHealthy, NoVerdict:
	}
	switch {
	case s.why.Halted > 0:
		return s.whyHalted()
	case s.why.Upstream >= 0:
		return s.whyUpstream()
	}
	return s.whyHealthy()
}

func (s subject) sum() string {
	p := s.c.Last
	return fmt.Sprintf("%s (%s)", tries(len(p.Tries)), Took(p.Ended.Sub(p.Started)))
}

func (s subject) whyUnreachable() Sentence {
	c := s.c
	reasons := counted(Reasons(c.Last.Tries), " ×", ", ") + at(c.Last.Tries)
	heard, short := "no result ever since "+s.i.Started.UTC().Format("15:04:05Z"), "no result ever"
	if !c.State.Heard.At.IsZero() {
		ago := Age(s.now.Sub(c.State.Heard.At))
		heard = "last result " + ago + " ago"
		short = heard
	}
	evidence := ""
	if t := c.Last.Tries[len(c.Last.Tries)-1]; t.Evidence.Text != "" {
		evidence = ", " + t.Evidence.String()
	}
	return Sentence{
		ID:    "why.unreachable",
		Long:  fmt.Sprintf("no answer in %s: %s%s; %s", s.sum(), reasons, evidence, heard),
		Short: fmt.Sprintf("no answer in %s: %s; %s", s.sum(), reasons, short),
	}
}

func (s subject) whyInconclusive() Sentence {
	c, p := s.c, s.c.Last
	reasons := counted(Reasons(p.Tries), " ×", ", ")
	keeps := "An error answer keeps the health it had: " + c.State.Health.String()
	if c.Settings.Recovers != RecoversNone && c.State.Health == Healthy {
		keeps = "Error answers count here: inconclusive_recovers is " + c.Settings.Recovers.String()
	}
	left := ""
	if p.Made < p.Max {
		left = ", no other upstream to ask"
	}
	return Sentence{
		ID:    "why.inconclusive",
		Long:  fmt.Sprintf("no result in %s: %s%s. %s", s.sum(), reasons, left, keeps),
		Short: fmt.Sprintf("no result in %s: %s. Health stays %s", s.sum(), reasons, c.State.Health),
	}
}

func (s subject) whyHalted() Sentence {
	var still []string
	for i := range s.c.Upstreams {
		if s.c.Upstreams[i].State.Findings.Has(StaleHead) {
			still = append(still, s.c.Upstreams[i].Name)
		}
	}
	who := fmt.Sprintf("%d upstreams answer, their heads stand", len(still))
	if len(still) == 1 {
		who = still[0] + " answers, its head stands"
	}
	return same("why.halted", fmt.Sprintf("%s still: %s for %s", who, Height(s.c.Head().Value), Age(s.why.Halted)))
}

// whyUpstream says what is not as meant of one upstream while the chain gets
// results.
func (s subject) whyUpstream() Sentence {
	u := &s.c.Upstreams[s.why.Upstream]
	st, name := &u.State, u.Name
	say := func(id, format string, args ...any) Sentence {
		return same("why."+id, name+" "+fmt.Sprintf(format, args...))
	}
	switch s.why.Word {
	case "unhealthy":
		return say("upstream_unhealthy", "failed %s in a row: %s", plural(st.Streak, "check"), st.Last.evidence())
	case "suspect":
		return say("suspect", "gave no answer to %s in a row: %s; %s", plural(st.Suspect.Missed, "client's request"), st.Suspect.Reason, st.Suspect.ends(s.now))
	case "held":
		return say("held", "asked for a pause: %s; %s left", st.Hold.words(), Countdown(st.Hold.Until, s.now))
	}
	switch s.why.Finding {
	case WrongChain:
		return say("wrong_chain", "says chain id %s, %s is configured", st.Facts.ChainID.Value, s.c.ExpectID)
	case Syncing:
		return say("syncing", "says it is syncing%s", behind(st.Lag))
	case Behind:
		return say("behind", "is %d behind the tip %s (max %d)", st.Lag.Blocks, Height(s.c.Checks.Tip.Value), s.c.Settings.MaxLag)
	case StaleHead:
		return say("stale_head", "answers, but its head %s is %s old", Height(st.Facts.Head.Value), Age(s.now.Sub(st.HeadSince)))
	case HeadRegressed:
		return say("head_regressed", "went back from head %s to %s", Height(st.HighHead), Height(st.Facts.Head.Value))
	case Gateway:
		return say("gateway", "is a gateway whose node does not answer: %s", st.Last.evidence())
	case Erroring:
		return say("erroring", "answered its last %s with errors: %s", plural(st.Errors, "check"), st.Last.evidence())
	case AccessDenied:
		return say("access_denied", "refuses the key: %s", st.Last.evidence())
	case Quota:
		return say("quota", "says the plan is used up: %s", st.Last.evidence())
	case RateLimited:
		return say("rate_limited", "asks to slow down: %s", st.Last.evidence())
	case Misconfigured:
		return say("misconfigured", "is there, but not the endpoint to ask: %s", st.Last.evidence())
	case HeadZero:
		return say("head_zero", "reports head 0")
	case NoPeers:
		return say("no_peers", "has no peers; its head is %s", Height(st.Facts.Head.Value))
	case Pruned:
		return say("pruned", "lacks the state it was asked for")
	case Noncompliant:
		return say("noncompliant", "bends the protocol in its answers")
	case Optimistic:
		return say("optimistic", "has not verified its head")
	case ELOffline:
		return say("el_offline", "has lost its execution node")
	case NotReady:
		return say("not_ready", "says it is not ready")
	}
	return s.whyHealthy()
}

// ends is what ends the suspicion.
func (s Suspect) ends(now time.Time) string {
	if s.Until.IsZero() {
		return "a later check that passes ends it"
	}
	return "a check passed, it has " + Countdown(s.Until, now) + " to prove itself"
}

func behind(l Lag) string {
	if l.Known && l.Blocks > 0 {
		return fmt.Sprintf(", %d behind", l.Blocks)
	}
	return ""
}

// evidence is a check's outcome in words, never empty.
func (l Last) evidence() string {
	if text := l.Evidence.String(); text != "" {
		return text
	}
	if w := l.Word(); w != "" {
		return w
	}
	return "a result"
}

func (s subject) whyHealthy() Sentence {
	c, p := s.c, s.c.Last
	for _, t := range p.Tries {
		if t.Kind == Result && t.Upstream >= 0 && t.Upstream < len(c.Upstreams) {
			text := fmt.Sprintf("%s answered in %s: %s", c.Upstreams[t.Upstream].Name, Took(t.Took), t.Evidence)
			if n := len(p.Tries) - 1; n > 0 {
				text += fmt.Sprintf("; before it %s", counted(Reasons(p.Tries), " ×", ", "))
			}
			return same("why.healthy", text)
		}
	}
	return same("why.recovered", "error answers count here: inconclusive_recovers is "+c.Settings.Recovers.String())
}

// flying is the probe in flight in words.
func (s subject) flying() string {
	p := s.c.Probe
	where := "nobody"
	if u := s.c.upstream(p.Flight.Upstream); u != nil {
		where = u.Name
	}
	text := fmt.Sprintf("probe #%d is at try %d of %d: %s", p.ID, p.Flight.N, p.Max, where)
	if w := p.Flight.Start.Sub(s.now); w > 0 {
		text += " after a pause"
	}
	if rs := Reasons(p.Tries); len(rs) > 0 {
		text += "; so far " + counted(rs, " ×", ", ")
	}
	return text
}

// nextSentence is what is due, and why then (H6).
func (s subject) nextSentence() Sentence {
	c := s.c
	if c.Probe != nil {
		text := s.flying()
		if c.Probe.Who != "" {
			text += ", asked by " + c.Probe.Who
		}
		return same("next.flying", text)
	}
	next := c.State.Next
	due := "in " + Countdown(next.At, s.now)
	if !next.At.After(s.now) {
		due = "now"
	}
	text := due + ": " + next.Why.words(&c.Settings, c.State.Health)
	holds := s.holds()
	return Sentence{
		ID:    "next." + string(next.Why),
		Long:  text + fmt.Sprintf(" · up to %s · checks every %s", tries(c.Settings.Tries), Every(c.Settings.CheckInterval)) + holds,
		Short: text + holds,
	}
}

func (s subject) holds() string {
	var held []string
	for i := range s.c.Upstreams {
		if h := s.c.Upstreams[i].State.Hold; h.Held(s.now) {
			held = append(held, s.c.Upstreams[i].Name+" "+Countdown(h.Until, s.now))
		}
	}
	if len(held) == 0 {
		return ""
	}
	return " · holds: " + strings.Join(held, ", ")
}

// words is the reason for a due time (H6).
func (w NextWhy) words(set *Settings, h Health) string {
	switch w {
	case NextFirst:
		return "the first one"
	case NextInterval:
		every := set.UnhealthyInterval
		if h == Healthy {
			every = set.HealthyInterval
		}
		return h.String() + ", every " + Every(every)
	case NextHeard:
		return "a client's result puts it off by " + Every(set.HealthyInterval)
	case NextSoon:
		return "a client got no answer from any upstream"
	case NextHeld:
		return "all upstreams are held, the first hold ends then"
	case NextPassed:
		return "a check passed, the chain is not healthy yet"
	case NextAllFailed:
		return "its last upstream turned unhealthy"
	}
	return string(w)
}
