// Package simnode is simulated Ethereum nodes with scripted faults: what the
// demo watches, and what tests ask. They speak JSON-RPC over HTTP on any
// listener, so they are probed as any other node is.
//
// Law: a node's heights, hashes and times follow from its Options and the
// clock, and from nothing else; two nodes of one chain agree. A fault is
// switched while requests are in flight: a request meets the fault that stands
// when it arrives. After Close no goroutine is left.
//
// Not promised: transactions, state, subscriptions.
package simnode

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options say what a node is. The zero value is a node of chain 1337 at height
// 0, a block every 12 s, that answers at once.
type Options struct {
	Name      string
	ChainID   uint64        // 0 = 1337
	Start     uint64        // height at At
	At        time.Time     // zero = when the node is made
	BlockTime time.Duration // 0 = 12 s
	Latency   time.Duration // from a request to its answer
	Client    string        // of web3_clientVersion; "" = simnode/v1.0.0
	Peers     int           // 0 = 8; negative = none
	Lacks     []string      // methods it does not have
	Seed      int64         // of the block hashes
}

// Node is one node. It is an http.Handler, and serves itself with Serve. It is
// safe for concurrent use.
type Node struct {
	opts  Options
	chain ledger
	life  life

	mu       sync.Mutex
	fault    Fault
	since    time.Time      // of fault
	asked    int            // requests since then
	requests map[string]int // by method
}

// New makes a node without faults. Nothing listens yet.
func New(o Options) *Node {
	if o.ChainID == 0 {
		o.ChainID = 1337
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	if o.BlockTime <= 0 {
		o.BlockTime = 12 * time.Second
	}
	if o.Client == "" {
		o.Client = "simnode/v1.0.0"
	}
	if o.Peers == 0 {
		o.Peers = 8
	}
	o.Lacks = slices.Clone(o.Lacks)
	return &Node{
		opts:     o,
		chain:    ledger{seed: o.Seed, id: o.ChainID, start: o.Start, at: o.At, pace: o.BlockTime},
		requests: make(map[string]int),
	}
}

// Name is the node's name in Options.
func (n *Node) Name() string { return n.opts.Name }

// Set switches to f; what stood before is over, but for requests it already
// met. Refuse takes the node Down, and any other fault brings a node that is
// down Up. It fails when that does.
func (n *Node) Set(f Fault) error {
	if f.kind == refuse {
		if err := n.Down(); err != nil {
			return err
		}
		n.assume(Quiet())
		return nil
	}
	n.assume(f)
	return n.Up()
}

func (n *Node) assume(f Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault, n.since, n.asked = f, time.Now(), 0
}

// Requests counts what was asked so far, by method. A batch counts each of its
// members; a plain GET or HEAD counts under that name, and everything the node
// does not know under "other".
func (n *Node) Requests() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.requests)
}

// arrive counts a request and says which fault it meets, and since when that
// stands.
func (n *Node) arrive(methods []string) (Fault, time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range methods {
		n.requests[m]++
	}
	n.asked++
	if n.fault.first > 0 && n.asked > n.fault.first {
		return Quiet(), n.since
	}
	return n.fault, n.since
}

// ServeHTTP answers one request, a batch too, as the fault of the moment has
// it.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := n.read(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away in the middle of its question
	}
	f, since := n.arrive(q.methods)
	if f.kind == stall {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	if !sleep(r.Context(), n.opts.Latency) {
		panic(http.ErrAbortHandler)
	}
	if f.interrupt(w) {
		return
	}
	n.reply(w, q, n.see(f, since, time.Now()))
}

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
