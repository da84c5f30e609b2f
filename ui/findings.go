package ui

import (
	"strings"

	"chaintop/model"
)

// findingsOf are the findings that upstreams of a chain have, worst first.
func findingsOf(c *model.Chain) []model.Finding {
	if c == nil {
		return nil
	}
	var all model.Findings
	for i := range c.Upstreams {
		all |= c.Upstreams[i].State.Findings
	}
	if all == 0 {
		return nil
	}
	return all.List()
}

// findings appends their rule and n lines: each, who has it, what it means.
func (s scene) findings(lines []string, c *model.Chain, n int) []string {
	lines = append(lines, s.rule("", span{text, "FINDINGS, what they mean here"}))
	names := 16
	if s.w >= wideHeader {
		names = 20
	}
	for _, f := range findingsOf(c)[:n] {
		p := s.pen
		p.begin(s.w, false)
		p.blank(1)
		p.left(warn, f.String(), 14)
		p.blank(1)
		p.left(text, cut(strings.Join(having(c, f), ", "), names), names)
		p.blank(1)
		p.put(text, meaning(c, f))
		lines = append(lines, p.end())
	}
	return lines
}

// having are the upstreams with a finding.
func having(c *model.Chain, f model.Finding) []string {
	var names []string
	for i := range c.Upstreams {
		if c.Upstreams[i].State.Findings.Has(f) {
			names = append(names, c.Upstreams[i].Name)
		}
	}
	return names
}

// meanings says what a finding is and what routing makes of it (F1).
var meanings = map[model.Finding]string{
	model.WrongChain:    "it serves another chain than configured: never routed to",
	model.Syncing:       "it says it is still syncing: not routed to until it is done",
	model.Behind:        "its head is behind the others: not routed to until it caught up",
	model.StaleHead:     "it answers, but its head stands still: not routed to",
	model.HeadRegressed: "its head went back: not routed to until it is past it",
	model.Optimistic:    "it has not verified its head: not routed to",
	model.ELOffline:     "its execution node is away: not routed to",
	model.NotReady:      "it says it is not ready: not routed to",
	model.Gateway:       "a gateway answers in its place: used only when nothing is fit",
	model.Erroring:      "it answers with errors only: used only when nothing is fit",
	model.AccessDenied:  "it refuses the key or this address: used only when nothing is fit",
	model.Quota:         "the plan is used up: held, then asked once",
	model.RateLimited:   "it asks for a pause, which is no failure: held, then used when nothing is fit",
	model.Misconfigured: "this address is not the endpoint to ask: used only when nothing is fit",
	model.HeadZero:      "its head is 0: used only when nothing is fit",
	model.NoPeers:       "it has no peers, so its head may stand still soon: shown only",
	model.Pruned:        "the state asked for is gone there: shown only",
	model.Noncompliant:  "its answers bend the protocol: shown only",
}

// meaning is what a finding means on this chain: one whose every head is old
// does not fail over (F7).
func meaning(c *model.Chain, f model.Finding) string {
	if f == model.StaleHead && !c.State.Halted.IsZero() {
		return "every head of the chain is old: the chain itself, so it is served as ever"
	}
	return meanings[f]
}
