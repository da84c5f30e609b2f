package gateway

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/feed"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// The primary dies between two requests: the client of the next one gets its
// answer from the backup, and nobody asks the dead one again before a check
// says so (F5).
func TestNoClientFeelsAPrimaryDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, ups := two()
		r, stop := newRig(t, tune{}, ups...)
		defer stop()
		r.known()
		if got := r.call(1); got.status != 200 || got.by != "a" {
			t.Fatalf("before: %v", got)
		}
		if err := a.Down(); err != nil {
			t.Fatal(err)
		}
		for id := range 400 {
			got := r.call(id)
			if got.status != 200 || got.by != "b" || got.took > 20*time.Millisecond || !strings.Contains(got.body, fmt.Sprintf(`"id":%d`, id)) {
				t.Fatalf("request %d: %v", id, got)
			}
			time.Sleep(5 * time.Millisecond)
		}
		if s := r.chain().Upstreams[0].State; !s.Suspect.Active || s.Suspect.Missed != 3 {
			t.Errorf("after 2s: suspect %+v", s.Suspect)
		}
		time.Sleep(time.Second) // the sums, and two seconds without trouble
		if felt := r.chain().Felt; felt.Failed != 0 || felt.Retried != 3 || felt.Slowest > 20*time.Millisecond {
			t.Errorf("clients felt %+v", felt)
		}
		if err := a.Up(); err != nil {
			t.Fatal(err)
		}
		back := time.Now()
		for r.call(1).by != "a" {
			if time.Since(back) > 10*time.Second {
				t.Fatal("not back after 10s")
			}
			time.Sleep(5 * time.Millisecond)
		}
		checked := r.chain().Upstreams[0].State.Last.At
		if late := r.core.Now().Sub(checked); late > 10*time.Millisecond {
			t.Errorf("back %v after the check that passed", late)
		}
	})
}

// With the flag forced false a request was once not served by the backup (F2).
func TestServesWhateverTheFlagSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, ups := two()
		r, stop := newRig(t, tune{}, ups...)
		defer stop()
		r.known()
		if err := a.Down(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		lies := func() *model.Instance {
			pic := r.core.Picture().Clone()
			c := *pic.Chains[0]
			c.Serving = model.Serving{Upstream: 0, Why: model.RouteFit}
			pic.Chains[0] = &c
			return pic
		}
		r.gw.o.Picture = lies
		if got := r.call(1); got.status != 200 || got.by != "b" {
			t.Errorf("%v", got)
		}
	})
}

// The primary hangs: a request costs one hedge_after, and after three stalls
// nobody asks it (F11).
func TestHangCostsOneHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, ups := two()
		r, stop := newRig(t, tune{}, ups...)
		defer stop()
		r.known()
		for id := range 100 {
			r.call(id)
		}
		if got := r.gw.routes[0].methods.hedgeAfter("eth_blockNumber"); got != hedgeMin {
			t.Fatalf("hedge_after is %v, want %v", got, hedgeMin)
		}
		r.set(a, simnode.Stall())
		stalled := time.Now()
		var mu sync.Mutex
		var slow []time.Duration
		var wg sync.WaitGroup
		for id := range 600 {
			wg.Go(func() {
				got := r.call(id)
				if got.status != 200 || got.took > hedgeMin+50*time.Millisecond {
					t.Errorf("request %d: %v", id, got)
				}
				if got.took > 20*time.Millisecond {
					mu.Lock()
					slow = append(slow, time.Since(stalled))
					mu.Unlock()
				}
			})
			time.Sleep(5 * time.Millisecond)
		}
		wg.Wait()
		if len(slow) == 0 || slices.Max(slow) > time.Second {
			t.Errorf("slow requests ended at %v after the stall, want some, none after 1s", slow)
		}
		if s := r.chain().Upstreams[0].State.Suspect; s.Reason != model.ReasonStalled || !s.Active {
			t.Errorf("suspect %+v", s)
		}
		r.set(a, simnode.Quiet())
		time.Sleep(15 * time.Second)
		if got := r.call(1); got.by != "a" {
			t.Errorf("after it came back: %v", got)
		}
	})
}

// A healthy node that is slow on a third of its calls is not taken out, and its
// hedges stay a tenth of the requests (F11).
func TestSlowIsNotDead(t *testing.T) {
	for _, rate := range []int{200, 1500} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				node := sim("a")
				slow := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					if n.Add(1)%3 == 0 {
						time.Sleep(400 * time.Millisecond)
					}
					node.ServeHTTP(w, q)
				})
				r, stop := newRig(t, tune{}, up{name: "a", handler: slow}, up{name: "b", node: sim("b"), tier: model.Backup})
				defer stop()
				r.known()
				var wg sync.WaitGroup
				seconds := 5
				for id := range rate * seconds {
					wg.Go(func() {
						if got := r.call(id); got.status != 200 {
							t.Errorf("request %d: %v", id, got)
						}
					})
					time.Sleep(time.Second / time.Duration(rate))
				}
				wg.Wait()
				if of := suspicions(r); of != 0 {
					t.Errorf("taken out %d times", of)
				}
				time.Sleep(2 * time.Second)
				if tr := r.chain().Traffic; tr.Hedged*hedgeShare > tr.Requests || tr.Hedged == 0 {
					t.Errorf("%d hedges of %d requests", tr.Hedged, tr.Requests)
				}
			})
		})
	}
}

// suspicions is how often an upstream became suspect.
func suspicions(r *rig) int {
	events, _, err := r.core.Log().After(r.t.Context(), feed.Cursor{Epoch: "e1"})
	if err != nil {
		r.t.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if b, ok := e.Body.(model.UpstreamChanged); ok && b.What == model.ChangeSuspect {
			n++
		}
	}
	return n
}

// counting is an upstream that counts how often it saw each id, and cuts what
// it is told to.
type counting struct {
	mu   sync.Mutex
	seen map[string]int
	node *simnode.Node
	cut  atomic.Bool // after the request was read, before any answer
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(b)))
	if strings.Contains(string(b), "eth_sendRawTransaction") {
		c.mu.Lock()
		if c.seen == nil {
			c.seen = map[string]int{}
		}
		c.seen[string(b)]++
		c.mu.Unlock()
	}
	if c.cut.Load() {
		panic(http.ErrAbortHandler)
	}
	c.node.ServeHTTP(w, r)
}

// A write that was sent is not sent again, and its client is told that it may
// have been executed (F9, F10).
func TestNoWriteIsSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &counting{node: sim("a")}, &counting{node: sim("b")}
		r, stop := newRig(t, tune{}, up{name: "a", handler: a}, up{name: "b", handler: b, tier: model.Backup})
		defer stop()
		r.known()
		a.cut.Store(true)
		got := r.post(`{"jsonrpc":"2.0","id":7,"method":"eth_sendRawTransaction","params":["0x1"]}`)
		if got.status != 502 || got.code() != -32051 || !strings.Contains(got.body, "no answer from a; it may have been executed") || !strings.Contains(got.body, `"id":7`) {
			t.Errorf("cut: %v", got)
		}
		// In a batch the least member counts.
		got = r.post(`[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_sendRawTransaction","params":["0x2"]}]`)
		if got.status != 502 || strings.Count(got.body, "-32051") != 2 {
			t.Errorf("batch: %v", got)
		}
		for body, n := range a.seen {
			if n+b.seen[body] != 1 {
				t.Errorf("seen %d times: %s", n+b.seen[body], body)
			}
		}
		if len(a.seen) != 2 || len(b.seen) != 0 {
			t.Errorf("a saw %d, b saw %d", len(a.seen), len(b.seen))
		}
		// A read in the same state moves on.
		if got := r.call(1); got.status != 200 || got.by != "b" {
			t.Errorf("read: %v", got)
		}
	})
}

// A write whose upstream could not even be reached goes to the next one.
func TestUnsentWriteMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, ups := two()
		ups[1] = up{name: "b", handler: &counting{node: sim("b")}, tier: model.Backup}
		r, stop := newRig(t, tune{}, ups...)
		defer stop()
		r.known()
		if err := a.Down(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // a write on a connection that died just now may have been executed
		got := r.post(`{"jsonrpc":"2.0","id":7,"method":"eth_sendRawTransaction","params":["0x1"]}`)
		if got.by != "b" {
			t.Errorf("%v", got)
		}
	})
}

// A hedge's loser was cancelled by us: that says nothing of it (V1).
func TestLoserOfAHedgeSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := sim("a")
		var slow atomic.Bool
		h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if slow.Load() && q.Header.Get("X-Slow") != "" {
				time.Sleep(time.Second)
			}
			node.ServeHTTP(w, q)
		})
		r, stop := newRig(t, tune{}, up{name: "a", handler: h}, up{name: "b", node: sim("b"), tier: model.Backup})
		defer stop()
		r.known()
		slow.Store(true)
		for id := range 30 {
			// While one call is slow the upstream answers others: no stall.
			done := make(chan reply)
			go func() {
				req, _ := http.NewRequest("POST", "http://gw/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}`))
				req.Header.Set("X-Slow", "1")
				resp, err := r.http.Do(req)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				done <- reply{err: err}
			}()
			for range 60 {
				time.Sleep(5 * time.Millisecond)
				r.call(id)
			}
			if got := <-done; got.err != nil {
				t.Fatal(got.err)
			}
		}
		time.Sleep(2 * time.Second)
		tr := r.chain().Traffic
		if tr.Hedged == 0 {
			t.Fatal("nothing was hedged")
		}
		if tr.Upstreams[0].Silences != 0 || tr.Upstreams[0].Abandoned == 0 || suspicions(r) != 0 {
			t.Errorf("a: %+v, %d suspicions", tr.Upstreams[0], suspicions(r))
		}
	})
}

// An upstream that closes idle connections every second is no upstream that
// gives no answer (F5).
func TestClosedIdleConnectionsAreNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := newRig(t, tune{},
			up{name: "a", handler: sim("a"), idle: time.Second}, up{name: "b", node: sim("b"), tier: model.Backup})
		defer stop()
		r.known()
		for id := range 500 {
			if got := r.call(id); got.status != 200 || got.by != "a" {
				t.Fatalf("request %d: %v", id, got)
			}
			time.Sleep(20*time.Millisecond + time.Duration(id%10)*200*time.Millisecond)
		}
		if tr := r.chain().Traffic; tr.Upstreams[0].Silences != 0 || tr.Upstreams[1].Results != 0 {
			t.Errorf("%+v", tr.Upstreams)
		}
	})
}

// F4: probes, checks and clients' requests share the connections to an upstream,
// so that they measure what clients feel.
func TestChecksShareTheClientsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := sim("a")
		var mu sync.Mutex
		conns := map[string]bool{}
		h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			mu.Lock()
			conns[q.RemoteAddr] = true
			mu.Unlock()
			node.ServeHTTP(w, q)
		})
		r, stop := newRig(t, tune{}, up{name: "a", handler: h})
		defer stop()
		for id := range 100 {
			r.call(id)
			time.Sleep(time.Second) // checks and facts in between
		}
		mu.Lock()
		defer mu.Unlock()
		if len(conns) > 8 { // facts are asked at the same time, the first of them all at once
			t.Errorf("%d connections for one upstream", len(conns))
		}
	})
}

// What an upstream says of itself goes on to the next one: a rate limit, a
// gateway's status; with none left the client gets its own answer. An error of
// the node's is the client's (F5, F6).
func TestAnswersThatMoveOn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		a, b   simnode.Fault
		status int
		by     string
		body   string
		held   bool
	}{
		{"a rate limit", simnode.RateLimit(1000, 40*time.Second), simnode.Quiet(), 200, "b", "result", true},
		{"a gateway's 502", simnode.Status(502, "<html>bad gateway</html>"), simnode.Quiet(), 200, "b", "result", false},
		{"a node's error", simnode.ErrorAll(3, "execution reverted"), simnode.Quiet(), 200, "a", "execution reverted", false},
		{"both limit", simnode.RateLimit(1000, 40*time.Second), simnode.RateLimit(1000, 20*time.Second), 429, "b", "", true},
		{"both are gateways", simnode.Status(503, "no node"), simnode.Status(502, "no node"), 502, "b", "no node", false},
		{"html", simnode.Status(200, "<html>login</html>"), simnode.Quiet(), 200, "b", "result", false},
		{"html from both", simnode.Status(200, "<html>login</html>"), simnode.Status(200, "<html>login</html>"), 503, "", "no upstream is fit for x/jsonrpc: a not json-rpc, b not json-rpc", false},
		{"drops", simnode.DropConn(), simnode.Quiet(), 200, "b", "result", false},
		{"resets", simnode.ResetConn(), simnode.Quiet(), 200, "b", "result", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b, ups := two()
				r, stop := newRig(t, tune{}, ups...)
				defer stop()
				r.known()
				r.set(a, tt.a)
				r.set(b, tt.b)
				got := r.call(1)
				if got.status != tt.status || got.by != tt.by || !strings.Contains(got.body, tt.body) {
					t.Errorf("%v", got)
				}
				synctest.Wait()
				if held := r.chain().Upstreams[0].State.Hold.Active; held != tt.held {
					t.Errorf("held %v", held)
				}
				if tt.held {
					if until := r.chain().Upstreams[0].State.Hold.Until.Sub(r.core.Now()); until > 40*time.Second || until < 39*time.Second {
						t.Errorf("held for %v, want 40s", until)
					}
				}
			})
		})
	}
}

// Everything is down: 503, with words, and never a height nobody reported.
func TestAllDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, ups := two()
		r, stop := newRig(t, tune{}, ups...)
		defer stop()
		r.known()
		for _, n := range []*simnode.Node{a, b} {
			if err := n.Down(); err != nil {
				t.Fatal(err)
			}
		}
		for id := range 200 {
			got := r.call(id)
			if got.status != 503 || got.code() != -32050 || !strings.HasPrefix(got.body, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32050,"message":"no upstream is fit for x/jsonrpc: a `, id)) || strings.Contains(got.body, "result") {
				t.Fatalf("request %d: %v", id, got)
			}
			time.Sleep(200 * time.Millisecond)
		}
		if st := r.chain().State; st.Health != model.Unhealthy {
			t.Errorf("the chain is %v", st.Health)
		}
	})
}

// H3: what moves the next probe is read from the attempts.
func TestWhatTrafficSaysOfTheSchedule(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault simnode.Fault
		soon  bool
		heard bool
	}{
		{"a result", simnode.Quiet(), false, true},
		{"a revert", simnode.ErrorAll(3, "execution reverted"), false, false},
		{"a rate limit", simnode.RateLimit(1000, time.Second), false, false},
		{"no answer", simnode.DropConn(), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := sim("a")
				r, stop := newRig(t, tune{}, up{name: "a", node: a})
				defer stop()
				r.known()
				before := r.chain().State.Next.At
				r.set(a, tt.fault)
				r.call(1)
				synctest.Wait()
				if got := r.chain().State.Next.At; got.Before(before) != tt.soon {
					t.Errorf("next probe at %v, was %v", got, before)
				}
				if heard := r.gw.Heard(0); heard.IsZero() == tt.heard {
					t.Errorf("heard %v", heard)
				}
			})
		})
	}
}

// A client that goes away says nothing of anybody.
func TestClientThatHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := sim("a")
		r, stop := newRig(t, tune{}, up{name: "a", node: a})
		defer stop()
		r.known()
		r.set(a, simnode.Stall())
		before := r.chain().State.Next
		r.http.Timeout = 100 * time.Millisecond
		if got := r.call(1); got.err == nil {
			t.Fatalf("%v", got)
		}
		time.Sleep(time.Second)
		tr := r.chain().Traffic
		if s := r.chain().Upstreams[0].State.Suspect; s.Active || r.chain().State.Next != before || tr.Errors != 0 || tr.Upstreams[0].Abandoned != 1 {
			t.Errorf("suspect %+v, next %+v, traffic %+v", s, r.chain().State.Next, tr)
		}
	})
}
