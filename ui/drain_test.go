package ui

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"chaintop/model"
)

func drainScreen(t *testing.T, i *model.Instance, w, h int, change ...func(*Options)) *Model {
	m := screen(t, i, w, h, change...)
	press(m, "4")
	return m
}

// drainFrames are screens of drains, and what leads to one.
func drainFrames(t *testing.T) map[string]func() *Model {
	over := func() *model.Instance {
		i := busy()
		i.Drain = asIf(true).Drain
		i.Drain.State, i.Drain.Simulated, i.Drain.Forecast.Over = model.DrainServing, false, before(mins)
		return i
	}
	drained := func() *model.Instance {
		i := keptAwake()
		i.Drain.State, i.Drain.Drained, i.Drain.End = model.Drained, before(3*sec), model.DrainEndIdle
		return i
	}
	refusing := func() *model.Instance {
		i := keptAwake()
		i.Drain.Settings.Mode, i.Drain.Settings.Immediate, i.Drain.Since = model.DrainImmediate, 5*sec, before(2*sec)
		return i
	}
	return map[string]func() *Model{
		"serving-80x24":          func() *Model { return drainScreen(t, busy(), 80, 24) },
		"serving-120x40":         func() *Model { return drainScreen(t, busy(), 120, 40) },
		"serving-60x16":          func() *Model { return drainScreen(t, busy(), 60, 16) },
		"serving-200x60":         func() *Model { return drainScreen(t, busy(), 200, 60) },
		"serving-forecast-80x24": func() *Model { return drainScreen(t, over(), 80, 24) },
		"no-gateway-80x24":       func() *Model { return drainScreen(t, night(), 80, 24) },
		"draining-80x24":         func() *Model { return drainScreen(t, keptAwake(), 80, 24) },
		"draining-120x40":        func() *Model { return drainScreen(t, keptAwake(), 120, 40) },
		"draining-60x16":         func() *Model { return drainScreen(t, keptAwake(), 60, 16) },
		"drained-80x24":          func() *Model { return drainScreen(t, drained(), 80, 24) },
		"immediate-80x24":        func() *Model { return drainScreen(t, refusing(), 80, 24) },
		"simulated-80x24":        func() *Model { return drainScreen(t, asIf(true), 80, 24) },
		"simulated-early-80x24":  func() *Model { return drainScreen(t, asIf(false), 80, 24) },
		"simulated-120x40":       func() *Model { return drainScreen(t, asIf(true), 120, 40) },
		"chains-draining-80x24":  func() *Model { return screen(t, keptAwake(), 80, 24) },
		"chains-draining-120x40": func() *Model { return screen(t, keptAwake(), 120, 40) },
		"chains-simulated-80x24": func() *Model { return screen(t, asIf(false), 80, 24) },
		"chains-busy-120x40":     func() *Model { return screen(t, busy(), 120, 40) },
		"too-small-draining":     func() *Model { return screen(t, keptAwake(), 50, 12) },
		"chain-busy-120x40":      func() *Model { return chainScreen(t, busy(), "base/jsonrpc", 120, 40) },
		"chain-busy-160x40":      func() *Model { return chainScreen(t, busy(), "base/jsonrpc", 160, 40) },
		"upstream-busy-80x24": func() *Model {
			m := chainScreen(t, busy(), "ethereum/jsonrpc", 80, 24)
			press(m, "enter")
			return m
		},
		"help-draining-80x24": func() *Model { m := drainScreen(t, keptAwake(), 80, 24); press(m, "?"); return m },
		"drain-box-80x24":     func() *Model { m := drainScreen(t, busy(), 80, 24); press(m, "D"); typeIn(m, "gw-7f"); return m },
		"drain-box-60x16": func() *Model {
			m := drainScreen(t, busy(), 60, 16)
			press(m, "D", "tab")
			typeIn(m, "INC-4411")
			press(m, "tab")
			typeIn(m, "gw-7f9c")
			return m
		},
		"pin-box-80x24": func() *Model {
			m := chainScreen(t, busy(), "polygon/jsonrpc", 80, 24)
			press(m, "down", "F", "tab")
			typeIn(m, "bor-1 is resyncing, INC-4411")
			return m
		},
		"leave-80x24": func() *Model {
			m := screen(t, busy(), 80, 24, func(o *Options) { o.Serves, o.Interrupt = true, func() {} })
			press(m, "q", "right")
			return m
		},
	}
}

func TestDrainFrames(t *testing.T) {
	for name, make := range drainFrames(t) {
		t.Run(name, func(t *testing.T) {
			m := make()
			if err := fits(m.View().Content, m.w, m.h); err != nil {
				t.Error(err)
			}
			golden.RequireEqual(t, seen(m))
		})
	}
}
