package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// openUpstream opens what is known of the selected upstream.
func openUpstream(m *Model) tea.Cmd {
	c := m.chain()
	if c == nil || len(c.Upstreams) == 0 {
		m.say(text, "no upstream is configured", m.now.Add(flashShort))
		return nil
	}
	m.hold()
	m.pick.inside, m.pick.insideTop = true, 0
	return nil
}

func closeUpstream(m *Model) tea.Cmd {
	if !m.unask() && !m.clearFilter() {
		m.pick.inside = false
	}
	return nil
}

// turnUpstream shows the upstream after, or the one before, around the ends.
func turnUpstream(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		c := m.chain()
		if c == nil || len(c.Upstreams) < 2 {
			m.say(text, "it has no other upstream", m.now.Add(flashShort))
			return nil
		}
		n := len(c.Upstreams)
		m.pick.upstream, m.pick.insideTop = ((m.pick.upstream+d)%n+n)%n, 0
		return nil
	}
}

// insideRows is the lines of the pane of one upstream, below its rule.
func (m *Model) insideRows() int {
	return max(1, m.h-headerRows-m.bannerRows()-m.filterRows()-1-1-1) // chain's line, rule, footer
}

// insideBody is the view Chain while one of its upstreams is open.
func (m *Model) insideBody(s scene, lines []string, c *model.Chain) []string {
	u := &c.Upstreams[m.pick.upstream]
	all, rows := m.upstreamWhole(c), m.insideRows()
	says := "esc closes"
	if len(all) > rows {
		says = fmt.Sprintf("%d–%d of %d · ", m.pick.insideTop+1, min(m.pick.insideTop+rows, len(all)), len(all)) + says
	}
	lines = append(lines, s.chainLine(c, m.selected()),
		s.rule(says, span{text, "UPSTREAM "}, span{accent, u.Name}, span{dim, fmt.Sprintf(" · %s · %d of %d", u.Tier, m.pick.upstream+1, len(c.Upstreams))}))
	for k := range rows {
		if at := m.pick.insideTop + k; at < len(all) {
			lines = append(lines, s.plain(all[at]...))
		} else {
			lines = append(lines, s.plain())
		}
	}
	return lines
}

// upstreamWhole is everything that is known of the selected upstream, line by
// line.
func (m *Model) upstreamWhole(c *model.Chain) [][]span {
	i := m.pick.upstream
	if i < 0 || i >= len(c.Upstreams) {
		return nil
	}
	s := scene{inst: m.inst, keys: m.keys, now: m.asOf, w: m.w, zone: m.zone}
	lines := s.upstreamState(c, i)
	lines = append(lines, s.upstreamLast(&c.Upstreams[i])...)
	lines = append(lines, s.upstreamFindings(c, &c.Upstreams[i])...)
	return append(lines, s.upstreamFacts(c, &c.Upstreams[i])...)
}

const insideLabel = 11

// labelled is paragraphs beside a label, each in as many lines as it takes.
func (s scene) labelled(label string, r role, says ...string) [][]span {
	var lines [][]span
	for _, l := range wrapped(says, s.w-insideLabel-2) {
		lines = append(lines, []span{{text, " "}, {dim, label}, {text, gapTo(width(label), insideLabel)}, {r, l}})
		label = ""
	}
	return lines
}

// upstreamState is health, fitness, hold and pace of upstream i.
func (s scene) upstreamState(c *model.Chain, i int) [][]span {
	u := &c.Upstreams[i]
	st := &u.State
	g := s.signOf(st.Health.Sign())
	health := g.mark + " " + st.Health.String()
	if !st.Since.IsZero() {
		health += " for " + model.Age(s.now.Sub(st.Since))
	}
	health += fmt.Sprintf(" · %d failed checks in a row, %d make it unhealthy", st.Streak, c.Settings.Fall)
	if st.Errors > 0 {
		health += fmt.Sprintf(" · %d error answers in a row", st.Errors)
	}
	lines := s.labelled("HEALTH", g.role, health)
	fit := ""
	for _, sp := range s.fitness(c, i, s.w) {
		fit += sp.text
	}
	lines = append(lines, s.labelled("FIT", text, fit)...)
	hold := "none"
	if h := st.Hold; h.Held(s.now) {
		asked := "it gave no Retry-After"
		if h.Asked > 0 {
			asked = "Retry-After " + model.Every(h.Asked)
		}
		hold = fmt.Sprintf("%s left, until %s · %s · %d in a row", model.Countdown(h.Until, s.now), s.clock(h.Until), asked, h.Run)
		if h.Quota {
			hold += " · the plan is used up"
		}
	}
	lines = append(lines, s.labelled("HOLD", text, hold)...)
	pace := "P50 " + ofChecks(u, 0.5) + " · P95 " + ofChecks(u, 0.95) + fmt.Sprintf(" of our last %d results", len(u.Latency.Samples))
	if n, ok := u.Asked.PerMinute(s.now); ok {
		pace += fmt.Sprintf(" · %d requests of ours a minute", n)
	}
	lines = append(lines, s.labelled("PACE", text, pace)...)
	return append(lines, s.upstreamClients(c, i)...)
}

// upstreamClients is what clients' requests got from upstream i.
func (s scene) upstreamClients(c *model.Chain, i int) [][]span {
	if !s.inst.Gateway {
		return s.labelled("CLIENTS", dim, "this instance runs no gateway: it sees no client")
	}
	t := attemptsOf(c, i, s.now)
	says := "none asked it in the last minute"
	if t.Requests > 0 {
		says = fmt.Sprintf("%s req/s in the last minute, %d of %d got no answer · P50 %s · P95 %s", s.attempts(c, t), t.NoAnswers, t.Requests, model.Took(t.P50), model.Took(t.P95))
	}
	says += " · " + countOf(t.Streams, "stream") + " open"
	out := s.labelled("CLIENTS", text, says, fmt.Sprintf("since the start: %d results, %d error answers, %d without an answer, %d given up", t.Results, t.Answers, t.Silences, t.Abandoned))
	if k := c.Upstreams[i].State.Suspect; k.Active {
		word := fmt.Sprintf("for %s: %s in a row got no answer, the last: %s", model.Age(s.now.Sub(k.Since)), countOf(k.Missed, "request"), k.Reason)
		ends := "a check that starts later and passes ends it"
		if !k.Until.IsZero() {
			ends = "a check passed; it has " + model.Countdown(k.Until, s.now) + " to prove itself"
		}
		out = append(out, s.labelled("SUSPECT", text, word, ends)...)
	}
	return out
}

// upstreamLast is its last check, the evidence whole.
func (s scene) upstreamLast(u *model.Upstream) [][]span {
	last := u.State.Last
	if last.At.IsZero() {
		return s.labelled("LAST CHECK", dim, "none has ended yet")
	}
	said := []string{model.Age(s.now.Sub(last.At)) + " ago, " + string(last.Trigger) + ": " + lastInWords(last)}
	if last.Findings != 0 {
		said = append(said, "it said: "+strings.Join(last.Findings.Words(), ", "))
	}
	return s.labelled("LAST CHECK", text, said...)
}

// upstreamFindings are what is not as meant of it, and what that means.
func (s scene) upstreamFindings(c *model.Chain, u *model.Upstream) [][]span {
	var lines [][]span
	label := "FINDINGS"
	for _, f := range u.State.Findings.List() {
		for k, l := range s.labelled(label, text, f.String()+s.since(&u.State, f)+": "+meaning(c, f)) {
			if k == 0 {
				l[len(l)-1].role = warn
			}
			lines = append(lines, l)
		}
		label = ""
	}
	if len(lines) == 0 {
		return s.labelled(label, dim, "none")
	}
	return lines
}

// upstreamFacts is each thing it said of itself, and when.
func (s scene) upstreamFacts(c *model.Chain, u *model.Upstream) [][]span {
	lines := [][]span{nil}
	for _, f := range s.factsOf(c, u) {
		old := "never said"
		if !f.at.IsZero() {
			old = model.Age(s.now.Sub(f.at)) + " ago"
		}
		value := cut(f.value, max(s.w-insideLabel-16, 1))
		lines = append(lines, []span{
			{text, " "}, {dim, f.name}, {text, gapTo(width(f.name), insideLabel)},
			{text, value}, {text, gapTo(width(value), 24)}, {dim, " " + old},
		})
	}
	return lines
}

// checkOne asks for a check of the upstream that is open.
func checkOne(m *Model) tea.Cmd {
	c := m.chain()
	if c == nil || m.pick.upstream >= len(c.Upstreams) {
		return nil
	}
	cmd := model.Command{Op: model.OpCheck, Chains: []int{m.selected()}, Upstream: m.pick.upstream}
	return m.send(cmd, "check "+c.Upstreams[m.pick.upstream].Name)
}
