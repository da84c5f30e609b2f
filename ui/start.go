package ui

import "slices"

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
		s.plain(append([]span{{text, " Now press  "}, {accent, "n"}, {text, " next problem · "}, {accent, "enter"}, {text, " why"}}, m.hints()...)...),
	}
	// The first and the last go last.
	keep := min(n, len(all))
	if keep < len(all) {
		all = append(all[:max(keep-1, 0):max(keep-1, 0)], all[len(all)-1])
	}
	return s.pad(append(lines, all[:keep]...), n-keep)
}

// hints are the keys that act which a newcomer should try, at most two of them:
// there is room for no more.
func (m *Model) hints() []span {
	var out []span
	for _, k := range []struct{ key, says string }{{"x", "inject a fault"}, {"d", "simulate a drain"}, {"p", "probe now"}} {
		for i := range m.binds {
			b := &m.binds[i]
			if len(out) < 2*3 && b.where&inChains != 0 && slices.Contains(b.Keys(), k.key) && m.acts(b) {
				out = append(out, span{text, " · "}, span{accent, k.key}, span{text, " " + k.says})
				break
			}
		}
	}
	return out
}
