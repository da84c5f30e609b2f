package model

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func order(p *Probe) []int {
	var got []int
	for _, t := range p.Tries {
		got = append(got, t.Upstream)
	}
	return got
}

func TestTriesGoToUnusedUpstreamsFirst(t *testing.T) {
	refused := noAnswer(ReasonRefused)
	for _, tt := range []struct {
		name     string
		us       []Upstream
		outcomes []Outcome
		want     []int
	}{
		{"each once, then again", primaries("a", "b", "c"), n(refused, 6), []int{0, 1, 2, 0, 1, 2}},
		{"one upstream six times", primaries("a"), n(refused, 6), []int{0, 0, 0, 0, 0, 0}},
		{"backups after primaries", []Upstream{{Name: "b", Tier: Backup}, {Name: "p"}}, n(refused, 6), []int{1, 0, 1, 0, 1, 0}},
		{"only a result ends it early", primaries("a", "b"), []Outcome{status(503), refused, head(9)}, []int{0, 1, 0}},
		{"those that said rate limit are left out", primaries("a", "b"),
			[]Outcome{status(429), refused, refused, refused, refused, refused}, []int{0, 1, 1, 1, 1, 1}},
		{"all limited: nobody is left", primaries("a", "b", "c"), n(status(429), 3), []int{0, 1, 2}},
		{"a fit backup before an unhealthy primary",
			[]Upstream{up(Primary, Unhealthy), up(Backup, Healthy)}, []Outcome{refused, head(1)}, []int{1, 0}},
	} {
		w := newWorld(t, testChain("x", tt.us...))
		for i := range tt.us { // Begin starts everyone unknown
			w.chain().Upstreams[i].State.Record = tt.us[i].State.Record
		}
		if got := order(w.probe(tt.outcomes...)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestHeldUpstreamIsAskedLast(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(status(429), head(5)) // a says 429 and is held
	if got := order(w.probe(noAnswer(ReasonReset), head(6))); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("asked %v, want the held one last", got)
	}
}

func TestStartingOverWaits(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{0}})
	var delays []time.Duration
	for range 6 {
		e := w.take(true)
		delays = append(delays, e.Delay)
		w.answer(e, noAnswer(ReasonRefused), 0)
	}
	pause := 250 * time.Millisecond
	if want := []time.Duration{0, 0, pause, 0, pause, 0}; !slices.Equal(delays, want) {
		t.Errorf("delays %v, want %v", delays, want)
	}
	if took := w.chain().Last.Ended.Sub(w.chain().Last.Started); took != 2*pause {
		t.Errorf("six refused tries took %v, want %v", took, 2*pause)
	}
}

func TestProbeWithoutUpstreamsIsOneTry(t *testing.T) {
	w := newWorld(t, testChain("x"))
	w.due()
	p := w.chain().Last
	if p == nil || len(p.Tries) != 1 || p.Tries[0].Reason != ReasonNoUpstream || p.Verdict != VerdictUnreachable {
		t.Fatalf("%+v", p)
	}
	if w.chain().State.Health != Unhealthy {
		t.Errorf("health %v", w.chain().State.Health)
	}
}

func TestEachTryReportsItsOwn(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b", "c")...))
	p := w.probe(noAnswer(ReasonTimeout), status(403, AccessDenied), head(7))
	var got []string
	for _, try := range p.Tries {
		got = append(got, fmt.Sprintf("%d %d %v %s", try.N, try.Upstream, try.Kind, try.Word()))
	}
	want := []string{"1 0 no_answer timeout", "2 1 answer 403", "3 2 result "}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if p.Verdict != VerdictHealthy {
		t.Errorf("verdict %v", p.Verdict)
	}
}

// A late answer of try n was once taken as the answer of try n+1 (T2).
func TestLateAnswerChangesNothing(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{0}})
	first := w.take(true)
	w.answer(first, noAnswer(ReasonTimeout), 5*time.Second)
	for name, late := range map[string]TryDone{
		"the try before":     {Upstream: first.Upstream, Probe: first.Probe, N: first.N, Stamp: first.Stamp},
		"its number reused":  {Upstream: first.Upstream, Probe: first.Probe, N: 2, Stamp: first.Stamp},
		"another probe":      {Upstream: 1, Probe: 99, N: 2, Stamp: w.now},
		"a check unasked":    {Upstream: 1, Stamp: w.now},
		"an upstream beyond": {Upstream: 9, Probe: first.Probe, N: 2, Stamp: w.now},
	} {
		late.Ended, late.Outcome = w.now, head(1)
		if events := w.in(late); len(events) != 0 {
			t.Errorf("%s: %+v", name, events)
		}
	}
}

func TestCancelledTryMovesNothing(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	w.round(head(5))
	before := w.chain().Upstreams[0].State
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{0}})
	for w.chain().Probe != nil {
		w.answer(w.take(true), Outcome{}, time.Second)
	}
	c := w.chain()
	if c.Last.Verdict != NoVerdict || c.State.Health != Unknown || len(c.Last.Tries) != 0 {
		t.Errorf("an abandoned probe has verdict %q, health %v", c.Last.Verdict, c.State.Health)
	}
	if c.Upstreams[0].State != before {
		t.Errorf("its upstream moved:\n%+v\n%+v", before, c.Upstreams[0].State)
	}
	w.now = c.Checks.Due
	w.in(Due{At: w.now})
	w.answer(w.take(false), Outcome{}, time.Second)
	if c := w.chain(); c.Upstreams[0].State != before || len(c.Checks.Flying) != 0 {
		t.Errorf("an abandoned check moved its upstream")
	}
}

func TestCadenceIsByTheHealthAfter(t *testing.T) {
	refused := n(noAnswer(ReasonRefused), 6)
	limited := []Outcome{status(503), status(503), status(503), status(503), status(503), status(503)}
	for _, tt := range []struct {
		name   string
		before []Outcome // outcomes of the probe before; nil = none
		probe  []Outcome
		want   time.Duration
	}{
		{"healthy", nil, []Outcome{head(1)}, 5 * time.Minute},
		{"unreachable", nil, refused, 15 * time.Second},
		{"inconclusive while unknown", nil, limited, 15 * time.Second},
		{"inconclusive while healthy", []Outcome{head(1)}, limited, 5 * time.Minute},
		{"inconclusive while unhealthy", refused, limited, 15 * time.Second},
		{"recovered", refused, []Outcome{head(1)}, 5 * time.Minute},
	} {
		w := newWorld(t, testChain("x", primaries("a")...))
		if tt.before != nil {
			w.probe(tt.before...)
		}
		w.probe(tt.probe...)
		next := w.chain().State.Next
		if got := next.At.Sub(w.now); got != tt.want || next.Why != NextInterval {
			t.Errorf("%s: next in %v (%s), want %v", tt.name, got, next.Why, tt.want)
		}
	}
}

func TestJitterStaysWithinATenth(t *testing.T) {
	least, most := time.Hour, time.Duration(0)
	for seed := range uint64(200) {
		c := testChain("x", primaries("a")...)
		c.Seed, c.Settings.Jitter = seed+1, 0.1
		got := c.schedule(1, ChainState{Health: Healthy}, epoch0).At.Sub(epoch0)
		least, most = min(least, got), max(most, got)
		if soon := c.soon(epoch0, 1).Sub(epoch0); soon > 15*time.Second || soon < 13500*time.Millisecond {
			t.Errorf("soon is %v, promised within 15s", soon)
		}
	}
	if least < 270*time.Second || most > 330*time.Second || most-least < 50*time.Second {
		t.Errorf("an interval of 5m lies between %v and %v", least, most)
	}
}

func TestFirstProbesSpreadOverOneSecond(t *testing.T) {
	var chains []*Chain
	for i := range 40 {
		chains = append(chains, testChain(fmt.Sprint(i), primaries("a")...))
	}
	w := newWorld(t, chains...)
	seen := map[time.Time]bool{}
	for _, c := range w.inst.Chains {
		at := c.State.Next.At
		if d := at.Sub(epoch0); d < 0 || d >= time.Second {
			t.Errorf("%s is first probed after %v", c.Key(), d)
		}
		seen[at] = true
	}
	if len(seen) != 40 {
		t.Errorf("40 chains start at %d moments", len(seen))
	}
}

func TestTrafficMovesOnlyWhen(t *testing.T) {
	missed := func(w *world) { w.in(Missed{At: w.now}) }
	w := newWorld(t, testChain("x", primaries("a")...))
	w.probe(head(1))
	health := w.chain().State.Health
	missed(w)
	if next := w.chain().State.Next; next.At.Sub(w.now) != 15*time.Second || next.Why != NextSoon {
		t.Errorf("no answer: next %+v", next)
	}
	at := w.chain().State.Next.At
	w.now = w.now.Add(10 * time.Second)
	missed(w)
	if got := w.chain().State.Next.At; !got.Equal(at) {
		t.Errorf("a second one made it later: %v, was %v", got, at)
	}
	if w.chain().State.Health != health {
		t.Errorf("a relay moved the health to %v", w.chain().State.Health)
	}
	w.now = at
	w.in(Due{At: at})
	if p := w.chain().Probe; p == nil || p.Trigger != TriggerSoon {
		t.Errorf("the probe started as %+v", p)
	}
}

func TestClientResultPutsTheProbeOff(t *testing.T) {
	for _, tt := range []struct {
		name     string
		outcomes []Outcome
		maxDefer time.Duration
		heard    time.Duration // after the probe's end; 0 = never
		want     time.Duration // the probe is due then, after the end
	}{
		{"never heard", []Outcome{head(1)}, 0, 0, 5 * time.Minute},
		{"healthy and heard", []Outcome{head(1)}, 0, 4 * time.Minute, 9 * time.Minute},
		{"bounded by max_defer", []Outcome{head(1)}, 6 * time.Minute, 4 * time.Minute, 6 * time.Minute},
		{"unhealthy and heard", n(noAnswer(ReasonRefused), 6), 0, 10 * time.Second, 15 * time.Second},
	} {
		c := testChain("x", primaries("a")...)
		c.Settings.MaxDefer = tt.maxDefer
		c.Settings.CheckInterval = time.Hour
		w := newWorld(t, c)
		w.probe(tt.outcomes...)
		end := w.now
		heard := time.Time{}
		if tt.heard > 0 {
			heard = end.Add(tt.heard)
		}
		for w.chain().Probe == nil {
			w.now = w.chain().State.Next.At
			w.in(Due{At: w.now, Heard: heard})
		}
		if got := w.now.Sub(end); got != tt.want {
			t.Errorf("%s: probed after %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A client's result from before a relay's outage must not put off the probe
// that the outage asked for.
func TestOldResultDoesNotUndoSoon(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	w.probe(head(1))
	heard := w.now.Add(time.Second)
	w.now = w.now.Add(time.Minute)
	w.in(Missed{At: w.now})
	w.now = w.chain().State.Next.At
	w.in(Due{At: w.now, Heard: heard})
	if w.chain().Probe == nil {
		t.Errorf("the probe was put off: %+v", w.chain().State.Next)
	}
}

func TestSignalDuringAProbeWaitsForItsEnd(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	w.probe(head(1))
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{0}})
	e := w.take(true)
	w.now = w.now.Add(time.Second)
	sent := w.now
	w.in(Missed{At: w.now})
	w.answer(e, head(2), 4*time.Second)
	if next := w.chain().State.Next; !next.At.Equal(sent.Add(15*time.Second)) || next.Why != NextSoon {
		t.Errorf("next in %v (%s), want 15s after the signal", next.At.Sub(sent), next.Why)
	}
	if !w.chain().State.Missed.IsZero() {
		t.Errorf("the signal is applied twice")
	}
}

func TestManualProbeJoinsOneInFlight(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	ask := func(who string) CommandDone {
		events := w.in(Command{At: w.now, ID: who, Op: OpProbe, Who: who})
		return events[len(events)-1].Body.(CommandDone)
	}
	if done := ask("ann"); done.Joined != 0 || !slices.Equal(done.Probes, []uint64{1}) {
		t.Errorf("the first: %+v", done)
	}
	if done := ask("bob"); done.Joined != 1 || !slices.Equal(done.Probes, []uint64{1}) {
		t.Errorf("the second: %+v", done)
	}
	if len(w.air) != 1 {
		t.Errorf("%d tries in the air, want 1", len(w.air))
	}
	w.answer(w.take(true), head(1), time.Millisecond)
	if p := w.chain().Last; p.Who != "ann" || p.Trigger != TriggerManual || w.chain().State.Next.Why != NextInterval {
		t.Errorf("%+v, next %+v", p, w.chain().State.Next)
	}
}

func TestCommandForNothingIsRefused(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...))
	events := w.in(Command{At: w.now, ID: "1", Op: OpProbe, Chains: []int{7}})
	if done := events[len(events)-1].Body.(CommandDone); done.Answer == "accepted" || len(w.air) != 0 {
		t.Errorf("%+v", done)
	}
}

// U5: a check asked for by hand leaves a line, also when nothing turned, and is
// made although the upstream is held.
func TestManualCheck(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(limited(time.Hour), head(1))
	ask := func(upstream int) string {
		events := w.in(Command{At: w.now, ID: "1", Op: OpCheck, Chains: []int{0}, Upstream: upstream, Who: "ann"})
		l, _ := Describe(&w.inst, events[len(events)-1])
		return l.Detail
	}
	if got := ask(0); got != "x/jsonrpc:a → accepted" || len(w.air) != 1 {
		t.Fatalf("%q, %d in the air", got, len(w.air))
	}
	if got := ask(0); got != "x/jsonrpc:a → joined its check, in flight" || len(w.air) != 1 {
		t.Errorf("%q, %d in the air", got, len(w.air))
	}
	events := w.answer(w.take(false), noAnswer(ReasonRefused), time.Millisecond)
	checked, ok := find[UpstreamChanged](events)
	if !ok || checked.What != ChangeChecked || checked.State.Streak != 1 || w.chain().State.Health != Healthy {
		t.Errorf("%+v", events)
	}
	if l, _ := Describe(&w.inst, events[1]); l.What != "checked" || l.Detail != "refused in 1.0ms · ◌ unknown, streak 1" || events[1].Who != "ann" {
		t.Errorf("%+v by %q", l, events[1].Who)
	}
	if got := ask(2); got != "x/jsonrpc:? → refused: no such upstream" {
		t.Errorf("%q", got)
	}
}

func TestFaultsAreTheDemosOnly(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	ask := func(chains []int, upstream int) (string, []Effect) {
		events, effects := w.inst.Decide(Command{At: w.now, ID: "1", Op: OpFault, Chains: chains, Upstream: upstream, Kind: "kill", Who: "oncall"})
		w.fold(events...)
		l, _ := Describe(&w.inst, events[len(events)-1])
		return l.Detail, effects
	}
	if got, effects := ask([]int{0}, 1); got != "x/jsonrpc:b kill → refused: this is not a demo" || len(effects) != 0 {
		t.Errorf("%q, %v", got, effects)
	}
	w.inst.Demo = true
	if got, effects := ask([]int{0}, 1); got != "x/jsonrpc:b kill → accepted" || len(effects) != 1 || effects[0] != (EffectFault{0, 1, "kill"}) {
		t.Errorf("%q, %v", got, effects)
	}
	if got, effects := ask([]int{0}, 2); got != "x/jsonrpc:? kill → refused: no such upstream" || len(effects) != 0 {
		t.Errorf("%q, %v", got, effects)
	}
	if got, _ := ask(nil, 0); got != "all chains → refused: no such upstream" {
		t.Errorf("%q", got)
	}
}

func TestHoldsOfF6(t *testing.T) {
	quota := status(429)
	quota.Findings = FindingSet(Quota)
	for _, tt := range []struct {
		name        string
		outcomes    []Outcome // one probe each
		least, most time.Duration
	}{
		{"as asked", []Outcome{limited(40 * time.Second)}, 40 * time.Second, 40 * time.Second},
		{"never over 30m", []Outcome{limited(99 * time.Hour)}, 30 * time.Minute, 30 * time.Minute},
		{"30s and up to a fifth", []Outcome{limited(0)}, 30 * time.Second, 36 * time.Second},
		{"doubling", n(limited(0), 4), 240 * time.Second, 288 * time.Second},
		{"to 30m", n(limited(0), 12), 30 * time.Minute, 30 * time.Minute},
		{"quota at once", []Outcome{quota}, 30 * time.Minute, 30 * time.Minute},
		{"a result starts it over", []Outcome{limited(0), limited(0), head(1), limited(0)}, 30 * time.Second, 36 * time.Second},
	} {
		w := newWorld(t, testChain("x", primaries("a")...))
		for _, o := range tt.outcomes {
			w.probe(o)
		}
		h := w.chain().Upstreams[0].State.Hold
		if got := h.Until.Sub(w.now); !h.Held(w.now) || got < tt.least || got > tt.most {
			t.Errorf("%s: held %v (run %d), want %v…%v", tt.name, got, h.Run, tt.least, tt.most)
		}
	}
}

func TestAllHeldTheProbeWaitsForTheFirstHold(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a", "b")...))
	w.probe(head(1))
	w.probe(limited(20*time.Minute), limited(10*time.Minute))
	end := w.now
	if s := w.chain().State; s.Health != Healthy || s.Verdict != VerdictInconclusive {
		t.Errorf("%v after %v", s.Health, s.Verdict)
	}
	if got := w.chain().Serving; got.Upstream != 1 || got.Why != RouteHeld {
		t.Errorf("serving %+v, want the one whose hold ends first", got)
	}
	next := w.chain().State.Next
	if got := next.At.Sub(end); got != 10*time.Minute || next.Why != NextHeld {
		t.Errorf("next in %v (%s), want 10m (held)", got, next.Why)
	}
	// Nobody is checked meanwhile, and a manual probe asks all the same.
	for w.chain().Checks.Due.Before(end.Add(time.Minute)) {
		w.now = w.chain().Checks.Due
		w.in(Due{At: w.now})
	}
	if len(w.air) != 0 {
		t.Errorf("%d checks of held upstreams", len(w.air))
	}
	if got := order(w.probe(head(5))); !slices.Equal(got, []int{0}) {
		t.Errorf("a manual probe asked %v", got)
	}
	if h := w.chain().Upstreams[0].State.Hold; h.Active {
		t.Errorf("a result leaves the hold on: %+v", h)
	}
}

func TestHoldEndsByItself(t *testing.T) {
	c := testChain("x", primaries("a", "b")...)
	c.Settings.CheckInterval = time.Hour
	w := newWorld(t, c)
	w.probe(limited(40*time.Second), head(1))
	w.now = w.chain().Due()
	events := w.in(Due{At: w.now})
	u, ok := events[0].Body.(UpstreamChanged)
	if !ok || u.What != ChangeReleased || w.chain().Upstreams[0].State.Hold.Active {
		t.Errorf("%+v", events)
	}
	if got, why := Route(w.chain(), w.now, 0); got != 1 || why != RouteFit {
		t.Errorf("its finding stays until a result: serving %d %s", got, why)
	}
}

func TestInconclusiveKeepsHealth(t *testing.T) {
	for _, tt := range []struct {
		recovers Recovers
		before   []Outcome
		want     Health
	}{
		{RecoversNone, nil, Unknown},
		{RecoversNone, []Outcome{head(1)}, Healthy},
		{RecoversNone, n(noAnswer(ReasonRefused), 6), Unhealthy},
		{RecoversUnknown, nil, Healthy},
		{RecoversUnknown, n(noAnswer(ReasonRefused), 6), Unhealthy},
		{RecoversAll, n(noAnswer(ReasonRefused), 6), Healthy},
	} {
		c := testChain("x", primaries("a")...)
		c.Settings.Recovers = tt.recovers
		w := newWorld(t, c)
		if tt.before != nil {
			w.probe(tt.before...)
		}
		p := w.probe(n(status(503, Gateway), 6)...)
		if got := w.chain().State.Health; p.Verdict != VerdictInconclusive || got != tt.want {
			t.Errorf("%v after %d tries: %v %v, want %v", tt.recovers, len(tt.before), p.Verdict, got, tt.want)
		}
	}
}

func TestReadinessTurnsWithTheLastChain(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...), testChain("y", primaries("b")...))
	turns := func() (got []bool) {
		for _, e := range w.events {
			if r, ok := e.Body.(ReadyChanged); ok {
				got = append(got, r.Ready)
			}
		}
		return got
	}
	for n := range w.inst.Chains {
		w.in(Command{At: w.now, Op: OpProbe, Chains: []int{n}})
		w.answer(w.take(true), head(1), time.Millisecond)
	}
	since := w.now
	if got := turns(); !slices.Equal(got, []bool{true}) || !w.inst.ReadySince.Equal(since) {
		t.Fatalf("readiness turned %v since %v", got, w.inst.ReadySince)
	}
	w.probe(n(noAnswer(ReasonRefused), 6)...)
	if got := turns(); !slices.Equal(got, []bool{true, false}) || Ready(&w.inst, ReadyAll).Cause != 0 {
		t.Errorf("readiness turned %v", got)
	}
}
