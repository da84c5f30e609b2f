package core_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/internal/memnet"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/simnode"
	"chaintop/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a core over simulated nodes, on a memory network inside a bubble or on
// loopback outside one.
type rig struct {
	t     *testing.T
	core  *core.Core
	start time.Time
	stop  func()
}

// chain is a chain whose upstreams are at the URLs, with no chance in its
// schedule.
func chain(name string, urls int, tune ...func(*model.Settings)) *model.Chain {
	set := model.DefaultSettings(model.EVM)
	set.Jitter = 0
	for _, f := range tune {
		f(&set)
	}
	c := &model.Chain{Name: name, Interface: "jsonrpc", Family: model.EVM, Settings: set}
	for i := range urls {
		c.Upstreams = append(c.Upstreams, model.Upstream{Name: fmt.Sprint("u", i)})
	}
	return c
}

// rare keeps the rounds of checks out of the way of a test about probes.
func rare(s *model.Settings) { s.CheckInterval = 1000 * time.Hour }

type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// start runs a core. urls are those of the chains' upstreams, by chain.
func start(t *testing.T, dial dialer, urls [][]string, o core.Options) *rig {
	t.Helper()
	o.Instance.Name, o.Instance.Epoch, o.Instance.Policy = "gw", "e1", model.ReadyAll
	var clients []*rpc.Client
	if o.Prober == nil {
		var targets probe.Set
		for c, us := range urls {
			var row []probe.Target
			for i, raw := range us {
				u, err := rpc.ParseURL(o.Instance.Chains[c].Upstreams[i].Name, raw)
				if err != nil {
					t.Fatal(err)
				}
				client, err := rpc.NewClient(u, rpc.Options{Dial: dial})
				if err != nil {
					t.Fatal(err)
				}
				clients = append(clients, client)
				row = append(row, probe.Target{Family: model.EVM, Client: client})
			}
			targets = append(targets, row)
		}
		o.Prober = targets
	}
	r := &rig{t: t, start: time.Now()}
	var err error
	if r.core, err = core.New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.core.Run(ctx) // cancelled, as it must be
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		for _, c := range clients {
			c.Close()
		}
	})
	t.Cleanup(r.stop)
	return r
}

// node serves a simulated node on the memory network, or on loopback for nil.
func node(t *testing.T, n *memnet.Network, o simnode.Options, faults ...simnode.Fault) *simnode.Node {
	t.Helper()
	sim := simnode.New(o)
	t.Cleanup(func() { _ = sim.Close() })
	var l net.Listener
	var err error
	if n != nil {
		l, err = n.Listen(o.Name + ":80")
	} else {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Serve(l); err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		if err := sim.Set(f); err != nil {
			t.Fatal(err)
		}
	}
	return sim
}

// events is everything in the log so far.
func (r *rig) events() []model.Event {
	r.t.Helper()
	synctest.Wait()
	_, at, err := r.core.Log().Snapshot(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	if at.Seq == 0 {
		return nil
	}
	all, _, err := r.core.Log().After(r.t.Context(), feed.Cursor{Epoch: at.Epoch})
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.Clone(all)
}

// of is the events whose body is a B, of one chain, with the time since the
// start of each.
func of[B model.Body](r *rig, chain int) (bodies []B, at []time.Duration) {
	r.t.Helper()
	for _, e := range r.events() {
		if b, ok := e.Body.(B); ok && e.Chain == chain {
			bodies, at = append(bodies, b), append(at, e.At.Sub(r.start))
		}
	}
	return bodies, at
}

// probe asks for a probe of a chain by hand.
func (r *rig) probe(chain int) {
	r.t.Helper()
	if err := r.core.Send(r.t.Context(), model.Command{ID: "t", Op: model.OpProbe, Chains: []int{chain}, Who: "oncall"}); err != nil {
		r.t.Fatal(err)
	}
}
