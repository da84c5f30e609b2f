package model

import (
	"fmt"
	"slices"
)

// whoseSentence is whose fault it is; the first match wins.
func (s subject) whoseSentence() Sentence {
	c, st := s.c, s.c.State
	switch {
	case len(c.Upstreams) == 0:
		return same("whose.config", "the config: no upstream is listed")
	case st.Verdict == NoVerdict:
		return same("whose.unknown", "can't be told yet")
	case st.Verdict != VerdictHealthy && s.all(func(t Try) bool { return t.Reason == ReasonOwnSide }):
		return same("whose.own_side", "our own side: a proxy of ours answers in the upstream's place")
	}
	if u := s.find(WrongChain); u >= 0 {
		return same("whose.config_chain", "the config: "+c.Upstreams[u].Name+" is another chain's node, or chain_id is wrong")
	}
	if u := s.find(AccessDenied); u >= 0 {
		return same("whose.key", "your key at "+c.Upstreams[u].Name+", or its allow-list; it answers, so it is not this path")
	}
	if u := s.find(Quota, RateLimited); u >= 0 {
		return same("whose.quota", "your quota at "+c.Upstreams[u].Name+"; it answers, so it is not this path")
	}
	switch {
	case s.why.Halted > 0:
		return s.whoseHalted()
	case st.Verdict == VerdictInconclusive:
		return same("whose.upstream", "the upstream's trouble: it is reached and answers with errors, to every replica alike")
	case st.Verdict == VerdictUnreachable:
		return s.whoseUnreachable()
	case s.why.Upstream >= 0:
		return same("whose.node", "that node: "+c.Upstreams[s.why.Upstream].Name+"; the chain gets its results")
	}
	return same("whose.nobody", "nobody's: nothing is wrong here")
}

// all says whether every try of the last probe is so.
func (s subject) all(is func(Try) bool) bool {
	return s.c.Last != nil && len(s.c.Last.Tries) > 0 && !slices.ContainsFunc(s.c.Last.Tries, func(t Try) bool { return !is(t) })
}

// find is the first upstream with one of the findings, -1 when none has.
func (s subject) find(fs ...Finding) int {
	set := FindingSet(fs...)
	return slices.IndexFunc(s.c.Upstreams, func(u Upstream) bool { return u.State.Findings&set != 0 })
}

func (s subject) whoseHalted() Sentence {
	heads := 0
	for i := range s.c.Upstreams {
		if s.c.Upstreams[i].State.Findings.Has(StaleHead) {
			heads++
		}
	}
	if heads > 1 {
		return same("whose.chain", fmt.Sprintf("the chain itself: all %d heads stand still", heads))
	}
	return same("whose.node_or_chain", "the node or the chain: with one head to see it can't be told")
}

func (s subject) whoseUnreachable() Sentence {
	reached := 0
	for n, c := range s.i.Chains {
		if n != s.n && (c.State.Verdict == VerdictHealthy || c.State.Verdict == VerdictInconclusive) {
			reached++
		}
	}
	here := "it watches no other chain"
	if len(s.i.Chains) > 1 {
		here = plural(reached, "other chain") + " reached from here"
	}
	return Sentence{
		ID:    "whose.one_replica",
		Long:  "can't be told from one replica: its own path, or an outage all share; " + here,
		Short: "can't tell from one replica: its own path, or an outage all share",
	}
}

// feltSentence is what clients, routing and readiness make of it. A process
// without a gateway sees no client, and says so.
func (s subject) feltSentence() Sentence {
	c := s.c
	routing := "none is fit → 503"
	switch name := ""; c.Serving.Why {
	case RouteFit, RoutePinned, RouteBackup, RouteLast, RouteHeld:
		if u := c.upstream(c.Serving.Upstream); u != nil {
			name = u.Name
		}
		routing = map[RouteWhy]string{
			RouteFit: name, RoutePinned: name + ", pinned", RouteBackup: name + ", a backup", RouteLast: name + " as the last resort",
			RouteHeld: name + ", held, as the last resort",
		}[c.Serving.Why]
	case RouteNone:
	}
	ready := "it does not count"
	if s.i.Policy.Counts(c) {
		ready = "it counts, and is fine"
		if c.State.Health != Healthy {
			ready = "NOT READY, it counts"
		} else if r := Ready(s.i, s.i.Policy); r.Draining {
			ready = "it counts, the drain holds it out"
		} else if !r.Ready {
			ready = "it counts, another chain holds it out"
		}
	}
	return Sentence{
		ID:    "felt." + string(c.Serving.Why),
		Long:  "routing: " + routing + s.pinLost() + " · readiness: " + ready + " · clients: " + s.clients(),
		Short: s.shortFelt(routing, ready),
	}
}

// pinLost says that a pin does not count now (F8).
func (s subject) pinLost() string {
	p := s.c.State.Pin
	if !p.Holds(s.now) || s.c.Serving.Why == RoutePinned {
		return ""
	}
	return " (pinned to " + s.c.nameOf(p.Upstream) + ", which is not fit: as without a pin)"
}

// clients is what those who ask through the gateway got.
func (s subject) clients() string {
	t := s.c.Traffic
	switch {
	case !s.i.Gateway:
		return "— (no gateway runs in this process)"
	case t.Total == 0:
		return "none has asked yet"
	case t.Requests == 0:
		return fmt.Sprintf("none asks since %s ago, %d of %d failed", Age(s.now.Sub(t.Last)), t.Errors, t.Total)
	}
	text := fmt.Sprintf("%s req/s, %d failed and %d retried in the last minute", PerSecond(t.PerSecond()), t.Failed, t.Retried)
	if streams := t.StreamWords(); streams != "" {
		text += " · " + streams
	}
	if f := s.c.Felt; !f.Ended.IsZero() {
		text += " · trouble " + Age(s.now.Sub(f.Ended)) + " ago: " + f.words()
	}
	return text
}

func (s subject) shortFelt(routing, ready string) string {
	t := s.c.Traffic
	if !s.i.Gateway || t.Total == 0 {
		return "routing: " + routing + " · readiness: " + ready
	}
	if t.Requests == 0 {
		return fmt.Sprintf("no request since %s ago · readiness: %s", Age(s.now.Sub(t.Last)), ready)
	}
	return fmt.Sprintf("%d of %d requests failed, %d retried · readiness: %s", t.Failed, t.Requests, t.Retried, ready)
}

// doSentence is what helps, with its key.
func (s subject) doSentence() Sentence {
	c, st := s.c, s.c.State
	switch {
	case len(c.Upstreams) == 0:
		return same("do.add_upstream", "add an upstream to the config and restart")
	case c.Probe != nil && st.Verdict == NoVerdict:
		return same("do.wait", "wait for the probe · enter shows its tries")
	}
	if u := s.find(WrongChain); u >= 0 {
		return same("do.chain_id", "check the address and the chain id of "+c.Upstreams[u].Name)
	}
	if u := s.find(AccessDenied); u >= 0 {
		return same("do.key", "check the key and the allow-list at "+c.Upstreams[u].Name+" · p probe now")
	}
	if u := s.find(Quota, RateLimited); u >= 0 {
		wait := ""
		if h := c.Upstreams[u].State.Hold; h.Held(s.now) {
			wait = "wait " + Countdown(h.Until, s.now) + " · "
		}
		return same("do.quota", wait+"raise the quota or add an upstream · p asks at once")
	}
	switch {
	case st.Verdict == VerdictUnreachable:
		return s.doUnreachable()
	case st.Verdict == VerdictInconclusive:
		return same("do.upstream", "ask the upstream's owner, with its words · enter shows the tries · p probe now")
	case s.why.Halted > 0:
		return same("do.halted", "nothing to do here: it is still served · tell its users")
	case s.why.Upstream >= 0 && c.Fitness(s.why.Upstream, s.now) == Fit:
		return same("do.note", "nothing at once: "+c.Upstreams[s.why.Upstream].Name+" serves as before · enter shows it")
	case s.why.Upstream >= 0:
		return same("do.node", "look at "+c.Upstreams[s.why.Upstream].Name+"; routing takes it back by itself · enter shows it")
	}
	return same("do.nothing", "nothing · p probe now · enter opens it")
}

func (s subject) doUnreachable() Sentence {
	advice := map[Reason]string{
		ReasonRefused: "start it, or check its port", ReasonDNS: "check the name and the resolver",
		ReasonTLS: "check its certificate and the clock", ReasonNoRoute: "check the route to it",
		ReasonTimeout: "check egress, NAT and firewall", ReasonReset: "check what cuts the connection",
		ReasonNotProtocol: "check the address: something else speaks there",
		ReasonOwnSide:     "check the proxy settings of this host",
	}
	reason := ReasonTimeout
	if s.c.Last != nil && len(s.c.Last.Tries) > 0 {
		reason = s.c.Last.Tries[len(s.c.Last.Tries)-1].Reason
	}
	what, ok := advice[reason]
	if !ok {
		what = "read what it sent"
	}
	return Sentence{
		ID:    "do.unreachable",
		Long:  "p probe now · enter shows the tries · " + what + " · see whether another replica reaches it",
		Short: "p probe now · enter tries · " + what,
	}
}
