package ui

import (
	"strings"
	"time"

	"chaintop/model"
)

// chainSubject is a chain as a filter sees it.
type chainSubject struct {
	inst  *model.Instance
	i     int
	key   string
	class model.Class
	now   time.Time
}

func (s chainSubject) attention() bool { return s.class != model.ClassHealthy }

func (s chainSubject) texts(key string) []string {
	c := s.inst.Chains[s.i]
	switch key {
	case "":
		out := []string{strings.ToLower(s.key), strings.ToLower(s.inst.Name)}
		for i := range c.Upstreams {
			u := &c.Upstreams[i]
			out = append(out, strings.ToLower(u.Name), strings.ToLower(u.State.Last.Evidence.String()))
		}
		return append(out, reasonsOf(c.Last)...)
	case "chain":
		return []string{strings.ToLower(s.key)}
	case "health":
		return []string{c.State.Health.String()}
	case "verdict":
		return []string{c.State.Verdict.String()}
	case "family":
		return []string{strings.ToLower(string(c.Family))}
	case "serving":
		return servingWords(c)
	case "reason":
		return reasonsOf(c.Last)
	case "instance":
		return []string{strings.ToLower(s.inst.Name)}
	case "version":
		return []string{strings.ToLower(s.inst.Version)}
	case "who":
		return askedBy(c)
	case "whose":
		d := model.Fleet{Now: s.now, Instances: []*model.Instance{s.inst}}.Chain(0, s.i)
		return []string{strings.ToLower(d.Whose.Long), strings.ToLower(d.Whose.ID)}
	}
	return upstreamTexts(c, key)
}

// upstreamTexts are a field of every upstream.
func upstreamTexts(c *model.Chain, key string) []string {
	var out []string
	for i := range c.Upstreams {
		u := &c.Upstreams[i]
		switch key {
		case "upstream":
			out = append(out, strings.ToLower(u.Name))
		case "finding":
			out = append(out, u.State.Findings.Words()...)
		case "tier":
			// A chain has the tier that serves it.
			if i == c.Serving.Upstream {
				out = append(out, u.Tier.String())
			}
		}
	}
	return out
}

func servingWords(c *model.Chain) []string {
	u := servingUpstream(c)
	if u == nil {
		return []string{"none"}
	}
	out := []string{strings.ToLower(u.Name)}
	if c.Serving.Why == model.RouteHeld {
		out = append(out, "held")
	}
	if c.Serving.Failover {
		out = append(out, "backup")
	}
	if c.Serving.Why == model.RoutePinned {
		out = append(out, "pinned")
	}
	return out
}

// reasonsOf are the words of the tries of a probe that got no result.
func reasonsOf(p *model.Probe) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, r := range model.Reasons(p.Tries) {
		out = append(out, strings.ToLower(r.Word))
	}
	for i := range p.Tries {
		if t := &p.Tries[i]; t.Reason != "" {
			out = append(out, strings.ToLower(string(t.Reason)))
		}
	}
	return out
}

func askedBy(c *model.Chain) []string {
	var out []string
	for _, p := range []*model.Probe{c.Probe, c.Last} {
		if p != nil && p.Who != "" {
			out = append(out, strings.ToLower(p.Who))
		}
	}
	return out
}

func (s chainSubject) number(key string) (float64, bool) {
	c := s.inst.Chains[s.i]
	if key == "age" {
		u := servingUpstream(c)
		if u == nil || u.State.HeadSince.IsZero() {
			return 0, false
		}
		return s.now.Sub(u.State.HeadSince).Seconds(), true
	}
	// The most that any upstream lags: a laggard is what one looks for.
	most, known := 0.0, false
	for i := range c.Upstreams {
		if l := c.Upstreams[i].State.Lag; l.Known && (!known || float64(l.Blocks) > most) {
			most, known = float64(l.Blocks), true
		}
	}
	return most, known
}

// eventSubject is an event as a filter sees it.
type eventSubject struct {
	inst *model.Instance
	e    *model.Event
	line model.Line
	now  time.Time
}

func (s eventSubject) attention() bool {
	switch s.line.Sign {
	case model.SignUnhealthy, model.SignUnreachable, model.SignInconclusive, model.SignWarn, model.SignHalted, model.SignHeld:
		return true
	case model.SignNone, model.SignHealthy, model.SignUnknown, model.SignPass, model.SignCommand,
		model.SignDraining, model.SignDrained, model.SignSimulated:
	}
	return false
}

func (s eventSubject) chain() *model.Chain {
	if s.e.Chain >= 0 && s.e.Chain < len(s.inst.Chains) {
		return s.inst.Chains[s.e.Chain]
	}
	return nil
}

func (s eventSubject) upstream() *model.Upstream {
	n := -1
	if b, ok := s.e.Body.(model.UpstreamChanged); ok {
		n = b.Upstream
	}
	if b, ok := s.e.Body.(model.ServingChanged); ok {
		n = b.Serving.Upstream
	}
	if c := s.chain(); c != nil && n >= 0 && n < len(c.Upstreams) {
		return &c.Upstreams[n]
	}
	return nil
}

func (s eventSubject) texts(key string) []string {
	lower := strings.ToLower
	c, u := s.chain(), s.upstream()
	switch key {
	case "":
		return []string{lower(s.line.Subject), lower(s.line.What), lower(s.line.Detail), lower(s.inst.Name)}
	case "instance":
		return []string{lower(s.inst.Name)}
	case "version":
		return []string{lower(s.inst.Version)}
	case "who":
		return s.asked()
	case "chain":
		return s.chains()
	case "health", "verdict", "reason", "finding":
		return s.judged(key)
	case "family":
		if c != nil {
			return []string{lower(string(c.Family))}
		}
	case "upstream":
		if u != nil {
			return []string{lower(u.Name)}
		}
	case "tier":
		if u != nil {
			return []string{u.Tier.String()}
		}
	case "serving":
		if b, ok := s.e.Body.(model.ServingChanged); ok && c != nil {
			with := *c
			with.Serving = b.Serving
			return servingWords(&with)
		}
	}
	return nil
}

// chains are the keys of those an event is of; a command may be of several.
func (s eventSubject) chains() []string {
	of := []int{s.e.Chain}
	if b, ok := s.e.Body.(model.CommandDone); ok {
		of = b.Chains
	}
	var out []string
	for _, i := range of {
		if i >= 0 && i < len(s.inst.Chains) {
			out = append(out, strings.ToLower(s.inst.Chains[i].Key()))
		}
	}
	return out
}

func (s eventSubject) asked() []string {
	who := s.e.Who
	if b, ok := s.e.Body.(model.ProbeEnded); ok && who == "" {
		who = b.Probe.Who
	}
	if who == "" {
		return nil
	}
	return []string{strings.ToLower(who)}
}

// judged is what an event says of health, verdict, reasons or findings.
func (s eventSubject) judged(key string) []string {
	switch b := s.e.Body.(type) {
	case model.ProbeEnded:
		switch key {
		case "verdict":
			return []string{b.Probe.Verdict.String()}
		case "reason":
			return reasonsOf(&b.Probe)
		case "health":
			return []string{b.State.Health.String()}
		}
	case model.ChainChanged:
		if key == "health" && b.What == model.ChangeHealth {
			return []string{b.State.Health.String()}
		}
	case model.UpstreamChanged:
		switch {
		case key == "health" && b.What == model.ChangeHealth:
			return []string{b.State.Health.String()}
		case key == "finding":
			return (b.Gained | b.Lost).Words()
		case key == "reason" && b.What == model.ChangeSuspect:
			return []string{strings.ToLower(string(b.State.Suspect.Reason))}
		case key == "reason" && b.State.Last.Reason != "":
			return []string{strings.ToLower(b.State.Last.Word()), strings.ToLower(string(b.State.Last.Reason))}
		}
	case model.Started, model.ProbeStarted, model.TryEnded, model.ServingChanged, model.ReadyChanged, model.DrainChanged, model.CommandDone,
		model.ClientsFelt, model.UpstreamRead, model.TrafficRead, model.Skipped:
	}
	return nil
}

func (s eventSubject) number(key string) (float64, bool) {
	if key == "age" {
		return s.now.Sub(s.e.At).Seconds(), true
	}
	if b, ok := s.e.Body.(model.UpstreamChanged); ok && b.State.Lag.Known {
		return float64(b.State.Lag.Blocks), true
	}
	return 0, false
}
