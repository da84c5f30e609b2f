package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestDialNobody(t *testing.T) {
	n := new(Network)
	l, err := n.Listen("node:8545")
	if err != nil {
		t.Fatal(err)
	}
	shut(l)
	for _, addr := range []string{"node:8545", "other:1"} {
		_, err := n.Dial(t.Context(), "tcp", addr)
		var op *net.OpError
		var sys *os.SyscallError
		if !errors.As(err, &op) || op.Op != "dial" || !errors.As(err, &sys) || sys.Syscall != "connect" ||
			!errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial %s: %#v, want a dial *net.OpError around connect: ECONNREFUSED", addr, err)
		}
	}
}

// The words of a refused dial are what a user may read: they must be those of a
// real socket.
func TestRefusedReadsAsARealOne(t *testing.T) {
	real, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := real.Addr().String()
	shut(real)
	_, want := net.Dial("tcp", addr)
	_, got := new(Network).Dial(t.Context(), "tcp", addr)
	if want == nil || got == nil || got.Error() != want.Error() {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDialEndedContext(t *testing.T) {
	n := new(Network)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Dial(ctx, "tcp", "node:1"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var unknown net.UnknownNetworkError
	if _, err := n.Dial(t.Context(), "udp", "node:1"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	n := new(Network)
	for _, c := range []struct{ listen, want string }{
		{"node:8545", "node:8545"},
		{"plain", "plain:80"},
		{":9", "127.0.0.1:9"},
		{"127.0.0.1:0", "127.0.0.1:40001"},
		{"", "127.0.0.1:80"},
	} {
		l, err := n.Listen(c.listen)
		if err != nil || l.Addr().String() != c.want {
			t.Fatalf("listen %q: %v, %v, want %s", c.listen, l.Addr(), err, c.want)
		}
		defer shut(l)
	}
	if _, err := n.Listen("node:8545"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a taken address: %v", err)
	}
}

func TestSeveralListeners(t *testing.T) {
	n := new(Network)
	for _, name := range []string{"a:1", "b:1"} {
		l, err := n.Listen(name)
		if err != nil {
			t.Fatal(err)
		}
		defer shut(l)
		go func() {
			if c, err := l.Accept(); err == nil {
				give(t, c, name)
				shut(c)
			}
		}()
	}
	for _, name := range []string{"b:1", "a:1"} {
		c, err := n.Dial(t.Context(), "tcp", name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c); string(got) != name || err != nil {
			t.Errorf("%s answered %q, %v", name, got, err)
		}
		shut(c)
	}
}

func TestCloseResetsTheBacklog(t *testing.T) {
	l := Listen()
	waiting, err := l.DialContext(t.Context(), "tcp", "any.example:443")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(waiting)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection nobody accepted: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestCloseEndsAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		start := time.Now()
		time.AfterFunc(time.Minute, func() { shut(l) })
		_, err := l.Accept()
		if !errors.Is(err, net.ErrClosed) || time.Since(start) != time.Minute {
			t.Errorf("%v at %v", err, time.Since(start))
		}
	})
}

func TestFullBacklogHoldsTheDialer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		defer shut(l)
		for range backlog {
			c, err := l.DialContext(t.Context(), "tcp", "")
			if err != nil {
				t.Fatal(err)
			}
			defer shut(c)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := l.DialContext(ctx, "tcp", "")
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() || time.Since(start) != 5*time.Second {
			t.Errorf("%v at %v, want a timeout at 5s", err, time.Since(start))
		}
	})
}

func TestRelisten(t *testing.T) {
	l := Listen()
	if _, err := l.Relisten(); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("while it listens: %v", err)
	}
	shut(l)
	again, err := l.Relisten()
	if err != nil {
		t.Fatal(err)
	}
	defer shut(again)
	if again.Addr() != l.Addr() {
		t.Errorf("listens on %v, was %v", again.Addr(), l.Addr())
	}
	c, err := l.DialContext(t.Context(), "tcp", "")
	if err != nil {
		t.Fatalf("dialed through the old listener: %v", err)
	}
	shut(c)
}

// A connection queued while its listener closes is accepted by nobody; it once
// hung for ever.
func TestDialRacingClose(t *testing.T) {
	for range 3000 {
		l := Listen()
		read := make(chan error, 1)
		go func() {
			c, err := l.DialContext(t.Context(), "tcp", "")
			if err == nil {
				ok(t, c.SetDeadline(time.Now().Add(10*time.Second)))
				_, err = c.Read(make([]byte, 1))
				shut(c)
			}
			read <- err
		}()
		runtime.Gosched()
		shut(l)
		if err := <-read; !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
	}
}
