package ui

import (
	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// What the keys do. Each changes the screen, or hands back a command.

func openHelp(m *Model) tea.Cmd {
	m.help = helpState{open: true}
	return nil
}

func closeHelp(m *Model) tea.Cmd {
	m.help = helpState{}
	return nil
}

// shows opens a view.
func shows(v view) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.show(v) } }

func (m *Model) show(v view) tea.Cmd {
	if v == viewChain {
		return open(m)
	}
	m.view = v
	return nil
}

func back(m *Model) tea.Cmd {
	if m.unask() || m.clearFilter() {
		return nil
	}
	return m.show(viewChains)
}

// letGo closes what is open over Chains; when nothing is, the selection goes
// back to the worst chain.
func letGo(m *Model) tea.Cmd {
	switch {
	case m.unask(), m.clearFilter():
	case m.starts():
		m.started = true
	default:
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
		m.view, m.pick.inside = viewChain, false
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
	case at == inMenu:
		m.menu.move(d)
	case at == inEvents:
		m.moveNews(d)
	case at == inUpstream:
		m.pick.insideTop += d // arrange keeps it in bounds
	case at == inChain:
		m.stepPane(d)
	case at == inDrain:
		m.moveFlow(d)
	default:
		m.move(d)
	}
}

func pages(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		rows := map[place]int{inHelp: m.helpRows(), inChain: m.detail.upstreams, inChains: m.table.rows, inEvents: m.news.plan.rows, inUpstream: m.insideRows(), inDrain: m.flow.pageRows()}[m.place()]
		m.step(d * max(1, rows-1))
		return nil
	}
}

// ends goes to the first or the last row. In Events, whose newest is on top, the
// end is the newest one, and whatever comes after it.
func ends(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		switch {
		case m.place() != inEvents:
			m.step(d * farAway)
		case d > 0:
			m.news.sel, m.news.top = 0, 0
		default:
			m.moveNews(farAway)
		}
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
		if m.view == viewEvents {
			if !m.seekNews(d, func(l newsLine) bool { return eventSubject{line: l.line}.attention() }) {
				m.say(text, "no other event there that needs attention", m.now.Add(flashShort))
			}
			return nil
		}
		if !m.problem(d) {
			m.say(text, "no other chain needs attention", m.now.Add(flashShort))
		}
		return nil
	}
}

// turnings selects the next change of a health or of the readiness: in Events,
// d > 0 is later.
func turnings(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !m.seekNews(-d, func(l newsLine) bool { return transition(m.eventOf(l.seq)) }) {
			m.say(text, "no other change of health there", m.now.Add(flashShort))
		}
		return nil
	}
}

// openEvent goes to the chain of the selected event, and there to its upstream
// or its probe, while that is remembered.
func openEvent(m *Model) tea.Cmd {
	e, i := m.readEvent(), m.chainOfEvent()
	if i < 0 {
		m.say(text, "this event is of no one chain", m.now.Add(flashShort))
		return nil
	}
	m.choose(i)
	m.pick.past, m.pick.tryBack = 0, 0
	if b, ok := e.Body.(model.UpstreamChanged); ok {
		m.pick.upstream = b.Upstream
	}
	if b, ok := e.Body.(model.ProbeEnded); ok {
		c := m.inst.Chains[i]
		if c.Probe != nil || c.Last == nil || c.Last.ID != b.Probe.ID {
			m.pick.past = b.Probe.ID // arrange lets go of it when it is forgotten
		}
	}
	m.view, m.pick.inside = viewChain, false
	return nil
}

// chainOfEvent is the chain that the selected event is of, -1 when none or
// several.
func (m *Model) chainOfEvent() int {
	e := m.readEvent()
	if e == nil {
		return -1
	}
	i := e.Chain
	if b, ok := e.Body.(model.CommandDone); ok && len(b.Chains) == 1 {
		i = b.Chains[0]
	}
	if b, ok := e.Body.(model.ReadyChanged); ok {
		i = b.Cause
	}
	if i >= len(m.inst.Chains) {
		return -1
	}
	return i
}

// target is the chain that a key acts on, -1 when there is none.
func (m *Model) target() int {
	if m.view == viewEvents {
		return m.chainOfEvent()
	}
	return m.selected()
}

func probeOne(m *Model) tea.Cmd {
	i := m.target()
	if i < 0 {
		m.say(text, "no chain is selected", m.now.Add(flashShort))
		return nil
	}
	if m.view != viewEvents {
		m.hold()
	}
	return m.probe([]int{i}, m.keys[i])
}

// redraw draws everything again, for a terminal that may be another one by now,
// or have another background.
func redraw(m *Model) tea.Cmd {
	m.draw.forget()
	return tea.Batch(tea.ClearScreen, tea.RequestBackgroundColor)
}

func suspend(*Model) tea.Cmd { return tea.Suspend }
