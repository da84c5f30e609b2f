package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// freeze holds the picture still while what happens is folded behind it.
type freeze struct {
	on      bool
	at      time.Time
	live    *model.Instance // what will be shown
	waiting int             // changes since
	anew    bool            // chains may be other ones by now
}

// toggleFreeze holds the picture still, or goes on.
func toggleFreeze(m *Model) tea.Cmd {
	if m.freeze.on {
		m.thaw()
		return nil
	}
	m.freeze = freeze{on: true, at: m.now, live: m.inst.Clone()}
	m.asOf = m.pictureNow()
	m.draw.forget()
	return nil
}

// thaw shows what became of the picture meanwhile.
func (m *Model) thaw() {
	f := m.freeze
	m.freeze = freeze{}
	m.inst, m.asOf = f.live, m.pictureNow()
	m.seq += uint64(f.waiting)
	m.changes++
	if f.anew {
		m.adopt()
	}
	m.draw.forget()
}

// foldBehind folds what happens behind a picture that stands.
func (m *Model) foldBehind(events []model.Event) {
	m.freeze.live.Apply(events...)
	for i := range events {
		if !events[i].Reading() {
			m.freeze.waiting++
		}
		if b, ok := events[i].Body.(model.CommandDone); ok {
			m.onAnswer(events[i], b)
		}
		_, started := events[i].Body.(model.Started)
		m.freeze.anew = m.freeze.anew || started
	}
}

// frozenLine says that the picture stands, and since when.
func (m *Model) frozenLine(s scene) string {
	says := fmt.Sprintf(" FROZEN %s ago · %d changes waiting", model.Age(m.now.Sub(m.freeze.at)), m.freeze.waiting)
	const ends = "space goes on "
	p := s.pen
	p.begin(s.w, false)
	p.put(banner, says)
	for p.room() > width(ends) {
		p.put(banner, blanks[:min(p.room()-width(ends), len(blanks))])
	}
	p.put(banner, ends)
	p.fill(banner)
	return p.end()
}
