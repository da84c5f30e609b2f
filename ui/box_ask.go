package ui

import (
	tea "charm.land/bubbletea/v2"
)

// ask is a question with a few answers, of which the first does nothing and is
// the one to begin with (S6).
type ask struct {
	title   string
	says    []string // what an answer would do, line by line
	answers []choice
	at      int
}

// choice is one of them; without do it only closes the box.
type choice struct {
	word string
	do   func(*Model) tea.Cmd
}

// askNo asks what is done only by a Yes.
func (m *Model) askNo(title string, says []string, yes func(*Model) tea.Cmd) tea.Cmd {
	m.box = box{kind: boxAsk, ask: ask{title: title, says: says, answers: []choice{{word: "No"}, {"Yes", yes}}}}
	return nil
}

func chooses(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		a := &m.box.ask
		n := len(a.answers)
		a.at = ((a.at+d)%n + n) % n
		return nil
	}
}

func takeAnswer(m *Model) tea.Cmd {
	a := m.box.ask
	m.box = box{}
	if do := a.answers[a.at].do; do != nil {
		return do(m)
	}
	return nil
}

func (a ask) lines(int) (string, []boxLine, string) {
	var lines []boxLine
	for _, l := range a.says {
		lines = append(lines, line(span{text, l}))
	}
	var spans []span
	for i, k := range a.answers {
		if i > 0 {
			spans = append(spans, span{text, "  "})
		}
		if i == a.at {
			spans = append(spans, span{accent, "[" + k.word + "]"})
			continue
		}
		spans = append(spans, span{text, " " + k.word + " "})
	}
	return a.title, append(lines, line(spans...)), "esc " + a.answers[0].word + " (default) · ← → choose · enter takes it"
}
