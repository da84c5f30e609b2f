package ui

import "chaintop/model"

// pick is the selection. Until a row is picked it is the top row, which is the
// worst chain; then it follows its chain wherever the row goes.
type pick struct {
	chain    int    // index; -1 = the top row
	key      string // of chain, by which it is found again in a new snapshot
	top      int    // first row shown
	upstream int    // of the chain, in Chain
	upTop    int    // first upstream shown

	focus     pane   // of Chain, that has the arrows
	past      uint64 // id of the probe stepped back to; 0 = the newest
	tryBack   int    // tries scrolled back from the newest
	newsTop   int    // first change shown
	inside    bool   // the upstream is open
	insideTop int    // first line shown of it
}

// selected is the index of the selected chain, -1 when there is none.
func (m *Model) selected() int {
	switch {
	case m.pick.chain >= 0 && m.pick.chain < len(m.inst.Chains) && (m.view != viewChains && m.view != viewDrain || !m.order.hides(m.pick.chain)):
		return m.pick.chain
	case m.drainsCard() && m.awake >= 0 && !m.order.hides(m.awake):
		return m.awake
	case m.view == viewDrain && len(m.flow.rows) > 0:
		return m.flow.rows[0]
	case len(m.order.rows) > 0:
		return m.order.rows[0]
	}
	return -1
}

// chain is the selected chain, nil when there is none.
func (m *Model) chain() *model.Chain {
	if i := m.selected(); i >= 0 {
		return m.inst.Chains[i]
	}
	return nil
}

// choose picks chain i.
func (m *Model) choose(i int) {
	if i < 0 || i >= len(m.inst.Chains) {
		return
	}
	if i != m.selected() {
		m.pick = pick{top: m.pick.top, focus: m.pick.focus}
	}
	m.pick.chain, m.pick.key = i, m.keys[i]
}

// hold picks what is selected, so that an act stays with its chain.
func (m *Model) hold() { m.choose(m.selected()) }

// release lets the selection go back to the worst chain.
func (m *Model) release() { m.pick = pick{chain: -1} }

// move picks the chain d rows further, or the last one there is.
func (m *Model) move(d int) {
	if n := len(m.order.rows); n > 0 {
		m.choose(m.order.rows[max(0, min(m.order.at(m.selected())+d, n-1))])
	}
}

// turn picks the next chain, or the one before, around the ends.
func (m *Model) turn(d int) {
	if n := len(m.order.rows); n > 0 {
		m.choose(m.order.rows[((m.order.at(m.selected())+d)%n+n)%n])
	}
}

// problem picks the next chain that needs attention, or the one before, around
// the ends; false when there is no other.
func (m *Model) problem(d int) bool {
	n := len(m.order.rows)
	at := m.order.at(m.selected())
	for k := 1; k < n; k++ {
		if i := m.order.rows[((at+k*d)%n+n)%n]; m.order.class[i] != model.ClassHealthy {
			m.choose(i)
			return true
		}
	}
	return false
}

// scroll is the first row to show of n so that row at is among the rows shown:
// top, if it can stay.
func scroll(top, at, rows, n int) int {
	if rows <= 0 {
		return 0
	}
	if at < top {
		top = at
	}
	if at >= top+rows {
		top = at - rows + 1
	}
	return max(0, min(top, n-rows))
}
