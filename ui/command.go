package ui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// sendTimeout bounds the wait for a place in the sink.
const sendTimeout = 5 * time.Second

// askFrom is how many requests a key may cause unasked; askFor is how long the
// question stands.
const (
	askFrom = 100
	askFor  = 5 * time.Second
)

// sentMsg says how the sending of a command went. What it did is seen when its
// events come.
type sentMsg struct {
	what string
	err  error
}

// probe asks for probes of the given chains; of all when there are none.
func (m *Model) probe(chains []int, what string) tea.Cmd {
	return m.send(model.Command{Op: model.OpProbe, Chains: chains}, "probe "+what)
}

// send hands a command to the sink.
func (m *Model) send(c model.Command, what string) tea.Cmd {
	m.sent++
	c.At, c.ID, c.Who = m.now, m.session+"-"+strconv.FormatUint(m.sent, 10), m.o.Who
	m.say(text, "asked: "+what, m.now.Add(flashShort))
	sink, ctx := m.o.Sink, m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		defer cancel()
		return sentMsg{what, sink.Send(ctx, c)}
	}
}

// probeAll asks for all that the filter lets through, but not for many requests
// without being told twice.
func (m *Model) probeAll() tea.Cmd {
	n, all := len(m.order.rows), len(m.inst.Chains)
	shown, what := slices.Sorted(slices.Values(m.order.rows)), fmt.Sprintf("the %d chains shown", n)
	if n == all {
		shown, what = nil, fmt.Sprintf("all %d chains", n)
	}
	if n == 0 {
		m.say(text, "no chain is shown", m.now.Add(flashShort))
		return nil
	}
	if n > askFrom && !m.now.Before(m.asking) {
		m.asking = m.now.Add(askFor)
		m.say(warn, fmt.Sprintf("P again probes %s, at least a request each · esc leaves it", what), m.asking)
		return nil
	}
	m.asking = time.Time{}
	return m.probe(shown, what)
}

func (m *Model) onSent(msg sentMsg) {
	if msg.err != nil {
		m.say(bad, fmt.Sprintf("%s %s was not sent: %v", markUnhealthy, msg.what, msg.err), m.now.Add(flashLong))
	}
}

// mine says whether a command is of this screen.
func (m *Model) mine(id string) bool { return strings.HasPrefix(id, m.session+"-") }

// onAnswer shows the answer to a command of this screen, in the words of its
// event.
func (m *Model) onAnswer(e model.Event, b model.CommandDone) {
	if !m.mine(b.ID) {
		return
	}
	if said, ok := model.Describe(m.inst, e); ok {
		m.say(text, said.What+" "+said.Detail, m.now.Add(flashShort))
	}
}
