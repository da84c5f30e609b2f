package ui

import (
	"slices"

	"chaintop/model"
)

// news is the view Events: the changes the instance remembers, newest first, and
// the one that is selected.
type news struct {
	key   newsKey
	all   []newsLine // every change that has a line
	upTo  uint64     // number of the last change in all
	lines []newsLine // those that the filter lets through
	total int        // of all
	sel   uint64     // number of the selected one; 0 = the newest, whatever comes
	row   int        // of the selected one in lines
	top   int        // first row shown
	plan  newsPlan
}

// newsLine is a change in words, and where it stands.
type newsLine struct {
	seq  uint64 // number of the change, counted from the first picture
	line model.Line
}

type newsKey struct {
	changes uint64
	seq     uint64
	version uint64 // of the filter
	second  int64  // where the filter asks for ages
}

// newsPlan is how many rows the list and the pane of the selected event get.
type newsPlan struct{ rows, whole int }

func planNews(h, extra int) newsPlan {
	free := h - headerRows - extra - 1 - 1 - 1 // heading, rule, footer
	whole := max(2, min(free/4, 14))
	return newsPlan{rows: max(free-whole, 1), whole: whole}
}

// arrangeNews lists the changes and puts selection and scroll where they belong.
// What is read stays where it is while newer ones come in above it.
func (m *Model) arrangeNews() {
	n := &m.news
	n.plan = planNews(m.h, m.bannerRows()+m.filterRows())
	key := newsKey{changes: m.changes, seq: m.seq, version: m.search.version}
	if m.search.good.uses("age") {
		key.second = m.asOf.Unix()
	}
	if n.lines == nil || n.key != key {
		n.key = key
		m.listNews()
	}
	was := n.row
	n.row = 0
	if n.sel > 0 {
		for n.row < len(n.lines)-1 && n.lines[n.row].seq > n.sel {
			n.row++
		}
		n.top += n.row - was
	}
	n.top = scroll(n.top, n.row, n.plan.rows, len(n.lines))
}

// listNews describes the changes that the filter lets through.
func (m *Model) listNews() {
	n := &m.news
	m.describeNews()
	n.total = len(n.all)
	if n.lines == nil {
		n.lines = make([]newsLine, 0, model.RecentChanges)
	}
	n.lines = n.lines[:0]
	for _, l := range n.all {
		if !m.search.on() || m.search.lets(eventSubject{m.inst, m.eventOf(l.seq), l.line, m.asOf}) {
			n.lines = append(n.lines, l)
		}
	}
}

// describeNews puts the changes since the last time in words, and lets go of
// those that are forgotten. What a change says never changes.
func (m *Model) describeNews() {
	n, recent := &m.news, m.inst.Recent
	fresh := min(int(m.seq-n.upTo), len(recent))
	n.upTo = m.seq
	news := make([]newsLine, 0, fresh)
	for i := len(recent) - 1; i >= len(recent)-fresh; i-- {
		if said, ok := describe(m.inst, recent[i]); ok {
			news = append(news, newsLine{m.seq - uint64(len(recent)-1-i), said})
		}
	}
	n.all = slices.Insert(n.all, 0, news...)
	for len(n.all) > 0 && m.eventOf(n.all[len(n.all)-1].seq) == nil {
		n.all = n.all[:len(n.all)-1]
	}
}

// eventOf is the event with a number, nil when it is forgotten.
func (m *Model) eventOf(seq uint64) *model.Event {
	if i := len(m.inst.Recent) - 1 - int(m.seq-seq); i >= 0 && i < len(m.inst.Recent) {
		return &m.inst.Recent[i]
	}
	return nil
}

// read is the selected change, nil when there is none.
func (m *Model) read() *newsLine {
	if n := &m.news; n.row < len(n.lines) {
		return &n.lines[n.row]
	}
	return nil
}

// readEvent is the event of the selected change.
func (m *Model) readEvent() *model.Event {
	if l := m.read(); l != nil {
		return m.eventOf(l.seq)
	}
	return nil
}

// moveNews selects d rows further down, which is older. Above the newest one the
// selection stays with whatever is newest.
func (m *Model) moveNews(d int) {
	n := &m.news
	if len(n.lines) == 0 {
		return
	}
	if n.row+d < 0 {
		n.sel = 0
		return
	}
	m.readRow(min(n.row+d, len(n.lines)-1))
}

func (m *Model) readRow(row int) {
	n := &m.news
	n.sel = n.lines[row].seq
	n.top += row - n.row
	if was := n.top - (row - n.row); row >= was && row < was+n.plan.rows {
		n.top = was // it is in sight: nothing scrolls
	}
	n.row = row
}

// seekNews selects the next change further on that is one; false when there is
// none.
func (m *Model) seekNews(d int, is func(newsLine) bool) bool {
	n := &m.news
	for row := n.row + d; row >= 0 && row < len(n.lines); row += d {
		if is(n.lines[row]) {
			m.readRow(row)
			return true
		}
	}
	return false
}

// transition says whether a health or the readiness turned.
func transition(e *model.Event) bool {
	switch b := e.Body.(type) {
	case model.ReadyChanged:
		return true
	case model.DrainChanged:
		return b.What != model.DrainFinal
	case model.ChainChanged:
		return b.What == model.ChangeHealth
	case model.UpstreamChanged:
		return b.What == model.ChangeHealth
	case model.Started, model.ProbeStarted, model.TryEnded, model.ProbeEnded, model.ServingChanged, model.CommandDone,
		model.ClientsFelt, model.UpstreamRead, model.TrafficRead, model.Skipped:
	}
	return false
}

// newsFrame is the view Events.
func (m *Model) newsFrame(s scene, lines []string) []string {
	n := &m.news
	key := listKey{m.draw.era, n.key, n.top, n.row, n.plan.rows, m.asOf.Unix() / 60}
	lines = append(m.top(s, lines), m.draw.list.of(key, func(l []string) []string { return m.newsList(s, l) })...)
	lines = append(lines, m.newsRule(s))
	lines = m.wholeEvent(s, lines, n.plan.whole)
	return append(lines, m.footer(s))
}

// listKey is what the list of Events is drawn from.
type listKey struct {
	era            uint64
	of             newsKey
	top, row, rows int
	minute         int64
}

// newsList appends the heading and the rows of the list.
func (m *Model) newsList(s scene, lines []string) []string {
	n := &m.news
	lines = append(lines, s.newsHeading())
	for k := range n.plan.rows {
		switch at := n.top + k; {
		case at < len(n.lines):
			lines = append(lines, s.event(n.lines[at].line, at == n.row))
		case len(n.lines) == 0 && k == 0 && m.link != linkWaiting && !m.search.on():
			lines = append(lines, s.plain(span{dim, " nothing has happened yet"}))
		default:
			lines = append(lines, s.plain())
		}
	}
	return lines
}

func (s scene) newsHeading() string {
	subject, what := s.newsColumns()
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, "TIME", 9)
	p.left(dim, "SUBJECT", subject+1)
	p.left(dim, "WHAT", what+1)
	p.put(dim, "DETAIL")
	return p.end()
}
