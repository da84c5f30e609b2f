package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// pane is a part of the view Chain that the arrows may move in.
type pane uint8

const (
	paneUpstreams pane = iota
	paneProbe
	paneFacts
	paneHistory
	panes
)

// shows says whether a plan has a pane in it.
func (p chainPlan) shows(at pane) bool {
	switch at {
	case paneFacts:
		return p.facts > 0
	case paneHistory:
		return p.events > 0
	case paneUpstreams, paneProbe, panes:
	}
	return true
}

// nextPane gives the arrows to the pane after, or the one before.
func nextPane(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		for range panes {
			m.pick.focus = pane((int(m.pick.focus) + d + int(panes)) % int(panes))
			if m.detail.shows(m.pick.focus) {
				break
			}
		}
		m.say(text, "↑↓ move in "+paneNames[m.pick.focus], m.now.Add(flashShort))
		return nil
	}
}

var paneNames = [panes]string{"the upstreams", "the probe", "the facts: another upstream", "the history"}

// stepPane moves in the pane that has the arrows. arrange keeps it in bounds.
func (m *Model) stepPane(d int) {
	switch m.pick.focus {
	case paneUpstreams, paneFacts:
		m.pick.upstream += d
	case paneProbe:
		m.pick.tryBack -= d // counted from the newest
	case paneHistory:
		m.pick.newsTop += d
	case panes:
	}
}

// arrangePanes keeps what is shown of the selected chain in bounds.
func (m *Model) arrangePanes(c *model.Chain) {
	k := &m.pick
	if !m.detail.shows(k.focus) {
		k.focus = paneUpstreams
	}
	k.upstream = max(0, min(k.upstream, len(c.Upstreams)-1))
	k.upTop = scroll(k.upTop, k.upstream, m.detail.upstreams, len(c.Upstreams))
	p := m.shownProbe(c)
	k.tryBack = max(0, min(k.tryBack, tryLines(c, p)-m.detail.tries))
	if k.newsTop != 0 {
		k.newsTop = max(0, min(k.newsTop, m.newsOf(m.selected())-m.detail.events))
	}
	if k.inside {
		rows := m.insideRows()
		k.insideTop = max(0, min(k.insideTop, len(m.upstreamWhole(c))-rows))
	}
}

// newsOf is how many changes the instance remembers of chain i.
func (m *Model) newsOf(i int) int {
	n := 0
	for k := range m.inst.Recent {
		if e := &m.inst.Recent[k]; aboutChain(e, i) {
			if _, ok := describe(m.inst, *e); ok {
				n++
			}
		}
	}
	return n
}

// shownProbe is the probe that Chain shows: the one stepped back to, else the
// one in flight, else the last.
func (m *Model) shownProbe(c *model.Chain) *model.Probe {
	if m.pick.past != 0 {
		if at := pastAt(c, m.pick.past); at >= 0 {
			return &c.History[at]
		}
		m.pick.past = 0 // forgotten by now
	}
	if c.Probe != nil {
		return c.Probe
	}
	return c.Last
}

// pastAt is where a probe is remembered, -1 when it is not.
func pastAt(c *model.Chain, id uint64) int {
	for i := range c.History {
		if c.History[i].ID == id {
			return i
		}
	}
	return -1
}

// pasts steps through the probes that the chain remembers: d < 0 is earlier.
func pasts(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		c := m.chain()
		if c == nil {
			return nil
		}
		// The last of the history is the last probe, which needs no stepping.
		last := len(c.History) - 1
		if c.Probe != nil {
			last++ // beyond it is the one in flight
		}
		at := last
		if m.pick.past != 0 {
			at = pastAt(c, m.pick.past)
		}
		at += d
		switch {
		case at < 0 || len(c.History) == 0:
			m.say(text, "no earlier probe is remembered", m.now.Add(flashShort))
		case at > last:
			m.say(text, "this is the newest probe", m.now.Add(flashShort))
		case at == last:
			m.pick.past, m.pick.tryBack = 0, 0
		default:
			m.pick.past, m.pick.tryBack = c.History[at].ID, 0
		}
		return nil
	}
}

// pastWords says which of the remembered probes is shown.
func pastWords(c *model.Chain, id uint64) string {
	if at := pastAt(c, id); at >= 0 {
		return fmt.Sprintf("%d of %d remembered · ] later", at+1, len(c.History))
	}
	return ""
}
