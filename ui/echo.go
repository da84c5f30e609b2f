package ui

import (
	"strings"
	"time"

	"chaintop/model"
)

// describe is a change in words. A command reads as the command line that does
// the same (S6), and what was answered.
func describe(i *model.Instance, e model.Event) (model.Line, bool) {
	l, ok := model.Describe(i, e)
	b, is := e.Body.(model.CommandDone)
	if !ok || !is {
		return l, ok
	}
	line := lineOf(i, b)
	if line == "" {
		return l, true
	}
	_, answer, _ := strings.Cut(l.Detail, " → ")
	word, args, _ := strings.Cut(line, " ")
	l.What, l.Detail = "chaintop "+word, args+" → "+answer
	return l, true
}

// lineOf is the command line of a command, without the program's name; empty for
// one that has none.
func lineOf(i *model.Instance, b model.CommandDone) string {
	chain, upstream := "", ""
	if len(b.Chains) == 1 && b.Chains[0] >= 0 && b.Chains[0] < len(i.Chains) {
		c := i.Chains[b.Chains[0]]
		chain = c.Key()
		if b.Upstream >= 0 && b.Upstream < len(c.Upstreams) {
			upstream = c.Upstreams[b.Upstream].Name
		}
	}
	on := quoted(i.Name)
	switch b.Op {
	case model.OpProbe:
		return "probe --on " + on + keysOf(i, b.Chains)
	case model.OpCheck:
		return "probe --on " + on + " " + quoted(chain+":"+upstream)
	case model.OpPin:
		return pinLine(i.Name, chain, upstream, b.For)
	case model.OpUnpin:
		return "unpin " + on + " " + quoted(chain)
	case model.OpDrain:
		line := "drain " + on + " --confirm " + on
		if b.Reason != "" {
			line += " --reason " + quoted(b.Reason)
		}
		return line
	case model.OpSimulate:
		return "drain " + on + " --simulate"
	case model.OpUndrain:
		if b.Kind == model.OnlySimulation {
			return "drain " + on + " --simulate=off"
		}
		return "undrain " + on
	case model.OpFault: // only the demo's own screen injects faults
	}
	return ""
}

// keysOf names chains as arguments; none when all are meant.
func keysOf(i *model.Instance, chains []int) string {
	var b strings.Builder
	for _, n := range chains {
		if n >= 0 && n < len(i.Chains) {
			b.WriteString(" " + quoted(i.Chains[n].Key()))
		}
	}
	return b.String()
}

func pinLine(instance, chain, upstream string, lasts time.Duration) string {
	if lasts == 0 {
		lasts = model.PinFor
	}
	return "pin " + quoted(instance) + " " + quoted(chain) + " " + quoted(upstream) + " --for " + model.Every(lasts)
}
