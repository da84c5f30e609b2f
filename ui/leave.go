package ui

import (
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// quit leaves; where this process serves, it asks first (S7).
func quit(m *Model) tea.Cmd {
	if !m.o.Serves {
		return tea.Quit
	}
	if m.small() {
		m.say(warn, "this process serves clients: make the window larger and q asks · ctrl+c drains it", m.now.Add(flashLong))
		return nil
	}
	return m.askLeave()
}

// quitAnyhow is ctrl+c: where this process serves, it is told as a signal tells
// it: the first begins its idle drain, the second exits at once (D4).
func quitAnyhow(m *Model) tea.Cmd {
	if m.o.Interrupt == nil {
		return tea.Quit
	}
	m.box = box{}
	m.interrupts++
	switch m.interrupts {
	case 1:
		m.say(warn, "draining as on SIGTERM, then this ends by itself · ctrl+c again exits at once", m.now.Add(flashLong))
		return interrupt(m.o.Interrupt)
	case 2:
		m.say(warn, "exiting at once", m.now.Add(flashLong))
		return interrupt(m.o.Interrupt)
	}
	// Whatever the process is at, its screen does not hold anybody.
	return tea.Batch(interrupt(m.o.Interrupt), tea.Quit)
}

// interrupt tells the process, outside of Update.
func interrupt(f func()) tea.Cmd {
	return func() tea.Msg {
		f()
		return nil
	}
}

// askLeave asks what to do with the clients that this process serves.
func (m *Model) askLeave() tea.Cmd {
	a := clientsOf(m.inst, m.asOf)
	serves := "is ready to serve"
	if a.gateway {
		serves = "serves " + model.PerSecond(a.perSecond) + " req/s and " + countOf(a.streams, "stream")
	}
	d := m.inst.Drain
	answers := []choice{{word: "stay"}}
	switch {
	case m.o.Interrupt == nil:
	case d.Leaving():
		answers[0].word = "stay, it leaves once drained"
	case d.Forecast.Known():
		answers = append(answers, choice{"drain first, then leave (about " + model.Age(d.Forecast.Takes()) + ")", quitAnyhow})
	default:
		answers = append(answers, choice{"drain first, then leave", quitAnyhow})
	}
	now := "leave now"
	if a.gateway {
		now = fmt.Sprintf("leave now: cuts %d and %d", d.Activity.InFlight, d.Activity.Streams)
	}
	answers = append(answers, choice{now, func(*Model) tea.Cmd { return tea.Quit }})
	m.box = box{kind: boxAsk, ask: ask{title: "Leave? This process " + serves, answers: answers}}
	return nil
}

// countOf is a number of things.
func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
