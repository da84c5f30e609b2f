package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// flow is the table of what clients ask, in the view Drain: the chains that the
// filter lets through, the busiest first.
type flow struct {
	rows    []int // chain indexes, top row first
	by      flowSort
	reverse bool
	told    bool      // the sort is new: it holds at once
	moved   time.Time // when rows were last put in order
	version uint64    // of the filter they were put in order by
	top     int       // first row shown
	plan    drainPlan

	said   flowKey  // what the lines below are of
	state  [][]span // of the drain
	steps  [][]span // of its forecast
	awake  []awakeRow
	orders uint64 // grows when rows are put in order

	focus     flowFocus
	client    int    // the selected client's row
	clientKey string // by which it is found again
	clientTop int    // first client shown
}

// flowKey is what the view Drain is told from.
type flowKey struct {
	era     uint64
	changes uint64
	seen    uint64
	second  int64
	w       int
}

type flowSort uint8

const (
	flowRate flowSort = iota
	flowName
	flowFailed
	flowRetried
	flowP50
	flowP95
	flowStreams
	flowSorts
)

var flowSortNames = [flowSorts]string{"busiest first", "by name", "by failed", "by retried", "by P50", "by P95", "by streams"}

func (f *flow) sortBy(by flowSort, reverse bool) { f.by, f.reverse, f.told = by, reverse, true }

func (f *flow) words() string {
	if f.reverse {
		return flowSortNames[f.by] + " reversed"
	}
	return flowSortNames[f.by]
}

// arrangeFlow puts the rows in order, no more often than every ten seconds and
// not within ten of a key: what one reads stays where it is.
func (m *Model) arrangeFlow() {
	if m.view != viewDrain {
		m.flow.told = true // in order when it is looked at
		return
	}
	f := &m.flow
	held := m.now.Sub(f.moved) < orderHold || m.now.Sub(m.order.touched) < orderHold
	if f.told || !held || len(f.rows) != len(m.order.rows) || f.version != m.search.version {
		f.rows = append(f.rows[:0], m.order.rows...)
		slices.SortStableFunc(f.rows, m.flowOrder())
		f.told, f.moved, f.version = false, m.now, m.search.version
		f.orders++
	}
	s := scene{inst: m.inst, keys: m.keys, now: m.asOf, w: m.w, zone: m.zone}
	if key := (flowKey{m.draw.era, m.changes, m.seen, m.asOf.Unix(), m.w}); f.said != key || f.state == nil {
		f.said, f.state, f.steps, f.awake = key, m.drainLines(s), m.forecastLines(s), m.awakeRows()
	}
	was := f.plan.phase
	f.plan = m.planDrain()
	f.top = scroll(f.top, max(0, slices.Index(f.rows, m.selected())), f.plan.rows(), len(f.rows))
	if f.plan.phase != was && f.plan.phase != phaseServing {
		f.focus = focusClients // who keeps it awake is the question now
	}
	m.arrangeClients()
}

// flowOrder is the order of two chains.
func (m *Model) flowOrder() func(a, b int) int {
	f := m.flow
	sign := -1 // of numbers the greatest is on top
	if f.reverse {
		sign = 1
	}
	measure := map[flowSort]func(model.Traffic) int64{
		flowRate:   func(t model.Traffic) int64 { return int64(t.PerSecond() * 1000) },
		flowFailed: func(t model.Traffic) int64 { return int64(t.Failed) }, flowRetried: func(t model.Traffic) int64 { return int64(t.Retried) },
		flowP50: func(t model.Traffic) int64 { return int64(t.P50) }, flowP95: func(t model.Traffic) int64 { return int64(t.P95) },
		flowStreams: func(t model.Traffic) int64 { return int64(t.Streams) },
	}[f.by]
	return func(a, b int) int {
		name := strings.Compare(m.keys[a], m.keys[b])
		if measure == nil {
			return -sign * name
		}
		x, y := askedOf(m.inst.Chains[a], m.asOf), askedOf(m.inst.Chains[b], m.asOf)
		if (x.Total == 0) != (y.Total == 0) { // what nobody ever asked is last both ways
			if x.Total == 0 {
				return 1
			}
			return -1
		}
		return cmp.Or(sign*cmp.Compare(measure(x), measure(y)), name)
	}
}

// moveFlow picks the row d further, or the last one there is.
func (m *Model) moveFlow(d int) {
	if m.flow.focus == focusClients {
		m.pickClient(m.flow.client + d)
		return
	}
	if n := len(m.flow.rows); n > 0 {
		m.choose(m.flow.rows[max(0, min(slices.Index(m.flow.rows, m.selected())+d, n-1))])
	}
}

// onFlowRow selects the chain or the client in a line below the header; a second
// click opens it, and one on the heading sorts.
func (m *Model) onFlowRow(x, y int) tea.Cmd {
	f := &m.flow
	if y == f.plan.firstRow()-1 && f.plan.traffic > 0 {
		if by, ok := flowColumnsAt(m.w).sortAt(x); ok {
			f.sortBy(by, by == f.by && !f.reverse)
		}
		return nil
	}
	if row := y - f.plan.firstRow(); f.plan.traffic > 0 && row >= 0 && row < f.plan.rows() && f.top+row < len(f.rows) {
		f.focus = focusTraffic
		return m.onChainRow(f.rows[f.top+row])
	}
	if row := y - f.plan.firstClient(); f.plan.awake > 0 && row >= 0 && row < f.plan.awake {
		m.pickClient(f.clientTop + row)
		if m.twice(-1000 - f.client) {
			return openFlow(m)
		}
	}
	return nil
}

// flowColumns are the columns of the table; 0 = not shown. What is left over
// goes to serving.
type flowColumns struct {
	chain, rate, failed, retried, hedged, p50, p95, streams, hedge, last, total, serving int
}

func flowColumnsAt(w int) flowColumns {
	c := flowColumns{chain: 16, rate: 5, failed: 6, retried: 7, p50: 5}
	for _, grow := range [...]struct {
		from int
		to   *int
		w    int
	}{{74, &c.p95, 5}, {74, &c.hedged, 6}, {80, &c.streams, 7}, {96, &c.last, 7}, {106, &c.hedge, 8}, {120, &c.chain, 18}, {128, &c.total, 7}} {
		if w >= grow.from {
			*grow.to = grow.w
		}
	}
	c.serving = w - 1 - c.chain - 1
	for _, n := range []int{c.rate, c.failed, c.retried, c.hedged, c.p50, c.p95, c.streams, c.hedge, c.last, c.total} {
		if n > 0 {
			c.serving -= n + 1
		}
	}
	return c
}

// sortAt is what the column at cell x is sorted by.
func (c flowColumns) sortAt(x int) (flowSort, bool) {
	edge := 1
	for _, col := range [...]struct {
		w  int
		by flowSort
	}{
		{c.chain, flowName}, {c.rate, flowRate}, {c.failed, flowFailed}, {c.retried, flowRetried}, {c.hedged, flowSorts},
		{c.p50, flowP50}, {c.p95, flowP95}, {c.streams, flowStreams},
	} {
		if col.w == 0 {
			continue
		}
		if x >= edge-1 && x < edge+col.w {
			return col.by, col.by != flowSorts
		}
		edge += col.w + 1
	}
	return flowSorts, false
}

func (s scene) flowHeading(c flowColumns) string {
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, "CHAIN", c.chain)
	s.headOf("REQ/S", c.rate)
	s.headOf("FAILED", c.failed)
	s.headOf("RETRIED", c.retried)
	s.headOf("HEDGED", c.hedged)
	s.headOf("P50", c.p50)
	s.headOf("P95", c.p95)
	s.headOf("STREAMS", c.streams)
	s.headOf("LAST", c.last)
	s.headOf("HEDGE AT", c.hedge)
	s.headOf("TOTAL", c.total)
	p.blank(1)
	p.left(dim, "SERVING", c.serving)
	return p.end()
}

// flowRow is what clients ask of chain i.
func (s scene) flowRow(c flowColumns, i int, selected bool) string {
	chain := s.inst.Chains[i]
	t := askedOf(chain, s.now)
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	p.left(text, s.keys[i], c.chain)
	p50, p95, last, hedge := unknownValue, unknownValue, unknownValue, unknownValue
	if t.Requests > 0 && t.P50 > 0 {
		p50, p95 = model.Took(t.P50), model.Took(t.P95)
	}
	if !t.Last.IsZero() {
		last = model.Age(s.now.Sub(t.Last))
	}
	if t.HedgeAfter > 0 {
		hedge = model.Took(t.HedgeAfter)
	}
	s.flowCounts(c, t.PerSecond(), t.Failed, t.Retried, t.Hedged)
	s.number(p50, c.p50)
	s.number(p95, c.p95)
	s.number(strconv.Itoa(t.Streams), c.streams)
	s.number(last, c.last)
	s.number(hedge, c.hedge)
	s.number(heightIn(t.Total, c.total), c.total)
	p.blank(1)
	s.servingCell(chain, c.serving)
	return p.end()
}

// flowCounts are the numbers that have a sum.
func (s scene) flowCounts(c flowColumns, perSecond float64, failed, retried, hedged int) {
	s.number(model.PerSecond(perSecond), c.rate)
	r := text
	if failed > 0 {
		r = bad
	}
	if c.failed > 0 {
		s.pen.right(r, heightIn(uint64(failed), c.failed), c.failed+1)
	}
	s.number(heightIn(uint64(retried), c.retried), c.retried)
	s.number(heightIn(uint64(hedged), c.hedged), c.hedged)
}

// flowSum is several chains in a row. Latencies have no sum.
func (s scene) flowSum(c flowColumns, word string, chains []int) string {
	var sum clients
	for _, i := range chains {
		sum.add(askedOf(s.inst.Chains[i], s.now))
	}
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(text, word, c.chain)
	s.flowCounts(c, sum.perSecond, sum.failed, sum.retried, sum.hedged)
	s.number("", c.p50)
	s.number("", c.p95)
	s.number(strconv.Itoa(sum.streams), c.streams)
	last := unknownValue
	if sum.last > 0 {
		last = model.Age(s.now.Sub(time.Unix(0, sum.last)))
	}
	s.number(last, c.last)
	s.number("", c.hedge)
	s.number(heightIn(sum.total, c.total), c.total)
	return p.end()
}
