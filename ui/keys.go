package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// place is where a key means something: the views, and what may lie over them.
type place uint8

const (
	inChains place = 1 << iota
	inChain
	inHelp
	inSmall // a window too small for a view

	inViews  = inChains | inChain
	inLists  = inViews | inSmall
	anywhere = inLists | inHelp
)

// group is the column of Help a key stands in.
type group uint8

const (
	groupMove group = iota
	groupLook
	groupAct
	groups
)

var groupNames = [groups]string{"MOVE", "LOOK", "ACT"}

// binding is one row of the key table: keys, what Help says of them, how the
// footer names them, where they mean something, and what they do.
type binding struct {
	key.Binding
	foot  string // in the footer; empty = only in Help
	group group
	where place
	do    func(*Model) tea.Cmd // nil: the mouse, which has no key
}

func bind(where place, g group, show, says string, do func(*Model) tea.Cmd, keys ...string) binding {
	return binding{
		Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, says)),
		group:   g, where: where, do: do,
	}
}

// shown is the binding with its words for the footer.
func (b binding) shown(foot string) binding {
	b.foot = foot
	return b
}

// bindings is the key table, in the order of the footer. Keys, footer and Help
// all come from it. Without acts, keys that act are off and shown nowhere.
func bindings(acts bool) []binding {
	table := []binding{
		bind(inLists, groupLook, "?", "help", openHelp, "?").shown("? help"),
		bind(inHelp, groupLook, "? esc", "close", closeHelp, "?", "esc").shown("? or esc close"),
		bind(inChain, groupMove, "esc", "back", back, "esc").shown("esc back"),
		bind(inChains, groupMove, "↑↓ j k", "move", nil).shown("↑↓ move"),
		bind(inChain, groupMove, "↑↓ j k", "upstream", nil).shown("↑↓ upstream"),
		bind(inHelp, groupMove, "↑↓ j k", "scroll", nil).shown("↑↓ scroll"),
		bind(anywhere, groupMove, "", "", steps(-1), "up", "k"),
		bind(anywhere, groupMove, "", "", steps(1), "down", "j"),
		bind(inChains, groupMove, "enter", "open", open, "enter").shown("enter open"),
		bind(inViews, groupMove, "n N", "next problem", nil).shown("n problem"),
		bind(inLists, groupMove, "", "", problems(1), "n"),
		bind(inLists, groupMove, "", "", problems(-1), "N"),
		bind(inLists, groupAct, "p", "probe it", probeOne, "p").shown("p probe"),
		bind(inViews, groupAct, "P", "probe all", (*Model).probeAll, "P").shown("P all"),
		bind(inChain, groupMove, "h l ← →", "other chain", nil).shown("h l chain"),
		bind(inChain, groupMove, "", "", turns(-1), "h", "left"),
		bind(inChain, groupMove, "", "", turns(1), "l", "right"),
		bind(anywhere, groupMove, "pgup pgdn", "page", nil),
		bind(anywhere, groupMove, "", "", pages(-1), "pgup", "ctrl+u"),
		bind(anywhere, groupMove, "", "", pages(1), "pgdown", "ctrl+d"),
		bind(anywhere, groupMove, "g G", "top, end", nil),
		bind(anywhere, groupMove, "", "", ends(-1), "g", "home"),
		bind(anywhere, groupMove, "", "", ends(1), "G", "end"),
		bind(inChains, groupMove, "esc", "the worst again", letGo, "esc"),
		bind(inViews, groupMove, "1", "Chains", showChains, "1"),
		bind(inViews, groupMove, "2", "Chain", open, "2"),
		bind(inViews, groupMove, "wheel", "move", nil),
		bind(inViews, groupMove, "click", "select", nil),
		bind(inChains, groupMove, "click twice", "open", nil),
		bind(anywhere, groupLook, "ctrl+l", "redraw", redraw, "ctrl+l"),
		bind(anywhere, groupLook, "ctrl+z", "suspend", suspend, "ctrl+z"),
		bind(anywhere, groupLook, "q", "quit", quit, "q").shown("q quit"),
		bind(anywhere, groupLook, "ctrl+c", "quit", quit, "ctrl+c"),
	}
	for i := range table {
		if b := &table[i]; b.group == groupAct {
			b.SetEnabled(acts)
		}
	}
	return table
}

// place is where a key falls now.
func (m *Model) place() place {
	if m.help.open {
		return inHelp
	}
	return m.under()
}

// under is the place that Help is of, or lies over.
func (m *Model) under() place {
	switch {
	case m.small():
		return inSmall
	case m.view == viewChain:
		return inChain
	}
	return inChains
}

func (m *Model) onKey(msg tea.KeyPressMsg) tea.Cmd {
	m.order.touched = m.now
	at := m.place()
	for _, b := range m.binds {
		if b.do != nil && b.where&at != 0 && key.Matches(msg, b.Binding) {
			return b.do(m)
		}
	}
	return nil
}

// inFooter says whether the footer of a place shows the binding.
func (b binding) inFooter(at place) bool { return b.foot != "" && b.where&at != 0 && b.on() }

// on says whether pressing it does anything. A row of the table without an act
// of its own stands for others that have one.
func (b binding) on() bool { return b.do == nil || b.Enabled() }

// footerWidth is the cells of a whole footer with gaps that wide.
func (m *Model) footerWidth(at place, gap int) int {
	n := 0
	for _, b := range m.binds {
		if b.inFooter(at) {
			n += gap + width(b.foot)
		}
	}
	return n - gap + 2
}

// splitFoot parts "↑↓ move" into its keys and its word. The word is the last.
func splitFoot(foot string) (keys, word string) {
	if i := strings.LastIndexByte(foot, ' '); i >= 0 {
		return foot[:i], foot[i:]
	}
	return foot, ""
}
