package ui

import tea "charm.land/bubbletea/v2"

func nextSort(m *Model) tea.Cmd {
	if m.view == viewDrain {
		m.flow.sortBy((m.flow.by+1)%flowSorts, false)
		return nil
	}
	m.sortRows((m.order.by+1)%sorts, false)
	return nil
}

func reverseSort(m *Model) tea.Cmd {
	if m.view == viewDrain {
		m.flow.sortBy(m.flow.by, !m.flow.reverse)
		return nil
	}
	m.sortRows(m.order.by, !m.order.reverse)
	return nil
}

func (m *Model) sortRows(by sortBy, reverse bool) {
	m.order.by, m.order.reverse, m.order.told = by, reverse, true
	m.draw.forget()
}

// sortAt sorts by the column at cell x of the heading; by the same one again it
// is reversed.
func (m *Model) sortAt(x int) {
	by, ok := columnsAt(m.w, m.drains()).sortAt(x)
	if ok {
		m.sortRows(by, by == m.order.by && !m.order.reverse)
	}
}

// sortAt is what the column at cell x is sorted by.
func (c columns) sortAt(x int) (sortBy, bool) {
	const none = sorts
	edge := 1
	for _, col := range [...]struct {
		w  int
		by sortBy
	}{
		{c.chain, byName}, {c.health, byProblems}, {c.why, byProblems}, {c.next, byNext}, {c.idle, none}, {c.head, none},
		{c.age, none}, {c.lag, byLag}, {c.serving, none}, {c.p50, byP50}, {c.rate, none},
	} {
		if col.w == 0 {
			continue
		}
		if x >= edge-1 && x < edge+col.w {
			return col.by, col.by != none
		}
		edge += col.w + 1
	}
	return none, false
}
