package ui

import tea "charm.land/bubbletea/v2"

// What the keys do. Each changes the screen, or hands back a command.

func openHelp(m *Model) tea.Cmd {
	m.help = helpState{open: true}
	return nil
}

func closeHelp(m *Model) tea.Cmd {
	m.help = helpState{}
	return nil
}

func showChains(m *Model) tea.Cmd {
	m.view = viewChains
	return nil
}

func back(m *Model) tea.Cmd {
	if m.unask() {
		return nil
	}
	return showChains(m)
}

// letGo closes what is open over Chains; when nothing is, the selection goes
// back to the worst chain.
func letGo(m *Model) tea.Cmd {
	if !m.unask() {
		m.release()
	}
	return nil
}

// unask takes back the question a key asked.
func (m *Model) unask() bool {
	asked := m.now.Before(m.asking)
	if asked {
		m.asking, m.flash = m.now, flash{}
	}
	return asked
}

func open(m *Model) tea.Cmd {
	if m.chain() != nil {
		m.hold()
		m.view = viewChain
	}
	return nil
}

// steps moves by rows: the selection, or the lines of Help.
func steps(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.step(d)
		return nil
	}
}

func (m *Model) step(d int) {
	at := m.place()
	switch {
	case at == inHelp:
		m.help.top += d // arrange keeps it in bounds
	case at == inChain:
		m.pick.upstream += d // arrange keeps it in bounds
	default:
		m.move(d)
	}
}

func pages(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		rows := map[place]int{inHelp: m.helpRows(), inChain: m.detail.upstreams, inChains: m.table.rows}[m.place()]
		m.step(d * max(1, rows-1))
		return nil
	}
}

func ends(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.step(d * farAway)
		return nil
	}
}

// farAway is further than any list goes.
const farAway = 1 << 20

func turns(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.turn(d)
		return nil
	}
}

func problems(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !m.problem(d) {
			m.say(text, "no other chain needs attention", m.now.Add(flashShort))
		}
		return nil
	}
}

func probeOne(m *Model) tea.Cmd {
	i := m.selected()
	if i < 0 {
		return nil
	}
	m.hold()
	return m.probe([]int{i}, m.keys[i])
}

// redraw draws everything again, for a terminal that may be another one by now,
// or have another background.
func redraw(m *Model) tea.Cmd {
	m.draw.forget()
	return tea.Batch(tea.ClearScreen, tea.RequestBackgroundColor)
}

func suspend(*Model) tea.Cmd { return tea.Suspend }

func quit(*Model) tea.Cmd { return tea.Quit }
