package ui

import "fmt"

// chainsPlan is how many rows each pane of Chains gets. The view begins with
// its two lines of header, and ends with the footer.
type chainsPlan struct {
	rows      int // of the table
	card      int
	upstreams int  // of the selection, below their heading; 0 = not shown
	strip     bool // the last hour of the selection
	start     bool // START HERE stands below the card, not in its place
	ruled     bool // the events have a rule of their own
	events    int
}

// withStart makes room for START HERE; false when there is none but in the
// card's place.
func (p *chainsPlan) withStart() bool {
	if !p.ruled || p.events < startRows+2 {
		return false
	}
	p.start = true
	p.events -= startRows
	return true
}

// Rows that are planned with.
const (
	headerRows = 2
	cardRows   = 5 // WHY WHOSE FELT NEXT DO
	cardLeast  = 2 // WHY DO

	tableLeast    = 6 // rows of the table before the card gives way
	tableShare    = 12
	upstreamsMost = 6
)

// planChains shares h rows, of which the header takes extra ones. At 24 there is room for table, card and two events;
// a taller window shows the selection's upstreams, its last hour and more
// events, a shorter one gives up events, then lines of the card. With upstreams
// below 0 nothing of the selection is shown, since its card is not either.
func planChains(h, chains, upstreams int, extra int) chainsPlan {
	free := h - headerRows - extra - 1 - 1 - 1 // heading, rule, footer
	p := chainsPlan{card: cardRows, events: 2}
	want := max(chains, 1)
	least := min(want, tableLeast)
	if least+p.card+p.events > free {
		p.events = 0
	}
	for p.card > cardLeast && least+p.card > free {
		p.card--
	}
	room := max(free-p.card-p.events, 0)
	p.rows = min(want, room)
	// A long table shares what is above 24 rows.
	if want > tableShare && room > tableShare {
		p.rows = min(p.rows, tableShare+(room-tableShare)/2)
	}
	spare := room - p.rows
	if n := min(upstreams, upstreamsMost); n > 0 && spare > n {
		p.upstreams = n
		spare -= n + 1
	}
	if spare > 0 && upstreams >= 0 {
		p.strip = true
		spare--
	}
	if spare > 1 {
		p.ruled = true
		spare--
	}
	p.events += spare
	return p
}

// firstRow is the line of the first row of the table, counted from the tabs.
func (p chainsPlan) firstRow() int { return headerRows + 1 }

// chainsFrame is the view Chains: every chain, the card of the selected one,
// what happened.
func (m *Model) chainsFrame(s scene, lines []string) []string {
	lines = m.top(s, lines)
	c := columnsAt(m.w, m.drains())
	lines = append(lines, s.heading(c))
	p := m.table
	sel := m.selected()
	for k := range p.rows {
		switch at := m.pick.top + k; {
		case at < len(m.order.rows):
			i := m.order.rows[at]
			lines = append(lines, m.row(s, c, i, i == sel))
		case len(m.inst.Chains) == 0 && k == 0 && m.link != linkWaiting:
			lines = append(lines, s.plain(span{dim, " " + m.o.Empty}))
		default:
			lines = append(lines, s.plain())
		}
	}
	lines = append(lines, m.cardRule(s))
	if m.starts() && !p.start {
		lines = m.startHere(s, lines, p.card)
	} else {
		lines = m.card(s, lines, p.card)
	}
	if p.upstreams > 0 {
		lines = m.upstreamsOf(s, lines, p.upstreams)
	}
	if p.strip {
		lines = append(lines, s.lastHour(m.chain()))
	}
	if p.start {
		lines = m.startHere(s, append(lines, s.startRule()), startRows-1)
	}
	if p.ruled {
		lines = append(lines, s.rule("newest first", span{text, "EVENTS"}))
	}
	lines = m.events(s, lines, p.events)
	return append(lines, m.footer(s))
}

// cardRule names the chain whose card is below, and says how the rows stand.
func (m *Model) cardRule(s scene) string {
	if m.starts() && !m.table.start {
		return s.startRule()
	}
	title := span{text, "no chain"}
	order := m.order.words(m.now)
	switch i := m.selected(); {
	case m.drainsCard():
		title = span{drain, "drain of " + m.inst.Name}
		if m.inst.Drain.Simulated {
			title.text = "simulated " + title.text
		}
		if i := m.awake; i >= 0 {
			order = markWarn + " " + m.keys[i] + " keeps it awake"
		}
	case i >= 0:
		title = span{accent, m.keys[i]}
	}
	n := len(m.order.rows)
	shown := fmt.Sprintf("%d of %d", n, len(m.inst.Chains))
	if m.table.rows < n {
		shown = fmt.Sprintf("%d–%d of %d", m.pick.top+1, m.pick.top+m.table.rows, n)
	}
	return s.rule(order+" · "+shown, title)
}
