package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"chaintop/model"
)

// orderHold is how long no row moves after a key: the hand was about to act on
// what the eye saw. Rows sorted by a number move no more often than that.
const orderHold = 10 * time.Second

// sortBy is what rows are sorted by.
type sortBy uint8

const (
	byProblems sortBy = iota
	byName
	byNext
	byLag
	byP50
	sorts
)

var sortNames = [sorts]string{"problems first", "by name", "by next", "by lag", "by P50"}

// order is the chains as rows: those a filter lets through, problems first, then
// by name, or as one was told. A row moves only when the class of a chain
// changes, never for a number that is not what one sorts by.
type order struct {
	rows    []int         // chain indexes, top row first
	place   []int         // row of each chain, -1 = hidden
	all     []int         // every chain in order, the hidden ones too
	class   []model.Class // of each chain, now
	sorted  []model.Class // of each chain, when it was last put in order
	lets    []bool        // whether the filter lets each chain through, now
	shown   []bool        // and when rows were last put in order
	seen    []*model.Chain
	keys    []sortKey // scratch, by chain
	second  int64     // when classes were last judged for all
	touched time.Time // of the last key, wheel or click
	moved   time.Time // when rows were last put in order
	late    bool      // rows would move, and are held

	by      sortBy
	reverse bool
	told    bool // the sort or the filter is new: it holds at once
}

// sortKey is what a chain is sorted by; one that is unknown is last both ways.
type sortKey struct {
	known bool
	n     int64
}

// reset starts over with n chains.
func (o *order) reset(n int) {
	*o = order{
		rows: make([]int, n), place: make([]int, n), all: make([]int, n), seen: make([]*model.Chain, n),
		class: make([]model.Class, n), sorted: make([]model.Class, n),
		lets: make([]bool, n), shown: make([]bool, n), keys: make([]sortKey, n),
		touched: o.touched, by: o.by, reverse: o.reverse, told: true,
	}
	for i := range o.all {
		o.all[i], o.rows[i], o.place[i] = i, i, i
	}
}

// settle judges what changed, once a second everything, as of asOf, and puts the rows in
// order unless they are held. lets is the filter, nil when there is none. It says
// whether a row may have moved.
func (o *order) settle(inst *model.Instance, keys []string, now, asOf time.Time, lets func(i int, c model.Class) bool) bool {
	first := len(o.seen) > 0 && o.seen[0] == nil
	all := now.Unix() != o.second || o.told
	o.second = now.Unix()
	o.late = false
	for i, c := range inst.Chains {
		if all || o.seen[i] != c {
			o.seen[i], o.class[i] = c, model.ClassOf(c, inst.Policy, asOf)
			o.lets[i] = lets == nil || lets(i, o.class[i])
		}
		o.late = o.late || o.class[i] != o.sorted[i] || o.lets[i] != o.shown[i]
	}
	if all && o.by >= byNext && !o.late {
		o.measure(inst, asOf)
		o.late = !slices.IsSortedFunc(o.all, o.compare(keys, o.class))
	}
	if !first && !o.told && (!o.late || o.holds(now) > 0) {
		return false
	}
	o.late, o.told, o.moved = false, false, now
	copy(o.sorted, o.class)
	copy(o.shown, o.lets)
	o.measure(inst, asOf)
	slices.SortFunc(o.all, o.compare(keys, o.sorted))
	o.rows = o.rows[:0]
	for _, i := range o.all {
		o.place[i] = -1
		if o.shown[i] {
			o.place[i] = len(o.rows)
			o.rows = append(o.rows, i)
		}
	}
	return true
}

// measure takes the number each chain is sorted by.
func (o *order) measure(inst *model.Instance, now time.Time) {
	if o.by < byNext {
		return
	}
	for i, c := range inst.Chains {
		o.keys[i] = measureOf(c, o.by, now)
	}
}

func measureOf(c *model.Chain, by sortBy, now time.Time) sortKey {
	u := servingUpstream(c)
	switch {
	case by == byNext:
		if c.Probe != nil {
			return sortKey{true, 0} // in flight: nothing is sooner
		}
		return sortKey{!c.State.Next.At.IsZero(), c.State.Next.At.UnixNano()}
	case u == nil:
	case by == byLag:
		return sortKey{u.State.Lag.Known, u.State.Lag.Blocks}
	case by == byP50:
		d, ok := latencyOf(c, now)
		return sortKey{ok, int64(d)}
	}
	return sortKey{}
}

// compare is the order of two chains.
func (o *order) compare(keys []string, class []model.Class) func(a, b int) int {
	sign := 1
	if o.reverse {
		sign = -1
	}
	tie := func(a, b int) int { return cmp.Or(strings.Compare(keys[a], keys[b]), cmp.Compare(a, b)) }
	switch o.by {
	case byProblems:
		return func(a, b int) int { return cmp.Or(sign*cmp.Compare(class[a], class[b]), tie(a, b)) }
	case byName:
		return func(a, b int) int { return sign * tie(a, b) }
	case byNext, byLag, byP50, sorts:
	}
	// Of numbers the most telling is on top: the soonest, the furthest behind,
	// the slowest.
	if o.by != byNext {
		sign = -sign
	}
	return func(a, b int) int {
		x, y := o.keys[a], o.keys[b]
		if x.known != y.known {
			if x.known {
				return -1
			}
			return 1
		}
		return cmp.Or(sign*cmp.Compare(x.n, y.n), tie(a, b))
	}
}

// holds is how long the rows stay where they are yet; 0 = they may move.
func (o *order) holds(now time.Time) time.Duration {
	since := o.touched
	if o.by >= byNext && o.moved.After(since) {
		since = o.moved
	}
	if since.IsZero() {
		return 0
	}
	return max(0, since.Add(orderHold).Sub(now))
}

// at is the row of chain i; 0 when there is none.
func (o *order) at(i int) int {
	if i < 0 || i >= len(o.place) {
		return 0
	}
	return max(o.place[i], 0)
}

// hides says whether the filter hides chain i.
func (o *order) hides(i int) bool { return i >= 0 && i < len(o.place) && o.place[i] < 0 }

// words are the order as the rule says it.
func (o *order) words(now time.Time) string {
	name := sortNames[o.by]
	if o.reverse {
		name += " reversed"
	}
	if !o.late {
		return name
	}
	left := (o.holds(now) + time.Second - 1).Truncate(time.Second) / time.Second
	if o.by == byProblems && !o.reverse {
		return fmt.Sprintf("order held %ds", left)
	}
	return fmt.Sprintf("%s · order held %ds", name, left)
}
