package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"chaintop/model"
)

// orderHold is how long no row moves after a key: the hand was about to act on
// what the eye saw.
const orderHold = 10 * time.Second

// order is the chains as rows, problems first, then by name. A row moves only
// when the class of a chain changes, never for a number.
type order struct {
	rows    []int         // chain indexes, top row first
	place   []int         // row of each chain
	class   []model.Class // of each chain, now
	sorted  []model.Class // of each chain, when it was last put in order
	seen    []*model.Chain
	second  int64     // when classes were last judged for all
	touched time.Time // of the last key, wheel or click
	late    bool      // a class changed, and the rows are held
}

// reset starts over with n chains.
func (o *order) reset(n int) {
	*o = order{
		rows: make([]int, n), place: make([]int, n), seen: make([]*model.Chain, n),
		class: make([]model.Class, n), sorted: make([]model.Class, n), touched: o.touched,
	}
	for i := range o.rows {
		o.rows[i], o.place[i] = i, i
	}
}

// settle judges what changed, once a second everything, and puts the rows in
// order unless they are held. It says whether a row may have moved.
func (o *order) settle(inst *model.Instance, keys []string, now time.Time) bool {
	first := len(o.seen) > 0 && o.seen[0] == nil
	all := now.Unix() != o.second
	o.second = now.Unix()
	o.late = false
	for i, c := range inst.Chains {
		if all || o.seen[i] != c {
			o.seen[i], o.class[i] = c, model.ClassOf(c, inst.Policy, now)
		}
		o.late = o.late || o.class[i] != o.sorted[i]
	}
	if !first && (!o.late || o.holds(now) > 0) {
		return false
	}
	o.late = false
	copy(o.sorted, o.class)
	slices.SortFunc(o.rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(o.class[a], o.class[b]), strings.Compare(keys[a], keys[b]), cmp.Compare(a, b))
	})
	for row, i := range o.rows {
		o.place[i] = row
	}
	return true
}

// holds is how long the rows stay where they are yet; 0 = they may move.
func (o *order) holds(now time.Time) time.Duration {
	if o.touched.IsZero() {
		return 0
	}
	return max(0, o.touched.Add(orderHold).Sub(now))
}

// at is the row of chain i; 0 when there is none.
func (o *order) at(i int) int {
	if i < 0 || i >= len(o.place) {
		return 0
	}
	return o.place[i]
}
