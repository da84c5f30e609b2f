package ui

import (
	"fmt"
	"slices"
	"strconv"

	"chaintop/model"
)

// probePane is what the pane of a probe shows.
type probePane struct {
	probe    *model.Probe
	rows     int    // of tries
	back     int    // tries scrolled back from the newest
	past     uint64 // the id of probe, when it was stepped back to
	facts    bool   // the facts have no pane of their own
	upstream int    // whose facts
	focused  bool
}

// probe appends a probe: its rule, a heading, and a line for each try. Where the
// facts have no pane of their own they stand in the lines that a probe which
// ended leaves free.
func (s scene) probe(lines []string, c *model.Chain, pp probePane) []string {
	probe, n := pp.probe, pp.rows
	lines = append(lines, s.probeRule(c, pp), s.tryHeading())
	if probe == nil {
		return s.pad(append(lines, s.plain(span{dim, " no probe has ended yet"})), n-1)
	}
	rows := s.tries(c, probe)
	if over := len(rows) - n; over > 0 {
		over = max(over-pp.back, 0)
		rows = rows[over : over+n]
	}
	lines = append(lines, rows...)
	n -= len(rows)
	if pp.facts && probe != c.Probe && n > 1 {
		return s.facts(lines, c, pp.upstream, n-1, false)
	}
	return s.pad(lines, n)
}

// probeRule says which probe it is, who asked and what came of it.
func (s scene) probeRule(c *model.Chain, pp probePane) string {
	p := pp.probe
	if p == nil {
		return s.ruleOf(pp.focused, "", span{text, "LAST PROBE"})
	}
	by := " " + string(p.Trigger)
	if p.Who != "" {
		by += " by " + p.Who
	}
	by += " · " + s.when(p.Started)
	id := "#" + strconv.FormatUint(p.ID, 10)
	if p == c.Probe {
		return s.ruleOf(pp.focused, "try "+tryOf(p), span{hold, "PROBE RUNNING"}, span{text, " " + id}, span{dim, by})
	}
	g := signOf(p.Verdict.Sign())
	cost := fmt.Sprintf("%d tries %s", len(p.Tries), model.Took(p.Ended.Sub(p.Started)))
	if len(p.Tries) == 1 {
		cost = "1 try " + model.Took(p.Ended.Sub(p.Started))
	}
	title := "LAST PROBE "
	if pp.past != 0 {
		title, cost = "PAST PROBE ", pastWords(c, pp.past)
	}
	if over := tryLines(c, p) - pp.rows; over > 0 {
		from := over - pp.back
		cost = fmt.Sprintf("%d–%d of %d · %s", from+1, from+pp.rows, over+pp.rows, cost)
	}
	return s.ruleOf(pp.focused, cost, span{text, title + id}, span{dim, by + " · "},
		span{g.role, g.mark + " " + p.Verdict.String()})
}

// tryColumns are the widths of the table of tries; evidence has the rest.
type tryColumns struct{ n, name, outcome, reason, layer, took int }

func tryColumnsAt(w int) tryColumns {
	c := tryColumns{n: 2, name: 10, outcome: 9, reason: 9, layer: 4, took: 6}
	if w >= wideHeader {
		c.name, c.reason = 12, 12
	}
	return c
}

func (s scene) tryHeading() string {
	c := tryColumnsAt(s.w)
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.right(dim, "#", c.n)
	p.blank(1)
	p.left(dim, "UPSTREAM", c.name+1)
	p.left(dim, "OUTCOME", c.outcome+1)
	p.left(dim, "REASON", c.reason+1)
	p.left(dim, "AT", c.layer)
	s.headOf("TOOK", c.took)
	p.put(dim, " EVIDENCE")
	return p.end()
}

// tries is a line for each try of a probe, for the one in the air, and for
// those that will not be made.
func (s scene) tries(c *model.Chain, probe *model.Probe) []string {
	var rows []string
	for i := range probe.Tries {
		rows = append(rows, s.try(c, &probe.Tries[i]))
	}
	if probe == c.Probe {
		if probe.Flight.N > 0 {
			rows = append(rows, s.inTheAir(c, probe.Flight))
		}
		return rows
	}
	if note := notMade(probe); note != "" {
		rows = append(rows, s.plain(span{dim, " " + note}))
	}
	return rows
}

// tryLines is how many lines the tries of a probe take.
func tryLines(c *model.Chain, p *model.Probe) int {
	if p == nil {
		return 0
	}
	n := len(p.Tries)
	if p == c.Probe && p.Flight.N > 0 || p != c.Probe && notMade(p) != "" {
		n++
	}
	return n
}

// try is one try and what came of it.
func (s scene) try(c *model.Chain, t *model.Try) string {
	p := s.beginTry(c, t.N, t.Upstream)
	cols := tryColumnsAt(s.w)
	p.left(outcomeRole(t.Kind), outcomeWord(t.Kind), cols.outcome)
	p.blank(1)
	reason := ""
	if t.Kind != model.Result {
		reason = t.Word()
	}
	p.left(text, reason, cols.reason)
	p.blank(1)
	p.left(text, string(t.Evidence.Layer), cols.layer)
	p.right(text, model.Took(t.Took), cols.took+1)
	p.blank(1)
	p.put(text, t.Evidence.String())
	return p.end()
}

// inTheAir is the try that has no outcome yet.
func (s scene) inTheAir(c *model.Chain, f model.Flight) string {
	p := s.beginTry(c, f.N, f.Upstream)
	cols := tryColumnsAt(s.w)
	p.left(hold, "…", cols.outcome+1+cols.reason+1+cols.layer)
	took, says := model.Age(s.now.Sub(f.Start)), "no answer yet"
	if c.Settings.Timeout > 0 {
		says += ", " + model.Every(c.Settings.Timeout) + " at most"
	}
	if f.Start.After(s.now) {
		took, says = unknownValue, "starts over after a pause"
	}
	p.right(text, took, cols.took+1)
	p.blank(1)
	p.put(dim, says)
	return p.end()
}

// beginTry draws the columns that every try has.
func (s scene) beginTry(c *model.Chain, n, upstream int) *pen {
	cols := tryColumnsAt(s.w)
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.right(text, strconv.Itoa(n), cols.n)
	p.blank(1)
	name := "nobody"
	if upstream >= 0 && upstream < len(c.Upstreams) {
		name = c.Upstreams[upstream].Name
	}
	p.left(text, cutMiddle(name, cols.name), cols.name)
	p.blank(1)
	return p
}

func outcomeWord(k model.OutcomeKind) string {
	switch k {
	case model.Result:
		return "result"
	case model.Answer:
		return "answer"
	case model.NoAnswer:
		return "no answer"
	case model.NoOutcome:
	}
	return "abandoned"
}

// notMade says why a probe without a result made fewer tries than it may (T1,
// T3): nobody was left to ask.
func notMade(p *model.Probe) string {
	n := p.Made
	if p.Verdict == model.VerdictHealthy || n >= p.Max || n == 0 {
		return ""
	}
	which := fmt.Sprintf("tries %d–%d", n+1, p.Max)
	if n+1 == p.Max {
		which = fmt.Sprintf("try %d", p.Max)
	}
	said := func(r model.Reason) bool {
		return slices.ContainsFunc(p.Tries, func(t model.Try) bool { return t.Reason == r })
	}
	switch {
	case said(model.ReasonRateLimit):
		return which + " not made: those that said rate limit are left out"
	case said(model.ReasonNoUpstream):
		return which + " not made: there is no upstream to ask"
	}
	return which + " not made"
}
