package ui

import (
	"fmt"
	"strconv"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// drainBox asks for a drain for real: only the instance's name, typed, lets it
// begin (S6).
type drainBox struct {
	name    string // of the instance that was asked about
	typed   textinput.Model
	reason  textinput.Model
	reasons bool // the reason has the keys, not the name
}

func (b *drainBox) field() *textinput.Model {
	if b.reasons {
		return &b.reason
	}
	return &b.typed
}

// whole says whether the name is.
func (b *drainBox) whole() bool { return b.typed.Value() == b.name }

func askDrain(m *Model) tea.Cmd {
	m.box = box{kind: boxDrain, out: drainBox{name: m.inst.Name, typed: newField(), reason: newField()}}
	return m.box.out.typed.Focus()
}

func drainField(m *Model) tea.Cmd {
	b := &m.box.out
	b.field().Blur()
	b.reasons = !b.reasons
	return b.field().Focus()
}

// takeDrain begins the drain, once the name is whole. The state that was seen
// goes with it: if it moved meanwhile, it is refused.
func takeDrain(m *Model) tea.Cmd {
	b := m.box.out
	m.box = box{}
	return m.send(model.Command{
		Op: model.OpDrain, Confirm: b.name, IfState: m.inst.Drain.Real().String(), Reason: typed(&b.reason),
	}, "drain "+b.name)
}

func (m *Model) drainBoxLines(s scene, w int) (string, []boxLine, string) {
	b := &m.box.out
	i, d := m.inst, m.inst.Drain
	state := "NOT READY"
	if model.Ready(i, i.Policy).Ready {
		state = "READY"
	}
	who := m.o.Who
	if who == "" {
		who = "you"
	} else {
		who = "you (" + who + ")"
	}
	lines := []boxLine{line(span{text, i.Version + " · " + state + " · asked by " + who + m.through()})}
	lines = append(lines, drainSteps(d.Settings, w)...)
	lines = append(lines, labelledLine("today", span{text, s.drainToday(d)}))
	if d.Settings.Max == 0 && d.Settings.Mode == model.DrainIdle {
		lines = append(lines, labelledLine("bound", span{text, "none: drain.max is 0s"}))
	} else if d.Settings.Mode == model.DrainIdle {
		lines = append(lines, labelledLine("bound", span{text, model.Every(d.Settings.Max) + " at most, whoever still asks"}))
	}
	says := "esc cancel · tab field · enter is off until the name is whole"
	if b.whole() {
		says = "esc cancel · tab field · enter drains it"
	}
	command := "chaintop drain " + quoted(b.name) + " --confirm " + quoted(b.name)
	if r := typed(&b.reason); r != "" {
		command += " --reason " + quoted(r)
	}
	name := fieldLine("name", &b.typed, !b.reasons, "type "+b.name+" to confirm", w)
	if b.whole() {
		name.spans = append(name.spans, span{good, " " + markPass})
	}
	return "Drain " + i.Name + " for real?", append(lines, boxLine{rule: true},
		fieldLine("reason", &b.reason, b.reasons, "none yet · tab, then type", w), name,
		line(span{accent, "$ "}, span{text, command})), says
}

// drainSteps is what would happen, in order, in w cells.
func drainSteps(set model.DrainSettings, w int) []boxLine {
	if set.Mode == model.DrainImmediate {
		return []boxLine{
			labelledLine("1 now", span{text, "every request gets 503, /readyz and /healthz too"}),
			labelledLine("2 after "+model.Every(set.Immediate), span{text, "the process exits, streams get 1001"}),
		}
	}
	if w < 72 {
		return []boxLine{
			labelledLine("1 now", span{text, "/readyz 503, /healthz stays 200"}),
			labelledLine("2 then", span{text, "serves on until " + model.Every(set.Idle) + " pass without a request"}),
			labelledLine("3 last", span{text, "listeners close, in flight finish, exit 0"}),
		}
	}
	return []boxLine{
		labelledLine("1 now", span{text, "/readyz 503, /healthz stays 200: the Service stops sending"}),
		labelledLine("2 then", span{text, "requests are served as ever until " + model.Every(set.Idle) + " pass without one"}),
		labelledLine("3 last", span{text, "listeners close, in flight finish, streams get 1001, exit 0"}),
	}
}

// drainToday is what a drain would meet now.
func (s scene) drainToday(d model.Drain) string {
	if !s.inst.Gateway {
		return "no gateway runs there: a drain meets no client"
	}
	says := model.PerSecond(s.clients().perSecond) + " req/s · " + countOf(d.Activity.Streams, "stream") + " · " + strconv.Itoa(d.Activity.InFlight) + " in flight"
	if f := d.Forecast; f.Known() {
		says += fmt.Sprintf(" · simulated %s ago: %s", model.Age(s.now.Sub(later(f.Over, f.At))), model.Age(f.Takes()))
	}
	return says
}

func simulateDrain(m *Model) tea.Cmd {
	return m.send(model.Command{Op: model.OpSimulate}, "simulate a drain of "+m.inst.Name)
}

// stopDrain ends a simulation: it changed nothing, so nothing is asked.
func stopDrain(m *Model) tea.Cmd {
	return m.send(model.Command{Op: model.OpUndrain, Kind: model.OnlySimulation}, "stop simulating a drain of "+m.inst.Name)
}

func askUndrain(m *Model) tea.Cmd {
	d, name := m.inst.Drain, m.inst.Name
	says := []string{
		fmt.Sprintf("It drains for %s, by %s. Taken back, it serves on and can get READY again.", model.Age(m.asOf.Sub(d.Since)), orDash(d.Who)),
		"$ chaintop undrain " + quoted(name),
	}
	return m.askNo("Undrain "+name+"?", says, func(m *Model) tea.Cmd {
		return m.send(model.Command{Op: model.OpUndrain}, "undrain "+name)
	})
}
