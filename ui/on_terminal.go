package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// toggleZone shows times of day in UTC or in local time.
func toggleZone(m *Model) tea.Cmd {
	says := "times are UTC"
	if m.zone == time.UTC {
		m.zone = time.Local
		says = "times are local: " + m.now.In(m.zone).Format("MST -07:00")
	} else {
		m.zone = time.UTC
	}
	m.draw.forget()
	m.say(text, says, m.now.Add(flashShort))
	return nil
}

// toggleMouse takes the mouse, or gives it back to the terminal.
func toggleMouse(m *Model) tea.Cmd {
	m.noMouse = !m.noMouse
	says := "mouse on: wheel, click, click twice"
	if m.noMouse {
		says = "mouse off: the terminal selects text again · m takes it back"
	}
	m.say(text, says, m.now.Add(flashShort))
	return nil
}
