package ui

import (
	"chaintop/model"
)

// phase is what the view Drain is about.
type phase uint8

const (
	phaseServing phase = iota
	phaseDraining
	phaseSimulated
)

func phaseOf(d model.Drain) phase {
	switch {
	case d.Simulated:
		return phaseSimulated
	case d.State != model.DrainServing:
		return phaseDraining
	}
	return phaseServing
}

// drains says whether the instance drains, really or simulated.
func (m *Model) drains() bool { return m.inst.Drain.State != model.DrainServing }

// drainPlan is how many rows each pane of Drain gets, without its rule and its
// heading; 0 = it is not shown.
type drainPlan struct {
	phase    phase
	blind    bool // no gateway runs: a line says so
	chains   int  // that could be shown
	traffic  int  // rows of chains
	state    int
	forecast int
	awake    int
	card     int // 1 = DO alone, without a rule
	events   int
}

// used is the lines of a plan.
func (p drainPlan) used() int {
	n := p.state + 1 + p.card + p.events + p.table()
	if p.forecast > 0 {
		n += p.forecast + 2
	}
	if p.awake > 0 {
		n += p.awake + 2
	}
	if p.card > 1 {
		n++
	}
	return n
}

// table is the lines of the table of chains.
func (p drainPlan) table() int {
	switch {
	case p.blind && p.phase == phaseServing:
		return 2
	case p.traffic == 0:
		return 0
	}
	return p.traffic + 3 + btoi(p.more()) // rule, heading, all
}

// more says that a row sums up the chains without one.
func (p drainPlan) more() bool { return p.traffic < p.chains }

// rows are the rows of chains.
func (p drainPlan) rows() int { return min(p.traffic, p.chains) }

// firstRow is the line of the first chain, counted from the end of the header.
func (p drainPlan) firstRow() int {
	if p.phase == phaseServing {
		return 2
	}
	n := p.state + 1 + 2
	if p.forecast > 0 {
		n += p.forecast + 2
	}
	if p.awake > 0 {
		n += p.awake + 2
	}
	return n
}

// firstClient is the line of the first client, counted from the end of the
// header.
func (p drainPlan) firstClient() int {
	n := p.state + 1 + 2
	if p.phase == phaseServing {
		n += p.table()
	}
	if p.forecast > 0 {
		n += p.forecast + 2
	}
	return n
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// want is one step of sharing rows: a pane, and how many it is to have then.
type want struct {
	pane *int
	rows int
}

// wants are who gets rows, in this order. Serving, what is asked comes first;
// draining, who keeps it awake.
func (p *drainPlan) wants(state, forecast, awake int) []want {
	const all = 1 << 16
	switch p.phase {
	case phaseDraining:
		return []want{
			{&p.state, state}, {&p.awake, min(awake, 1)}, {&p.card, cardRows}, {&p.awake, min(awake, 4)}, {&p.events, 2},
			{&p.awake, min(awake, 8)}, {&p.traffic, min(p.chains, 4)}, {&p.awake, awake}, {&p.traffic, p.chains}, {&p.events, all},
		}
	case phaseSimulated:
		return []want{
			{&p.state, state}, {&p.forecast, forecast}, {&p.awake, min(awake, 2)}, {&p.events, 2}, {&p.card, cardRows},
			{&p.awake, min(awake, 8)}, {&p.traffic, min(p.chains, 4)}, {&p.awake, awake}, {&p.traffic, p.chains}, {&p.events, all},
		}
	case phaseServing:
	}
	return []want{
		{&p.traffic, min(p.chains, 1)}, {&p.state, state}, {&p.awake, min(awake, 1)}, {&p.traffic, min(p.chains, 4)}, {&p.awake, min(awake, 4)},
		{&p.traffic, p.chains}, {&p.card, cardRows}, {&p.awake, awake}, {&p.events, all},
	}
}

// planDrain shares the rows of the window.
func (m *Model) planDrain() drainPlan {
	free := m.h - headerRows - m.bannerRows() - m.filterRows() - 1 // footer
	p := drainPlan{phase: phaseOf(m.inst.Drain), blind: !m.inst.Gateway, chains: len(m.flow.rows), state: 3, card: 1}
	if p.blind {
		p.chains = 0
	}
	if p.phase == phaseDraining {
		p.card = cardLeast
	}
	if !m.listens() {
		p.state, p.card = 1, 0 // nothing drains here
		p.events = max(0, free-p.used())
		return p
	}
	for _, w := range p.wants(len(m.flow.state), len(m.flow.steps), len(m.flow.awake)) {
		for *w.pane < w.rows {
			was := *w.pane
			*w.pane++
			if p.used() > free {
				*w.pane = was
				break
			}
		}
	}
	return p
}
