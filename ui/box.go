package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// box is a question over a view. Nothing is done until it is answered, and
// leaving it does nothing.
type box struct {
	kind boxKind
	ask  ask
	pin  pinBox
	out  drainBox
}

type boxKind uint8

const (
	boxNone boxKind = iota
	boxAsk
	boxPin
	boxDrain
)

// place is where keys fall while the box is open.
func (b box) place() place {
	switch b.kind {
	case boxPin:
		return inPin
	case boxDrain:
		return inDrainBox
	case boxAsk, boxNone:
	}
	return inAsk
}

func closeBox(m *Model) tea.Cmd {
	m.box = box{}
	return nil
}

// boxLine is a line within a box, or a rule across it.
type boxLine struct {
	spans  []span
	rule   bool
	cursor int // the cell the terminal's cursor is in; 0 = not in this line
}

func line(spans ...span) boxLine { return boxLine{spans: spans} }

// boxLabel is the cells of a label in a box.
const boxLabel = 12

// labelledLine is text beside a label.
func labelledLine(label string, spans ...span) boxLine {
	return line(append([]span{{dim, label}, {text, gapTo(width(label), boxLabel)}}, spans...)...)
}

// boxLines are title, lines and last words of the box that is open, in w cells.
func (m *Model) boxLines(s scene) (title string, lines []boxLine, says string) {
	w := s.w - 4
	switch m.box.kind {
	case boxAsk:
		return m.box.ask.lines(w)
	case boxPin:
		return m.pinLines(s, w)
	case boxDrain:
		return m.drainBoxLines(s, w)
	case boxNone:
	}
	return "", nil, ""
}

// drawBox draws the box over the lowest lines of a view, above its footer.
func (m *Model) drawBox(s scene, lines []string) {
	title, body, says := m.boxLines(s)
	if over := len(body) + 2 - (len(lines) - 1); over > 0 {
		body = body[over:] // what is asked stands last
	}
	to := lines[len(lines)-1-len(body)-2:]
	to[0] = s.boxEdge("╭", "╮", " "+cut(title, max(s.w-8, 1))+" ", false)
	for k, l := range body {
		if l.rule {
			to[1+k] = s.boxEdge("├", "┤", "", false)
			continue
		}
		to[1+k] = s.boxed(l.spans)
	}
	to[1+len(body)] = s.boxEdge("╰", "╯", " "+cut(says, max(s.w-8, 1))+" ", true)
}

// boxCursor is where the field that is typed in has the terminal's cursor.
func (m *Model) boxCursor() *tea.Cursor {
	_, body, _ := m.boxLines(m.scene())
	for k, l := range body {
		if l.cursor > 0 {
			y := m.h - 1 - 1 - (len(body) - k)
			return tea.NewCursor(min(1+l.cursor, m.w-2), max(y, 0))
		}
	}
	return nil
}

// arrangeBox closes a box whose chain or instance is gone, and one that asks for
// what has begun meanwhile.
func (m *Model) arrangeBox() {
	if m.box.kind == boxDrain && (m.box.out.name != m.inst.Name || m.inst.Drain.Leaving()) {
		m.box = box{}
		m.say(warn, m.inst.Name+" drains already", m.now.Add(flashLong))
	}
	if p := m.box.pin; m.box.kind == boxPin && (p.chain >= len(m.keys) || m.keys[p.chain] != p.key || p.at >= len(m.inst.Chains[p.chain].Upstreams)) {
		m.box = box{}
	}
}

// fieldRunes bounds what is typed into a field.
const fieldRunes = 120

// newField is an empty field for text that has the keys once it is focused.
func newField() textinput.Model {
	in := textinput.New()
	in.Prompt, in.CharLimit = "", fieldRunes
	in.SetVirtualCursor(false)
	in.KeyMap.Paste.SetEnabled(false) // a paste comes from the terminal
	return in
}

// typing is the field that has the keys, nil when none has.
func (m *Model) typing() *textinput.Model {
	if m.box.kind == boxPin && m.box.pin.field == pinReason {
		return &m.box.pin.reason
	}
	if m.box.kind == boxDrain {
		return m.box.out.field()
	}
	return nil
}

// onField hands a key or a paste to the field that is typed in.
func (m *Model) onField(msg tea.Msg) tea.Cmd {
	f := m.typing()
	if f == nil {
		return nil
	}
	in, cmd := f.Update(msg)
	*f = in
	return cmd
}

// onPaste takes what was pasted as text. A paste is never keys.
func (m *Model) onPaste(msg tea.PasteMsg) tea.Cmd {
	switch at := m.place(); {
	case at == inPrompt:
		return m.onPrompt(msg)
	case at&inBoxes != 0:
		return m.onField(msg)
	}
	return nil
}

// fieldLine is a field beside its label. Where there is more than fits, the part
// before the cursor stays.
func fieldLine(label string, f *textinput.Model, focused bool, empty string, w int) boxLine {
	value := []rune(f.Value())
	at := max(0, min(f.Position(), len(value)))
	if !focused {
		at = 0
	}
	from := 0
	for from < at && boxLabel+width(string(value[from:at])) >= w-1 {
		from++
	}
	shown := span{text, string(value[from:])}
	if len(value) == 0 {
		shown = span{dim, empty}
	}
	l := labelledLine(label, shown)
	if focused {
		l.spans[0].role = accent
		l.cursor = 1 + boxLabel + width(string(value[from:at]))
	}
	return l
}

// typed is what stands in a field.
func typed(f *textinput.Model) string { return strings.TrimSpace(f.Value()) }
