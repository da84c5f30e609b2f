//go:build unix

package termtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/term"
)

// modes is what the program switched, and how often it pushed.
type modes struct {
	set       map[ansi.Mode]bool
	keyboards int  // Kitty keyboard states pushed and not popped
	otherKeys bool // xterm's modifyOtherKeys
}

// words are the modes a program must leave as it found them, by what is wrong
// when it did not.
var words = map[ansi.Mode]string{
	ansi.ModeTextCursorEnable:    "the cursor is hidden",
	ansi.ModeCursorKeys:          "application cursor keys are on",
	ansi.ModeAutoWrap:            "lines do not wrap",
	ansi.ModeMouseX10:            "the mouse is on (9)",
	ansi.ModeMouseNormal:         "the mouse is on (1000)",
	ansi.ModeMouseHighlight:      "the mouse is on (1001)",
	ansi.ModeMouseButtonEvent:    "the mouse is on (1002)",
	ansi.ModeMouseAnyEvent:       "the mouse is on (1003)",
	ansi.ModeFocusEvent:          "focus reports are on",
	ansi.ModeMouseExtSgr:         "the mouse is on (1006)",
	ansi.ModeAltScreen:           "the alternate screen is on (1047)",
	ansi.ModeAltScreenSaveCursor: "the alternate screen is on (1049)",
	ansi.ModeBracketedPaste:      "bracketed paste is on",
	ansi.ModeSynchronizedOutput:  "output is held back (2026)",
	ansi.ModeUnicodeCore:         "grapheme widths are on (2027)",
	ansi.ModeInBandResize:        "size reports are on (2048)",
}

// rest is whether a mode is set where nobody touched it.
func rest(m ansi.Mode) bool { return m == ansi.ModeTextCursorEnable || m == ansi.ModeAutoWrap }

// watch follows what a program does to the emulator, under the lock of
// whoever writes to it.
func (m *modes) watch(e *vt.Emulator) {
	m.set = make(map[ansi.Mode]bool)
	e.SetCallbacks(vt.Callbacks{
		EnableMode:  func(mode ansi.Mode) { m.set[mode] = true },
		DisableMode: func(mode ansi.Mode) { m.set[mode] = false },
	})
	e.RegisterCsiHandler(ansi.Command('>', 0, 'u'), func(ansi.Params) bool { m.keyboards++; return true })
	e.RegisterCsiHandler(ansi.Command('<', 0, 'u'), func(p ansi.Params) bool {
		n, _, _ := p.Param(0, 1)
		m.keyboards = max(0, m.keyboards-max(1, n))
		return true
	})
	e.RegisterCsiHandler(ansi.Command('>', 0, 'm'), func(p ansi.Params) bool {
		if what, _, _ := p.Param(0, 0); what == 4 {
			level, _, _ := p.Param(1, 0)
			m.otherKeys = level != 0
		}
		return true
	})
}

// Leftovers is what the program changed of the terminal and did not put back,
// in words; nothing when the terminal is as it was.
func (t *Terminal) Leftovers() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []string
	if t.screen.IsAltScreen() {
		left = append(left, "the alternate screen is shown")
	}
	for mode, set := range t.modes.set {
		if word, ok := words[mode]; ok && set != rest(mode) {
			left = append(left, word)
		}
	}
	if n := t.modes.keyboards; n > 0 {
		left = append(left, fmt.Sprintf("%d keyboard states are pushed", n))
	}
	if t.modes.otherKeys {
		left = append(left, "modified keys are reported")
	}
	if state, err := t.state(); err != nil {
		left = append(left, "the line cannot be read: "+err.Error())
	} else if *state != *t.session.before {
		left = append(left, "the line is not as it was: no echo, or raw")
	}
	slices.Sort(left)
	return left
}

// state is the line now, or as the program left it. The caller holds the lock.
func (t *Terminal) state() (*term.State, error) {
	if !t.isOver() {
		return t.line.state()
	}
	if t.after == nil {
		return nil, errors.New("the program was killed with its terminal")
	}
	return t.after, nil
}
