package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chaintop/internal/memnet"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/simnode"
	"chaintop/model"
)

var everything = model.Questions{
	model.AskChainID, model.AskSyncing, model.AskBlock, model.AskSafe, model.AskFinalized, model.AskPeers, model.AskClient,
}

// evmTarget is an EVM target at an address, dialed by dial.
func evmTarget(t *testing.T, raw string, dial func(context.Context, string, string) (net.Conn, error)) probe.Target {
	t.Helper()
	u, err := rpc.ParseURL("up", raw)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.NewClient(u, rpc.Options{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	return probe.Target{Family: model.EVM, Client: c}
}

// try is one try of 5 s as core makes it: the head, and after a result the facts.
func try(t *testing.T, target probe.Target, questions model.Questions) (model.Outcome, model.Told) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	o, err := probe.Try(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	if o.Kind != model.Result {
		return o, model.Told{}
	}
	told, err := probe.Facts(ctx, target, questions)
	if err != nil {
		t.Fatal(err)
	}
	return o, told
}

// inBubble runs f against a handler in a bubble.
func inBubble(t *testing.T, h http.Handler, f func(t *testing.T, target probe.Target)) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: h}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		target := evmTarget(t, "http://node.test", l.DialContext)
		f(t, target)
		target.Client.Close()
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// rpcNode answers each method with a body; %d is the id. It keeps the order in
// which methods came.
type rpcNode struct {
	replies map[string]string
	stalls  map[string]bool
	latency time.Duration

	mu    sync.Mutex
	asked []string
}

func (n *rpcNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     int64
		Method string
		Params []any
	}
	b, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(b, &q)
	name := q.Method
	if len(q.Params) > 0 {
		name += " " + fmt.Sprint(q.Params[0])
	}
	n.mu.Lock()
	n.asked = append(n.asked, name)
	n.mu.Unlock()
	if n.stalls[name] {
		<-r.Context().Done()
		return
	}
	time.Sleep(n.latency)
	reply, ok := n.replies[name]
	switch {
	case !ok:
		reply = `{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"Method not found"}}`
	case !strings.HasPrefix(reply, `{"jsonrpc"`):
		reply = `{"jsonrpc":"2.0","id":%d,"result":` + reply + `}`
	}
	_, _ = fmt.Fprintf(w, reply, q.ID)
}

func (n *rpcNode) order() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked)
}

func TestTryAsksTheHeadThenAllFactsTogether(t *testing.T) {
	n := &rpcNode{latency: 50 * time.Millisecond, replies: map[string]string{
		"eth_blockNumber":                `"0x10"`,
		"eth_chainId":                    `"0x7a69"`,
		"eth_syncing":                    `false`,
		"eth_getBlockByNumber latest":    `{"number":"0x11","timestamp":"0x65"}`,
		"eth_getBlockByNumber safe":      `{"number":"0xf"}`,
		"eth_getBlockByNumber finalized": `null`,
		"web3_clientVersion":             `"Geth/v1.17\u001b[31m/linux"`,
	}}
	inBubble(t, n, func(t *testing.T, target probe.Target) {
		for round := range 3 { // on fresh connections, then on kept ones
			begun := time.Now()
			outcome, told := try(t, target, everything)
			if took := time.Since(begun); took != 100*time.Millisecond {
				t.Errorf("round %d took %v", round, took)
			}
			want := model.Outcome{
				Kind: model.Result, Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200, Text: "head 16"},
				Took: 50 * time.Millisecond, Asked: 1, Facts: model.Facts{Head: model.Say(uint64(16))},
			}
			if diff := cmp.Diff(want, outcome); diff != "" {
				t.Errorf("round %d, outcome (-want +got):\n%s", round, diff)
			}
			facts := model.Told{Asked: 7, Facts: model.Facts{
				ChainID: model.Say("31337"), Syncing: model.Say(false),
				Block: model.Say(model.Block{Number: 17, Time: time.Unix(101, 0).UTC()}),
				Safe:  model.Say(uint64(15)), Finalized: model.Lacks[uint64](),
				Peers: model.Lacks[uint64](), Client: model.Say("Geth/v1.17/linux"),
			}}
			if diff := cmp.Diff(facts, told); diff != "" {
				t.Errorf("round %d, facts (-want +got):\n%s", round, diff)
			}
		}
		if first := n.order()[0]; first != "eth_blockNumber" {
			t.Errorf("%s was asked first", first)
		}
	})
}

// A second try used to take the late answer of the first.
func TestStalledTryDoesNotReachTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := simnode.New(simnode.Options{ChainID: 1, Start: 100, Latency: 50 * time.Millisecond})
		if err := node.Set(simnode.StallFirst()); err != nil {
			t.Fatal(err)
		}
		l := memnet.Listen()
		if err := node.Serve(l); err != nil {
			t.Fatal(err)
		}
		var set probe.Set
		for range 3 { // one server, configured as three upstreams
			set = append(set, []probe.Target{evmTarget(t, "http://node.test", l.DialContext)})
		}
		begun := time.Now()
		for i, want := range []string{"no_answer timeout 5s", "result  50ms", "result  50ms"} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			o, err := set.Try(ctx, i, 0)
			cancel()
			if got := fmt.Sprintf("%s %s %v", o.Kind, o.Reason, o.Took); err != nil || got != want {
				t.Errorf("try %d: %s %v, want %s", i, got, err, want)
			}
			if i == 1 && time.Since(begun) != 5050*time.Millisecond {
				t.Errorf("the second try ended at %v", time.Since(begun))
			}
		}
		set.Close()
		if err := node.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDeadHostCostsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		dials := 0
		target := evmTarget(t, "http://node.test:8545", func(ctx context.Context, n, addr string) (net.Conn, error) {
			dials++
			return network.Dial(ctx, n, addr)
		})
		o, _ := try(t, target, everything)
		if o.Reason != model.ReasonRefused || o.Asked != 0 || dials != 1 || o.Evidence.String() != "connect: connection refused" || o.Evidence.Layer != model.LayerTCP {
			t.Errorf("%s %s, %d asked, %d dials", o.Reason, o.Evidence, o.Asked, dials)
		}
		target.Client.Close()
	})
}

func TestFactsThatFailStayUnknown(t *testing.T) {
	n := &rpcNode{
		replies: map[string]string{
			"eth_blockNumber":             `"0x10"`,
			"eth_chainId":                 `{"jsonrpc":"2.0","id":%d,"error":{"code":-32005,"message":"limit exceeded"}}`,
			"eth_syncing":                 `{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"internal"}}`,
			"eth_getBlockByNumber latest": `"no block"`,
			"web3_clientVersion":          `7`,
		},
		stalls: map[string]bool{"net_peerCount": true},
	}
	inBubble(t, n, func(t *testing.T, target probe.Target) {
		begun := time.Now()
		o, told := try(t, target, everything)
		if o.Kind != model.Result || o.Findings != 0 || time.Since(begun) != 5*time.Second {
			t.Errorf("%s %v after %v", o.Kind, o.Findings.Words(), time.Since(begun))
		}
		want := model.Told{
			Asked: 7, Findings: model.FindingSet(model.RateLimited),
			Facts: model.Facts{Safe: model.Lacks[uint64](), Finalized: model.Lacks[uint64]()},
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
	})
}

func TestCancelledTryHasNoOutcome(t *testing.T) {
	n := &rpcNode{stalls: map[string]bool{"eth_blockNumber": true}}
	inBubble(t, n, func(t *testing.T, target probe.Target) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		o, err := probe.Try(ctx, target)
		var f *rpc.Failure
		if o.Kind != model.NoOutcome || !errors.Is(err, context.Canceled) || !errors.As(err, &f) || time.Since(begun) != time.Second {
			t.Errorf("%s %v after %v", o.Kind, err, time.Since(begun))
		}
	})
}

func TestWhatNobodyCanAsk(t *testing.T) {
	c := evmTarget(t, "http://node.test", nil).Client
	defer c.Close()
	set := probe.Set{{{Family: model.EVM}, {Family: "solana", Client: c}}}
	for u, want := range []string{`family "evm" without a client: not implemented`, `family "solana" over http: not implemented`, "chain 0, upstream 2: not implemented"} {
		_, err := set.Try(t.Context(), 0, u)
		if !errors.Is(err, probe.ErrNotImplemented) || err.Error() != want {
			t.Errorf("upstream %d: %v, want %s", u, err, want)
		}
	}
	_, err := probe.Ask(t.Context(), probe.Target{Family: model.EVM, Client: c}, probe.Question{Method: "x", Params: json.RawMessage("{")})
	if !errors.Is(err, rpc.ErrUnbuilt) {
		t.Errorf("parameters that are no JSON: %v", err)
	}
}
