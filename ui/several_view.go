package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// View is the screen that is open, or the table.
func (s *Several) View() tea.View {
	if s.inside >= 0 {
		return s.screens[s.inside].View()
	}
	v := tea.NewView(s.frame())
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	return v
}

func (s *Several) frame() string {
	m := s.base
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	sc := m.scene()
	lines := append(m.draw.lines[:0], s.title(sc), s.sum(sc))
	switch {
	case m.help.open:
		lines = append(lines, sc.boxEdge("╭", "╮", " Help · Instances ", false))
		body := m.helpLines(m.w)
		for k := range s.helpRows() {
			var l []span
			if at := m.help.top + k; at < len(body) {
				l = body[at]
			}
			lines = append(lines, sc.boxed(l))
		}
		lines = append(lines, sc.boxEdge("╰", "╯", " esc or ? closes this ", true))
	default:
		lines = append(lines, sc.instanceHeading())
		for k := range s.rows {
			if i := s.top + k; i < len(s.screens) {
				lines = append(lines, s.row(i))
			}
		}
		lines = s.card(sc, lines)
	}
	for len(lines) > m.h-1 && len(lines) > 0 {
		lines = lines[:len(lines)-1]
	}
	lines = append(sc.pad(lines, m.h-1-len(lines)), m.footer(sc))
	m.draw.lines = lines
	return m.join(lines)
}

// title is the first line: how many instances, and how many of them are heard.
func (s *Several) title(sc scene) string {
	live, away := 0, 0
	for _, m := range s.screens {
		if m.link == linkLive && !m.away() {
			live++
		} else {
			away++
		}
	}
	right := []span{{good, markHealthy + " " + strconv.Itoa(live) + " live"}}
	if away > 0 {
		right = append(right, span{text, "  "}, span{dim, markAway + " " + strconv.Itoa(away) + " away"})
	}
	right = append(right, span{text, "  " + sc.timeOfDay(s.base.now) + " "})
	p := sc.pen
	p.begin(sc.w, false)
	p.put(accent, " chaintop  ")
	p.put(text, countOf(len(s.screens), "instance"))
	p.blank(p.room() - widthOf(right))
	p.puts(right...)
	return p.end()
}

// sum is the second line: how many are ready. Who is not heard counts apart.
func (s *Several) sum(sc scene) string {
	ready, not, drains, heard := 0, 0, 0, 0
	for _, m := range s.screens {
		if m.link != linkLive || m.away() {
			continue
		}
		heard++
		switch {
		case m.inst.Drain.Leaving():
			drains++
		case model.Ready(m.inst, m.inst.Policy).Ready:
			ready++
		default:
			not++
		}
	}
	mark := span{good, " " + markHealthy + " "}
	if not > 0 || heard == 0 || ready == 0 {
		mark = span{bad, " " + markUnhealthy + " "}
	}
	spans := []span{mark, {mark.role, fmt.Sprintf("%d of %d READY", ready, heard)}}
	for _, k := range []struct {
		n    int
		word string
		role role
	}{{not, "NOT READY", bad}, {drains, "DRAINING", drain}, {len(s.screens) - heard, "not heard", dim}} {
		if k.n > 0 {
			spans = append(spans, span{text, "  "}, span{k.role, strconv.Itoa(k.n) + " " + k.word})
		}
	}
	return sc.plain(spans...)
}

// instanceColumns are the columns of the table; 0 = not shown. Worst has the
// rest.
type instanceColumns struct{ name, version, state, ok, rate, drain, worst, age int }

func instanceColumnsAt(w int) instanceColumns {
	c := instanceColumns{name: 12, state: 18, ok: 6, age: 5}
	if w >= 74 {
		c.drain = 12
	}
	if w >= 96 {
		c.version, c.rate = 8, 5
	}
	if w >= 120 {
		c.name = 20
	}
	c.worst = w - 1
	for _, n := range []int{c.name, c.version, c.state, c.ok, c.rate, c.drain, c.age} {
		if n > 0 {
			c.worst -= n + 1
		}
	}
	return c
}

func (s scene) instanceHeading() string {
	c := instanceColumnsAt(s.w)
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, "INSTANCE", c.name+1)
	if c.version > 0 {
		p.left(dim, "VERSION", c.version+1)
	}
	p.left(dim, "STATE", c.state)
	s.headOf("OK", c.ok)
	s.headOf("REQ/S", c.rate)
	if c.drain > 0 {
		p.blank(1)
		p.left(dim, "DRAIN", c.drain)
	}
	p.blank(1)
	p.left(dim, "WORST CHAIN", c.worst)
	s.headOf("AGE", c.age)
	return p.end()
}

// row is an instance in a line: its own screen says what it is.
func (s *Several) row(i int) string {
	m := s.screens[i]
	sc := m.scene()
	sc.w = s.base.w
	c := instanceColumnsAt(sc.w)
	sum := sc.summary()
	p := sc.pen
	p.begin(sc.w, i == s.at)
	sc.rowMark(i == s.at)
	p.left(text, cutMiddle(s.names[i], c.name), c.name+1)
	if c.version > 0 {
		p.left(text, m.inst.Version, c.version+1)
	}
	p.open(c.state)
	p.puts(m.stateIn(sc, sum)...)
	p.shut()
	known := m.link == linkLive
	ok, rate, idle := unknownValue, unknownValue, ""
	if known {
		ok = fmt.Sprintf("%d/%d", sum.healthy, len(m.inst.Chains))
		if sum.clients.gateway {
			rate = model.PerSecond(sum.clients.perSecond)
		}
		if b := sum.bar; b.on() {
			idle = drainIn(sc, b)
		}
	}
	sc.number(ok, c.ok)
	sc.number(rate, c.rate)
	if c.drain > 0 {
		p.blank(1)
		p.left(drain, idle, c.drain)
	}
	p.blank(1)
	p.open(c.worst)
	if known {
		m.worstIn(sc)
	}
	p.shut()
	age := unknownValue
	if m.o.Remote != nil && !m.remote.Heard.IsZero() {
		age = model.Age(m.o.Now().Sub(m.remote.Heard))
	}
	sc.number(age, c.age)
	return p.end()
}

// stateIn is the state of an instance in a few words.
func (m *Model) stateIn(sc scene, sum summary) []span {
	switch {
	case m.link != linkLive || m.away():
		word, r := sc.linkWord(m.linkAt)
		return []span{{r, word}}
	case sum.bar.on() && !sum.bar.simulated:
		word := sc.drainWord(sum.bar)
		word[0].text = strings.TrimPrefix(word[0].text, " ")
		return word
	}
	word := sc.stateWord(sum)
	word[0].text = strings.TrimPrefix(word[0].text, " ")
	return word
}

// drainIn is how far a drain is.
func drainIn(sc scene, b bar) string {
	mark := ""
	if b.simulated {
		mark = markAway + " "
	}
	if b.idleAt == 0 {
		return mark + b.state.String()
	}
	return mark + tenths(b.quiet(sc.now)) + " of " + model.Every(b.idle)
}

// worstIn draws the worst chain and why, when one needs attention.
func (m *Model) worstIn(sc scene) {
	all := m.worstFirst()
	if len(all) == 0 || m.order.class[all[0]] == model.ClassHealthy {
		return
	}
	c := m.inst.Chains[all[0]]
	g := sc.signOf(c.State.Health.Sign())
	sc.pen.put(g.role, g.mark+" ")
	sc.pen.put(text, m.keys[all[0]])
	if sc.pen.room() < 12 {
		return
	}
	why := model.WhyOf(c, sc.now)
	if c.State.Verdict != model.VerdictHealthy {
		sc.pen.put(text, " "+orDash(c.State.Verdict.String()))
		sc.reasons(why)
		return
	}
	sc.notAsMeant(c, why)
}

// card appends the card of the selected instance: of its drain, or of its worst
// chain.
func (s *Several) card(sc scene, lines []string) []string {
	m := s.screens[s.at]
	inner := m.scene()
	inner.w = s.base.w
	says := fmt.Sprintf("enter opens it · %d of %d", s.at+1, len(s.screens))
	if m.link != linkLive {
		return sc.pad(append(lines, sc.rule(says, span{accent, s.names[s.at]}), inner.waitingLine()), cardRows-1)
	}
	title := []span{{accent, s.names[s.at]}}
	d := model.DiagnoseDrain(m.inst, m.asOf)
	if worst := m.worstFirst(); !m.drains() && len(worst) > 0 {
		d = model.Fleet{Now: m.asOf, Instances: []*model.Instance{m.inst}}.Chain(0, worst[0])
		title = append(title, span{text, " · " + m.keys[worst[0]]})
	}
	return inner.card(append(lines, sc.rule(says, title...)), d, cardRows)
}
