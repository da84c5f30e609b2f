package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/core"
	"chaintop/internal/memnet"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// streamRig is a gateway over two scripted nodes, a primary and a backup.
type streamRig struct {
	t    *testing.T
	net  *memnet.Network
	core *core.Core
	gw   *Gateway
	a, b *scripted
}

// newStreamRig starts one in a bubble; stop ends all of it.
func newStreamRig(t *testing.T, set func(*Settings)) (*streamRig, func()) {
	t.Helper()
	r := &streamRig{t: t, net: &memnet.Network{}}
	r.a, r.b = newScripted(t, r.net, "a", 1), newScripted(t, r.net, "b", 2)
	c := &model.Chain{Name: "x", Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM)}
	c.Settings.Jitter = 0
	var clients []*rpc.Client
	var targets []probe.Target
	for i, name := range []string{"a", "b"} {
		c.Upstreams = append(c.Upstreams, model.Upstream{Name: name, Tier: []model.Tier{model.Primary, model.Backup}[i]})
		addr, err := rpc.ParseURL(name, "http://"+name)
		if err != nil {
			t.Fatal(err)
		}
		client, err := rpc.NewClient(addr, rpc.Options{Dial: r.net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
		targets = append(targets, probe.Target{Family: model.EVM, Client: client})
	}
	settings := DefaultSettings()
	if set != nil {
		set(&settings)
	}
	inst := model.Instance{Name: "gw", Epoch: "e1", Policy: model.ReadyAll, Gateway: true, Chains: []*model.Chain{c}}
	r.gw = New(Options{
		Picture: func() *model.Instance {
			if r.core == nil {
				return &inst
			}
			return r.core.Picture()
		},
		Now: func() time.Time {
			if r.core == nil {
				return time.Now()
			}
			return r.core.Now()
		},
		Clients: [][]*rpc.Client{clients}, Settings: []Settings{settings},
	})
	var err error
	if r.core, err = core.New(core.Options{Instance: inst, Prober: probe.Set{targets}, Relay: r.gw}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.core.Run(ctx) })                // cancelled, as it must be
	wg.Go(func() { _ = r.gw.Follow(ctx, r.core.Log()) }) // likewise
	l, err := r.net.Listen("gw:80")
	if err != nil {
		t.Fatal(err)
	}
	closeServer := serveOn(l, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		rt, rest := r.gw.find(q.URL)
		if rt == nil || !upgrading(q) {
			r.gw.ServeHTTP(w, q)
			return
		}
		r.gw.stream(w, q, rt, rest, r.gw.activity.enter(nil, rt.n, model.ClientWS, clientOf(q.RemoteAddr), r.gw.o.Now()))
	}), 0)
	return r, func() {
		if n := r.gw.CloseStreams(context.Background()); n > 0 {
			t.Errorf("%d streams are left", n)
		}
		closeServer()
		cancel()
		wg.Wait()
		for _, c := range clients {
			c.Close()
		}
		r.a.kill()
		r.b.kill()
	}
}

func (r *streamRig) known() { time.Sleep(7 * time.Second) }

func (r *streamRig) traffic() model.Traffic {
	time.Sleep(1100 * time.Millisecond) // sums are read once a second
	return r.core.Picture().Chains[0].Traffic
}

// grow adds block k of a branch to both nodes.
func (r *streamRig) grow(name, parent string, k int) {
	for _, n := range []*scripted{r.a, r.b} {
		n.grow(branch(name, parent, k, k)...)
	}
}

// wsClient is a client, and all that came to it.
type wsClient struct {
	t      *testing.T
	ws     *websocket.Conn
	header http.Header
	left   sync.WaitGroup

	mu    sync.Mutex
	came  []string
	wake  chan struct{}
	ended error
}

func (r *streamRig) dial() *wsClient {
	r.t.Helper()
	ws, resp, err := r.handshake(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &wsClient{t: r.t, ws: ws, header: resp.Header, wake: make(chan struct{}, 1)}
	c.left.Go(func() {
		for {
			_, b, err := ws.ReadMessage()
			c.mu.Lock()
			if err != nil {
				c.ended = err
			} else {
				c.came = append(c.came, string(b))
			}
			c.mu.Unlock()
			select {
			case c.wake <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	})
	return c
}

func (r *streamRig) handshake(header http.Header) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: r.net.Dial}
	return d.Dial("ws://gw/x", header)
}

func (c *wsClient) close() {
	_ = c.ws.Close()
	c.left.Wait()
}

func (c *wsClient) send(text string) {
	c.t.Helper()
	if err := c.ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// await is the first message that holds all of the texts, within 40 s.
func (c *wsClient) await(texts ...string) string {
	c.t.Helper()
	late := time.After(40 * time.Second)
	for at := 0; ; {
		c.mu.Lock()
		for ; at < len(c.came); at++ {
			ok := true
			for _, text := range texts {
				ok = ok && strings.Contains(c.came[at], text)
			}
			if ok {
				defer c.mu.Unlock()
				return c.came[at]
			}
		}
		ended := c.ended
		c.mu.Unlock()
		if ended != nil {
			c.t.Fatalf("ended before %q: %v", texts, ended)
		}
		select {
		case <-c.wake:
		case <-late:
			c.t.Fatalf("%q did not come; came %v", texts, c.all())
		}
	}
}

func (c *wsClient) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.came...)
}

// ask sends a request and is its answer.
func (c *wsClient) ask(id, method, params string) string {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return c.await(`"id":` + id + `,`)
}

// subscribe is the id of a subscription.
func (c *wsClient) subscribe(id, params string) string {
	c.t.Helper()
	var m struct{ Result string }
	if err := json.Unmarshal([]byte(c.ask(id, "eth_subscribe", params)), &m); err != nil || m.Result == "" {
		c.t.Fatalf("not subscribed: %v", err)
	}
	return m.Result
}

func (c *wsClient) closeCode() int {
	c.left.Wait()
	var closed *websocket.CloseError
	if errors.As(c.ended, &closed) {
		return closed.Code
	}
	return 0
}

// notices are what came for a subscription: hashes of heads, and hash/index of
// logs, with a - before what was taken back.
func (c *wsClient) notices(id string) (all []string) {
	for _, text := range c.all() {
		var m struct {
			Params struct {
				Subscription string
				Result       struct {
					Hash, BlockHash, LogIndex string
					Removed                   bool
					Transactions              json.RawMessage
				}
			}
		}
		if json.Unmarshal([]byte(text), &m) != nil || m.Params.Subscription != id {
			continue
		}
		v := m.Params.Result
		switch {
		case v.Transactions != nil:
			c.t.Errorf("no header: %s", text)
		case v.Hash != "":
			all = append(all, v.Hash)
		case v.Removed:
			all = append(all, "-"+v.BlockHash+"/"+v.LogIndex)
		default:
			all = append(all, v.BlockHash+"/"+v.LogIndex)
		}
	}
	return all
}

// replies are the messages that are no notifications.
func (c *wsClient) replies() (all []string) {
	for _, text := range c.all() {
		if !strings.Contains(text, "eth_subscription") {
			all = append(all, text)
		}
	}
	return all
}

// headsOf and logsOf are what a subscriber is to get of blocks.
func headsOf(blocks ...blk) (all []string) {
	for _, b := range blocks {
		all = append(all, b.hash)
	}
	return all
}

func logsOf(sign string, blocks ...blk) (all []string) {
	for _, b := range blocks {
		for i := range 2 {
			all = append(all, fmt.Sprintf("%s%s/0x%d", sign, b.hash, i))
		}
	}
	return all
}

// streaming runs a test in a bubble, with a client's websocket open once every
// upstream is healthy.
func streaming(t *testing.T, set func(*Settings), test func(t *testing.T, r *streamRig, c *wsClient)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, stop := newStreamRig(t, set)
		defer stop()
		r.known()
		c := r.dial()
		defer c.close()
		test(t, r, c)
	})
}
