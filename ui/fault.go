package ui

import (
	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// faultMenu offers the faults that an upstream of the demo takes: the selected
// one in Chain, elsewhere the one that serves, or the first.
func faultMenu(m *Model) tea.Cmd {
	i := m.target()
	if i < 0 || len(m.inst.Chains[i].Upstreams) == 0 {
		m.say(text, "no upstream is selected", m.now.Add(flashShort))
		return nil
	}
	c := m.inst.Chains[i]
	u := max(c.Serving.Upstream, 0)
	if m.view == viewChain {
		u = m.pick.upstream
	}
	if u >= len(c.Upstreams) {
		u = 0
	}
	if m.view != viewEvents {
		m.hold()
	}
	where := m.keys[i] + ":" + c.Upstreams[u].Name
	items := make([]item, len(m.o.Faults))
	for n, kind := range m.o.Faults {
		items[n] = item{kind, faultSays[kind], func(m *Model) tea.Cmd { return m.fault(i, u, kind, where) }}
	}
	return m.openMenu("Fault at "+where, items...)
}

// faultSays is what the known faults do. A kind that is not here is offered
// under its name.
var faultSays = map[string]string{
	"kill": "it refuses connections", "stall": "it takes requests and never answers",
	"limit": "it answers 429", "wrongchain": "it says another chain id",
	"lag": "its head stays behind", "halt": "its head stands still",
	"error": "it answers with errors", "heal": "it is as before",
}

// fault asks for a fault at an upstream.
func (m *Model) fault(i, u int, kind, where string) tea.Cmd {
	return m.send(model.Command{Op: model.OpFault, Chains: []int{i}, Upstream: u, Kind: kind}, "fault "+where+" "+kind)
}
