//go:build linux

package main

import (
	"slices"
	"time"
)

// sample is what became of one request.
type sample struct {
	at     time.Duration // when it was meant to be sent, since the start of the load
	took   time.Duration // from then to its answer
	status int           // 0 = none came
	server string        // x-served-by
	fault  string        // empty = its own answer, whole
}

func (s sample) ok() bool { return s.fault == "" }

type samples []sample

// between are those meant to be sent from one time to before another.
func (all samples) between(from, to time.Duration) samples {
	var some samples
	for _, s := range all {
		if s.at >= from && s.at < to {
			some = append(some, s)
		}
	}
	return some
}

func (all samples) failed() int {
	n := 0
	for _, s := range all {
		if !s.ok() {
			n++
		}
	}
	return n
}

func (all samples) status(codes ...int) int {
	n := 0
	for _, s := range all {
		if slices.Contains(codes, s.status) {
			n++
		}
	}
	return n
}

// slower are the answers that took longer than d.
func (all samples) slower(d time.Duration) int {
	n := 0
	for _, s := range all {
		if s.ok() && s.took > d {
			n++
		}
	}
	return n
}

func (all samples) slowest() time.Duration {
	var most time.Duration
	for _, s := range all {
		if s.ok() {
			most = max(most, s.took)
		}
	}
	return most
}

// quantile is of what was answered.
func (all samples) quantile(q float64) time.Duration {
	var took []time.Duration
	for _, s := range all {
		if s.ok() {
			took = append(took, s.took)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(int(q*float64(len(took))), len(took)-1)]
}

// faults are the different faults, with how often, at most three.
func (all samples) faults() []string {
	var order []string
	for _, s := range all {
		if !s.ok() && !slices.Contains(order, s.fault) && len(order) < 3 {
			order = append(order, s.fault)
		}
	}
	return order
}

// returned is when the named upstream first answered a request that was meant
// to be sent after t; ok is false when it never did.
func (all samples) returned(server string, t time.Duration) (at time.Duration, ok bool) {
	for _, s := range all {
		if s.at > t && s.server == server && (!ok || s.at+s.took < at) {
			at, ok = s.at+s.took, true
		}
	}
	return at, ok
}

func median[T ~int64 | ~float64](list []T) T {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
