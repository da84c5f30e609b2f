package ui

import (
	"slices"
	"strings"
	"time"

	"chaintop/model"
)

// eventsKey is what the events of the instance are drawn from.
type eventsKey struct {
	era     uint64
	changes uint64
	minute  int64
	rows    int
}

// events appends the newest n changes of the instance, newest first.
func (m *Model) events(s scene, lines []string, n int) []string {
	key := eventsKey{m.draw.era, m.changes, m.asOf.Unix() / 60, n}
	return append(lines, m.draw.news.of(key, func(l []string) []string {
		return s.events(l, 0, n, func(*model.Event) bool { return true })
	})...)
}

// events appends n lines: the newest changes that a pane is about, newest first,
// without so many of the newest.
func (s scene) events(lines []string, without, n int, about func(*model.Event) bool) []string {
	for i := len(s.inst.Recent) - 1; i >= 0 && n > 0; i-- {
		e := &s.inst.Recent[i]
		if !about(e) {
			continue
		}
		if said, ok := describe(s.inst, *e); ok {
			if without > 0 {
				without--
				continue
			}
			lines = append(lines, s.event(said, false))
			n--
		}
	}
	return s.pad(lines, n)
}

// aboutChain says whether an event concerns chain i.
func aboutChain(e *model.Event, i int) bool {
	if b, ok := e.Body.(model.CommandDone); ok {
		return len(b.Chains) == 0 || slices.Contains(b.Chains, i)
	}
	_, started := e.Body.(model.Started)
	return started || e.Chain == i
}

// wideEvents is from which width the columns of an event have room.
const wideEvents = 100

// newsColumns are the widths of an event's subject and of what happened.
func (s scene) newsColumns() (subject, what int) {
	switch {
	case s.w >= 160:
		return 24, 22
	case s.w >= wideEvents:
		return 18, 18
	case s.own != nil:
		return 8, 17
	}
	return 16, 17
}

// event is one change in a line.
func (s scene) event(l model.Line, selected bool) string {
	subject, what := s.newsColumns()
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	p.put(dim, s.when(l.At))
	p.blank(1)
	name := l.Subject
	if s.own != nil && s.w < wideEvents {
		// Below the chain's own name only what is not it is said.
		name = strings.TrimPrefix(strings.TrimPrefix(name, s.own.Key()), s.own.Name+"/")
	}
	p.left(text, cutMiddle(name, subject), subject)
	p.blank(1)
	g := signOf(l.Sign)
	if l.Sign == model.SignCommand {
		what = max(what, width(g.mark)+1+width(l.What)) // a command is read as one line
	}
	p.open(what)
	if g.mark != "" {
		p.put(g.role, g.mark)
		p.put(g.role, " ")
	}
	p.put(g.role, l.What)
	p.shut()
	p.blank(1)
	p.put(text, l.Detail)
	return p.end()
}

// when is a time of day; with the day, once that is another.
func (s scene) when(at time.Time) string {
	if s.now.Sub(at) >= 24*time.Hour {
		return at.In(s.zone).Format("01-02 15:04")
	}
	return at.In(s.zone).Format("15:04:05")
}
