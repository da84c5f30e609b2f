package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// doubleClick is how close two clicks on one row are to open it.
const doubleClick = 400 * time.Millisecond

// click is the last click on a row.
type click struct {
	what int // a chain, the number of an event, or -1 less an upstream
	at   time.Time
}

func (m *Model) onMouse(msg tea.Msg) tea.Cmd {
	m.order.touched = m.now
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			m.step(-1)
		} else if msg.Button == tea.MouseWheelDown {
			m.step(1)
		}
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft && !m.help.open && !m.menu.open && m.box.kind == boxNone && !m.small() {
			return m.onClick(msg.X, msg.Y)
		}
	}
	return nil
}

// onClick selects what lies there: a tab, a chain, an upstream. A second click
// on a chain opens it.
func (m *Model) onClick(x, y int) tea.Cmd {
	top := m.bannerRows()
	if y == top {
		return m.onTab(x)
	}
	top += m.filterRows()
	switch {
	case m.view == viewEvents:
		return m.onNewsRow(y - top - headerRows - 1)
	case m.view == viewDrain:
		return m.onFlowRow(x, y-top-headerRows)
	case m.view == viewChains && y == top+headerRows:
		m.sortAt(x)
		return nil
	case m.view == viewChain && m.pick.inside:
		return nil
	case m.view == viewChain:
		if row := y - top - m.detail.firstUpstream(); row >= 0 && row < m.detail.upstreams {
			return m.onUpstreamRow(m.pick.upTop + row)
		}
		return nil
	}
	row := y - top - m.table.firstRow()
	if row < 0 || row >= m.table.rows || m.pick.top+row >= len(m.order.rows) {
		return nil
	}
	return m.onChainRow(m.order.rows[m.pick.top+row])
}

// onChainRow selects a chain; a second click opens it.
func (m *Model) onChainRow(i int) tea.Cmd {
	m.choose(i)
	if m.twice(m.selected()) {
		return open(m)
	}
	return nil
}

// onUpstreamRow selects an upstream; a second click opens it.
func (m *Model) onUpstreamRow(i int) tea.Cmd {
	m.pick.focus, m.pick.upstream = paneUpstreams, i
	if m.twice(-1 - i) {
		return openUpstream(m)
	}
	return nil
}

// twice says whether this click is the second on one thing.
func (m *Model) twice(what int) bool {
	was := m.click
	m.click = click{what, m.now}
	if was.what != what || was.at.IsZero() || m.now.Sub(was.at) > doubleClick {
		return false
	}
	m.click = click{}
	return true
}

// onNewsRow selects the event in a row of the list; a second click goes to its
// chain.
func (m *Model) onNewsRow(row int) tea.Cmd {
	row += m.news.top
	if row < m.news.top || row >= min(m.news.top+m.news.plan.rows, len(m.news.lines)) {
		return nil
	}
	m.readRow(row)
	if m.twice(int(m.news.sel)) {
		return openEvent(m)
	}
	return nil
}

// onTab opens the view whose tab is at x.
func (m *Model) onTab(x int) tea.Cmd {
	x -= width(tabLead(m.w))
	for _, t := range tabs {
		n := width(tabWord(t.name, t.view == m.view, m.w))
		if x >= 0 && x < n {
			return m.show(t.view)
		}
		x -= n
	}
	return nil
}

// bannerRows is the lines above the tabs.
func (m *Model) bannerRows() int {
	n := 0
	if m.o.Banner != "" {
		n++
	}
	if m.remote.Insecure {
		n++
	}
	if m.freeze.on {
		n++
	}
	return n
}
