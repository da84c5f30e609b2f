package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/core"
	"chaintop/internal/memnet"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// A day of a chain that is healthy, loses its node from 06:00 to 06:10, and
// heals: every probe is where the cadence says, to the nanosecond.
func TestDayOfCadence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		sim := node(t, &network, simnode.Options{Name: "a", Latency: 50 * time.Millisecond})
		r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}},
		})
		time.Sleep(6*time.Hour - time.Since(r.start))
		if err := sim.Down(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if err := sim.Up(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour - time.Since(r.start))
		ended, at := of[model.ProbeEnded](r, 0)

		want := expectedDay()
		if len(at) != len(want) {
			t.Fatalf("%d probes in a day, want %d", len(at), len(want))
		}
		for i := range at {
			if at[i] != want[i].at || ended[i].Probe.Verdict != want[i].verdict {
				t.Fatalf("probe %d ended at %v %v, want %v %v", i, at[i], ended[i].Probe.Verdict, want[i].at, want[i].verdict)
			}
		}
	})
}

type dayProbe struct {
	at      time.Duration
	verdict model.Verdict
}

// expectedDay is the day by the rules: 5m after a healthy end, 15s after
// another; an answer takes 50 ms, six refused tries of one upstream five pauses
// of 250 ms. The check that each silent try starts is refused as well, so the
// last upstream is unhealthy after three, and the first check to pass is asked
// for by a try only: the schedule alone brings the chain back.
func expectedDay() []dayProbe {
	const answer, refused = 50 * time.Millisecond, 5 * 250 * time.Millisecond
	down, up := 6*time.Hour, 6*time.Hour+10*time.Minute
	var day []dayProbe
	for at := time.Duration(0); ; {
		if at >= down && at < up {
			at += refused
			if at >= 24*time.Hour {
				return day
			}
			day = append(day, dayProbe{at, model.VerdictUnreachable})
			at += 15 * time.Second
			continue
		}
		at += answer
		if at >= 24*time.Hour {
			return day
		}
		day = append(day, dayProbe{at, model.VerdictHealthy})
		at += 5 * time.Minute
	}
}

func TestFirstProbesWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a"})
		var chains []*model.Chain
		var urls [][]string
		for i := range 20 {
			chains = append(chains, chain(fmt.Sprint(i), 1, rare))
			urls = append(urls, []string{"http://a"})
		}
		r := start(t, network.Dial, urls, core.Options{Instance: model.Instance{Chains: chains}})
		time.Sleep(time.Second)
		for n := range chains {
			_, at := of[model.ProbeStarted](r, n)
			if want := []time.Duration{time.Duration(n) * 50 * time.Millisecond}; !slices.Equal(at, want) {
				t.Errorf("chain %d starts at %v, want %v", n, at, want)
			}
		}
	})
}

// T5: one server, configured as three upstreams, stalls the first request it
// gets and answers every later one after 50 ms.
func TestStalledFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a", Latency: 50 * time.Millisecond}, simnode.StallFirst())
		r := start(t, network.Dial, [][]string{{"http://a", "http://a", "http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 3, rare)}},
		})
		time.Sleep(time.Minute)
		ended, at := of[model.ProbeEnded](r, 0)
		if len(at) != 1 || at[0] != 5050*time.Millisecond || ended[0].Probe.Verdict != model.VerdictHealthy {
			t.Fatalf("ended %v at %v, want healthy at 5.05s", ended, at)
		}
		tries := ended[0].Probe.Tries
		if len(tries) != 2 || tries[0].Reason != model.ReasonTimeout || tries[0].Took != 5*time.Second ||
			tries[1].Kind != model.Result || tries[1].Upstream != 1 || tries[1].Took != 50*time.Millisecond {
			t.Errorf("tries %+v", tries)
		}
	})
}

func TestProbeSoonAfterASilentRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a"})
		gw := newRelay()
		r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}}, Relay: gw,
		})
		time.Sleep(time.Minute)
		gw.miss(0)
		time.Sleep(10 * time.Second)
		gw.miss(0) // promises nothing later
		time.Sleep(time.Minute)
		started, at := of[model.ProbeStarted](r, 0)
		if want := []time.Duration{0, 75 * time.Second}; !slices.Equal(at, want) || started[1].Probe.Trigger != model.TriggerSoon {
			t.Errorf("probes at %v (%+v), want %v", at, started, want)
		}
	})
}

// What a relay hears puts a probe off while the chain is healthy, does not while
// it is unhealthy, and says nothing of the schedule when it came during a probe.
func TestDeferralByTraffic(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault []simnode.Fault
		until time.Duration // a client gets a result every second until then
		want  []time.Duration
	}{
		{"healthy", nil, 7 * time.Minute, []time.Duration{0, 12 * time.Minute}},
		{"unhealthy", []simnode.Fault{simnode.Refuse()}, 20 * time.Second,
			[]time.Duration{0, 16250 * time.Millisecond, 32500 * time.Millisecond}},
		{"during a probe", []simnode.Fault{simnode.StallFirst()}, 5 * time.Second,
			[]time.Duration{0, 5*time.Minute + 5250*time.Millisecond}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var network memnet.Network
			node(t, &network, simnode.Options{Name: "a"}, tt.fault...)
			begun := time.Now()
			heard := func(int) time.Time {
				last := min(time.Since(begun).Truncate(time.Second), tt.until)
				return begun.Round(0).Add(last)
			}
			r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
				Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}}, Relay: &relay{heard: heard},
			})
			time.Sleep(tt.want[len(tt.want)-1] + time.Second)
			_, at := of[model.ProbeStarted](r, 0)
			if !slices.Equal(at, tt.want) {
				t.Errorf("%s: probes at %v, want %v", tt.name, at, tt.want)
			}
		})
	}
}

// relay is a gateway that says what a test wants.
type relay struct {
	heard func(int) time.Time
	news  chan struct{}
	mu    sync.Mutex
	says  []model.Input
	sums  func(time.Time) (model.Sums, bool)
}

func newRelay() *relay { return &relay{news: make(chan struct{}, 1)} }

func (r *relay) say(in model.Input) {
	r.mu.Lock()
	r.says = append(r.says, in)
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *relay) miss(chain int)        { r.say(model.Missed{Chain: chain}) }
func (r *relay) News() <-chan struct{} { return r.news }

func (r *relay) Take(now time.Time) []model.Input {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.says
	r.says = nil
	for i, in := range out {
		if missed, ok := in.(model.Missed); ok {
			missed.At = now
			out[i] = missed
		}
		if live, ok := in.(model.Live); ok {
			live.At = now
			out[i] = live
		}
	}
	return out
}

func (r *relay) Sums(now time.Time) (model.Sums, bool) {
	if r.sums == nil {
		return model.Sums{}, false
	}
	return r.sums(now)
}

func (r *relay) Heard(chain int) time.Time {
	if r.heard == nil {
		return time.Time{}
	}
	return r.heard(chain)
}

// The sums of traffic are read a second after the first news and once a second
// while there are any; when there are none, the core waits for news.
func TestSumsAreReadOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gw := newRelay()
		left := 3
		gw.sums = func(now time.Time) (model.Sums, bool) {
			if left--; left < 0 {
				return model.Sums{}, false
			}
			return model.Sums{At: now, Chains: []model.ChainSums{{Heard: now, Traffic: model.Traffic{Total: 1}}}}, true
		}
		r := start(t, nil, nil, core.Options{Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}}, Prober: &blocked{}, Relay: gw})
		time.Sleep(10 * time.Second)
		gw.say(model.Missed{})
		time.Sleep(time.Minute)
		_, at := of[model.TrafficRead](r, -1)
		if want := []time.Duration{11 * time.Second, 12 * time.Second, 13 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("read at %v, want %v", at, want)
		}
		c := r.core.Picture().Chains[0]
		if c.Traffic.Total != 1 || c.State.Heard.By != model.HeardClient {
			t.Errorf("the picture has %+v, heard %+v", c.Traffic, c.State.Heard)
		}
	})
}

// A client that got no answer has the upstream checked at once (F5).
func TestLiveNoAnswerIsCheckedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a"})
		gw := newRelay()
		r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}}, Relay: gw,
		})
		time.Sleep(time.Minute)
		gw.say(model.Live{Run: 1, Reason: model.ReasonReset})
		synctest.Wait()
		last := r.core.Picture().Chains[0].Upstreams[0].State.Last
		if last.Trigger != model.TriggerClient || !last.At.Equal(r.core.Now()) {
			t.Errorf("last check %+v", last)
		}
	})
}

func TestManualProbeJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a", Latency: time.Second})
		r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}},
		})
		time.Sleep(100 * time.Millisecond)
		r.probe(0)
		time.Sleep(time.Minute)
		r.probe(0)
		time.Sleep(time.Minute)
		_, at := of[model.ProbeStarted](r, 0)
		done, _ := of[model.CommandDone](r, -1)
		if want := []time.Duration{0, time.Minute + 100*time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("probes at %v, want %v", at, want)
		}
		if len(done) != 2 || done[0].Joined != 1 || done[1].Joined != 0 {
			t.Errorf("answers %+v", done)
		}
	})
}

// blocked is a prober that answers when its context ends: with silence for a
// deadline, with an error for a cancellation.
type blocked struct{ flying, most atomic.Int64 }

func (b *blocked) Try(ctx context.Context, _, _ int) (model.Outcome, error) {
	n := b.flying.Add(1)
	defer b.flying.Add(-1)
	for {
		most := b.most.Load()
		if n <= most || b.most.CompareAndSwap(most, n) {
			break
		}
	}
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.Canceled) {
		return model.Outcome{}, ctx.Err()
	}
	return model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTimeout, Asked: 1}, nil
}

// F4: a sweep in an outage takes one timeout, not their sum; no slow check
// delays another's.
func TestSweepTakesOneTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chains, upstreams = 60, 4
		var cs []*model.Chain
		for i := range chains {
			cs = append(cs, chain(fmt.Sprint(i), upstreams, rare))
		}
		for _, c := range cs {
			c.Settings.CheckInterval = 10 * time.Second
		}
		r := start(t, nil, nil, core.Options{Instance: model.Instance{Chains: cs}, Prober: &blocked{}})
		time.Sleep(16 * time.Second)
		synctest.Wait()
		for n, c := range r.core.Picture().Chains {
			for i := range c.Upstreams {
				if s := c.Upstreams[i].State; s.Streak == 0 {
					t.Fatalf("upstream %d/%d has no failed check after 16s", n, i)
				}
			}
		}
	})
}

func TestTriesInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cs []*model.Chain
		for i := range 40 {
			c := chain(fmt.Sprint(i), 64, rare)
			c.Settings.CheckInterval, c.Settings.CheckTimeout = time.Second, time.Hour
			cs = append(cs, c)
		}
		b := &blocked{}
		start(t, nil, nil, core.Options{Instance: model.Instance{Chains: cs}, Prober: b})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := b.most.Load(); got != 1024 {
			t.Errorf("%d tries in flight, want 1,024", got)
		}
	})
}

func TestStopAbandonsWhatFlies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, nil, nil, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 2, rare)}}, Prober: &blocked{},
		})
		time.Sleep(time.Second)
		before := len(r.events())
		r.stop()
		if got := len(r.events()); got != before {
			t.Errorf("stopping made %d events", got-before)
		}
		if err := r.core.Send(t.Context(), model.Command{Op: model.OpProbe}); !errors.Is(err, core.ErrStopped) {
			t.Errorf("a command after the end: %v", err)
		}
	})
}

func (b *blocked) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	return model.Told{}, nil
}

type panicking struct{ blocked }

func (*panicking) Try(context.Context, int, int) (model.Outcome, error) {
	panic("a bug in a try")
}

func TestPanicInATryEndsRun(t *testing.T) {
	c, err := core.New(core.Options{
		Instance: model.Instance{Name: "gw", Epoch: "e", Chains: []*model.Chain{chain("x", 1, rare)}}, Prober: &panicking{},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var p *core.PanicError
	if err := c.Run(ctx); !errors.As(err, &p) || !strings.Contains(err.Error(), "a bug in a try") || len(p.Stack) == 0 {
		t.Errorf("Run ended with %v", err)
	}
}

func TestRefusesSettings(t *testing.T) {
	for field, spoil := range map[string]func(*model.Settings){
		"probe.timeout":            func(s *model.Settings) { s.Timeout = 0 },
		"probe.tries":              func(s *model.Settings) { s.Tries = 0 },
		"probe.healthy_interval":   func(s *model.Settings) { s.HealthyInterval = -time.Second },
		"probe.unhealthy_interval": func(s *model.Settings) { s.UnhealthyInterval = 0 },
		"probe.soon":               func(s *model.Settings) { s.Soon = 0 },
		"probe.max_defer":          func(s *model.Settings) { s.MaxDefer = -1 },
		"check.interval":           func(s *model.Settings) { s.CheckInterval = 0 },
		"check.timeout":            func(s *model.Settings) { s.CheckTimeout = 0 },
		"check.fall":               func(s *model.Settings) { s.Fall = 0 },
	} {
		_, err := core.New(core.Options{Prober: &blocked{}, Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, spoil)}}})
		if err == nil || !strings.Contains(err.Error(), field) || !strings.Contains(err.Error(), "x/jsonrpc") {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := core.New(core.Options{}); err == nil || !strings.Contains(err.Error(), "not implemented") {
		t.Errorf("no prober: %v", err)
	}
}

func TestProbeLogLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		node(t, &network, simnode.Options{Name: "a"}, simnode.Refuse())
		var out bytes.Buffer
		strip := func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}
		r := start(t, network.Dial, [][]string{{"http://a"}}, core.Options{
			Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}},
			Logger:   slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: strip})),
		})
		time.Sleep(5 * time.Second)
		r.probe(0)
		time.Sleep(2 * time.Second)
		r.stop()
		want := `level=WARN msg=probe chain=x/jsonrpc id=1 verdict=unreachable health=unhealthy tries=6 took=1.25s trigger=scheduled who="" next=15s why=interval
level=WARN msg=probe chain=x/jsonrpc id=2 verdict=unreachable health=unhealthy tries=6 took=1.25s trigger=manual who=oncall next=15s why=interval
`
		if out.String() != want {
			t.Errorf("the log:\n%s\nwant:\n%s", out.String(), want)
		}
	})
}
