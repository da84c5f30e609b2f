package model

// Policy says which chains count for readiness.
type Policy string

// ReadyAll counts every chain.
const ReadyAll Policy = "all"

// Counts says whether the chain counts for readiness.
func (p Policy) Counts(*Chain) bool { return p == ReadyAll }

// Readiness is whether an instance should be given traffic (D2), and why not.
type Readiness struct {
	Ready bool
	Cause int // index of the first chain that counts and is not healthy; -1 = none
	More  int // how many others are not healthy and count
}

// Ready judges an instance: the header, and whoever asks whether traffic
// should come, use this and nothing else. An instance without chains is ready.
func Ready(i *Instance, p Policy) Readiness { return readyWith(i, p, -1, nil) }

// readyWith is Ready with chain n replaced.
func readyWith(i *Instance, p Policy, n int, with *Chain) Readiness {
	r := Readiness{Ready: true, Cause: -1}
	for k, c := range i.Chains {
		if k == n {
			c = with
		}
		if !p.Counts(c) || c.State.Health == Healthy {
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
	return r
}
