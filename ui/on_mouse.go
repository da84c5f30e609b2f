package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// doubleClick is how close two clicks on one row are to open it.
const doubleClick = 400 * time.Millisecond

// click is the last click on a row.
type click struct {
	chain int
	at    time.Time
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
		if msg.Button == tea.MouseLeft && !m.help.open && !m.small() {
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
	if m.view == viewChain {
		if row := y - top - m.detail.firstUpstream(); row >= 0 && row < m.detail.upstreams {
			m.pick.upstream = m.pick.upTop + row
		}
		return nil
	}
	row := y - top - m.table.firstRow()
	if row < 0 || row >= m.table.rows || m.pick.top+row >= len(m.order.rows) {
		return nil
	}
	was := m.click
	m.choose(m.order.rows[m.pick.top+row])
	m.click = click{m.selected(), m.now}
	if was.chain == m.click.chain && !was.at.IsZero() && m.now.Sub(was.at) <= doubleClick {
		m.click = click{}
		return open(m)
	}
	return nil
}

// onTab opens the view whose tab is at x.
func (m *Model) onTab(x int) tea.Cmd {
	x -= width(tabLead(m.w))
	for _, t := range tabs {
		n := width(t.name) + 2
		if x >= 0 && x < n {
			if t.view == viewChain {
				return open(m)
			}
			return showChains(m)
		}
		x -= n
	}
	return nil
}

func (m *Model) bannerRows() int {
	if m.o.Banner != "" {
		return 1
	}
	return 0
}
