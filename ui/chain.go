package ui

import (
	"fmt"
	"time"

	"chaintop/model"
)

// chainPlan is how many rows each pane of Chain gets. The view begins with its
// two lines of header and the chain's own line, and ends with the footer.
type chainPlan struct {
	card      int
	ruled     bool // the upstreams have a rule of their own
	upstreams int  // below their heading
	tries     int  // below the rule and the heading of the probe
	findings  int  // below their rule; 0 = not shown
	facts     int  // below their rule; 0 = not shown
	history   bool // the rule of what happened
	strip     bool // the last hour on a line of its own
	events    int
}

// planChain shares h rows, of which the header takes extra ones. The tries get the room that a whole probe takes, so
// that nothing moves while they come in one by one.
func planChain(h, w int, c *model.Chain, extra int) chainPlan {
	free := h - headerRows - extra - 1 - 1 // the chain's line, footer
	p := chainPlan{card: cardRows, upstreams: 1, tries: 1, history: true, events: 2}
	if c != nil {
		p.upstreams = max(1, min(len(c.Upstreams), max(2, h/4)))
		p.tries = max(1, min(c.Settings.Tries, max(6, h/4)))
	}
	spare := free - p.rows()
	for spare < 0 && p.shrink() {
		spare = free - p.rows()
	}
	if n := factRows(w); spare > n {
		p.facts = n
		spare -= n + 1
	}
	if n := len(findingsOf(c)); n > 0 && spare > n {
		p.findings = n
		spare -= n + 1
	}
	if spare > 0 {
		p.ruled = true
		spare--
	}
	if spare > 0 && p.history {
		p.strip = true
		spare--
	}
	p.events += max(spare, 0)
	return p
}

// rows is what the plan takes while nothing was added to it.
func (p chainPlan) rows() int {
	n := p.card + 1 + p.upstreams + 2 + p.tries + p.events
	if p.history {
		n++
	}
	return n
}

// shrink gives a row up, the least telling first; false when there is none.
func (p *chainPlan) shrink() bool {
	switch {
	case p.events > 0:
		p.events--
	case p.history:
		p.history = false
	case p.card > cardLeast:
		p.card--
	case p.tries > 3:
		p.tries--
	case p.upstreams > 2:
		p.upstreams--
	case p.tries > 1:
		p.tries--
	case p.upstreams > 1:
		p.upstreams--
	default:
		return false
	}
	return true
}

// firstUpstream is the line of the first upstream, counted from the tabs.
func (p chainPlan) firstUpstream() int {
	n := headerRows + 1 + p.card + 1
	if p.ruled {
		n++
	}
	return n
}

// bodyKey is what the view Chain is drawn from, below its header.
type bodyKey struct {
	era     uint64
	changes uint64
	second  int64
	chain   *model.Chain
	pick    pick
	plan    chainPlan
}

// chainFrame is the view Chain: one chain, why it is judged as it is, and what
// it was asked.
func (m *Model) chainFrame(s scene, lines []string) []string {
	lines = m.top(s, lines)
	c := m.chain()
	if c == nil {
		lines = append(lines, s.plain(span{dim, " no chain"}))
		return append(s.pad(lines, m.h-len(lines)-1), m.footer(s))
	}
	key := bodyKey{m.draw.era, m.changes, m.asOf.Unix(), c, m.pick, m.detail}
	lines = append(lines, m.draw.body.of(key, func(l []string) []string { return m.chainBody(s, l, c) })...)
	return append(lines, m.footer(s))
}

// upstreamsSay is what stands beside the upstreams: the websockets that they
// carry, and what enter does.
func upstreamsSay(c *model.Chain) string {
	if words := c.Traffic.StreamWords(); words != "" {
		return words + " · enter opens one"
	}
	return "enter opens one"
}

func (m *Model) chainBody(s scene, lines []string, c *model.Chain) []string {
	if m.pick.inside && m.pick.upstream < len(c.Upstreams) {
		return m.insideBody(s, lines, c)
	}
	p, i := m.detail, m.selected()
	focus := m.pick.focus
	lines = append(lines, s.chainLine(c, i))
	lines = m.card(s, lines, p.card)
	if p.ruled {
		lines = append(lines, s.ruleOf(focus == paneUpstreams, upstreamsSay(c), span{text, "UPSTREAMS"}))
	}
	lines = m.upstreamTable(s, lines, c)
	lines = s.probe(lines, c, probePane{
		probe: m.shownProbe(c), rows: p.tries, back: m.pick.tryBack, past: m.pick.past,
		facts: p.facts == 0, upstream: m.pick.upstream, focused: focus == paneProbe,
	})
	if p.findings > 0 {
		lines = s.findings(lines, c, p.findings)
	}
	if p.facts > 0 {
		lines = s.facts(lines, c, m.pick.upstream, p.facts, focus == paneFacts)
	}
	switch {
	case p.strip:
		lines = append(lines, s.ruleOf(focus == paneHistory, s.uptime(), span{text, "HISTORY"}), s.lastHour(c))
	case p.history:
		lines = append(lines, s.historyRule(c, focus == paneHistory))
	}
	s.own = c
	return s.events(lines, m.pick.newsTop, p.events, func(e *model.Event) bool { return aboutChain(e, i) })
}

// upstreamTable appends the upstreams of the chain, the selected one among them.
func (m *Model) upstreamTable(s scene, lines []string, c *model.Chain) []string {
	cols := upstreamColumnsAt(s.w, s.inst.Gateway)
	lines = append(lines, s.upstreamHeading(cols))
	for k := range m.detail.upstreams {
		i := m.pick.upTop + k
		switch {
		case i < len(c.Upstreams):
			lines = append(lines, s.upstream(cols, c, i, i == m.pick.upstream))
		case k == 0:
			lines = append(lines, s.plain(span{dim, " no upstream is configured"}))
		default:
			lines = append(lines, s.plain())
		}
	}
	return lines
}

// chainLine is the chain in one line: what is believed of it, since when, whom
// it serves from, and what it says it is.
func (s scene) chainLine(c *model.Chain, i int) string {
	left := []span{{accent, " " + s.keys[i]}, {text, "  "}}
	g := s.signOf(c.State.Health.Sign())
	left = append(left, span{g.role, g.mark + " " + c.State.Health.String()})
	if !c.State.Since.IsZero() {
		left = append(left, span{dim, " " + model.Age(s.now.Sub(c.State.Since))})
	}
	g = signOf(c.State.Verdict.Sign())
	word := c.State.Verdict.String()
	if c.State.Verdict == model.NoVerdict {
		word = "first probe"
	}
	left = append(left, span{text, "  "}, span{g.role, g.mark + " " + word}, span{dim, s.heard(c)})
	if s.w >= wideHeader {
		left = append(left, span{dim, "  serving "})
		left = append(left, s.serving(c, 24)...)
	}
	right := s.chainIs(c, s.w-widthOf(left)-3)
	p := s.pen
	p.begin(s.w, false)
	p.puts(left...)
	p.blank(p.room() - width(right) - 1)
	p.put(dim, right)
	return p.end()
}

// heard is when anything usable last came from the chain: for one that nobody
// reaches, beside the age of that verdict (S3).
func (s scene) heard(c *model.Chain) string {
	ago := func(at time.Time) string { return model.Age(s.now.Sub(at)) + " ago" }
	st := &c.State
	switch {
	case st.Verdict == model.VerdictUnreachable && !st.VerdictAt.IsZero():
		if s.w >= wideHeader && !st.Heard.At.IsZero() {
			return " " + ago(st.VerdictAt) + ", heard " + ago(st.Heard.At)
		}
		return " " + ago(st.VerdictAt)
	case st.Heard.At.After(st.VerdictAt):
		return fmt.Sprintf(" heard %s, %s", ago(st.Heard.At), st.Heard.By)
	case !st.VerdictAt.IsZero():
		return " " + ago(st.VerdictAt)
	}
	return ""
}

// tells is the upstream whose facts speak for the chain: the one that serves,
// or else the first that ever said anything.
func tells(c *model.Chain) *model.Upstream {
	u := servingUpstream(c)
	for i := range c.Upstreams {
		if u != nil && u.State.Facts.Head.Known() {
			break
		}
		u = &c.Upstreams[i]
	}
	return u
}

// chainIs is what the chain is, in at most w cells: family, id, head; what does
// not fit is left out from the right.
func (s scene) chainIs(c *model.Chain, w int) string {
	parts := []string{string(c.Family)}
	u := tells(c)
	if id := c.ExpectID; id != "" || u != nil && u.State.Facts.ChainID.Known() {
		if u != nil && u.State.Facts.ChainID.Known() {
			if id = u.State.Facts.ChainID.Value; id == c.ExpectID {
				id += " " + markPass
			}
		}
		parts = append(parts, "id "+id)
	}
	if u != nil && u.State.Facts.Head.Known() {
		head := u.State.Facts.Head
		parts = append(parts, "head "+model.Height(head.Value)+" "+model.Age(s.now.Sub(head.At)))
	}
	out := ""
	for k, part := range parts {
		if k > 0 {
			part = out + " · " + part
		}
		if width(part) > w {
			break
		}
		out = part
	}
	return out
}
