package ui

import "chaintop/model"

// limit is what puts a key off for as long as it holds.
type limit struct {
	says  string // why it is off; empty = it is another key then, and not shown
	holds func(*Model) bool
}

// but is the binding, off while any of the limits holds.
func (b binding) but(limits ...limit) binding {
	b.when = append(b.when[:len(b.when):len(b.when)], limits...)
	return b
}

// why is why a key does nothing now; off is false when it does something.
func (m *Model) why(b *binding) (says string, off bool) {
	for _, l := range b.when {
		if l.says == "" && l.holds(m) {
			return "", true
		}
	}
	if b.off != "" {
		return b.off, true
	}
	for _, l := range b.when {
		if l.holds(m) {
			return l.says, true
		}
	}
	return "", false
}

func (m *Model) acts(b *binding) bool { _, off := m.why(b); return !off }

// What puts keys off for a while. Two of them only change what a key is for.
var (
	noGateway  = limit{"no gateway runs there, so nothing is routed", func(m *Model) bool { return !m.inst.Gateway }}
	alone      = limit{"nothing listens in this process, so nothing drains", func(m *Model) bool { return !m.listens() }}
	noRows     = limit{"nothing is listed here", func(m *Model) bool { return !m.flow.has(focusTraffic) && !m.flow.has(focusClients) }}
	noTraffic  = limit{"no chain is listed here", func(m *Model) bool { return m.view == viewDrain && !m.flow.has(focusTraffic) }}
	oneTable   = limit{"one table is shown", func(m *Model) bool { return !m.flow.has(focusTraffic) || !m.flow.has(focusClients) }}
	stands     = limit{"", func(m *Model) bool { return !m.drains() }}
	leaving    = limit{"it drains already", func(m *Model) bool { return m.inst.Drain.Leaving() }}
	immediate  = limit{"drain.mode is immediate: it waits for nobody, so there is nothing to forecast", func(m *Model) bool { return m.inst.Drain.Settings.Mode == model.DrainImmediate }}
	simulates  = limit{"", func(m *Model) bool { return m.inst.Drain.Simulated }}
	simulating = limit{"", func(m *Model) bool { return !m.inst.Drain.Simulated }}
	unnamed    = limit{"the name is not whole yet", func(m *Model) bool { return m.box.kind == boxDrain && !m.box.out.whole() }}
	stays      = limit{"nothing drains", func(m *Model) bool { return !m.inst.Drain.Leaving() }}
	over       = limit{"it is drained: nothing takes that back", func(m *Model) bool { return m.inst.Drain.Real() == model.Drained }}
	final      = limit{"a signal began the drain: it is final", func(m *Model) bool { return m.inst.Drain.Leaving() && m.inst.Drain.Final }}
)
