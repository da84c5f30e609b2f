package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// What the reader of the source sends (follow.go).
type (
	snapshotMsg struct{ inst *model.Instance } // the picture, the screen's own
	changedMsg  struct{ events []model.Event } // what happened since, whole batches
	endedMsg    struct{}                       // the log is closed and read
	lostMsg     struct{ err error }            // the source failed; it is tried again
)

// link is how the source is.
type link uint8

const (
	linkWaiting link = iota // no picture yet
	linkLive
	linkLost
	linkEnded
)

func (m *Model) onFeed(msg tea.Msg) {
	switch msg := msg.(type) {
	case snapshotMsg:
		if m.freeze.on {
			m.freeze.live, m.freeze.anew = msg.inst, true
		} else {
			m.inst = msg.inst
			m.adopt()
		}
		m.setLink(linkLive)
	case changedMsg:
		m.fold(msg.events)
		m.setLink(linkLive)
	case endedMsg:
		m.setLink(linkEnded)
	case lostMsg:
		if m.o.Remote != nil {
			return // how the connection is says more
		}
		m.setLink(linkLost)
		m.say(bad, "the source failed: "+msg.err.Error(), m.now.Add(flashLong))
	}
}

func (m *Model) setLink(l link) {
	if m.link != l {
		m.link, m.linkAt = l, m.now
		m.draw.forget()
	}
}

// fold applies what happened to the picture.
func (m *Model) fold(events []model.Event) {
	if m.freeze.on {
		m.foldBehind(events)
		return
	}
	m.inst.Apply(events...)
	anew, changed := false, false
	for i := range events {
		if b, ok := events[i].Body.(model.CommandDone); ok {
			m.onAnswer(events[i], b)
		}
		_, started := events[i].Body.(model.Started)
		anew = anew || started
		if _, ok := events[i].Body.(model.TrafficRead); ok {
			m.seen++
		}
		if !events[i].Reading() {
			changed = true
			m.seq++
		}
	}
	if changed {
		m.changes++
	}
	if anew {
		m.adopt()
	}
}

// adopt takes over a picture that may have other chains than the one before.
// The selection stays with its chain while there is one of that name.
func (m *Model) adopt() {
	m.changes++
	// Numbers of the picture before mean nothing in this one.
	m.seq += uint64(len(m.inst.Recent)) + 1
	m.news = news{}
	m.keys = make([]string, len(m.inst.Chains))
	for i, c := range m.inst.Chains {
		m.keys[i] = c.Key()
	}
	m.order.reset(len(m.keys))
	if m.pick.chain >= 0 {
		m.pick.chain = m.inst.Find(m.pick.key)
	}
	m.draw.reset(len(m.keys))
}

// flash is a line that stands in the footer's place for a moment.
type flash struct {
	role  role
	text  string
	until time.Time
}

// How long a flash stands: an acknowledgement, and what has to be read.
const (
	flashShort = 4 * time.Second
	flashLong  = 8 * time.Second
)

func (m *Model) say(r role, s string, until time.Time) { m.flash = flash{r, s, until} }
