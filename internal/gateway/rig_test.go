package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaintop/internal/core"
	"chaintop/internal/memnet"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/simnode"
	"chaintop/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a core with its gateway over upstreams on a memory network, and a
// client of it.
type rig struct {
	t     *testing.T
	net   *memnet.Network
	core  *core.Core
	gw    *Gateway
	http  *http.Client
	start time.Time
}

// up is an upstream of a rig: a simulated node, or a handler.
type up struct {
	name    string
	tier    model.Tier
	node    *simnode.Node
	handler http.Handler
	idle    time.Duration // a handler's server closes idle connections after it
}

// tune changes a rig before it starts.
type tune struct {
	chain func(*model.Chain)
	set   func(*Settings)
	inst  func(*model.Instance)
}

// newRig starts a chain x/jsonrpc over ups. It ends with the test; in a bubble
// stop ends it sooner.
func newRig(t *testing.T, tn tune, ups ...up) (*rig, func()) {
	t.Helper()
	r := &rig{t: t, net: &memnet.Network{}, start: time.Now()}
	c := &model.Chain{Name: "x", Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM)}
	c.Settings.Jitter = 0
	var closers []func()
	var clients []*rpc.Client
	var targets []probe.Target
	for _, u := range ups {
		c.Upstreams = append(c.Upstreams, model.Upstream{Name: u.name, Tier: u.tier})
		closers = append(closers, r.upstream(u))
		addr, err := rpc.ParseURL(u.name, "http://"+u.name)
		if err != nil {
			t.Fatal(err)
		}
		client, err := rpc.NewClient(addr, rpc.Options{Dial: r.net.Dial, MaxIdle: 64})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
		targets = append(targets, probe.Target{Family: model.EVM, Client: client})
	}
	if tn.chain != nil {
		tn.chain(c)
	}
	for i := range targets {
		targets[i].Family = c.Family
	}
	set := DefaultSettings()
	if tn.set != nil {
		tn.set(&set)
	}
	inst := model.Instance{Name: "gw", Epoch: "e1", Policy: model.ReadyAll, Gateway: true, Chains: []*model.Chain{c}}
	if tn.inst != nil {
		tn.inst(&inst)
	}
	r.gw = New(Options{
		Picture: func() *model.Instance {
			if r.core == nil {
				return &inst
			}
			return r.core.Picture()
		},
		Now:     func() time.Time { return r.core.Now() },
		Clients: [][]*rpc.Client{clients}, Settings: []Settings{set},
	})
	var err error
	if r.core, err = core.New(core.Options{Instance: inst, Prober: probe.Set{targets}, Relay: r.gw}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.core.Run(ctx) }) // cancelled, as it must be
	closeServer := r.serve("gw:80", r.gw, 0)
	transport := &http.Transport{DialContext: r.net.Dial, DisableCompression: true, MaxIdleConnsPerHost: 64}
	r.http = &http.Client{Transport: transport}
	stop := sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		closeServer()
		cancel()
		wg.Wait()
		for _, c := range clients {
			c.Close()
		}
		for _, f := range closers {
			f()
		}
	})
	t.Cleanup(stop)
	return r, stop
}

func (r *rig) upstream(u up) func() {
	if u.node == nil {
		return r.serve(u.name+":80", u.handler, u.idle)
	}
	l, err := r.net.Listen(u.name + ":80")
	if err != nil {
		r.t.Fatal(err)
	}
	if err := u.node.Serve(l); err != nil {
		r.t.Fatal(err)
	}
	return func() { _ = u.node.Close() }
}

func (r *rig) serve(addr string, h http.Handler, idle time.Duration) func() {
	l, err := r.net.Listen(addr)
	if err != nil {
		r.t.Fatal(err)
	}
	return serveOn(l, h, idle)
}

func serveOn(l net.Listener, h http.Handler, idle time.Duration) func() {
	s := &http.Server{Handler: h, IdleTimeout: idle, ReadHeaderTimeout: 5 * time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) }) // closed, as it must be
	return func() {
		_ = s.Close()
		wg.Wait()
	}
}

// reply is an answer a client got.
type reply struct {
	status int
	by     string
	body   string
	took   time.Duration
	err    error
}

func (r reply) String() string {
	return fmt.Sprintf("%d by %q in %v: %s %v", r.status, r.by, r.took, r.body, r.err)
}

// code is the code of the JSON-RPC error in it, 0 when there is none.
func (r reply) code() int {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal([]byte(r.body), &m) // a body of another shape has no code
	return m.Error.Code
}

func (r *rig) post(body string) reply { return r.ask("POST", "http://gw/", body) }

func (r *rig) ask(method, url, body string) reply {
	begun := time.Now()
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewBufferString(body))
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.http.Do(req)
	if err != nil {
		return reply{err: err, took: time.Since(begun)}
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return reply{status: resp.StatusCode, by: resp.Header.Get("X-Served-By"), body: string(b), took: time.Since(begun), err: err}
}

// call asks for the head.
func (r *rig) call(id int) reply {
	return r.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_blockNumber","params":[]}`, id))
}

// known waits until every upstream is healthy by a check.
func (r *rig) known() { time.Sleep(7 * time.Second) }

func (r *rig) chain() *model.Chain { return r.core.Picture().Chains[0] }

func (r *rig) set(n *simnode.Node, f simnode.Fault) {
	r.t.Helper()
	if err := n.Set(f); err != nil {
		r.t.Fatal(err)
	}
}

func sim(name string) *simnode.Node {
	return simnode.New(simnode.Options{Name: name, Latency: time.Millisecond, BlockTime: time.Second, Start: 100})
}

// two are a primary and a backup.
func two() (a, b *simnode.Node, ups []up) {
	a, b = sim("a"), sim("b")
	return a, b, []up{{name: "a", node: a}, {name: "b", node: b, tier: model.Backup}}
}

// DefaultSettings are SPEC's.
func DefaultSettings() Settings {
	return Settings{
		Timeout: 30 * time.Second, HedgeAuto: true, MaxBody: 1 << 20, MaxBatch: 100,
		Deny: []string{"admin_*", "personal_*", "miner_*", "engine_*"},
	}
}
