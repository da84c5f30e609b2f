package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// search is the filter over the tables: its prompt, and what it lets through.
// While what is typed is no filter, the last good one stands.
type search struct {
	open     bool // the prompt has the keys
	input    textinput.Model
	good     filter
	fault    string // why what is typed is no filter yet
	problems bool   // only what needs attention
	version  uint64 // grows whenever something else may be let through
}

func newSearch() search {
	in := textinput.New()
	in.Prompt, in.CharLimit = "", filterRunes
	in.SetVirtualCursor(false)
	in.KeyMap.Paste.SetEnabled(false) // a paste comes from the terminal
	return search{input: in}
}

// on says whether anything is hidden by it, or may be.
func (f *search) on() bool { return f.problems || len(f.good.terms) > 0 }

// lets is whether a subject passes.
func (f *search) lets(s subject) bool { return (!f.problems || s.attention()) && f.good.lets(s) }

// typed takes over what stands in the prompt.
func (m *Model) typed() {
	f := &m.search
	parsed, err := parseFilter(f.input.Value())
	f.fault = ""
	if err != nil {
		f.fault = err.Error()
	}
	switch {
	case err == nil:
	case parsed.keyed && f.good.endsPlain():
		// The key was plain text a moment ago, which it is no longer.
		parsed.text = strings.TrimSpace(parsed.text[:strings.LastIndexByte(" "+parsed.text, ' ')])
	default:
		return
	}
	f.good = parsed
	m.refilter()
}

// refilter puts the rows in order by a filter that is new.
func (m *Model) refilter() {
	m.search.version++
	m.order.told = true
}

func openPrompt(m *Model) tea.Cmd {
	m.search.open = true
	m.search.input.CursorEnd()
	return m.search.input.Focus()
}

// keepFilter closes the prompt over the last good filter.
func keepFilter(m *Model) tea.Cmd {
	f := &m.search
	f.open, f.fault = false, ""
	f.input.Blur()
	f.input.SetValue(strings.TrimSpace(f.good.text))
	return nil
}

// clearFilter shows everything again; false when nothing was hidden.
func (m *Model) clearFilter() bool {
	f := &m.search
	if !f.open && !f.on() && f.good.text == "" {
		return false
	}
	f.open, f.problems, f.fault, f.good = false, false, "", filter{}
	f.input.Reset()
	f.input.Blur()
	m.refilter()
	return true
}

func dropFilter(m *Model) tea.Cmd {
	m.clearFilter()
	return nil
}

func onlyProblems(m *Model) tea.Cmd {
	m.search.problems = !m.search.problems
	m.refilter()
	return nil
}

// onPrompt hands a key or a paste to the prompt.
func (m *Model) onPrompt(msg tea.Msg) tea.Cmd {
	was := m.search.input.Value()
	in, cmd := m.search.input.Update(msg)
	m.search.input = in
	if in.Value() != was {
		m.typed()
	}
	return cmd
}

// filtered is how chains are let through; nil when all are.
func (m *Model) filtered() func(int, model.Class) bool {
	if !m.search.on() {
		return nil
	}
	return func(i int, class model.Class) bool {
		return m.search.lets(chainSubject{m.inst, i, m.keys[i], class, m.asOf})
	}
}

// filterRows is the line of the filter, while there is one.
func (m *Model) filterRows() int {
	if m.search.open || m.search.on() || m.search.good.text != "" {
		return 1
	}
	return 0
}

// promptLead is what stands before the filter as it is typed.
const promptLead = " / "

// filterLine is the filter and what it lets through.
func (m *Model) filterLine(s scene) string {
	says, r := m.filterSays(), dim
	if m.search.fault != "" {
		says, r = m.search.fault, warn
	}
	p := s.pen
	p.begin(s.w, false)
	room := m.promptRoom(says)
	p.open(room)
	p.put(accent, promptLead)
	if m.search.problems {
		p.put(warn, "! ")
	}
	shown, _ := m.promptText(room)
	p.put(text, shown)
	p.shut()
	p.blank(p.room() - width(says) - 1)
	p.put(r, says)
	return p.end()
}

// promptRoom is the cells of the filter beside what is said of it: at least what
// it needs, up to half of the line.
func (m *Model) promptRoom(says string) int {
	needs := width(promptLead) + 2 + width(m.search.input.Value()) + 2
	return max(m.w-width(says)-2, min(needs, m.w/2))
}

// promptText is what of the filter shows in a line of w cells, and the cell its
// cursor is in. Where there is more than fits, the part before the cursor stays.
func (m *Model) promptText(w int) (string, int) {
	lead := width(promptLead)
	if m.search.problems {
		lead += 2
	}
	value := []rune(m.search.input.Value())
	at := max(0, min(m.search.input.Position(), len(value)))
	if !m.search.open {
		at = 0
	}
	from := 0
	for from < at && lead+width(string(value[from:at])) >= w-1 {
		from++
	}
	return string(value[from:]), min(lead+width(string(value[from:at])), max(w-1, 0))
}

// cursor is where the prompt has the terminal's own.
func (m *Model) cursor() *tea.Cursor {
	if m.box.kind != boxNone {
		return m.boxCursor()
	}
	if !m.search.open || m.small() || m.help.open || m.menu.open {
		return nil
	}
	says := m.filterSays()
	if m.search.fault != "" {
		says = m.search.fault
	}
	_, x := m.promptText(m.promptRoom(says))
	return tea.NewCursor(x, m.bannerRows()+headerRows)
}

// filterSays is how many it lets through.
func (m *Model) filterSays() string {
	if m.view == viewEvents {
		n, all := len(m.news.lines), m.news.total
		if n == 0 && all > 0 {
			return fmt.Sprintf("no event matches · esc clears, %d are hidden", all)
		}
		follow := ""
		if m.news.sel == 0 {
			follow = " · follow"
		}
		return fmt.Sprintf("%d of %d%s · esc clears", n, all, follow)
	}
	n, all := len(m.order.rows), len(m.inst.Chains)
	if n == 0 && all > 0 {
		return fmt.Sprintf("no chain matches · esc clears, %d chains are hidden", all)
	}
	return fmt.Sprintf("%d of %d · esc clears", n, all)
}
