package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"github.com/prometheus/common/config"

	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// socketNode is a node on a websocket. It answers a call by a value, a whole
// reply, or nothing where it has none, and sends a notification before each.
type socketNode struct {
	replies map[string]string
	opened  atomic.Int32
	key     atomic.Value // of the last handshake
}

func (n *socketNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.key.Store(r.Header.Get("Authorization") + r.Header.Get("X-Key"))
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	n.opened.Add(1)
	for {
		var q struct {
			ID     int64
			Method string
			Params []any
		}
		if conn.ReadJSON(&q) != nil {
			return
		}
		name := q.Method
		if len(q.Params) > 0 {
			name += " " + fmt.Sprint(q.Params[0])
		}
		reply, ok := n.replies[name]
		if !ok {
			continue
		}
		if !strings.HasPrefix(reply, `{"jsonrpc"`) {
			reply = `{"jsonrpc":"2.0","id":%d,"result":` + reply + `}`
		}
		for _, m := range []string{`{"jsonrpc":"2.0","method":"eth_subscription","params":{}}`, `{"jsonrpc":"2.0","id":4000,"result":"0x1"}`, fmt.Sprintf(reply, q.ID)} {
			if conn.WriteMessage(websocket.TextMessage, []byte(m)) != nil {
				return
			}
		}
	}
}

func wsTarget(t *testing.T, raw string, o rpc.Options) probe.Target {
	t.Helper()
	u, err := rpc.ParseURL("up", raw)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.NewClient(u, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return probe.Target{Family: model.EVM, Client: c}
}

func TestSocketTryAndFacts(t *testing.T) {
	n := &socketNode{replies: map[string]string{
		"eth_blockNumber":             `"0x10"`,
		"eth_chainId":                 `"0x1"`,
		"eth_syncing":                 `true`,
		"eth_getBlockByNumber latest": `{"number":"0x10","timestamp":"0x65"}`,
		"eth_getBlockByNumber safe":   `null`,
		"net_peerCount":               `{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"Method not found"}}`,
		"web3_clientVersion":          `{"jsonrpc":"2.0","id":%d,"error":{"code":429,"message":"slow down"}}`,
	}}
	srv := httptest.NewServer(n)
	defer srv.Close()
	target := wsTarget(t, "ws"+strings.TrimPrefix(srv.URL, "http"), rpc.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // finalized is never answered
	defer cancel()
	o, err := probe.Try(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	if o.Kind != model.Result || o.Facts != (model.Facts{Head: model.Say(uint64(16))}) || o.Asked != 1 || o.Evidence.String() != "head 16" {
		t.Errorf("%+v", o)
	}
	told, err := probe.Facts(ctx, target, everything)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Told{
		Asked: 7, Findings: model.FindingSet(model.RateLimited),
		Facts: model.Facts{
			ChainID: model.Say("1"), Syncing: model.Say(true), Safe: model.Lacks[uint64](), Peers: model.Lacks[uint64](),
			Block: model.Say(model.Block{Number: 16, Time: time.Unix(101, 0).UTC()}),
		},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if opened := n.opened.Load(); opened != 2 {
		t.Errorf("%d sockets", opened)
	}
}

func TestCancelledSocketHasNoOutcome(t *testing.T) {
	srv := httptest.NewServer(&socketNode{})
	defer srv.Close()
	hangs, err := rpctest.Serve(func(_ int, c *rpctest.Conn) { c.Wait() })
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	for name, at := range map[string]string{"no reply": srv.Listener.Addr().String(), "no upgrade": hangs.Addr} {
		target := wsTarget(t, "ws://"+at, rpc.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		time.AfterFunc(50*time.Millisecond, cancel)
		begun := time.Now()
		o, err := probe.Try(ctx, target)
		if o.Kind != model.NoOutcome || !errors.Is(err, context.Canceled) || time.Since(begun) > 2*time.Second {
			t.Errorf("%s: %s %v after %v", name, o.Kind, err, time.Since(begun))
		}
	}
}

// proxy is a forward proxy that allows or refuses tunnels.
func proxy(t *testing.T, status int) (at *url.URL, asked *atomic.Int32) {
	asked = &atomic.Int32{}
	s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		req, _, ok := c.Request()
		if !ok || req.Method != http.MethodConnect {
			return
		}
		asked.Add(1)
		if status != http.StatusOK {
			c.Say(fmt.Sprintf("HTTP/1.1 %d\r\nContent-Length: 0\r\n\r\n", status))
			return
		}
		far, err := net.Dial("tcp", req.Host)
		if err != nil {
			return
		}
		defer func() { _ = far.Close() }()
		c.Say("HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(far, c); _ = far.Close() }()
		_, _ = io.Copy(c.Conn, far)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &url.URL{Scheme: "http", Host: s.Addr, User: url.UserPassword("u", "proxy-word")}, asked
}

func TestProxyAndTLSForBothTransports(t *testing.T) {
	ca := newAuthority(t)
	n := &socketNode{replies: map[string]string{"eth_blockNumber": `"0x10"`}}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if websocket.IsWebSocketUpgrade(r) {
			n.ServeHTTP(w, r)
			return
		}
		n.key.Store(r.Header.Get("Authorization") + r.Header.Get("X-Key"))
		var q struct{ ID int64 }
		_ = json.NewDecoder(r.Body).Decode(&q)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":"0x10"}`, q.ID)
	}))
	srv.TLS = ca.server("ok")
	srv.StartTLS()
	defer srv.Close()
	for _, scheme := range []string{"https", "wss"} {
		for _, r := range []struct {
			status int
			want   string
		}{
			{0, "result  head 16"},
			{200, "result  head 16"},
			{407, "no_answer own_side our proxy refused the tunnel: HTTP 407"},
			{503, "no_answer own_side our proxy refused the tunnel: HTTP 503"},
		} {
			o := rpc.Options{HTTP: config.DefaultHTTPClientConfig, RootCAs: ca.pool}
			o.HTTP.Authorization = &config.Authorization{Credentials: "token"}
			o.HTTP.HTTPHeaders = &config.Headers{Headers: map[string]config.Header{"X-Key": {Values: []string{"k"}}}}
			var asked *atomic.Int32
			if r.status != 0 {
				o.HTTP.ProxyURL.URL, asked = proxy(t, r.status)
			}
			target := wsTarget(t, scheme+"://"+srv.Listener.Addr().String(), o)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			out, err := probe.Try(ctx, target)
			cancel()
			if got := fmt.Sprintf("%s %s %s", out.Kind, out.Reason, out.Evidence.Text); got != r.want || err != nil {
				t.Errorf("%s by a proxy that says %d: %s %v, want %s", scheme, r.status, got, err, r.want)
			}
			if asked != nil && asked.Load() != 1 {
				t.Errorf("%s: the proxy was asked %d times", scheme, asked.Load())
			}
			if key := n.key.Load(); out.Kind == model.Result && key != "Bearer tokenk" {
				t.Errorf("%s: keys %q", scheme, key)
			}
		}
	}
}

func TestProxyThatIsGoneIsOurOwnSide(t *testing.T) {
	addr, err := rpctest.Closed()
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"http", "https", "ws", "wss"} {
		o := rpc.Options{HTTP: config.DefaultHTTPClientConfig}
		o.HTTP.ProxyURL.URL = &url.URL{Scheme: "http", Host: addr}
		out, err := probe.Try(t.Context(), wsTarget(t, scheme+"://node.test", o))
		if err != nil || out.Reason != model.ReasonOwnSide || out.Evidence.Text != "our proxy: connect: connection refused" {
			t.Errorf("%s: %s %s %v", scheme, out.Reason, out.Evidence, err)
		}
	}
}
