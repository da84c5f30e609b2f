package model

import "strings"

// Policy says which chains count for readiness (D2): one of the words below, or
// the keys of the chains that count with a comma between them.
type Policy string

// The policies with a word of their own.
const (
	ReadyAll       Policy = "all"       // every chain counts, and each must be healthy
	ReadyAny       Policy = "any"       // every chain counts, and one must be healthy
	ReadyConsensus Policy = "consensus" // only chains with a consensus group
)

// Counts says whether the chain counts for readiness.
func (p Policy) Counts(c *Chain) bool {
	switch p {
	case ReadyAll, ReadyAny:
		return true
	case ReadyConsensus, "":
		return false // no chain has a group
	}
	key := c.Key()
	for rest := string(p); rest != ""; {
		var one string
		if one, rest, _ = strings.Cut(rest, ","); one == key {
			return true
		}
	}
	return false
}

// Readiness is whether an instance should be given traffic (D2), and why not.
type Readiness struct {
	Ready    bool
	Cause    int  // index of the first chain that counts and is not healthy; -1 = none
	More     int  // how many others are not healthy and count
	Draining bool // it drains or is drained, for real: not ready, whatever its chains are
}

// Ready judges an instance: the header, and whoever asks whether traffic
// should come, use this and nothing else. An instance without chains is ready;
// one that drains for real is not.
func Ready(i *Instance, p Policy) Readiness { return readyWith(i, p, -1, nil) }

// readyWith is Ready with chain n replaced.
func readyWith(i *Instance, p Policy, n int, with *Chain) Readiness {
	r := readyChains(i, p, n, with)
	if i.Drain.Leaving() {
		r.Ready, r.Draining = false, true
	}
	return r
}

// readyChains is readiness by the chains alone.
func readyChains(i *Instance, p Policy, n int, with *Chain) Readiness {
	r := Readiness{Ready: true, Cause: -1}
	healthy := false
	for k, c := range i.Chains {
		if k == n {
			c = with
		}
		if !p.Counts(c) {
			continue
		}
		if c.State.Health == Healthy {
			healthy = true
			continue
		}
		if r.Ready {
			r.Ready, r.Cause = false, k
			continue
		}
		r.More++
		// An unhealthy chain is the better cause than one nobody knows yet.
		was := i.Chains[r.Cause]
		if r.Cause == n {
			was = with
		}
		if was.State.Health == Unknown && c.State.Health == Unhealthy {
			r.Cause = k
		}
	}
	if p == ReadyAny && healthy {
		r = Readiness{Ready: true, Cause: -1}
	}
	return r
}
