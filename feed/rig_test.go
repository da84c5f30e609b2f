package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// plant is an instance whose inputs a test gives by hand.
type plant struct {
	mu   sync.Mutex
	inst model.Instance
	log  *Log
	air  []model.EffectTry
	mute bool // its sink is stopped
	sent []model.Command
}

func newPlant(epoch string, chains, upstreams int) *plant {
	p := &plant{log: NewLog(&model.Instance{Epoch: epoch})}
	def := model.Instance{Name: "gw", Version: "v1", Epoch: epoch, Policy: model.ReadyAll, Demo: true}
	for n := range chains {
		set := model.DefaultSettings(model.EVM)
		c := &model.Chain{Name: fmt.Sprintf("chain%d", n), Interface: "jsonrpc", Family: model.EVM, Settings: set}
		for u := range upstreams {
			c.Upstreams = append(c.Upstreams, model.Upstream{Name: fmt.Sprintf("node%d", u)})
		}
		def.Chains = append(def.Chains, c)
	}
	now := time.Now().UTC().Round(0)
	started := model.Event{At: now, Chain: -1, Body: model.Started{Instance: model.Begin(def, now)}}
	p.inst.Apply(started)
	p.log.Append(p.inst.Clone(), []model.Event{started})
	return p
}

// in decides one input and publishes what became of it, as a core does.
func (p *plant) in(in model.Input) []model.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	events, effects := p.inst.Step(in)
	for _, e := range effects {
		if try, ok := e.(model.EffectTry); ok {
			p.air = append(p.air, try)
		}
	}
	if len(events) > 0 {
		p.log.Append(p.inst.Clone(), events)
	}
	return events
}

// due lets the time of a chain come.
func (p *plant) due(chain int) { p.in(model.Due{At: time.Now().UTC(), Chain: chain}) }

// land ends the tries in the air with a result, and those that follow from it.
func (p *plant) land(head uint64) {
	for {
		p.mu.Lock()
		air := p.air
		p.air = nil
		p.mu.Unlock()
		if len(air) == 0 {
			return
		}
		now := time.Now().UTC().Round(0)
		for _, e := range air {
			p.in(model.TryDone{
				Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp, Started: e.Stamp, Ended: now,
				Outcome: model.Outcome{Kind: model.Result, Facts: model.Facts{Head: model.Say(head)},
					Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200}, Took: 12 * time.Millisecond, Asked: 1},
			})
		}
	}
}

// tick is a change of one chain, small and in no need of a rule.
func (p *plant) tick(chain int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.inst.Chains[chain].State
	st.Probes++
	e := model.Event{At: time.Now().UTC().Round(0), Chain: chain, Body: model.ChainChanged{What: model.ChangeNext, From: st.Health, State: st}}
	p.inst.Apply(e)
	p.log.Append(p.inst.Clone(), []model.Event{e})
}

var errMute = errors.New("stopped")

// Send is the plant's sink.
func (p *plant) Send(_ context.Context, cmd model.Command) error {
	p.mu.Lock()
	mute := p.mute
	if !mute {
		p.sent = append(p.sent, cmd)
	}
	p.mu.Unlock()
	if mute {
		return errMute
	}
	cmd.At = time.Now().UTC().Round(0)
	p.in(cmd)
	return nil
}

func (p *plant) silence(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
}

func (p *plant) first() model.Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[0]
}

func (p *plant) chain(n int) *model.Chain {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inst.Chains[n]
}

func (p *plant) acts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

func (p *plant) picture() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pictureText(&p.inst)
}

func pictureText(pic *model.Instance) string {
	b, err := json.Marshal(pic)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// tokens of the tests.
const (
	opSecret   = "ct_operator"
	viewSecret = "ct_viewer"
)

func someTokens() []Token {
	return []Token{
		{Name: "oncall", Role: RoleOperator, Secret: opSecret},
		{Name: "wall", Role: RoleViewer, Secret: viewSecret},
	}
}

// house is a server on a network.
type house struct {
	t    testing.TB
	l    net.Listener
	srv  *http.Server
	feed *Server
	done chan error
}

func newHouse(t *testing.T, l net.Listener, p *plant, with func(*ServerOptions)) *house {
	t.Helper()
	o := ServerOptions{Log: p.log, Sink: p, Tokens: someTokens, Loopback: true}
	if with != nil {
		with(&o)
	}
	feed, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, l: l, feed: feed, done: make(chan error, 1)}
	h.srv = newHTTP(feed)
	go func() { h.done <- h.srv.Serve(l) }()
	return h
}

// shut stops the server as a process does: goodbye, then the listener.
func (h *house) shut(ctx context.Context) {
	_ = h.feed.Shutdown(ctx) // what was left is cut
	h.unplug()
}

func (h *house) unplug() {
	_ = h.srv.Close() // Serve says how it went
	h.served()
}

func (h *house) served() {
	if err := <-h.done; !errors.Is(err, http.ErrServerClosed) {
		h.t.Errorf("the server ended with %v", err)
	}
}

// kill stops it as kill -9 does: nobody is told anything.
func (h *house) kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.srv.Close() // Serve says how it went
	h.feed.mu.Lock()
	h.feed.closing = true
	for v := range h.feed.viewers {
		v.sock.close()
	}
	h.feed.mu.Unlock()
	_ = h.feed.Shutdown(ctx)
	h.served()
}

// following is a client under way.
type following struct {
	*Client
	cancel context.CancelFunc
	done   chan struct{}
}

func follow(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), secret string, with func(*ClientOptions)) *following {
	t.Helper()
	o := ClientOptions{
		URL: "ws://127.0.0.1/feed", Dial: dial, Name: "test",
		Token: func() (string, error) { return secret, nil },
		Rand:  func() float64 { return 0.5 },
	}
	if with != nil {
		with(&o)
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &following{c, cancel, make(chan struct{})}
	go func() {
		defer close(f.done)
		_ = c.Run(ctx) // ctx ends it, and is its error
	}()
	return f
}

func (f *following) stop() {
	f.cancel()
	<-f.done
}

func (f *following) picture() string {
	pic, _, _ := f.log.Snapshot(context.Background())
	if pic == nil {
		return "none"
	}
	return pictureText(pic)
}

// bubble runs a test of a plant, a server and a client in memory, on a fake
// clock.
func bubble(t *testing.T, test func(t *testing.T, p *plant, h *house, c *following)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		p := newPlant("e1", 3, 2)
		h := newHouse(t, l, p, nil)
		c := follow(t, l.DialContext, opSecret, nil)
		defer h.shut(context.Background())
		defer c.stop()
		synctest.Wait()
		test(t, p, h, c)
	})
}

func same(t *testing.T, p *plant, c *following) {
	t.Helper()
	if d := diff(c.picture(), p.picture()); d != "" {
		t.Fatalf("the client's picture is another: %s", d)
	}
}

// diff is where two texts part; empty when they do not.
func diff(got, want string) string {
	if got == want {
		return ""
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	near := func(s string) string { return s[max(0, i-60):min(len(s), i+60)] }
	return fmt.Sprintf("at byte %d …%s…, want …%s…", i, near(got), near(want))
}

// shrink makes a ring small.
func (r *ring) shrink(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = bytes
}
