package core

import (
	"container/heap"
	"time"

	"chaintop/model"
)

// schedule is a heap of the chains by due time. A chain that waits for answers
// only is not in it.
type schedule struct {
	entries []entry
	at      []int // by chain: its place in entries, -1 when it is in none
}

type entry struct {
	due   time.Time
	chain int
}

func (s *schedule) reset(chains []*model.Chain) {
	s.entries, s.at = s.entries[:0], make([]int, len(chains))
	for n := range s.at {
		s.at[n] = -1
	}
	for n, c := range chains {
		s.set(n, c.Due())
	}
}

// set moves a chain to its new due time; zero takes it out.
func (s *schedule) set(chain int, due time.Time) {
	switch i := s.at[chain]; {
	case due.IsZero() && i >= 0:
		heap.Remove(s, i)
	case due.IsZero():
	case i >= 0:
		s.entries[i].due = due
		heap.Fix(s, i)
	default:
		heap.Push(s, entry{due: due, chain: chain})
	}
}

// first is the earliest due time.
func (s *schedule) first() (time.Time, bool) {
	if len(s.entries) == 0 {
		return time.Time{}, false
	}
	return s.entries[0].due, true
}

// pop takes out a chain that is due at now. It is put back when it has decided.
func (s *schedule) pop(now time.Time) (chain int, ok bool) {
	if len(s.entries) == 0 || s.entries[0].due.After(now) {
		return 0, false
	}
	return heap.Pop(s).(entry).chain, true
}

func (s *schedule) Len() int           { return len(s.entries) }
func (s *schedule) Less(i, k int) bool { return s.entries[i].due.Before(s.entries[k].due) }
func (s *schedule) Swap(i, k int) {
	s.entries[i], s.entries[k] = s.entries[k], s.entries[i]
	s.at[s.entries[i].chain], s.at[s.entries[k].chain] = i, k
}

// Push is heap.Interface's.
func (s *schedule) Push(x any) {
	e := x.(entry)
	s.at[e.chain] = len(s.entries)
	s.entries = append(s.entries, e)
}

// Pop is heap.Interface's.
func (s *schedule) Pop() any {
	last := len(s.entries) - 1
	e := s.entries[last]
	s.entries, s.at[e.chain] = s.entries[:last], -1
	return e
}
