package ui

import (
	"slices"
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
	key := eventsKey{m.draw.era, m.changes, m.now.Unix() / 60, n}
	return append(lines, m.draw.news.of(key, func(l []string) []string {
		return s.events(l, n, func(*model.Event) bool { return true })
	})...)
}

// events appends n lines: the newest changes that a pane is about, newest first.
func (s scene) events(lines []string, n int, about func(*model.Event) bool) []string {
	for i := len(s.inst.Recent) - 1; i >= 0 && n > 0; i-- {
		e := &s.inst.Recent[i]
		if !about(e) {
			continue
		}
		if said, ok := model.Describe(s.inst, *e); ok {
			lines = append(lines, s.event(said))
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

// event is one change in a line.
func (s scene) event(l model.Line) string {
	subject, what := 16, 17
	if s.w >= wideEvents {
		subject, what = 18, 18
	}
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.put(dim, s.when(l.At))
	p.blank(1)
	p.left(text, l.Subject, subject)
	p.blank(1)
	g := signOf(l.Sign)
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
		return at.UTC().Format("01-02 15:04")
	}
	return at.UTC().Format("15:04:05")
}
