package simnode

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
)

// The regression T5 is about, from the node's side: the first request hangs
// until its client gives up, the next is answered after 50 ms, and nobody ever
// reads a late answer of the first.
func TestStallFirstStallsTheFirstOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{Latency: 50 * time.Millisecond})
		set(t, n, StallFirst())
		a := inBubble(t, n)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := a.ask(ctx, "eth_blockNumber"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the first request: %v, want its own deadline", err)
		}
		for i := range 3 {
			if got := a.must("eth_blockNumber"); got.took != 50*time.Millisecond || got.err != nil {
				t.Errorf("request %d took %v, want 50ms", i+2, got.took)
			}
			if got := time.Since(start); i == 0 && got != 5050*time.Millisecond {
				t.Errorf("the second answer came at %v, want 5.05s", got)
			}
		}
		set(t, n, StallFirst())
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.ask(ctx, "eth_chainId"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first after it was set again: %v", err)
		}
	})
}

// Whoever comes while the first one still hangs is answered.
func TestStallFirstWithOthersAtTheSameTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := New(Options{})
	set(t, n, StallFirst())
	a := onListener(t, n, l, &http.Transport{})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := a.ask(ctx, "eth_syncing")
		first <- err
	}()
	arrived(t, n, "eth_syncing")
	if a.head() != 0 {
		t.Error("no head")
	}
	select {
	case err := <-first:
		t.Errorf("the first one ended by itself: %v", err)
	default:
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStallHangsUntilTheClientGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a := inBubble(t, n)
		set(t, n, Stall())
		ends := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _, err := a.ask(ctx, "eth_chainId"); ends <- err }()
		synctest.Wait()
		set(t, n, Quiet())
		a.head() // a request that comes after the fault is answered at once
		start := time.Now()
		if err := <-ends; !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("a stalled request: %v after %v; it met the stall and never gets an answer", err, time.Since(start))
		}
	})
}

func TestHTTPFaults(t *testing.T) {
	for _, c := range []struct {
		fault            Fault
		code             int
		kind, retry, say string
	}{
		{RateLimit(0, 0), 429, "text/plain; charset=utf-8", "", "too many requests\n"},
		{RateLimit(0, 40*time.Second), 429, "text/plain; charset=utf-8", "40", "too many requests\n"},
		{Status(503, "<html>down</html>"), 503, "text/html; charset=utf-8", "", "<html>down</html>"},
		{Status(403, `{"error":"key"}`), 403, "application/json", "", `{"error":"key"}`},
		{Status(204, ""), 204, "text/plain; charset=utf-8", "", ""},
		{ErrorAll(-32000, "no state"), 200, "application/json", "",
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no state"}}` + "\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := New(Options{Latency: 20 * time.Millisecond})
			a := inBubble(t, n)
			set(t, n, c.fault)
			got := a.must("eth_blockNumber")
			if got.code != c.code || got.header.Get("Content-Type") != c.kind ||
				got.header.Get("Retry-After") != c.retry || got.body != c.say {
				t.Errorf("%v: %d %v %q", c.fault, got.code, got.header, got.body)
			}
			if got.took != 20*time.Millisecond {
				t.Errorf("%v: took %v", c.fault, got.took)
			}
			set(t, n, Quiet())
			a.head()
		})
	}
}

func TestRateLimitEndsAfterItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a := inBubble(t, n)
		set(t, n, RateLimit(2, time.Second))
		var codes [4]int
		for i := range codes {
			codes[i] = a.must("eth_chainId").code
		}
		if want := [4]int{429, 429, 200, 200}; codes != want {
			t.Errorf("%v, want %v", codes, want)
		}
	})
}

func TestBrokenConnections(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  error
	}{{DropConn(), io.EOF}, {ResetConn(), syscall.ECONNRESET}} {
		synctest.Test(t, func(t *testing.T) {
			n := New(Options{})
			a := inBubble(t, n)
			set(t, n, c.fault)
			if _, err := a.ask(t.Context(), "eth_chainId"); !errors.Is(err, c.want) {
				t.Errorf("%v: %v, want %v", c.fault, err, c.want)
			}
			set(t, n, Quiet())
			a.head()
		})
		t.Run(c.fault.String()+" on a socket", func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			n := New(Options{})
			a := onListener(t, n, l, &http.Transport{})
			set(t, n, c.fault)
			if _, err := a.ask(t.Context(), "eth_chainId"); !errors.Is(err, c.want) {
				t.Errorf("%v: %v, want %v", c.fault, err, c.want)
			}
		})
	}
}

func TestWhatANodeSaysOfItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{ChainID: 10, Start: 1000, BlockTime: time.Second, Peers: -1})
		a := inBubble(t, n)

		set(t, n, Syncing(400, 900))
		if got := string(a.must("eth_syncing").result); got != `{"startingBlock":"0x0","currentBlock":"0x190","highestBlock":"0x384"}` {
			t.Errorf("syncing: %s", got)
		}
		if a.head() != 400 || string(a.must("eth_getBlockByNumber", "0x191", false).result) != "null" {
			t.Error("a node that catches up has blocks it has not got to yet")
		}

		set(t, n, WrongChain(56))
		if got := a.must("eth_chainId"); string(got.result) != `"0x38"` {
			t.Errorf("wrong chain: %s", got.body)
		}
		if got := a.must("net_version"); string(got.result) != `"56"` {
			t.Errorf("wrong chain: %s", got.body)
		}

		set(t, n, LagBy(30))
		if a.head() != 970 {
			t.Error("lag")
		}
		set(t, n, LagBy(-500))
		if a.head() != 1500 || number(t, a.must("eth_getBlockByNumber", "latest", false).blockNumber(t)) != 1500 {
			t.Error("a head that is ahead of everybody's")
		}
		set(t, n, LagBy(5000))
		if a.head() != 0 {
			t.Error("a lag longer than the chain")
		}
		if got := a.must("net_peerCount"); string(got.result) != `"0x0"` {
			t.Errorf("no peers: %s", got.body)
		}
	})
}

func TestHaltStopsTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{Start: 1000, BlockTime: 10 * time.Second})
		a := inBubble(t, n)
		time.Sleep(35 * time.Second)
		set(t, n, Halt())
		time.Sleep(time.Hour)
		if got := a.head(); got != 1003 {
			t.Errorf("head %d after an hour of halt, want 1003", got)
		}
		set(t, n, Quiet())
		if got := a.head(); got != 1363 {
			t.Errorf("head %d after the halt, want where the clock has it, 1363", got)
		}
	})
}

func TestCatchUpGetsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{Start: 10_000, BlockTime: 10 * time.Second})
		a := inBubble(t, n)
		start := time.Now()
		set(t, n, CatchUp(1000, 100*time.Second))
		for _, c := range []struct {
			after time.Duration
			head  uint64
			sync  string
		}{
			{0, 9000, `{"startingBlock":"0x2328","currentBlock":"0x2328","highestBlock":"0x2710"}`},
			{50 * time.Second, 9505, `{"startingBlock":"0x2328","currentBlock":"0x2521","highestBlock":"0x2715"}`},
			{100*time.Second - 1, 10_008, `{"startingBlock":"0x2328","currentBlock":"0x2718","highestBlock":"0x2719"}`},
			{100 * time.Second, 10_010, "false"},
			{200 * time.Second, 10_020, "false"},
		} {
			time.Sleep(time.Until(start.Add(c.after)))
			head, sync := a.head(), string(a.must("eth_syncing").result)
			if head != c.head || sync != c.sync {
				t.Errorf("after %v: head %d, syncing %s; want %d, %s", c.after, head, sync, c.head, c.sync)
			}
		}
		if got := number(t, a.must("eth_getBlockByNumber", "latest", false).blockNumber(t)); got != 10_020 {
			t.Errorf("its latest block is %d", got)
		}
		set(t, n, CatchUp(1<<60, time.Minute))
		if a.head() != 0 {
			t.Error("further behind than the chain is long")
		}
	})
}

func TestSwitchingIsSafe(t *testing.T) {
	network := new(memnet.Network)
	l, err := network.Listen("node:1")
	if err != nil {
		t.Fatal(err)
	}
	n := New(Options{})
	a := onListener(t, n, l, &http.Transport{DialContext: network.Dial})
	faults := []Fault{Quiet(), StallFirst(), Stall(), Refuse(), RateLimit(1, 0), ErrorAll(1, "x"), Status(500, ""),
		Syncing(1, 2), CatchUp(4, time.Second), WrongChain(3), Halt(), LagBy(1), DropConn(), ResetConn()}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 4)
	for range cap(done) {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				one, stop := context.WithTimeout(ctx, 5*time.Millisecond)
				_, _ = a.ask(one, "eth_blockNumber") // whatever comes, comes
				stop()
			}
		}()
	}
	for range 20 {
		for _, f := range faults {
			set(t, n, f)
		}
	}
	cancel()
	for range cap(done) {
		<-done
	}
	set(t, n, Quiet())
	a.head()
}

func TestFaultsHaveWords(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range []Fault{Quiet(), StallFirst(), Stall(), Refuse(), RateLimit(1, 0), ErrorAll(-1, ""), Status(500, ""),
		Syncing(1, 2), CatchUp(4, time.Second), WrongChain(3), Halt(), LagBy(1), DropConn(), ResetConn()} {
		s := f.String()
		if s == "" || s == "unknown" || seen[s] {
			t.Errorf("fault %d is %q", f.kind, s)
		}
		seen[s] = true
	}
}
