package model

import (
	"testing"
	"time"
)

var epoch0 = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

// world drives an instance by hand: a clock, the effects in the air, no chance.
type world struct {
	t      *testing.T
	inst   Instance
	now    time.Time
	air    []EffectTry
	other  []Effect // but tries
	events []Event
}

func testChain(name string, upstreams ...Upstream) *Chain {
	set := DefaultSettings(EVM)
	set.Jitter = 0
	return &Chain{Name: name, Interface: "jsonrpc", Family: EVM, Seed: 7, Settings: set, Upstreams: upstreams}
}

func primaries(names ...string) []Upstream {
	var us []Upstream
	for _, n := range names {
		us = append(us, Upstream{Name: n})
	}
	return us
}

func newWorld(t *testing.T, chains ...*Chain) *world {
	w := &world{t: t, now: epoch0}
	i := Begin(Instance{Name: "gw", Version: "v1", Epoch: "e1", Policy: ReadyAll, Chains: chains}, epoch0)
	w.fold(Event{At: epoch0, Chain: -1, Body: Started{Instance: i}})
	return w
}

func (w *world) fold(events ...Event) {
	w.events = append(w.events, events...)
	w.inst.Apply(events...)
}

// in decides one input and returns what became of it.
func (w *world) in(in Input) []Event {
	w.t.Helper()
	events, effects := w.inst.Decide(in)
	w.fold(events...)
	for _, e := range effects {
		if try, ok := e.(EffectTry); ok {
			w.air = append(w.air, try)
		} else {
			w.other = append(w.other, e)
		}
	}
	return events
}

func (w *world) chain() *Chain { return w.inst.Chains[0] }

// due lets the chain's next due time come, and returns it as time since the start.
func (w *world) due() time.Duration {
	w.t.Helper()
	w.now = w.chain().Due()
	w.in(Due{At: w.now})
	return w.now.Sub(epoch0)
}

// take takes the probe's (or, for probe false, a check's) effect out of the air.
func (w *world) take(probe bool) EffectTry {
	w.t.Helper()
	for i, e := range w.air {
		if (e.Probe != 0) == probe {
			w.air = append(w.air[:i:i], w.air[i+1:]...)
			return e
		}
	}
	w.t.Fatalf("no try in the air (probe %v)", probe)
	return EffectTry{}
}

// answer ends a try after took, counted from its start.
func (w *world) answer(e EffectTry, o Outcome, took time.Duration) []Event {
	w.t.Helper()
	started := e.Stamp.Add(e.Delay)
	o.Took = took
	w.now = started.Add(took)
	return w.in(TryDone{
		Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp,
		Started: started, Ended: w.now, Outcome: o,
	})
}

// probe lets the probe in the air, or the one now asked for by hand, end with
// the outcomes given, one a try.
func (w *world) probe(outcomes ...Outcome) *Probe {
	w.t.Helper()
	if w.chain().Probe == nil {
		w.in(Command{At: w.now, ID: "c", Op: OpProbe, Chains: []int{0}, Who: "oncall"})
	}
	for _, o := range outcomes {
		w.answer(w.take(true), o, time.Millisecond)
	}
	if w.chain().Probe != nil {
		w.t.Fatalf("the probe still flies after %d outcomes: %+v", len(outcomes), w.chain().Probe)
	}
	return w.chain().Last
}

// round lets one round of checks come and end with the outcomes given, by
// upstream.
func (w *world) round(outcomes ...Outcome) {
	w.t.Helper()
	w.now = w.chain().Checks.Due
	w.in(Due{At: w.now})
	for _, o := range outcomes {
		w.answer(w.take(false), o, time.Millisecond)
	}
}

func head(n uint64) Outcome {
	return Outcome{Kind: Result, Facts: Facts{Head: Say(n)}, Evidence: Evidence{Layer: LayerRPC, HTTP: 200}, Asked: 1}
}

func noAnswer(r Reason) Outcome {
	return Outcome{Kind: NoAnswer, Reason: r, Evidence: Evidence{Layer: LayerTCP}, Asked: 1}
}

func status(code int, fs ...Finding) Outcome {
	o := Outcome{Kind: Answer, Reason: ReasonHTTPStatus, Evidence: Evidence{Layer: LayerHTTP, HTTP: code}, Findings: FindingSet(fs...), Asked: 1}
	if code == 429 {
		o.Reason, o.Findings = ReasonRateLimit, o.Findings.With(RateLimited)
	}
	return o
}

func limited(retryAfter time.Duration) Outcome {
	o := status(429)
	o.RetryAfter = retryAfter
	return o
}

func n(o Outcome, times int) []Outcome {
	out := make([]Outcome, times)
	for i := range out {
		out[i] = o
	}
	return out
}
