package ops

import (
	"slices"
	"sync"
	"time"

	"chaintop/model"
)

// counts is what a picture does not keep: how often things happened. It is
// written by Run alone.
type counts struct {
	mu     sync.Mutex // held for a batch of events, or to copy a chain's counts
	epoch  string
	chains []chainCounts
	gaps   uint64
}

type chainCounts struct {
	probes    [model.VerdictUnreachable + 1]uint64 // by verdict
	upstreams []upstreamCounts
}

type upstreamCounts struct {
	asked   uint64                             // requests of probes and checks
	tries   [2][model.NoAnswer + 1]uint64      // by probe or check, by outcome
	reasons [len(answers) + len(silent)]uint64 // without a result, by reason
	latency [len(latencies) + 1]uint64         // by bucket, the last beyond them all
	took    time.Duration                      // sum of the latencies
	checked time.Time                          // the check counted last
}

// Who asks: the first index of upstreamCounts.tries, and its label.
const (
	byProbe = iota
	byCheck
)

var askers = [2]string{byProbe: "probe", byCheck: "check"}

// latencies are the bounds of the latency's buckets.
var latencies = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// rest stands for a reason this version does not know.
const rest model.Reason = "other"

// The closed sets of reasons, by outcome. What is in neither is counted under
// rest, so that no text from outside becomes a label.
var (
	answers = [...]model.Reason{
		model.ReasonNodeError, model.ReasonHTTPStatus, model.ReasonRateLimit, model.ReasonGRPCStatus, model.ReasonWSClose,
		model.ReasonUnusableResult, rest,
	}
	silent = [...]model.Reason{
		model.ReasonTimeout, model.ReasonRefused, model.ReasonReset, model.ReasonEOF, model.ReasonDNS, model.ReasonTLS, model.ReasonNoRoute,
		model.ReasonTruncated, model.ReasonMalformed, model.ReasonEmpty, model.ReasonNotProtocol, model.ReasonIDMismatch, model.ReasonOwnSide,
		model.ReasonNoUpstream, model.ReasonStalled, rest,
	}
)

// reasonIndex is the place of a reason in upstreamCounts.reasons; -1 for a
// result, or no outcome.
func reasonIndex(kind model.OutcomeKind, r model.Reason) int {
	place := func(set []model.Reason) int {
		if i := slices.Index(set, r); i >= 0 {
			return i
		}
		return len(set) - 1
	}
	switch kind {
	case model.Answer:
		return place(answers[:])
	case model.NoAnswer:
		return len(answers) + place(silent[:])
	case model.Result, model.NoOutcome:
	}
	return -1
}

// lost is how often events were lost.
func (c *counts) lost() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gaps
}

// chain is the counts of chain n, to keep.
func (c *counts) chain(n int) chainCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n >= len(c.chains) {
		return chainCounts{}
	}
	out := c.chains[n]
	out.upstreams = slices.Clone(out.upstreams)
	return out
}

// skip goes on from a picture after events were lost: what was counted stays,
// and what the picture shows already is not counted again.
func (c *counts) skip(i *model.Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gaps++
	c.begin(i)
}

// begin makes room for what an instance has. Another start of it counts from 0.
func (c *counts) begin(i *model.Instance) {
	if i.Epoch != c.epoch || len(i.Chains) != len(c.chains) {
		c.epoch, c.chains = i.Epoch, make([]chainCounts, len(i.Chains))
	}
	for n, chain := range i.Chains {
		mine := &c.chains[n]
		if len(mine.upstreams) != len(chain.Upstreams) {
			mine.upstreams = make([]upstreamCounts, len(chain.Upstreams))
		}
		for u := range chain.Upstreams {
			mine.upstreams[u].checked = chain.Upstreams[u].State.Last.At
		}
	}
}

// fold counts events. What names a chain or an upstream there is none of is
// skipped.
func (c *counts) fold(events []model.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		if s, ok := e.Body.(model.Started); ok {
			c.begin(&s.Instance)
		}
		if e.Chain >= 0 && e.Chain < len(c.chains) {
			c.chains[e.Chain].fold(e.Body)
		}
	}
}

func (c *chainCounts) fold(body model.Body) {
	switch b := body.(type) {
	case model.ProbeEnded:
		if v := b.Probe.Verdict; v != model.NoVerdict && int(v) < len(c.probes) {
			c.probes[v]++
		}
	case model.TryEnded:
		if u := c.upstream(b.Try.Upstream); u != nil {
			u.asked += uint64(max(b.Asked, 0))
			u.end(byProbe, b.Try.Kind, b.Try.Reason)
		}
	case model.UpstreamRead:
		for _, r := range b.Reads {
			if u := c.upstream(r.Upstream); u != nil {
				u.read(r)
			}
		}
	case model.Started, model.ProbeStarted, model.ChainChanged, model.UpstreamChanged, model.ServingChanged, model.ReadyChanged,
		model.DrainChanged, model.ClientsFelt, model.CommandDone, model.TrafficRead, model.Skipped:
	}
}

func (c *chainCounts) upstream(i int) *upstreamCounts {
	if i < 0 || i >= len(c.upstreams) {
		return nil
	}
	return &c.upstreams[i]
}

// read counts what a reading says is new. A check shows in it as a last check
// that was not there before.
func (u *upstreamCounts) read(r model.UpstreamIndex) {
	u.asked += uint64(max(r.Asked, 0))
	if r.Sample > 0 {
		u.took += r.Sample
		n, _ := slices.BinarySearch(latencies[:], r.Sample)
		u.latency[n]++
	}
	if last := r.State.Last; last.At.After(u.checked) {
		u.checked = last.At
		u.end(byCheck, last.Kind, last.Reason)
	}
}

// end counts a try. An abandoned one moves no counter (V1).
func (u *upstreamCounts) end(by int, kind model.OutcomeKind, r model.Reason) {
	if kind == model.NoOutcome || kind > model.NoAnswer {
		return
	}
	u.tries[by][kind]++
	if n := reasonIndex(kind, r); n >= 0 {
		u.reasons[n]++
	}
}
