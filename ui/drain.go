package ui

import (
	"fmt"
	"strconv"
	"time"

	"chaintop/model"
)

// drainFrame is the view Drain: what clients ask of the instance, how it leaves,
// and who keeps it from that.
func (m *Model) drainFrame(s scene, lines []string) []string {
	f := &m.flow
	key := drainKey{f.said, f.plan, f.orders, f.top, m.selected(), f.focus, f.client, f.clientTop, m.h}
	lines = append(m.top(s, lines), m.draw.drain.of(key, func(l []string) []string { return m.drainBody(s, l) })...)
	lines = s.pad(lines, m.h-1-len(lines))
	return append(lines[:m.h-1], m.footer(s))
}

// drainKey is what the view Drain is drawn from, below its header.
type drainKey struct {
	said              flowKey
	plan              drainPlan
	orders            uint64
	top, sel          int
	focus             flowFocus
	client, clientTop int
	h                 int
}

func (m *Model) drainBody(s scene, lines []string) []string {
	p := m.flow.plan
	if p.phase == phaseServing {
		lines = m.flowTable(s, lines)
	}
	lines = append(lines, m.drainRule(s))
	for _, l := range m.flow.state[:p.state] {
		lines = append(lines, s.plain(l...))
	}
	if p.forecast > 0 {
		lines = m.forecast(s, lines, p.forecast)
	}
	if p.awake > 0 {
		lines = m.awakeTable(s, lines, p.awake)
	}
	if p.phase != phaseServing && !p.blind {
		lines = m.flowTable(s, lines)
	}
	if p.card > 0 {
		lines = m.drainCard(s, lines, p.card)
	}
	if p.events > 0 {
		lines = s.events(lines, 0, p.events, aboutDrain)
	}
	return lines
}

// drainCard appends the card of the drain: DO alone, or all of it below a rule.
func (m *Model) drainCard(s scene, lines []string, n int) []string {
	d := model.DiagnoseDrain(s.inst, s.now)
	if n > 1 {
		return s.card(append(lines, s.rule("", span{accent, s.inst.Name})), d, n)
	}
	return append(lines, s.plain(drainLine("DO", span{text, d.Do.Short})...))
}

// aboutDrain says whether an event is of the drain, of the readiness, or of what
// clients felt.
func aboutDrain(e *model.Event) bool {
	switch b := e.Body.(type) {
	case model.DrainChanged, model.ReadyChanged, model.ClientsFelt, model.Started:
		return true
	case model.CommandDone:
		return b.Op == model.OpDrain || b.Op == model.OpSimulate || b.Op == model.OpUndrain
	case model.ServingChanged, model.ProbeStarted, model.TryEnded, model.ProbeEnded, model.ChainChanged, model.UpstreamChanged,
		model.UpstreamRead, model.TrafficRead, model.Skipped:
	}
	return false
}

// trafficTitle says of what time the counts are: a minute, less just after the
// start.
func trafficTitle(window time.Duration) string {
	if window <= 0 {
		return "TRAFFIC"
	}
	return fmt.Sprintf("TRAFFIC last %ds", window/time.Second)
}

// flowTable appends the table of what clients ask.
func (m *Model) flowTable(s scene, lines []string) []string {
	f := &m.flow
	if f.plan.blind {
		return append(lines, s.rule("", span{text, "TRAFFIC"}),
			s.plain(span{dim, " this instance runs no gateway: it sees no client, and nothing is known of any"}))
	}
	if f.plan.traffic == 0 {
		return lines
	}
	lines = append(lines, s.ruleOf(f.focus == focusTraffic && f.plan.awake > 0, "failed: what a client saw · "+f.words(), span{text, trafficTitle(s.clients().window)}))
	c := flowColumnsAt(s.w)
	lines = append(lines, s.flowHeading(c))
	sel := m.selected()
	if f.focus != focusTraffic {
		sel = -1
	}
	end := min(f.top+f.plan.rows(), len(f.rows))
	for _, i := range f.rows[min(f.top, end):end] {
		lines = append(lines, s.flowRow(c, i, i == sel))
	}
	if f.plan.more() {
		rest := append(append([]int(nil), f.rows[:min(f.top, end)]...), f.rows[end:]...)
		lines = append(lines, s.flowSum(c, strconv.Itoa(len(rest))+" more", rest))
	}
	word := "all"
	if len(f.rows) < len(s.inst.Chains) {
		word = "all shown"
	}
	return append(lines, s.flowSum(c, word, f.rows))
}

// awakeChain is the chain whose client keeps a drain awake, -1 when none does.
func awakeChain(i *model.Instance, now time.Time) int {
	d := i.Drain
	if d.State != model.Draining {
		return -1
	}
	if _, awake := d.Awake(now); !awake {
		return -1
	}
	n := d.Activity.Chain
	if d.Simulated {
		n = d.Activity.OldChain
	}
	if n >= len(i.Chains) {
		return -1
	}
	return n
}
