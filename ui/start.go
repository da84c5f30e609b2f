package ui

// startRows is the lines of START HERE, its rule among them.
const startRows = 6

func (s scene) startRule() string { return s.rule("esc hides this", span{text, "START HERE"}) }

// starts says whether the box for newcomers is shown: below the card, or in its
// place where rows are few.
func (m *Model) starts() bool { return m.o.Demo && !m.started }

// startHere tells a newcomer what this is and how to see chains of their own. It
// names only commands and keys that there are.
func (m *Model) startHere(s scene, lines []string, n int) []string {
	row := func(cmd, says string) string {
		return s.plain(span{text, "   "}, span{accent, cmd}, span{text, gapTo(width(cmd), 39)}, span{dim, says})
	}
	all := []string{
		s.plain(span{text, " These chains are simulated. To watch yours:"}),
		row("chaintop https://your-node …", "one address a chain"),
		row("chaintop --config chaintop.yaml", "chaintop config example prints one"),
		row("chaintop probe https://your-node", "asks once, says why, and exits"),
		s.plain(span{text, " Now press  "}, span{accent, "n"}, span{text, " next problem · "}, span{accent, "enter"}, span{text, " why · "},
			span{accent, "p"}, span{text, " probe now"}, span{text, m.faultHint()}),
	}
	// The first and the last go last.
	keep := min(n, len(all))
	if keep < len(all) {
		all = append(all[:max(keep-1, 0):max(keep-1, 0)], all[len(all)-1])
	}
	return s.pad(append(lines, all[:keep]...), n-keep)
}

func (m *Model) faultHint() string {
	if m.o.Sink == nil || len(m.o.Faults) == 0 {
		return ""
	}
	return " · x inject a fault"
}
