package simnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// ErrNotServing says that a node has no listener to close or to open.
var ErrNotServing = errors.New("the node does not serve")

// How long Up waits for an address that somebody else has taken meanwhile, and
// how often it looks.
const (
	addressWait = 3 * time.Second
	addressLook = 50 * time.Millisecond
)

// life is where a node listens, and whether it does now.
type life struct {
	mu    sync.Mutex
	last  net.Listener // the newest; nil before Serve and after Close
	era   *era         // nil while down
	ended bool
}

// era is one stretch of listening.
type era struct {
	server *http.Server
	ctx    context.Context // every request's; a cut connection does not end that of a pipelined one
	end    context.CancelFunc
	left   sync.WaitGroup // the accept loop and the open connections
}

// Serve answers on l from now on and returns at once. The node owns l, and can
// serve only once.
func (n *Node) Serve(l net.Listener) error {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	if n.life.ended || n.life.last != nil {
		return fmt.Errorf("serve %s on %s: it serves already, or was closed", n.opts.Name, l.Addr())
	}
	n.life.open(l, n)
	return nil
}

// URL is where the node answers when it is up; "" before Serve and after Close.
func (n *Node) URL() string {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	if n.life.last == nil {
		return ""
	}
	return "http://" + n.life.last.Addr().String()
}

// Down closes the listener and every connection, as the end of the process
// would, and returns when they are gone. A node that is down stays down.
func (n *Node) Down() error {
	n.life.mu.Lock()
	if n.life.last == nil {
		n.life.mu.Unlock()
		return ErrNotServing
	}
	e, err := n.life.close()
	n.life.mu.Unlock()
	e.wait()
	return err
}

// Up listens again on the address Down left, with the fault that is set. A node
// that is up, or that never served, is left alone. While somebody else has the
// address it waits, for 3 s at most.
func (n *Node) Up() error {
	for start := time.Now(); ; time.Sleep(addressLook) {
		err := n.reopen()
		if !errors.Is(err, syscall.EADDRINUSE) || time.Since(start) >= addressWait {
			return err
		}
	}
}

func (n *Node) reopen() error {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	if n.life.last == nil || n.life.era != nil {
		return nil
	}
	l, err := relisten(n.life.last)
	if err != nil {
		return fmt.Errorf("bring %s up: %w", n.opts.Name, err)
	}
	n.life.open(l, n)
	return nil
}

// Close takes the node down for good and returns when nothing of it runs.
func (n *Node) Close() error {
	n.life.mu.Lock()
	e, err := n.life.close()
	n.life.last, n.life.ended = nil, true
	n.life.mu.Unlock()
	e.wait()
	return err
}

// open begins an era. The caller holds the lock.
func (s *life) open(l net.Listener, h http.Handler) {
	ctx, end := context.WithCancel(context.Background())
	e := &era{ctx: ctx, end: end}
	e.server = &http.Server{
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         e.track,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		// Nothing may be written where a screen may stand.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	s.last, s.era = l, e
	e.left.Go(func() { _ = e.server.Serve(l) }) // it ends with the era, and only then
}

// close ends the era, if there is one; its goroutines are waited for after the
// lock, which the caller holds.
func (s *life) close() (*era, error) {
	e := s.era
	if e == nil {
		return nil, nil
	}
	s.era = nil
	e.end()
	return e, e.server.Close()
}

// track counts the connections that are open. One that was accepted while the
// server closed is not the server's to close any more.
func (e *era) track(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		e.left.Add(1)
		if e.ctx.Err() != nil {
			_ = c.Close() // its goroutine then ends on the first read
		}
	case http.StateClosed, http.StateHijacked:
		e.left.Done()
	case http.StateActive, http.StateIdle:
	}
}

func (e *era) wait() {
	if e != nil {
		e.left.Wait()
	}
}

// relisten listens where l, now closed, did: by its own Relisten where it has
// one, since only it knows its network.
func relisten(l net.Listener) (net.Listener, error) {
	if r, ok := l.(interface{ Relisten() (net.Listener, error) }); ok {
		return r.Relisten()
	}
	return net.Listen(l.Addr().Network(), l.Addr().String())
}
