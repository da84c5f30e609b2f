package ui

import (
	tea "charm.land/bubbletea/v2"
)

// menu is a list of choices over a view.
type menu struct {
	open  bool
	title string
	items []item
	at    int // the chosen one
	top   int // first item shown
}

// item is one choice: its word, what it would do, and that.
type item struct {
	word, says string
	do         func(*Model) tea.Cmd
}

func (u *menu) move(d int) { u.at = max(0, min(u.at+d, len(u.items)-1)) }

func (m *Model) openMenu(title string, items ...item) tea.Cmd {
	m.menu = menu{open: true, title: title, items: items}
	return nil
}

func closeMenu(m *Model) tea.Cmd {
	m.menu = menu{}
	return nil
}

func takeItem(m *Model) tea.Cmd {
	it := m.menu.items[m.menu.at]
	m.menu = menu{}
	return it.do(m)
}

// overlay draws the menu over the lowest lines of a view, above its footer.
func (m *Model) overlay(s scene, lines []string) {
	rows := min(len(m.menu.items), len(lines)-headerRows-3)
	if rows < 1 {
		return
	}
	m.menu.top = scroll(m.menu.top, m.menu.at, rows, len(m.menu.items))
	to := lines[len(lines)-1-rows-2:]
	to[0] = s.boxEdge("╭", "╮", " "+cut(m.menu.title, max(s.w-8, 1))+" ", false)
	words := 0
	for _, it := range m.menu.items {
		words = max(words, width(it.word))
	}
	for k := range rows {
		i := m.menu.top + k
		it := m.menu.items[i]
		mark := span{text, "  "}
		r := text
		if i == m.menu.at {
			mark, r = span{accent, "▸ "}, accent
		}
		to[1+k] = s.boxed([]span{mark, {r, it.word}, {text, gapTo(width(it.word), words+2)}, {dim, it.says}})
	}
	to[1+rows] = s.boxEdge("╰", "╯", " enter takes it · esc leaves ", true)
}
