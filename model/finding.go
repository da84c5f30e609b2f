package model

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
)

// Finding is a fact that matters: shown, used in routing (F1), never turned
// into a verdict (V7).
type Finding uint8

// The findings, in the order of F1's rows.
const (
	WrongChain    Finding = iota // the node says another chain id than configured
	Syncing                      // the node says it is syncing
	Behind                       // its head is more than max_lag below the corroborated tip (F7)
	StaleHead                    // its head is old, though it answers
	HeadRegressed                // its head went back further than a balancer explains
	Optimistic                   // a beacon node that has not verified its head
	ELOffline                    // a beacon node without its execution node
	NotReady                     // the node says it is not ready

	Gateway       // a gateway's error page instead of the node (V5)
	Erroring      // fall error answers in a row (U1)
	AccessDenied  // the key or the allow-list is refused
	Quota         // the plan is used up
	RateLimited   // asked to slow down
	Misconfigured // the address answers, but is not the endpoint we should ask
	HeadZero      // a head of 0

	NoPeers      // the node has no peers
	Pruned       // the state asked for is gone
	Noncompliant // its answers bend the protocol
	findingCount
)

var findingNames = [findingCount]string{
	"wrong_chain", "syncing", "behind", "stale_head", "head_regressed", "optimistic", "el_offline", "not_ready",
	"gateway", "erroring", "access_denied", "quota", "rate_limited", "misconfigured", "head_zero",
	"no_peers", "pruned", "noncompliant",
}

func (f Finding) String() string {
	if f < findingCount {
		return findingNames[f]
	}
	return fmt.Sprintf("finding %d", uint8(f))
}

// Findings is a set of findings.
type Findings uint32

// The rows of F1.
const (
	// Row1 is never routed to while present.
	Row1 = Findings(1<<WrongChain | 1<<Syncing | 1<<Behind | 1<<StaleHead | 1<<HeadRegressed | 1<<Optimistic | 1<<ELOffline | 1<<NotReady)
	// Row2 is routed to only when nothing is fit.
	Row2 = Findings(1<<Gateway | 1<<Erroring | 1<<AccessDenied | 1<<Quota | 1<<RateLimited | 1<<Misconfigured | 1<<HeadZero)
	// Row3 is shown only.
	Row3 = Findings(1<<NoPeers | 1<<Pruned | 1<<Noncompliant)

	// fromAnswer are the findings an error answer brings; the next answer
	// replaces them and a result clears them.
	fromAnswer = Findings(1<<Gateway | 1<<AccessDenied | 1<<Quota | 1<<RateLimited | 1<<Misconfigured | 1<<Pruned)
)

// FindingSet is the set of the given findings.
func FindingSet(fs ...Finding) Findings {
	var s Findings
	for _, f := range fs {
		s = s.With(f)
	}
	return s
}

// Has says whether f is in the set.
func (s Findings) Has(f Finding) bool { return s&(1<<f) != 0 }

// With is the set and f.
func (s Findings) With(f Finding) Findings { return s | 1<<f }

// Without is the set without f.
func (s Findings) Without(f Finding) Findings { return s &^ (1 << f) }

// Set is the set with f exactly when on.
func (s Findings) Set(f Finding, on bool) Findings {
	if on {
		return s.With(f)
	}
	return s.Without(f)
}

// Worst is the first finding in the order of F1's rows; ok is false for the
// empty set.
func (s Findings) Worst() (f Finding, ok bool) {
	if s == 0 {
		return 0, false
	}
	return Finding(bits.TrailingZeros32(uint32(s))), true
}

// List is the set in the order of F1's rows.
func (s Findings) List() []Finding {
	out := make([]Finding, 0, bits.OnesCount32(uint32(s)))
	for f := range findingCount {
		if s.Has(f) {
			out = append(out, f)
		}
	}
	return out
}

// Words is the set as words, in the order of F1's rows.
func (s Findings) Words() []string {
	out := []string{}
	for _, f := range s.List() {
		out = append(out, f.String())
	}
	return out
}

// MarshalJSON writes the set as a list of words.
func (s Findings) MarshalJSON() ([]byte, error) { return json.Marshal(s.Words()) }

// UnmarshalJSON reads a list of words; one it does not know is skipped, so that
// an old screen follows a new server.
func (s *Findings) UnmarshalJSON(b []byte) error {
	var words []string
	if err := json.Unmarshal(b, &words); err != nil {
		return err
	}
	*s = 0
	for _, w := range words {
		if i := slices.Index(findingNames[:], w); i >= 0 {
			*s = s.With(Finding(i))
		}
	}
	return nil
}
