package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var ignoreUnexported = cmpopts.EquateEmpty()

// walk draws a random life of an instance: inputs of every kind, in any order,
// late, doubled and abandoned ones among them. each is called after every step.
func walk(t *rapid.T, most int, each func(before *Instance, in Input, events []Event, effects []Effect, after *Instance)) (first Instance, all []Event) {
	chains := make([]*Chain, rapid.IntRange(1, 3).Draw(t, "chains"))
	for i := range chains {
		us := make([]Upstream, rapid.IntRange(0, 4).Draw(t, "upstreams"))
		for u := range us {
			us[u] = Upstream{Name: fmt.Sprint("u", u), Tier: Tier(rapid.IntRange(0, 1).Draw(t, "tier"))}
		}
		chains[i] = testChain(fmt.Sprint("c", i), us...)
		chains[i].ExpectID = "1"
		chains[i].Settings.Jitter = 0.1
		chains[i].Settings.Recovers = Recovers(rapid.IntRange(0, 2).Draw(t, "recovers"))
	}
	inst := Begin(Instance{Name: "gw", Version: "v", Epoch: "e", Policy: ReadyAll, Chains: chains}, epoch0)
	first = *inst.Clone()
	now := epoch0
	var air, done []EffectTry
	for range rapid.IntRange(1, most).Draw(t, "steps") {
		now = now.Add(time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond)
		in := drawInput(t, &inst, now, &air, &done)
		before := inst.Clone()
		events, effects := inst.Step(in)
		for _, e := range effects {
			if try, ok := e.(EffectTry); ok {
				air = append(air, try)
			}
		}
		all = append(all, events...)
		each(before, in, events, effects, &inst)
	}
	return first, all
}

func drawInput(t *rapid.T, i *Instance, now time.Time, air, done *[]EffectTry) Input {
	chain := rapid.IntRange(0, len(i.Chains)-1).Draw(t, "chain")
	switch kind := rapid.IntRange(0, 11).Draw(t, "input"); {
	case kind >= 10:
		return drawDrain(t, i, now)
	case kind <= 4 && len(*air) > 0:
		k := rapid.IntRange(0, len(*air)-1).Draw(t, "try")
		e := (*air)[k]
		*air = append((*air)[:k:k], (*air)[k+1:]...)
		*done = append(*done, e)
		return drawEnd(t, e, now)
	case kind == 5 && len(*done) > 0: // once more, too late
		return drawEnd(t, rapid.SampledFrom(*done).Draw(t, "late"), now)
	case kind == 8 && len(*done) > 0:
		e := rapid.SampledFrom(*done).Draw(t, "of")
		return FactsDone{At: now, Chain: e.Chain, Upstream: e.Upstream, Stamp: e.Stamp, Told: Told{Asked: 2, Facts: Facts{
			ChainID: Say(rapid.SampledFrom([]string{"1", "137"}).Draw(t, "id")),
			Block:   Say(Block{Number: 100, Time: now.Add(-time.Duration(rapid.IntRange(0, 9000).Draw(t, "old")) * time.Second)}),
		}}}
	case kind == 6:
		return drawTraffic(t, now, chain)
	case kind == 7:
		op := rapid.SampledFrom([]Op{OpProbe, OpCheck, OpPin, OpUnpin}).Draw(t, "op")
		return Command{At: now, ID: "c", Op: op, Chains: []int{chain}, Upstream: rapid.IntRange(0, 4).Draw(t, "of"), Who: "oncall"}
	}
	heard := time.Time{}
	if rapid.Bool().Draw(t, "heard") {
		heard = now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "ago")) * time.Second)
	}
	return Due{At: now, Chain: chain, Heard: heard}
}

// drawTraffic is what a gateway may say.
func drawTraffic(t *rapid.T, now time.Time, chain int) Input {
	ago := now.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "sent")) * time.Second)
	switch rapid.IntRange(0, 4).Draw(t, "says") {
	case 4:
		a := drawActivity(t, now)
		return Sums{At: now, Activity: &a}
	case 0:
		return Missed{At: now, Chain: chain}
	case 1:
		return Sums{At: now, Chains: []ChainSums{{Chain: chain, Heard: ago, Traffic: Traffic{Total: 9}, Felt: &Felt{Began: ago, Ended: now, Retried: 2}}}}
	}
	in := Live{At: now, Chain: chain, Upstream: rapid.IntRange(0, 4).Draw(t, "at"), Run: rapid.IntRange(0, 5).Draw(t, "run"), Reason: ReasonStalled}
	switch rapid.IntRange(0, 3).Draw(t, "with") {
	case 0:
		limit := limited(time.Duration(rapid.IntRange(0, 50).Draw(t, "retry")) * time.Second)
		in.Limit, in.LimitBegan = &limit, ago
	case 1:
		in.Result = ago
	case 2:
		in.Gateway = true
	}
	return in
}

func drawEnd(t *rapid.T, e EffectTry, now time.Time) TryDone {
	o := rapid.SampledFrom([]Outcome{
		{}, head(100), head(101), head(0), head(9000), noAnswer(ReasonTimeout), noAnswer(ReasonRefused),
		status(403, AccessDenied), status(503, Gateway), limited(40 * time.Second), limited(0),
		{Kind: Answer, Reason: ReasonRateLimit, Evidence: Evidence{HTTP: 429}, Findings: FindingSet(Quota)},
		{Kind: Result, Facts: Facts{Head: Say(uint64(99)), Syncing: Say(true), ChainID: Say("137")}},
	}).Draw(t, "outcome")
	start := e.Stamp.Add(e.Delay)
	if start.After(now) {
		start = now
	}
	return TryDone{
		Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp,
		Started: start, Ended: now, Outcome: o,
	}
}

func mustJSON(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The picture is the fold of its events, whatever happened, and also for one
// who got them as JSON.
func TestFoldOfTheEventsIsTheInstance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var last *Instance
		first, all := walk(t, 60, func(_ *Instance, _ Input, _ []Event, _ []Effect, after *Instance) { last = after.Clone() })
		masked, want := first.Masked().Clone(), last.Masked()
		for _, e := range all {
			m, _ := Masked(e)
			masked.Apply(m)
		}
		if diff := cmp.Diff(want, masked, ignoreUnexported); diff != "" {
			t.Fatalf("the fold of the masked events (-masked picture +fold):\n%s", diff)
		}
		var remote []Event
		if err := json.Unmarshal([]byte(mustJSON(t, all)), &remote); err != nil {
			t.Fatal(err)
		}
		for name, events := range map[string][]Event{"local": all, "remote": remote} {
			got := *first.Clone()
			for _, e := range events {
				got.Apply(e) // one by one, where the core folds batches
			}
			if diff := cmp.Diff(last, &got, ignoreUnexported); diff != "" {
				t.Fatalf("%s fold (-core +fold):\n%s", name, diff)
			}
		}
	})
}

func TestSameInputSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, 60, func(before *Instance, in Input, events []Event, effects []Effect, _ *Instance) {
			again, effs := before.Decide(in)
			if mustJSON(t, events) != mustJSON(t, again) || mustJSON(t, effects) != mustJSON(t, effs) {
				t.Fatalf("%T decided twice differs", in)
			}
			if c, ok := in.(Due); ok { // the chain alone decides the same, but for readiness
				alone, _ := before.Chains[c.Chain].Decide(in)
				if len(alone) > 0 && mustJSON(t, events[:len(alone)]) != mustJSON(t, alone) {
					t.Fatalf("the chain alone decided otherwise")
				}
			}
		})
	})
}

// A picture that was published is somebody else's: no later step writes to it.
func TestPublishedPicturesNeverChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var picture *Instance
		var bytes string
		walk(t, 30, func(_ *Instance, _ Input, _ []Event, _ []Effect, after *Instance) {
			if picture != nil && mustJSON(t, picture) != bytes {
				t.Fatal("a picture changed after it was published")
			}
			picture = after.Clone()
			bytes = mustJSON(t, picture)
		})
	})
}

// What must hold of every step of every life of an instance.
func TestLawsOfAStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, 400, func(before *Instance, in Input, events []Event, effects []Effect, after *Instance) {
			for n := range after.Chains {
				lawOfHealth(t, before.Chains[n], after.Chains[n], in)
				lawOfUpstreams(t, before.Chains[n], after.Chains[n])
				lawOfProbes(t, n, before.Chains[n], after.Chains[n], effects)
				if s := after.Chains[n].routed(in.When()); touches(in, n) && (s.Upstream != after.Chains[n].Serving.Upstream || s.Why != after.Chains[n].Serving.Why) {
					t.Fatalf("serving says %+v, a request goes to %+v", after.Chains[n].Serving, s)
				}
			}
			lawOfDrain(t, before.Drain, after.Drain, in, effects)
			if was, is := Ready(before, ReadyAll), Ready(after, ReadyAll); was.Ready != is.Ready {
				if _, ok := find[ReadyChanged](events); !ok {
					t.Fatalf("readiness turned to %v without an event", is.Ready)
				}
			}
		})
	})
}

func touches(in Input, n int) bool {
	switch in := in.(type) {
	case Due:
		return in.Chain == n
	case TryDone:
		return in.Chain == n && in.Outcome.Kind != NoOutcome
	case Live:
		return in.Chain == n
	case FactsDone, Missed, Sums, Command, Signal, DrainDue, Closed:
	}
	return false
}

func find[B Body](events []Event) (B, bool) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			return b, true
		}
	}
	var none B
	return none, false
}

func lawOfHealth(t *rapid.T, was, is *Chain, in Input) {
	if was.State.Health == is.State.Health {
		return
	}
	if is.State.Verdict == VerdictInconclusive && (was.Settings.Recovers == RecoversNone || is.State.Health != Healthy) {
		t.Fatalf("an inconclusive verdict turned %v into %v", was.State.Health, is.State.Health)
	}
	if is.State.Verdict == VerdictUnreachable && is.State.Health != Unhealthy {
		t.Fatalf("unreachable, and %v", is.State.Health)
	}
	switch in := in.(type) {
	case Missed, Live, Sums:
		t.Fatal("a relay changed a chain's health")
	case Signal, DrainDue, Closed:
		t.Fatal("a drain changed a chain's health")
	case TryDone:
		if in.Probe == 0 {
			t.Fatal("a check changed a chain's health")
		}
		if in.Outcome.Kind == NoOutcome && len(is.Last.Tries) == 0 {
			t.Fatal("an abandoned probe changed a chain's health")
		}
	case FactsDone:
		t.Fatal("a fact changed a chain's health")
	case Due, Command:
		if len(is.Upstreams) > 0 {
			t.Fatalf("%T changed a chain's health", in)
		}
	}
}

func lawOfUpstreams(t *rapid.T, was, is *Chain) {
	for i := range is.Upstreams {
		a, b := was.Upstreams[i].State, is.Upstreams[i].State
		if b.Health == Unhealthy && a.Health != Unhealthy && b.Streak < is.Settings.Fall {
			t.Fatalf("upstream unhealthy after %d failures", b.Streak)
		}
		if b.Streak > a.Streak+1 {
			t.Fatalf("one step counted %d failures", b.Streak-a.Streak)
		}
	}
}

func lawOfProbes(t *rapid.T, n int, was, is *Chain, effects []Effect) {
	flights := 0
	for _, e := range effects {
		if try, ok := e.(EffectTry); ok && try.Chain == n && try.Probe != 0 {
			flights++
			if is.Probe == nil || is.Probe.ID != try.Probe || is.Probe.Flight.N != try.N {
				t.Fatalf("a try flies that is not the probe's: %+v, %+v", try, is.Probe)
			}
		}
	}
	if flights > 1 {
		t.Fatalf("%d tries of one chain at once", flights)
	}
	if was.Probe != nil && is.Probe != nil && was.Probe.ID != is.Probe.ID {
		t.Fatalf("probe #%d began while #%d was in flight", is.Probe.ID, was.Probe.ID)
	}
	if is.Last != nil && len(is.Last.Tries) > is.Last.Max {
		t.Fatalf("%d tries of at most %d", len(is.Last.Tries), is.Last.Max)
	}
	flying := map[int]bool{}
	for _, c := range is.Checks.Flying {
		if flying[c.Upstream] {
			t.Fatalf("upstream %d has two checks in flight", c.Upstream)
		}
		flying[c.Upstream] = true
	}
}

func TestUnknownEventIsSkipped(t *testing.T) {
	var e Event
	if err := json.Unmarshal([]byte(`{"at":"2026-11-30T03:00:00Z","kind":"moon_phase","chain":0,"body":{"x":1}}`), &e); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, testChain("x", primaries("a")...))
	before := w.inst.Clone()
	w.inst.Apply(e, Event{Chain: 99, Body: ServingChanged{}}, Event{Chain: 0, Body: UpstreamChanged{Upstream: 42}})
	if diff := cmp.Diff(before.Chains, w.inst.Chains, ignoreUnexported); diff != "" {
		t.Errorf("something happened:\n%s", diff)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}

func TestRecentKeepsChangesOnly(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	for range 200 {
		w.in(Command{At: w.now, Op: OpProbe})
		w.answer(w.take(true), head(1), time.Millisecond)
	}
	if len(w.inst.Recent) != RecentChanges {
		t.Errorf("%d kept, want %d", len(w.inst.Recent), RecentChanges)
	}
	for _, e := range w.inst.Recent {
		if e.Reading() {
			t.Fatalf("a reading is kept: %s", e.Kind())
		}
	}
	if got := len(w.chain().History); got != historyRows {
		t.Errorf("%d probes of history, want %d", got, historyRows)
	}
}

func TestHistoryKeepsFailuresLonger(t *testing.T) {
	var h []Probe
	h = remember(h, Probe{ID: 1, Verdict: VerdictUnreachable})
	for id := uint64(2); id <= 40; id++ {
		h = remember(h, Probe{ID: id, Verdict: VerdictHealthy})
	}
	if len(h) != historyRows || h[0].ID != 1 || h[1].ID != 26 || h[len(h)-1].ID != 40 {
		t.Errorf("%d rows, from #%d, #%d to #%d", len(h), h[0].ID, h[1].ID, h[len(h)-1].ID)
	}
	for id := uint64(41); id <= 80; id++ {
		h = remember(h, Probe{ID: id, Verdict: VerdictUnreachable})
	}
	if len(h) != historyRows || h[0].ID != 65 {
		t.Errorf("full of failures: %d rows from #%d", len(h), h[0].ID)
	}
}

func TestStripIsTheWorstOfEachMinute(t *testing.T) {
	var s Strip
	s.note(epoch0, Unknown, NoVerdict)
	s.note(epoch0.Add(90*time.Second), Healthy, VerdictHealthy)
	s.note(epoch0.Add(100*time.Second), Unhealthy, VerdictUnreachable)
	s.note(epoch0.Add(110*time.Second), Healthy, VerdictHealthy)
	s.note(epoch0.Add(4*time.Minute), Healthy, VerdictInconclusive)
	var b strings.Builder
	now := s.At(epoch0.Add(5 * time.Minute))
	for _, l := range now.Cells[StripMinutes-6:] {
		fmt.Fprintf(&b, "%d", l)
	}
	if got := b.String(); got != "031122" {
		t.Errorf("%s, want 031122", got)
	}
}

func TestEventsSurviveJSON(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(status(429), head(3))
	w.round(head(100))
	b, err := json.Marshal(w.events)
	if err != nil {
		t.Fatal(err)
	}
	var back []Event
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.events, back, ignoreUnexported); diff != "" {
		t.Error(diff)
	}
}
