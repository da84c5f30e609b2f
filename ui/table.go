package ui

import (
	"strconv"
	"time"

	"chaintop/model"
)

// columns are where the table of chains has its columns; 0 = not shown. Which
// are shown, and how wide, follows from the width of the window and from
// nothing in them, so that nothing jumps. What is left over goes to why.
type columns struct {
	chain, health, why, next, idle, head, age, lag, serving, p50, rate int

	bar bool // next has one
}

// columnsAt are the columns at a width of w cells (SCREENS.md section 5). While
// the instance drains it is shown how long each chain is idle: in the place of
// next where that has no bar, else beside it.
func columnsAt(w int, drains bool) columns {
	c := columns{chain: 14, health: 11, next: 6}
	if w >= 80 {
		c.chain, c.serving = 16, 14
	}
	if w >= 85 {
		c.lag = 4
	}
	if w >= 97 {
		c.head = 11
	}
	switch {
	case w >= 103:
		c.next, c.bar = 12, true
		if drains {
			c.idle = 6
		}
	case drains:
		c.next, c.idle = 0, 6
	}
	if w >= 110 {
		c.p50 = 6
	}
	if w >= 120 {
		c.chain, c.serving = 18, 15
	}
	if w >= 127 {
		c.age = 6
	}
	if w >= 144 {
		c.rate = 7
	}
	c.why = w - 1 // the mark of the selection
	for _, n := range []int{c.chain, c.health, c.next, c.idle, c.head, c.age, c.lag, c.serving, c.p50, c.rate} {
		if n > 0 {
			c.why -= n + 1
		}
	}
	return c
}

// heading is the line above the table.
func (s scene) heading(c columns) string {
	p := s.pen
	p.begin(s.w, false)
	p.put(dim, " ")
	p.left(dim, "CHAIN", c.chain+1)
	p.left(dim, "HEALTH", c.health+1)
	p.left(dim, "VERDICT · WHY", c.why+1)
	if c.bar {
		p.left(dim, "NEXT PROBE", c.next)
		s.headOf("IDLE", c.idle)
	} else {
		p.right(dim, "NEXT", c.next)
		p.right(dim, "IDLE", c.idle)
	}
	s.headOf("HEAD", c.head)
	s.headOf("AGE", c.age)
	s.headOf("LAG", c.lag)
	if c.serving > 0 {
		p.put(dim, " ")
		p.left(dim, "SERVING", c.serving)
	}
	s.headOf("P50", c.p50)
	s.headOf("REQ/MIN", c.rate)
	return p.end()
}

// headOf is the heading of a column of numbers.
func (s scene) headOf(word string, w int) {
	if w > 0 {
		s.pen.right(dim, word, w+1)
	}
}

// rowText is a row already drawn, and what it was drawn from.
type rowText struct {
	chain    *model.Chain
	second   int64
	era      uint64
	selected bool
	awake    bool
	text     string
}

// row is the row of chain i: the one kept, if nothing of it changed.
func (m *Model) row(s scene, c columns, i int, selected bool) string {
	k := &m.draw.rows[i]
	chain, second := s.inst.Chains[i], s.now.Unix()
	if k.chain != chain || k.second != second || k.era != m.draw.era || k.selected != selected || k.awake != (i == s.awake) {
		*k = rowText{chain, second, m.draw.era, selected, i == s.awake, s.row(c, i, selected)}
	}
	return k.text
}

// row draws the row of chain i.
func (s scene) row(c columns, i int, selected bool) string {
	chain := s.inst.Chains[i]
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	p.left(text, s.keys[i], c.chain)
	p.blank(1)
	s.healthCell(chain.State.Health, c.health)
	p.blank(1)
	s.whyCell(chain, c.why)
	if c.next > 0 {
		p.blank(1)
		s.nextCell(chain, c)
	}
	if c.idle > 0 {
		p.blank(1)
		s.idleCell(i, c.idle)
	}
	s.numbers(chain, c)
	return p.end()
}

// rowMark is the first cell of a row.
func (s scene) rowMark(selected bool) {
	if selected {
		s.pen.put(accent, "▸")
		return
	}
	s.pen.blank(1)
}

// healthCell is a health, in w cells.
func (s scene) healthCell(h model.Health, w int) {
	p := s.pen
	g := s.signOf(h.Sign())
	p.open(w)
	p.put(g.role, g.mark)
	p.put(g.role, " ")
	p.put(g.role, h.String())
	p.shut()
}

// nextCell is when the next probe is due, or how far the one in flight is.
func (s scene) nextCell(chain *model.Chain, c columns) {
	p := s.pen
	next := chain.State.Next
	if s.link == linkEnded || s.remote.away || chain.Probe != nil || next.At.IsZero() || !c.bar {
		p.right(text, s.nextWord(chain), c.next)
		return
	}
	word := s.nextWord(chain)
	n := max(5, len(word))
	s.bar(next, c.next-1-n)
	p.right(text, word, n+1)
}

// nextWord is NEXT without its bar.
func (s scene) nextWord(chain *model.Chain) string {
	switch probe := chain.Probe; {
	case s.link == linkEnded, s.remote.away:
		return unknownValue
	case probe != nil:
		return tryOf(probe)
	case chain.State.Next.At.IsZero():
		return unknownValue
	}
	return model.Countdown(chain.State.Next.At, s.now)
}

// idleCell is how long no client asked chain i; the one that keeps a drain awake
// is marked.
func (s scene) idleCell(i, w int) {
	t := s.inst.Chains[i].Traffic
	switch {
	case t.Last.IsZero():
		s.pen.right(text, unknownValue, w)
	case s.awake == i:
		s.pen.right(warn, markWarn+tenths(s.now.Sub(t.Last)), w)
	default:
		s.pen.right(text, model.Age(s.now.Sub(t.Last)), w)
	}
}

// tryOf is which try of how many is in the air.
func tryOf(p *model.Probe) string {
	n := p.Flight.N
	if n == 0 {
		n = max(p.Made, 1)
	}
	return strconv.Itoa(n) + " of " + strconv.Itoa(p.Max)
}

// bar shows the time gone, in n cells; it is full only when the probe is due.
func (s scene) bar(next model.Next, n int) {
	gone := 0
	if whole := next.At.Sub(next.From); whole > 0 {
		gone = max(0, min(n, int(time.Duration(n)*s.now.Sub(next.From)/whole)))
	}
	if !s.now.Before(next.At) {
		gone = n
	}
	for k := range n {
		if k < gone {
			s.pen.put(dim, "▰")
		} else {
			s.pen.put(dim, "▱")
		}
	}
}

// numbers are the columns after NEXT.
func (s scene) numbers(chain *model.Chain, c columns) {
	p := s.pen
	u := servingUpstream(chain)
	head, age, lag, p50 := unknownValue, unknownValue, unknownValue, unknownValue
	if h := chain.Head(); chain.Fresh(h, s.now) {
		head = heightIn(h.Value, c.head)
	}
	if u != nil && chain.Fresh(u.State.Facts.Head, s.now) {
		if !u.State.HeadSince.IsZero() {
			age = model.Age(s.now.Sub(u.State.HeadSince))
		}
		lag = lagIn(u.State.Lag, c.lag)
	}
	if c.p50 > 0 {
		if d, ok := latencyOf(chain, s.now); ok {
			p50 = model.Took(d)
		}
	}
	s.number(head, c.head)
	s.number(age, c.age)
	s.number(lag, c.lag)
	if c.serving > 0 {
		p.blank(1)
		s.servingCell(chain, c.serving)
	}
	s.number(p50, c.p50)
	if c.rate > 0 {
		s.number(rate(chain, s.now), c.rate)
	}
}

func (s scene) number(v string, w int) {
	if w > 0 {
		s.pen.right(text, v, w+1)
	}
}

// servingUpstream is the upstream that a client's request would go to.
func servingUpstream(c *model.Chain) *model.Upstream {
	if i := c.Serving.Upstream; i >= 0 && i < len(c.Upstreams) {
		return &c.Upstreams[i]
	}
	return nil
}

// heightIn is a height in at most w cells: a number is never cut, it is rounded.
func heightIn(n uint64, w int) string {
	if s := model.Height(n); len(s) <= w {
		return s
	}
	if s := strconv.FormatUint(n, 10); len(s) <= w {
		return s
	}
	return rounded(n, w)
}

// lagIn is a lag in at most w cells; ahead of the tip it has a plus.
func lagIn(l model.Lag, w int) string {
	switch {
	case !l.Known:
		return unknownValue
	case l.Blocks < 0:
		return "+" + heightIn(uint64(-l.Blocks), w-1)
	}
	return heightIn(uint64(l.Blocks), w)
}

// rounded is a number of four digits or more in at most w cells, down to three:
// 12.9k 128M.
func rounded(n uint64, w int) string {
	const units = "kMGTPE"
	unit, rest := 0, n/100
	for n /= 1000; n >= 1000 && unit < len(units)-1; n /= 1000 {
		unit++
		rest = n / 100
	}
	whole := strconv.FormatUint(n, 10)
	if s := whole + "." + strconv.FormatUint(rest%10, 10) + units[unit:unit+1]; len(s) <= w {
		return s
	}
	return whole + units[unit:unit+1]
}

// rate is the requests that probes and checks sent in the last whole minute.
func rate(c *model.Chain, now time.Time) string {
	sum, known := 0, false
	for i := range c.Upstreams {
		if n, ok := c.Upstreams[i].Asked.PerMinute(now); ok {
			sum, known = sum+n, true
		}
	}
	if !known {
		return unknownValue
	}
	return strconv.Itoa(sum)
}
