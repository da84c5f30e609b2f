package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"chaintop/model"
)

// smallFrame is what a window gets that is too small for a view: it says so, and
// shows the summary, the worst chains first. Of very few lines the state is the
// first to stay.
func (m *Model) smallFrame(s scene, lines []string) []string {
	sum := s.summary()
	says := s.plain(span{dim, fmt.Sprintf(" chaintop: %d×%d is too small, %d×%d is needed", m.w, m.h, leastWidth, leastHeight)})
	if m.h >= 5 && m.o.Banner != "" {
		lines = append(lines, s.banner(m.o.Banner))
	}
	if m.h >= 2 {
		lines = append(lines, says)
	}
	lines = append(lines, s.smallState(sum))
	if m.h >= 3 {
		counts := append([]span{{text, " "}}, s.counts(sum, 0)...)
		lines = append(lines, s.plain(counts...))
	}
	if m.h <= len(lines) {
		return lines[:m.h]
	}
	rows := m.h - len(lines) - 1
	lines = m.smallRows(s, lines, rows)
	return append(lines, m.smallFooter(s))
}

// smallState is the state and its cause.
func (s scene) smallState(sum summary) string {
	if s.link == linkWaiting {
		return s.waitingLine()
	}
	if s.remote.away {
		return s.awayLine(sum)
	}
	if sum.bar.on() {
		return s.drainState(sum)
	}
	spans := s.stateWord(sum)
	if sum.ready.Cause >= 0 {
		spans = append(spans, span{text, "  " + s.cause(sum, max(s.w-widthOf(spans)-2, 8))})
	}
	return s.plain(spans...)
}

// smallRows appends n lines: chains that need attention, and how many are left.
func (m *Model) smallRows(s scene, lines []string, n int) []string {
	all := m.worstFirst()
	bad := 0
	for bad < len(all) && m.order.class[all[bad]] != model.ClassHealthy {
		bad++
	}
	rest := len(all) - bad
	shown := min(bad, n)
	if bad > n || rest > 0 && bad == n {
		shown = max(n-1, 0)
	}
	sel := m.selected()
	for _, i := range all[:shown] {
		lines = append(lines, s.smallRow(i, i == sel))
	}
	n -= shown
	if n > 0 && len(all) > shown {
		lines = append(lines, s.plain(span{dim, smallRest(bad-shown, rest)}))
		n--
	}
	return s.pad(lines, n)
}

// worstFirst is every chain by its class, whatever the table is sorted and
// filtered by: where there is no room to say so, nothing is left out.
func (m *Model) worstFirst() []int {
	all := make([]int, len(m.inst.Chains))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.order.class[a], m.order.class[b]), strings.Compare(m.keys[a], m.keys[b]))
	})
	return all
}

// smallRest says what has no line.
func smallRest(problems, healthy int) string {
	out := " "
	if problems > 0 {
		out += "+" + strconv.Itoa(problems) + " need attention "
	}
	if healthy > 0 {
		out += "+" + strconv.Itoa(healthy) + " healthy"
	}
	return out
}

// smallRow is a chain and what is wrong with it.
func (s scene) smallRow(i int, selected bool) string {
	c := s.inst.Chains[i]
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	g := s.signOf(c.State.Health.Sign())
	p.put(g.role, g.mark)
	p.put(text, " ")
	p.left(text, s.keys[i], min(17, max(s.w-4, 0)))
	why := model.WhyOf(c, s.now)
	switch {
	case c.State.Verdict != model.VerdictHealthy:
		p.put(text, " ")
		s.verdict(c)
		s.reasons(why)
	case c.Serving.Failover && servingUpstream(c) != nil:
		p.put(warn, " "+markWarn+" BACKUP")
		p.put(text, " "+servingUpstream(c).Name)
	default:
		s.notAsMeant(c, why)
	}
	return p.end()
}

// smallFooter is the keys that are of use here, how the source is, and the clock.
func (m *Model) smallFooter(s scene) string {
	if m.flash.text != "" && m.now.Before(m.flash.until) {
		return s.plain(span{text, " "}, span{m.flash.role, m.flash.text})
	}
	word, r := s.linkWord(m.linkAt)
	clock := " " + s.timeOfDay(m.now)
	p := s.pen
	p.begin(s.w, false)
	tail := width(word) + width(clock)
	for i := range m.binds {
		if b := &m.binds[i]; m.inFooter(b, inSmall) && p.room() > width(b.foot)+2+tail {
			p.put(text, " "+b.foot+" ")
		}
	}
	if p.room() < tail && p.cells == 0 {
		p.put(text, " ? help")
	}
	if p.room() >= tail {
		p.blank(p.room() - tail)
		p.put(r, word)
		p.put(text, clock)
	}
	return p.end()
}
