package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/gorilla/websocket"

	"chaintop/feed"
	"chaintop/internal/config"
	"chaintop/internal/memnet"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// opsAt is a loopback address: there the feed needs no token.
const opsAt = "127.0.0.1:9640"

// served is an instance in a bubble, with its gateway at gw:80 and its ops
// listener at opsAt, over one simulated node.
type served struct {
	t     *testing.T
	net   *memnet.Network
	i     *instance
	start time.Time
	code  chan int
	stop  func()
}

func serveInBubble(t *testing.T, yaml string) *served {
	t.Helper()
	s := &served{t: t, net: &memnet.Network{}, start: time.Now(), code: make(chan int, 1)}
	node := simnode.New(simnode.Options{Name: "a", Latency: time.Millisecond})
	l, err := s.net.Listen("node:80")
	if err != nil {
		t.Fatal(err)
	}
	upstream := &http.Server{Handler: subscribing{node}, ReadHeaderTimeout: time.Second}
	go func() { _ = upstream.Serve(l) }() // closed below
	c, err := config.Parse("test.yml", []byte("instance: {name: gw, version: v1}\nchains:\n  - name: x\n    family: evm\n    upstreams: [{name: a, url: \"http://node\"}]\n"+yaml), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := watchConfig(c, s.net.Dial)
	if err != nil {
		t.Fatal(err)
	}
	w.instance.Epoch = "e1"
	var doors [2]net.Listener
	for n, addr := range []string{"gw:80", opsAt} {
		if doors[n], err = s.net.Listen(addr); err != nil {
			t.Fatal(err)
		}
	}
	if s.i, err = newInstance(w, instanceOptions{gate: doors[0], ops: doors[1]}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		code, _ := s.i.run(ctx)
		s.code <- code
	})
	s.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		w.Close()
		_ = upstream.Close()
	})
	t.Cleanup(s.stop)
	return s
}

// subscribing is a node that takes subscriptions, and tells nothing.
type subscribing struct{ http.Handler }

func (n subscribing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		n.Handler.ServeHTTP(w, r)
		return
	}
	c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	for {
		_, msg, err := c.ReadMessage()
		if err != nil {
			return
		}
		var q struct{ ID json.RawMessage }
		if json.Unmarshal(msg, &q) != nil || c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":"0x5"}`, q.ID)) != nil {
			return
		}
	}
}

// An open subscription does not hold a drain (D5): it ends exactly idle after its
// start, and the stream gets 1001. With count_messages its client's messages do.
func TestSubscriptionDoesNotHoldADrain(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       time.Duration // from the signal
	}{
		{"by default", "", 10 * time.Second},
		{"count_messages", "drain: {count_messages: true}\n", 15 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInBubble(t, tt.yaml)
				defer s.stop()
				time.Sleep(10 * time.Second)
				c, _, err := (&websocket.Dialer{NetDialContext: s.net.Dial}).Dial("ws://gw/x", nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				ask := func() {
					if err := c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`)); err != nil {
						t.Fatal(err)
					}
				}
				ask()
				if _, msg, err := c.ReadMessage(); err != nil || !strings.Contains(string(msg), "0x5") {
					t.Fatalf("%s %v", msg, err)
				}
				time.Sleep(10 * time.Second)
				signalled := time.Since(s.start)
				s.i.core.Signal("SIGTERM")
				time.Sleep(5 * time.Second)
				ask()
				for err == nil {
					_, _, err = c.ReadMessage()
				}
				if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
					t.Errorf("the stream ended with %v", err)
				}
				if code := <-s.code; code != 0 {
					t.Errorf("exit %d", code)
				}
				if got, _ := s.drained(); got != signalled+tt.want {
					t.Errorf("drained %v after the signal, want %v", got-signalled, tt.want)
				}
			})
		})
	}
}

// client is a client with connections of its own.
func (s *served) client() (*http.Client, func()) {
	t := &http.Transport{DialContext: s.net.Dial}
	return &http.Client{Transport: t}, t.CloseIdleConnections
}

func get(c *http.Client, url string) (int, string) {
	resp, err := c.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	b, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, string(b)
}

func call(c *http.Client, id int) error {
	resp, err := c.Post("http://gw/x", "application/json", strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_chainId","params":[]}`, id)))
	if err != nil {
		return err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(b), fmt.Sprintf(`"id":%d`, id)) {
		return fmt.Errorf("%d %s %w", resp.StatusCode, b, err)
	}
	return nil
}

// drained is when the drain was over, by its event.
func (s *served) drained() (time.Duration, bool) {
	events, _, err := s.i.core.Log().After(context.Background(), feed.Cursor{Epoch: "e1"})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		if b, ok := e.Body.(model.DrainChanged); ok && b.What == model.DrainReached {
			return e.At.Sub(s.start), true
		}
	}
	return 0, false
}

// A SIGTERM under traffic of keep-alive clients that leave when /readyz says so:
// every request is answered, and the end comes exactly `idle` after the last.
func TestDrainUnderTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "")
		defer s.stop()
		time.Sleep(10 * time.Second)
		var last atomic.Int64
		var wg sync.WaitGroup
		asked, failed := atomic.Int64{}, atomic.Int64{}
		for range 10 {
			wg.Go(func() {
				c, closeIdle := s.client()
				defer closeIdle()
				look, closeLook := s.client()
				defer closeLook()
				for n, bad := 0, 0; bad < 2; n++ {
					if n%40 == 0 { // a readiness probe every 2 s
						if code, _ := get(look, "http://gw/readyz"); code == 503 {
							bad++
						}
					}
					last.Store(max(last.Load(), int64(time.Since(s.start))))
					asked.Add(1)
					if err := call(c, n); err != nil {
						failed.Add(1)
						t.Error(err)
					}
					time.Sleep(49 * time.Millisecond)
				}
			})
		}
		time.Sleep(5 * time.Second)
		s.i.core.Signal("SIGTERM")
		synctest.Wait()
		look, closeLook := s.client()
		for url, want := range map[string]int{
			"http://gw/readyz": 503, "http://gw/healthz": 200, "http://" + opsAt + "/readyz": 503, "http://" + opsAt + "/healthz": 200, "http://" + opsAt + "/metrics": 200,
		} {
			if code, body := get(look, url); code != want {
				t.Errorf("%s while draining: %d %s", url, code, body)
			}
		}
		closeLook()
		wg.Wait()
		if code := <-s.code; code != 0 {
			t.Errorf("exit %d", code)
		}
		got, ok := s.drained()
		if want := time.Duration(last.Load()) + 10*time.Second; !ok || got != want {
			t.Errorf("drained at %v, want %v", got, want)
		}
		if asked.Load() < 1000 || failed.Load() > 0 {
			t.Errorf("%d of %d requests failed", failed.Load(), asked.Load())
		}
	})
}

// While it leaves, answers ask their connections to close (D8), on its bound
// what is in flight is still answered, and then nothing is.
func TestBoundOfADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "drain: {max: 20s}\n")
		defer s.stop()
		time.Sleep(10 * time.Second)
		c, closeIdle := s.client()
		defer closeIdle()
		s.i.core.Signal("SIGTERM")
		synctest.Wait()
		begun := time.Now()
		resp, err := c.Post("http://gw/x", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if !resp.Close {
			t.Error("the answer does not ask the connection to close")
		}
		n := 0
		for time.Since(begun) < 19999*time.Millisecond {
			if err := call(c, n); err != nil {
				t.Fatalf("after %v: %v", time.Since(begun), err)
			}
			n++
			time.Sleep(100 * time.Millisecond)
		}
		if code := <-s.code; code != 0 {
			t.Errorf("exit %d", code)
		}
		if got, _ := s.drained(); got != 30*time.Second {
			t.Errorf("drained at %v, want 30s: the bound", got)
		}
		if err := call(c, 1); err == nil {
			t.Error("answered after the end")
		}
	})
}

// A screen elsewhere sees the drain to its end; it was once told goodbye first.
func TestRemoteSeesTheEndOfADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "")
		defer s.stop()
		time.Sleep(10 * time.Second)
		client, err := feed.NewClient(feed.ClientOptions{URL: "ws://" + opsAt + "/feed", Dial: s.net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = client.Run(ctx) }) // ends with ctx
		defer wg.Wait()
		defer cancel()
		time.Sleep(time.Second)
		s.i.core.Signal("SIGTERM")
		if code := <-s.code; code != 0 {
			t.Errorf("exit %d", code)
		}
		synctest.Wait()
		pic, _, err := client.Snapshot(ctx)
		if err != nil || pic.Drain.Real() != model.Drained || pic.Drain.Exited.IsZero() {
			t.Errorf("it saw %v, exited %v: %v", pic.Drain.Real(), pic.Drain.Exited, err)
		}
	})
}

// Over HTTP/2 the same is a GOAWAY: the next request is on another connection.
func TestDrainSaysGoAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "")
		defer s.stop()
		time.Sleep(10 * time.Second)
		var dials atomic.Int64
		protocols := &http.Protocols{}
		protocols.SetUnencryptedHTTP2(true)
		tr := &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			return s.net.Dial(ctx, network, addr)
		}}
		defer tr.CloseIdleConnections()
		c := &http.Client{Transport: tr}
		ask := func(n int, want int64) {
			t.Helper()
			if err := call(c, n); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := dials.Load(); got != want {
				t.Errorf("request %d: %d connections, want %d", n, got, want)
			}
		}
		ask(1, 1)
		ask(2, 1)
		s.i.core.Signal("SIGTERM")
		synctest.Wait()
		ask(3, 1) // its answer says goodbye
		time.Sleep(2 * time.Second)
		ask(4, 2)
	})
}

// A second signal ends it at once, with 1.
func TestSecondSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "")
		defer s.stop()
		time.Sleep(10 * time.Second)
		s.i.core.Signal("SIGTERM")
		time.Sleep(time.Second)
		s.i.core.Signal("SIGTERM")
		if code := <-s.code; code != 1 || time.Since(s.start) != 11*time.Second {
			t.Errorf("exit %d after %v", code, time.Since(s.start))
		}
	})
}

var dates = regexp.MustCompile(`Date: [^\r\n]*`)

// raw sends one request on a connection of its own and returns the answer as it
// came.
func (s *served) raw(host, method, path, body string) string {
	addr := host + ":80"
	if host == "ops" {
		addr = opsAt
	}
	c, err := s.net.Dial(context.Background(), "tcp", addr)
	if err != nil {
		return "refused\n"
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", method, path, host, len(body), body)
	b, _ := io.ReadAll(bufio.NewReader(c))
	return strings.ReplaceAll(dates.ReplaceAllString(string(b), "Date: -"), "\r\n", "\n")
}

// D7: mode immediate is byte for byte what it always was, and an instance that
// is not draining answers as if there were no drain.
func TestImmediateTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInBubble(t, "drain: {mode: immediate, immediate: 3s}\n")
		defer s.stop()
		idle := serveInBubble(t, "")
		defer idle.stop()
		time.Sleep(10 * time.Second)
		var out strings.Builder
		ask := func(s *served, what string) string {
			var one strings.Builder
			fmt.Fprintf(&one, "# %s\n", what)
			for _, q := range [][4]string{
				{"gw", "GET", "/healthz", ""}, {"gw", "GET", "/readyz", ""}, {"ops", "GET", "/healthz", ""}, {"ops", "GET", "/readyz", ""},
				{"gw", "POST", "/x", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`},
				{"gw", "POST", "/x/jsonrpc", `[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}]`}, {"gw", "GET", "/nobody", ""},
			} {
				fmt.Fprintf(&one, "> %s %s%s %s\n%s\n", q[1], q[0], q[2], q[3], s.raw(q[0], q[1], q[2], q[3]))
			}
			return one.String()
		}
		serving := ask(s, "serving")
		if other := ask(idle, "serving"); other != serving {
			t.Error("an instance of mode idle that does not drain answers otherwise")
		}
		out.WriteString(serving)
		signalled := time.Since(s.start)
		s.i.core.Signal("SIGTERM")
		synctest.Wait()
		out.WriteString(ask(s, "draining"))
		if code, _ := get(&http.Client{Transport: &http.Transport{DialContext: s.net.Dial, DisableKeepAlives: true}}, "http://"+opsAt+"/metrics"); code != 200 {
			t.Errorf("/metrics while draining: %d", code)
		}
		if code := <-s.code; code != 0 {
			t.Errorf("exit %d", code)
		}
		if got, _ := s.drained(); got != signalled+3*time.Second {
			t.Errorf("over at %v, signalled at %v", got, signalled)
		}
		out.WriteString(ask(s, "over"))
		golden.RequireEqual(t, []byte(out.String()))
	})
}
