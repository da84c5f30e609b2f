package simnode

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
)

// listeners are where a node can live.
var listeners = []struct {
	name string
	open func(t *testing.T) (net.Listener, *http.Transport)
}{
	{"socket", func(t *testing.T) (net.Listener, *http.Transport) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l, &http.Transport{}
	}},
	{"memory", func(*testing.T) (net.Listener, *http.Transport) {
		l := memnet.Listen()
		return l, &http.Transport{DialContext: l.DialContext}
	}},
}

func TestDownAndUp(t *testing.T) {
	for _, where := range listeners {
		t.Run(where.name, func(t *testing.T) {
			l, tr := where.open(t)
			tr.DisableKeepAlives = true // a pooled connection that was cut is another error than a refused one
			n := New(Options{Start: 5, BlockTime: time.Hour})
			a := onListener(t, n, l, tr)
			url := n.URL()
			for range 3 {
				if a.head() != 5 {
					t.Fatal("up, and no head")
				}
				set(t, n, Refuse())
				if _, err := a.ask(t.Context(), "eth_chainId"); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Fatalf("down: %v, want refused", err)
				}
				if err := n.Down(); err != nil {
					t.Errorf("down twice: %v", err)
				}
				if err := n.Up(); err != nil {
					t.Fatal(err)
				}
				if err := n.Up(); err != nil {
					t.Errorf("up twice: %v", err)
				}
				if n.URL() != url {
					t.Fatalf("it came back on %s, was %s", n.URL(), url)
				}
			}
		})
	}
}

func TestDownCutsOpenConnections(t *testing.T) {
	for _, where := range listeners {
		t.Run(where.name, func(t *testing.T) {
			l, tr := where.open(t)
			n := New(Options{})
			a := onListener(t, n, l, tr)
			set(t, n, Stall())
			var d net.Dialer
			dial := d.DialContext
			if tr.DialContext != nil {
				dial = tr.DialContext
			}
			idle, err := dial(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer shut(idle)
			ends := make(chan error, 1)
			go func() { _, err := a.ask(t.Context(), "eth_chainId"); ends <- err }()
			arrived(t, n, "eth_chainId")
			if err := n.Down(); err != nil {
				t.Fatal(err)
			}
			if err := <-ends; !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a request in flight: %v", err)
			}
			if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("an idle connection: %v", err)
			}
			if err := n.Up(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := a.ask(ctx, "eth_chainId"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Up brought %v, want the stall that was set", err)
			}
		})
	}
}

func TestUpWaitsForItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(memnet.Network)
		l, err := network.Listen("node:1")
		if err != nil {
			t.Fatal(err)
		}
		n := New(Options{})
		a := onListener(t, n, l, &http.Transport{DialContext: network.Dial})
		set(t, n, Refuse())
		thief, err := network.Listen("node:1")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := n.Up(); !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v, want the address taken after 3s", err, time.Since(start))
		}
		start = time.Now()
		time.AfterFunc(time.Second-1, func() { shut(thief) })
		if err := n.Up(); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v, want up after 1s", err, time.Since(start))
		}
		a.head()
	})
}

func TestServesOnce(t *testing.T) {
	n := New(Options{})
	if err := n.Set(Refuse()); !errors.Is(err, ErrNotServing) {
		t.Errorf("refuse before it serves: %v", err)
	}
	if n.URL() != "" {
		t.Errorf("URL %q before it serves", n.URL())
	}
	l, other := memnet.Listen(), memnet.Listen()
	defer shut(other)
	if err := n.Serve(l); err != nil {
		t.Fatal(err)
	}
	if err := n.Serve(other); err == nil {
		t.Error("it serves twice")
	}
	for range 2 {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := n.Up(); err != nil || n.URL() != "" {
		t.Errorf("up after close: %v, %q", err, n.URL())
	}
	if err := n.Serve(other); err == nil {
		t.Error("it serves after Close")
	}
	if _, err := l.DialContext(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after Close: %v", err)
	}
}

// A connection accepted while the server closes is not closed by it, and was
// once served on.
func TestDownClosesWhatIsJustAccepted(t *testing.T) {
	l := memnet.Listen()
	n := New(Options{})
	if err := n.Serve(l); err != nil {
		t.Fatal(err)
	}
	e := n.life.era
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	e.track(far, http.StateNew)
	e.track(far, http.StateClosed)
	if _, err := near.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write to it: %v", err)
	}
	for range 200 {
		l := memnet.Listen()
		n := New(Options{})
		if err := n.Serve(l); err != nil {
			t.Fatal(err)
		}
		c, err := l.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Down(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("after Down: %v", err)
		}
		shut(c)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The server lingers 500 ms over a connection whose request it did not read to
// the end; a bubble does not end before its goroutines.
func TestCloseWaitsForItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a := inBubble(t, n)
		got, err := a.post(t.Context(), strings.Repeat(" ", 2*maxBody))
		if err == nil && got.code != http.StatusRequestEntityTooLarge {
			t.Errorf("an endless request: %d", got.code)
		}
		start := time.Now()
		if err := n.Close(); err != nil || time.Since(start) != 500*time.Millisecond {
			t.Errorf("closed after %v: %v", time.Since(start), err)
		}
	})
}

// A request with another one behind it does not notice that its connection is
// cut, and once held Down for ever.
func TestDownEndsPipelinedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		n := New(Options{})
		set(t, n, Stall())
		onListener(t, n, l, &http.Transport{})
		c, err := l.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		defer shut(c)
		if _, err := io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: node\r\n\r\n", 2)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := n.Down(); err != nil || n.Requests()["GET"] != 1 {
			t.Errorf("%v, %v", err, n.Requests())
		}
	})
}
