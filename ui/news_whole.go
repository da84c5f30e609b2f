package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"chaintop/model"
)

// newsRule stands above the pane of the selected event.
func (m *Model) newsRule(s scene) string {
	n := &m.news
	if len(n.lines) == 0 {
		return s.rule("", span{text, "no event"})
	}
	says := "y copies · enter goes to the chain"
	if n.sel == 0 {
		says = "follows the newest · " + says
	}
	return s.rule(says, span{text, fmt.Sprintf("event %d of %d", n.row+1, len(n.lines))})
}

// wholeEvent appends n lines: everything that is known of the selected event.
func (m *Model) wholeEvent(s scene, lines []string, n int) []string {
	e := m.readEvent()
	if e == nil {
		return s.pad(lines, n)
	}
	key := wholeKey{m.draw.era, m.read().seq, n}
	return append(lines, m.draw.whole.of(key, func(l []string) []string { return m.drawWhole(s, l, e, n) })...)
}

// wholeKey is what the pane of the selected event is drawn from: an event never
// changes.
type wholeKey struct {
	era  uint64
	seq  uint64
	rows int
}

func (m *Model) drawWhole(s scene, lines []string, e *model.Event, n int) []string {
	all := wrapped(wholeOf(m.inst, e, m.read().line), s.w-2)
	if over := len(all) - n; over > 0 {
		all = append(all[:n-1:n-1], fmt.Sprintf("+%d more lines, y copies all", over+1))
	}
	for i, l := range all {
		r := text
		if i == 0 {
			r = accent
		}
		lines = append(lines, s.plain(span{text, " "}, span{r, l}))
	}
	return s.pad(lines, n-len(all))
}

// wholeOf is an event as paragraphs: what happened, who asked, the evidence.
func wholeOf(i *model.Instance, e *model.Event, l model.Line) []string {
	head := l.What
	if mark := signOf(l.Sign).mark; mark != "" {
		head = mark + " " + head
	}
	head = l.Subject + "  " + head
	who := e.Who
	if b, ok := e.Body.(model.ProbeEnded); ok && who == "" {
		who = b.Probe.Who
	}
	if who != "" {
		head += "  asked by " + who
	}
	out := []string{head}
	if l.Detail != "" {
		out = append(out, l.Detail)
	}
	if e.Chain < 0 || e.Chain >= len(i.Chains) {
		return out
	}
	c := i.Chains[e.Chain]
	if b, ok := e.Body.(model.ProbeEnded); ok {
		out = append(out, triesInWords(c, &b.Probe)...)
	}
	if b, ok := e.Body.(model.UpstreamChanged); ok && !b.State.Last.At.IsZero() {
		out = append(out, "its last check: "+lastInWords(b.State.Last))
	}
	return out
}

// triesInWords is each try of a probe in a line.
func triesInWords(c *model.Chain, p *model.Probe) []string {
	var out []string
	for i := range p.Tries {
		t := &p.Tries[i]
		name := "nobody"
		if t.Upstream >= 0 && t.Upstream < len(c.Upstreams) {
			name = c.Upstreams[t.Upstream].Name
		}
		words := []string{fmt.Sprintf("%d %s %s", t.N, name, outcomeWord(t.Kind))}
		if t.Kind != model.Result {
			words = append(words, t.Word())
		}
		if t.Evidence.Layer != "" {
			words = append(words, "at "+string(t.Evidence.Layer))
		}
		out = append(out, strings.Join(append(words, model.Took(t.Took), t.Evidence.String()), " "))
	}
	return out
}

// lastInWords is what a check brought.
func lastInWords(l model.Last) string {
	words := []string{outcomeWord(l.Kind)}
	if l.Kind != model.Result {
		words = append(words, l.Word())
	}
	if l.Evidence.Layer != "" {
		words = append(words, "at "+string(l.Evidence.Layer))
	}
	words = append(words, "in "+model.Took(l.Took))
	if text := l.Evidence.String(); text != "" {
		words = append(words, "· "+text)
	}
	return strings.Join(words, " ")
}

// wrapped is paragraphs in lines of at most w cells.
func wrapped(paragraphs []string, w int) []string {
	var out []string
	for _, p := range paragraphs {
		s, n := clean(p)
		if n <= w {
			out = append(out, s)
			continue
		}
		out = append(out, strings.Split(ansi.Wrap(s, max(w, 1), ""), "\n")...)
	}
	return out
}
