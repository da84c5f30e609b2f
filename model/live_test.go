package model

import (
	"testing"
	"time"
)

// served is a chain of two primaries and a backup, after a healthy round.
func served(t *testing.T) *world {
	w := newWorld(t, testChain("x", Upstream{Name: "a"}, Upstream{Name: "b", Tier: Backup}))
	w.probe(head(5))
	w.round(head(5), head(5))
	return w
}

func (w *world) live(in Live) []Event {
	in.At = w.now
	return w.in(in)
}

func (w *world) serves(want int, why RouteWhy) {
	w.t.Helper()
	if s := w.chain().Serving; s.Upstream != want || s.Why != why {
		w.t.Fatalf("serves %d %s, want %d %s", s.Upstream, s.Why, want, why)
	}
}

// F5: fall no-answers in a row make it suspect; only a check that started later
// ends that.
func TestSuspectUntilALaterCheckPasses(t *testing.T) {
	w := served(t)
	w.now = w.now.Add(time.Second)
	w.live(Live{Run: 1, Reason: ReasonReset})
	early := w.take(false) // each has it checked at once
	w.serves(0, RouteFit)
	w.now = w.now.Add(time.Millisecond)
	w.live(Live{Run: 3, Reason: ReasonReset})
	if s := w.chain().Upstreams[0].State.Suspect; !s.Active || s.Missed != 3 || s.Reason != ReasonReset {
		t.Fatalf("suspect %+v", s)
	}
	w.serves(1, RouteBackup)
	// The check that flew when it became suspect tells nothing; another follows.
	w.answer(early, head(5), 5*time.Millisecond)
	w.serves(1, RouteBackup)
	w.answer(w.take(false), head(5), time.Millisecond)
	w.serves(0, RouteFit)
	if w.chain().Upstreams[0].State.Record.Health != Healthy || w.chain().Upstreams[0].State.Streak != 0 {
		t.Errorf("a client's requests moved the record: %+v", w.chain().Upstreams[0].State.Record)
	}
}

// F5: one that comes back within a minute is held for 1 s, 2 s … 30 s after the
// check that passed.
func TestSuspectAgainProvesItself(t *testing.T) {
	w := served(t)
	for n, pause := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second} {
		w.now = w.now.Add(time.Second)
		w.live(Live{Run: 3, Reason: ReasonStalled})
		w.serves(1, RouteBackup)
		w.answer(w.take(false), head(5), time.Millisecond)
		passed := w.now
		for w.chain().Upstreams[0].State.Suspect.Active {
			w.due()
			for len(w.air) > 0 {
				w.answer(w.air[0], head(5), 0)
				w.air = w.air[1:]
			}
		}
		if got := w.now.Sub(passed); got != pause {
			t.Errorf("time %d: back after %v, want %v", n, got, pause)
		}
		w.serves(0, RouteFit)
	}
	// After a quiet minute the count begins anew.
	w.now = w.now.Add(suspectAgain + time.Second)
	w.live(Live{Run: 3, Reason: ReasonStalled})
	if s := w.chain().Upstreams[0].State.Suspect; s.Again != 0 {
		t.Errorf("again %d after a quiet minute", s.Again)
	}
}

// F6: a client's rate limit holds the upstream off like a check's, once an
// episode however many requests were under way.
func TestLiveRateLimitHolds(t *testing.T) {
	w := served(t)
	w.now = w.now.Add(time.Second)
	sent := w.now
	w.now = w.now.Add(10 * time.Millisecond)
	o := limited(40 * time.Second)
	w.live(Live{Limit: &o, LimitBegan: sent})
	w.serves(1, RouteBackup)
	hold := w.chain().Upstreams[0].State.Hold
	if hold.Until.Sub(w.now) != 40*time.Second || hold.Run != 1 {
		t.Fatalf("hold %+v", hold)
	}
	w.now = w.now.Add(time.Millisecond)
	w.live(Live{Limit: &o, LimitBegan: sent}) // was under way when the hold began
	if got := w.chain().Upstreams[0].State.Hold; got != hold {
		t.Errorf("a request under way moved the hold: %+v", got)
	}
	// A result of a request from before says nothing, one sent later ends it.
	w.live(Live{Result: sent})
	w.serves(1, RouteBackup)
	w.live(Live{Result: w.now.Add(time.Millisecond)})
	w.serves(0, RouteFit)
	if s := w.chain().Upstreams[0].State; s.Hold.Run != 0 || s.Findings != 0 {
		t.Errorf("after a result: %+v %v", s.Hold, s.Findings)
	}
}

// F8: a pin prefers one upstream while it is fit, and ends by itself.
func TestPin(t *testing.T) {
	w := served(t)
	pin := func(of int, lasts time.Duration) CommandDone {
		events := w.in(Command{At: w.now, ID: "p", Op: OpPin, Chains: []int{0}, Upstream: of, For: lasts, Who: "oncall", Reason: "INC-1"})
		return events[len(events)-1].Body.(CommandDone)
	}
	if done := pin(7, 0); done.Code != 404 {
		t.Errorf("no such upstream: %+v", done)
	}
	if done := pin(1, PinMost+1); done.Code != 400 {
		t.Errorf("too long: %+v", done)
	}
	if done := pin(1, 0); done.Code != 202 {
		t.Fatalf("pin: %+v", done)
	}
	w.serves(1, RoutePinned)
	if w.chain().Serving.Failover {
		t.Error("a pin is no failover")
	}
	began := w.now
	w.live(Live{Upstream: 1, Run: 3, Reason: ReasonReset}) // while it is not fit: as without a pin
	w.serves(0, RouteFit)
	w.answer(w.take(false), head(5), time.Millisecond)
	w.serves(1, RoutePinned)
	for w.chain().State.Pin.On {
		w.due()
		for len(w.air) > 0 {
			w.answer(w.air[0], head(5), 0)
			w.air = w.air[1:]
		}
	}
	if got := w.now.Sub(began); got != PinFor {
		t.Errorf("unpinned after %v, want %v", got, PinFor)
	}
	w.serves(0, RouteFit)
	pin(1, time.Minute)
	w.in(Command{At: w.now, Op: OpUnpin, Chains: []int{0}, Who: "oncall"})
	w.serves(0, RouteFit)
	events := w.in(Command{At: w.now, Op: OpUnpin, Chains: []int{0}})
	if done := events[len(events)-1].Body.(CommandDone); done.Code != 409 {
		t.Errorf("unpin of what is not pinned: %+v", done)
	}
}

// F3: failback_after delays a revived primary while a backup serves, and only
// then.
func TestFailbackAfter(t *testing.T) {
	w := served(t)
	w.chain().Settings.FailbackAfter = 10 * time.Second
	w.now = w.now.Add(time.Second)
	w.live(Live{Run: 3, Reason: ReasonReset})
	w.serves(1, RouteBackup)
	w.answer(w.take(false), head(5), time.Millisecond)
	w.serves(1, RouteBackup)
	back := w.now
	for w.chain().Serving.Upstream != 0 {
		w.due()
		for len(w.air) > 0 {
			w.answer(w.air[0], head(5), 0)
			w.air = w.air[1:]
		}
	}
	if got := w.now.Sub(back); got != 10*time.Second {
		t.Errorf("took traffic back after %v", got)
	}
	w.serves(0, RouteFit)
	if due := w.chain().Due(); !due.After(w.now) {
		t.Errorf("still waits for %v at %v", due, w.now)
	}
	// With no backup to serve it is used at once.
	w.live(Live{Run: 3, Reason: ReasonReset})
	w.live(Live{Upstream: 1, Run: 3, Reason: ReasonReset})
	w.serves(-1, RouteNone)
	w.answer(w.take(false), head(5), time.Millisecond)
	for w.chain().Upstreams[0].State.Suspect.Active {
		w.now = w.chain().Upstreams[0].State.Suspect.Until
		w.in(Due{At: w.now})
	}
	w.serves(0, RouteFit)
}

func TestPolicyCounts(t *testing.T) {
	up, down := testChain("up"), testChain("down")
	up.State.Health, down.State.Health = Healthy, Unhealthy
	for _, tt := range []struct {
		policy Policy
		chains []*Chain
		ready  bool
	}{
		{ReadyAll, []*Chain{up, down}, false},
		{ReadyAll, nil, true},
		{ReadyAny, []*Chain{down, up}, true},
		{ReadyAny, []*Chain{down, down}, false},
		{ReadyAny, nil, true},
		{ReadyConsensus, []*Chain{down}, true},
		{"up/jsonrpc", []*Chain{up, down}, true},
		{"up/jsonrpc,down/jsonrpc", []*Chain{up, down}, false},
		{"down/jsonrpc", []*Chain{up, down}, false},
	} {
		if got := Ready(&Instance{Chains: tt.chains}, tt.policy); got.Ready != tt.ready {
			t.Errorf("%s of %d chains: %+v", tt.policy, len(tt.chains), got)
		}
	}
}
