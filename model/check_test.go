package model

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func (w *world) health(i int) Health { return w.chain().Upstreams[i].State.Health }

func (w *world) findings(i int) string {
	return fmt.Sprint(w.chain().Upstreams[i].State.Findings.Words())
}

func TestUpstreamFallsAfterThree(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(head(1))
	ok, gone := head(1), noAnswer(ReasonRefused)
	w.round(ok, ok)
	for i := 1; i <= 3; i++ {
		w.round(gone, ok)
		want := Healthy
		if i == 3 {
			want = Unhealthy
		}
		if got := w.health(0); got != want {
			t.Errorf("after %d failures: %v, want %v", i, got, want)
		}
	}
	if s := w.chain().Serving; s.Upstream != 1 {
		t.Errorf("serving %+v, want the other primary", s)
	}
	if w.chain().State.Health != Healthy {
		t.Errorf("checks moved the chain's health to %v", w.chain().State.Health)
	}
	w.round(ok, ok)
	if s := w.chain().Upstreams[0].State; s.Health != Healthy || s.Streak != 0 || w.chain().Serving.Upstream != 0 {
		t.Errorf("after one pass: %+v, serving %+v", s.Record, w.chain().Serving)
	}
}

func TestErrorAnswersHoldAndGiveErroring(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	bad := Outcome{Kind: Answer, Reason: ReasonNodeError, Evidence: Evidence{HTTP: 200, Code: -32000}}
	w.round(head(1))
	for i, want := range []string{"[]", "[]", "[erroring]"} {
		w.round(bad)
		if got := w.findings(0); got != want || w.health(0) != Healthy {
			t.Errorf("after %d errors: %s %v, want %s", i+1, got, w.health(0), want)
		}
	}
	w.round(head(2))
	if got := w.findings(0); got != "[]" {
		t.Errorf("after a result: %s", got)
	}
}

func TestChecksOfOneChainStartTogetherOnTheirSlots(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b", "c")...))
	first := w.chain().Checks.Due
	if d := first.Sub(epoch0); d < time.Second || d >= 6*time.Second {
		t.Fatalf("first round after %v", d)
	}
	w.now = first
	w.in(Due{At: first})
	if len(w.air) != 4 { // three checks, and the first probe
		t.Fatalf("%d in the air", len(w.air))
	}
	// Nobody answers within the interval: nobody is asked twice.
	w.now = first.Add(5 * time.Second)
	w.in(Due{At: w.now})
	if len(w.air) != 4 {
		t.Errorf("%d in the air, an upstream has two checks", len(w.air))
	}
	// A laptop slept: slots that passed are not made up for.
	w.now = first.Add(3601 * time.Second)
	w.in(Due{At: w.now})
	if got := w.chain().Checks.Due; !got.Equal(first.Add(3605 * time.Second)) {
		t.Errorf("next round %v after the first", got.Sub(first))
	}
}

func TestLastUpstreamGoneHurriesTheProbe(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(head(1))
	gone := noAnswer(ReasonRefused)
	for range 3 {
		w.round(gone, gone)
	}
	p := w.chain().Probe
	if p == nil || p.Trigger != TriggerCheck || !p.Started.Equal(w.now) {
		t.Fatalf("no probe at once: %+v, next %+v", p, w.chain().State.Next)
	}
	if w.chain().Serving.Why != RouteNone {
		t.Errorf("serving %+v", w.chain().Serving)
	}
}

func TestPassedCheckHurriesAtMostOncePerSoon(t *testing.T) {
	c := testChain("x", primaries("a")...)
	c.Settings.UnhealthyInterval = time.Minute
	w := newWorld(t, c)
	gone := noAnswer(ReasonRefused)
	w.probe(n(gone, 6)...)
	w.air = nil // the checks its tries started are abandoned below
	w.chain().Checks.Flying = nil
	w.round(head(1))
	if w.chain().Probe == nil {
		t.Fatalf("a passed check did not hurry the probe: %+v", w.chain().State.Next)
	}
	hurried := w.now
	for range 6 {
		w.answer(w.take(true), gone, time.Millisecond)
	}
	w.air, w.chain().Checks.Flying = nil, nil
	w.round(head(1))
	if next := w.chain().State.Next; w.chain().Probe != nil || !next.At.Equal(hurried.Add(15*time.Second)) || next.Why != NextPassed {
		t.Errorf("the second one is due %v after the first (%s), want 15s", next.At.Sub(hurried), next.Why)
	}
}

func TestSilentTryStartsACheck(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	w.in(Command{At: w.now, Op: OpProbe})
	w.answer(w.take(true), noAnswer(ReasonTimeout), 5*time.Second)
	if got := w.chain().Checks.Flying; len(got) != 1 || got[0].Trigger != TriggerTry {
		t.Errorf("flying %+v", got)
	}
	if s := w.chain().Upstreams[0].State; s.Streak != 0 {
		t.Errorf("a probe's try moved the streak to %d", s.Streak)
	}
	w.answer(w.take(true), status(503), time.Millisecond)
	if got := w.chain().Checks.Flying; len(got) != 1 {
		t.Errorf("an error answer started a check: %+v", got)
	}
}

func TestLagIsOfOneRoundAgainstACorroboratedTip(t *testing.T) {
	for _, tt := range []struct {
		name  string
		heads []uint64 // 0 = no answer
		tip   string
		lags  string
		finds string
	}{
		{"alone", []uint64{100}, "—", "?", "[]"},
		{"two: the highest", []uint64{100, 90}, "100", "0 10", "[] [behind]"},
		{"three: the second highest", []uint64{100, 101, 99}, "100", "0 -1 1", "[] [] []"},
		{"a rogue evicts nobody", []uint64{100, 1 << 62, 100}, "100", "0 -4611686018427387804 0", "[] [] []"},
		{"the largest number there is", []uint64{100, 1<<64 - 1, 99}, "100", "0 -9223372036854775807 1", "[] [] []"},
		{"who is silent has no lag", []uint64{100, 0, 99}, "100", "0 ? 1", "[] [] []"},
		{"within max_lag", []uint64{100, 95}, "100", "0 5", "[] []"},
	} {
		var us []Upstream
		var outcomes []Outcome
		for i, h := range tt.heads {
			us = append(us, Upstream{Name: fmt.Sprint(i)})
			if h == 0 {
				outcomes = append(outcomes, noAnswer(ReasonTimeout))
			} else {
				outcomes = append(outcomes, head(h))
			}
		}
		w := newWorld(t, testChain("x", us...))
		w.round(outcomes...)
		tip := "—"
		if w.chain().Checks.Tip.Known() {
			tip = fmt.Sprint(w.chain().Checks.Tip.Value)
		}
		lags, finds := "", ""
		for i := range us {
			s := w.chain().Upstreams[i].State
			lag := "?"
			if s.Lag.Known {
				lag = fmt.Sprint(s.Lag.Blocks)
			}
			lags += " " + lag
			finds += " " + w.findings(i)
		}
		if tip != tt.tip || lags[1:] != tt.lags || finds[1:] != tt.finds {
			t.Errorf("%s: tip %s lags%s findings%s", tt.name, tip, lags, finds)
		}
	}
}

// A probe that was answered between two checks of a round once took its
// upstream out of that round: its lag was unknown until the next.
func TestProbeDuringARoundTakesNobodyOut(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{0}})
	w.now = w.chain().Checks.Due
	w.in(Due{At: w.now})
	w.answer(w.take(false), head(100), time.Millisecond)
	probe := w.take(true)
	w.now = w.now.Add(time.Millisecond)
	w.in(TryDone{Upstream: 0, Probe: probe.Probe, N: 1, Stamp: probe.Stamp, Started: probe.Stamp, Ended: w.now, Outcome: head(101)})
	w.answer(w.take(false), head(98), 5*time.Millisecond)
	if tip := w.chain().Checks.Tip; tip.Value != 100 {
		t.Errorf("tip %+v, want the round's 100", tip)
	}
	for i, want := range []int64{0, 2} {
		if lag := w.chain().Upstreams[i].State.Lag; lag != (Lag{true, want}) {
			t.Errorf("upstream %d: lag %+v, want %d", i, lag, want)
		}
	}
}

func TestAnotherChainsHeadIsNoTip(t *testing.T) {
	c := testChain("x", primaries("a", "b", "c")...)
	c.ExpectID = "1"
	w := newWorld(t, c)
	other := head(9000)
	other.Facts.ChainID = Say("137")
	w.round(head(100), other, head(100))
	if got := w.chain().Checks.Tip.Value; got != 100 {
		t.Errorf("tip %d", got)
	}
	if got := w.findings(1); got != "[wrong_chain]" {
		t.Errorf("findings %s", got)
	}
	other.Facts.ChainID = Say("1")
	w.round(head(100), other, head(100))
	if got := w.findings(1); got != "[]" {
		t.Errorf("a finding acts both ways: %s", got)
	}
}

func TestStaleHeadAndHalt(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(head(100))
	w.round(head(100), head(100))
	started := w.now
	h := uint64(100)
	for i := 1; w.now.Sub(started) < 4*time.Minute; i++ {
		if i%12 == 0 {
			h++ // within max_lag
		}
		w.round(head(100), head(h))
	}
	if got := w.findings(0); got != "[stale_head]" {
		t.Errorf("a head of 4 minutes: %s", got)
	}
	if !w.chain().State.Halted.IsZero() || w.chain().Serving.Upstream != 1 {
		t.Errorf("one of two stands still: halted %v, serving %+v", w.chain().State.Halted, w.chain().Serving)
	}
	for w.chain().State.Halted.IsZero() && w.now.Sub(started) < 10*time.Minute {
		w.round(head(100), head(h))
	}
	if w.chain().State.Halted.IsZero() || w.chain().Serving.Upstream != 0 || w.chain().Serving.Failover {
		t.Errorf("every head is old: halted %v, serving %+v", w.chain().State.Halted, w.chain().Serving)
	}
	if w.chain().State.Health != Healthy {
		t.Errorf("a halted chain is %v", w.chain().State.Health)
	}
	w.round(head(h+1), head(h+1))
	if !w.chain().State.Halted.IsZero() {
		t.Errorf("it moves again, and is still halted")
	}
}

func TestOldHeaderIsStaleAtOnce(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	old := head(100)
	old.Facts.Block = Say(Block{Number: 100, Time: epoch0.Add(-5 * 24 * time.Hour)})
	w.round(old)
	if got := w.findings(0); got != "[stale_head]" {
		t.Errorf("%s", got)
	}
	// It imports old blocks: it moves, and is stale until a header says otherwise.
	w.round(head(101))
	if got := w.findings(0); got != "[stale_head]" {
		t.Errorf("it moves on old blocks: %s", got)
	}
	fresh := head(102)
	fresh.Facts.Block = Say(Block{Number: 102, Time: w.now})
	w.round(fresh)
	if got := w.findings(0); got != "[]" {
		t.Errorf("a fresh header: %s", got)
	}
}

func TestStaleLimitFollowsTheChainsPace(t *testing.T) {
	c := testChain("x", primaries("a")...)
	for pace, want := range map[time.Duration]time.Duration{
		0: 3 * time.Minute, 250 * time.Millisecond: time.Minute, 12 * time.Second: 2 * time.Minute, 10 * time.Minute: 100 * time.Minute, time.Hour: 3 * time.Hour,
	} {
		c.Checks.BlockTime = pace
		if got := c.StaleAfter(); got != want {
			t.Errorf("blocks of %v: stale after %v, want %v", pace, got, want)
		}
	}
	at := func(n uint64, s int) Fact[Block] {
		return Say(Block{Number: n, Time: epoch0.Add(time.Duration(s) * time.Second)})
	}
	if got := blockTime(0, at(10, 0), at(15, 60)); got != 12*time.Second {
		t.Errorf("five blocks in a minute: %v", got)
	}
	if got := blockTime(time.Second, at(10, 0), at(10, 60)); got != time.Second {
		t.Errorf("no block: %v", got)
	}
}

func TestHeadRegression(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	for _, step := range []struct {
		head uint64
		want string
	}{
		{19562300, "[]"}, {19562299, "[]"}, {19562301, "[]"}, // a balancer's wobble
		{19557300, "[head_regressed]"}, {19557310, "[head_regressed]"},
		{19562302, "[]"}, // back where it was
	} {
		w.round(head(step.head))
		if got := w.findings(0); got != step.want {
			t.Errorf("head %d: %s, want %s", step.head, got, step.want)
		}
	}
	// One that stays there is believed after the time a stale head is given.
	w.round(head(100))
	fell := w.now
	h := uint64(100)
	for w.findings(0) == "[head_regressed]" && w.now.Sub(fell) < time.Hour {
		h++
		w.round(head(h))
	}
	if got := w.now.Sub(fell); got != 3*time.Minute+5*time.Second {
		t.Errorf("believed after %v", got)
	}
}

func TestRestartedNodeIsNotRegressed(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	w.round(head(5000))
	for range 3 {
		w.round(noAnswer(ReasonRefused))
	}
	w.air, w.chain().Checks.Flying, w.chain().Probe = nil, nil, nil
	w.round(head(3))
	if got := w.findings(0); got != "[]" || w.health(0) != Healthy {
		t.Errorf("after its restart: %s %v", got, w.health(0))
	}
}

func TestFindingsOfAnAnswerAreReplacedByTheNext(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	for _, step := range []struct {
		o    Outcome
		want string
	}{
		{status(503, Gateway), "[gateway]"},
		{status(403, AccessDenied), "[access_denied]"},
		{noAnswer(ReasonTimeout), "[access_denied]"}, // silence tells nothing
		{head(0), "[syncing head_zero]"},
		{head(7), "[]"},
	} {
		w.round(step.o)
		if got := w.findings(0); got != step.want {
			t.Errorf("after %v %s: %s, want %s", step.o.Kind, step.o.Word(), got, step.want)
		}
	}
}

// V1: what the other requests of a try bring never changes its outcome, and
// those of an older try change nothing.
func TestFactsOfAnOlderTryChangeNothing(t *testing.T) {
	c := testChain("x", primaries("a")...)
	c.ExpectID = "1"
	w := newWorld(t, c)
	w.now = w.chain().Checks.Due
	w.in(Due{At: w.now})
	first := w.take(false)
	w.answer(first, head(5), time.Millisecond)
	told := func(e EffectTry, id string) []Event {
		return w.in(FactsDone{At: w.now, Upstream: e.Upstream, Stamp: e.Stamp, Told: Told{Facts: Facts{ChainID: Say(id)}, Asked: 1}})
	}
	told(first, "137")
	if got := w.findings(0); got != "[wrong_chain]" || w.health(0) != Healthy {
		t.Errorf("%s %v", got, w.health(0))
	}
	if got := w.chain().Upstreams[0].Asked.Now; got != 2 {
		t.Errorf("%d requests counted, want 2", got)
	}
	w.round(head(6))
	if events := told(first, "1"); len(events) != 0 {
		t.Errorf("late facts made %+v", events)
	}
}

// Two facts that a node never answers were once asked at every check, and no
// other ever again.
func TestUnansweredFactsStarveNoOther(t *testing.T) {
	u := &Upstream{}
	u.State.Facts.take(Facts{Client: Say("geth")}, epoch0)
	asked := map[Question]int{}
	for i := range 12 { // a minute of checks, none of which is answered
		for _, q := range u.questions(epoch0.Add(time.Duration(i)*5*time.Second), 5*time.Second) {
			asked[q]++
		}
	}
	for _, q := range []Question{AskChainID, AskSyncing, AskBlock, AskSafe, AskFinalized, AskPeers} {
		if asked[q] < 2 {
			t.Errorf("%s was asked %d times in a minute: %v", q, asked[q], asked)
		}
	}
}

// A limit on a fact question was once forgotten by the next head, and said
// again by the next facts: two events a minute of nothing new.
func TestWhatFactsBroughtStaysUntilTheyAreAskedAgain(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	tell := func(fs ...Finding) {
		s := w.chain().Upstreams[0].State
		w.in(FactsDone{At: w.now, Stamp: s.Answered, Told: Told{Findings: FindingSet(fs...), Asked: 1}})
	}
	w.round(head(5))
	tell(RateLimited)
	w.round(head(6))
	if got := w.findings(0); got != "[rate_limited]" {
		t.Errorf("after the next head: %s", got)
	}
	tell()
	if got := w.findings(0); got != "[]" {
		t.Errorf("after facts without it: %s", got)
	}
}

func TestFactsAreAskedWhenDue(t *testing.T) {
	u := &Upstream{}
	all := Questions{AskChainID, AskSyncing, AskBlock, AskSafe, AskFinalized, AskPeers, AskClient}
	if got := u.questions(epoch0, time.Minute); !slices.Equal(got, all) {
		t.Errorf("at first: %v", got)
	}
	u.State.Facts.take(Facts{
		ChainID: Say("1"), Syncing: Say(false), Block: Say(Block{}), Safe: Say(uint64(1)),
		Finalized: Lacks[uint64](), Peers: Lacks[uint64](), Client: Say("geth"),
	}, epoch0)
	for _, tt := range []struct {
		after time.Duration
		want  Questions
	}{
		{29 * time.Second, nil},
		{30 * time.Second, Questions{AskSyncing}},
		{time.Minute, Questions{AskSyncing, AskBlock, AskSafe}},
		{10 * time.Minute, all},
	} {
		if got := u.questions(epoch0.Add(tt.after), time.Minute); !slices.Equal(got, tt.want) {
			t.Errorf("after %v: %v, want %v", tt.after, got, tt.want)
		}
	}
	u.State.Recovered = epoch0.Add(time.Second)
	if got := u.questions(epoch0.Add(2*time.Second), 5*time.Second); !slices.Equal(got, all) {
		t.Errorf("after a recovery: %v", got)
	}
	// Checks every 5s have time for two facts at a time.
	u.State.Recovered = time.Time{}
	if got := u.questions(epoch0.Add(time.Minute), 5*time.Second); len(got) != 2 {
		t.Errorf("by quick checks: %v", got)
	}
}
