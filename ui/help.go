package ui

import (
	"slices"
	"strings"

	"chaintop/model"
)

// helpState is the overlay Help.
type helpState struct {
	open bool
	top  int // first line shown
}

// helpLeast is from which width the keys stand in columns beside each other.
const helpLeast = 72

// helpFrame is Help over what it was called from: the keys of that view, and
// what the marks mean.
func (m *Model) helpFrame(s scene, lines []string) []string {
	if !m.small() {
		lines = m.top(s, lines)
	}
	rows := m.h - len(lines) - 1
	if rows < 3 {
		body := m.helpLines(s.w)
		for k := range max(rows, 0) {
			lines = append(lines, s.plain(body[min(m.help.top+k, len(body)-1)]...))
		}
		return append(lines, m.footer(s))
	}
	lines = append(lines, s.boxEdge("╭", "╮", m.helpTitle(), false))
	body := m.helpLines(s.w)
	for k := range rows - 2 {
		var l []span
		if at := m.help.top + k; at < len(body) {
			l = body[at]
		}
		lines = append(lines, s.boxed(l))
	}
	return append(lines, s.boxEdge("╰", "╯", " esc or ? closes this ", true), m.footer(s))
}

// helpRows is how many lines of Help show at once.
func (m *Model) helpRows() int {
	rows := m.h - 1
	if !m.small() {
		rows -= headerRows + m.bannerRows() + m.filterRows()
	}
	if rows >= 3 {
		rows -= 2
	}
	return max(rows, 1)
}

// helpTitle names what the keys are of.
func (m *Model) helpTitle() string {
	switch m.view {
	case viewChain:
		return " Help · Chain "
	case viewEvents:
		return " Help · Events "
	case viewDrain:
		return " Help · Drain "
	case viewChains:
	}
	return " Help · Chains "
}

// helpLines is what Help says, line by line.
func (m *Model) helpLines(w int) [][]span {
	columns := m.helpKeys()
	var lines [][]span
	if w < helpLeast {
		for _, c := range columns {
			lines = append(lines, c...)
			if len(c) > 0 {
				lines = append(lines, nil)
			}
		}
	} else {
		for k := range max(len(columns[groupMove]), len(columns[groupLook]), len(columns[groupAct])) {
			var l []span
			for g, c := range columns {
				if k < len(c) {
					l = append(l, span{text, gapTo(widthOf(l), max(helpStarts[g], widthOf(l)+min(g, 1)))})
					l = append(l, c[k]...)
				}
			}
			lines = append(lines, l)
		}
		lines = append(lines, nil)
	}
	return append(append(lines, m.offLines(w)...), legend(w)...)
}

// helpStarts is where the columns of keys begin.
var helpStarts = [groups]int{0, 28, 53}

// helpWidths is the cells of the keys in each.
var helpWidths = [groups]int{12, 9, 8}

// helpKeys are the keys of the view below, by group, each with its heading.
func (m *Model) helpKeys() [groups][][]span {
	var columns [groups][][]span
	at := m.under()
	for i := range m.binds {
		b := &m.binds[i]
		h := b.Help()
		if h.Key == "" || b.where&at == 0 {
			continue
		}
		keys, says := accent, text
		if reason, off := m.why(b); off && reason == "" {
			continue
		} else if off {
			keys, says = dim, dim
		}
		if len(columns[b.group]) == 0 {
			columns[b.group] = [][]span{{{dim, groupNames[b.group]}}}
		}
		columns[b.group] = append(columns[b.group], []span{
			{keys, h.Key}, {text, gapTo(width(h.Key), helpWidths[b.group])}, {says, h.Desc},
		})
	}
	return columns
}

// offLines says which keys are off here, and why, in lines that fit a box of w
// cells.
func (m *Model) offLines(w int) [][]span {
	keys := map[string][]string{}
	var reasons []string
	for i := range m.binds {
		b := &m.binds[i]
		why, _ := m.why(b)
		if why == "" || b.where&m.under() == 0 || b.Help().Key == "" {
			continue
		}
		if keys[why] == nil {
			reasons = append(reasons, why)
		}
		if !slices.Contains(keys[why], b.Help().Key) {
			keys[why] = append(keys[why], b.Help().Key)
		}
	}
	var lines [][]span
	var l []span
	for _, reason := range reasons {
		says := " is off: "
		if len(keys[reason]) > 1 {
			says = " are off: "
		}
		one := []span{{accent, strings.Join(keys[reason], ", ")}, {dim, says + reason}}
		if len(l) > 0 && widthOf(l)+3+widthOf(one) > w-4 {
			lines, l = append(lines, l), nil
		}
		if len(l) > 0 {
			one = append([]span{{dim, " · "}}, one...)
		}
		l = append(l, one...)
	}
	if len(l) > 0 {
		lines = append(lines, l, nil)
	}
	return lines
}

// gapTo is the blanks from n cells to w.
func gapTo(n, w int) string { return blanks[:max(0, min(w-n, len(blanks)))] }

// legend is the marks of this screen, each with its word, in lines that fit a
// box of w cells.
func legend(w int) [][]span {
	of := func(s model.Sign, word string) []span { return mark(signOf(s).mark, word, signOf(s).role) }
	marks := [...][]span{
		of(model.SignHealthy, "healthy"), of(model.SignUnhealthy, "unhealthy"), of(model.SignUnknown, "unknown"),
		of(model.SignPass, "healthy"), of(model.SignInconclusive, "inconclusive"), of(model.SignUnreachable, "unreachable"),
		of(model.SignWarn, "works, not as meant"), of(model.SignHeld, "held"), of(model.SignHalted, "halted"),
		of(model.SignDraining, "DRAINING"), of(model.SignDrained, "DRAINED"),
		mark(markAway, "stale, or simulated", dim), mark(unknownValue, "unknown", text),
		mark("×4", "four times", text), mark("…", "cut, or in flight", text), mark("▰▱", "until the next probe", dim),
	}
	var lines [][]span
	var l []span
	for _, m := range marks {
		gap := 2
		if len(l) == 0 {
			gap = 0
		}
		if widthOf(l)+gap+widthOf(m) > w-4 {
			lines, l, gap = append(lines, l), nil, 0
		}
		l = append(append(l, span{text, gapTo(0, gap)}), m...)
	}
	lines = append(lines, l)
	for _, says := range wrapped([]string{
		"P50 and P95 are what clients waited in the last minute; where none asked, what checks took. REQ/MIN is what probes and checks send.",
		"Every command is echoed in Events: who asked, and what was answered.",
	}, w-4) {
		lines = append(lines, []span{{dim, says}})
	}
	return lines
}

func mark(s, word string, r role) []span { return []span{{r, s}, {text, " " + word}} }

// boxEdge is the upper or the lower side of a box, with words in it.
func (s scene) boxEdge(from, to, words string, atEnd bool) string {
	p := s.pen
	p.begin(s.w, false)
	p.put(dim, from)
	n := s.w - 2 - width(words)
	lead := 1
	if atEnd {
		lead = n - 1
	}
	p.edge = p.width - 1
	p.line(min(lead, n))
	p.put(text, words)
	p.line(p.room())
	p.edge = p.width
	p.put(dim, to)
	return p.end()
}

// boxed is a line within a box.
func (s scene) boxed(l []span) string {
	p := s.pen
	p.begin(s.w, false)
	p.put(dim, "│ ")
	p.open(s.w - 4)
	p.puts(l...)
	p.shut()
	p.put(dim, " │")
	return p.end()
}
