package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dialTimeout bounds a dial whose request has no sooner deadline.
const dialTimeout = 10 * time.Second

// errUnasked says that bytes came on a connection on which nothing was asked.
var errUnasked = errors.New("bytes came before a request was sent")

// errClosed says that the client was closed.
var errClosed = errors.New("the client is closed")

// conn is a connection of a Client that knows what came on it since the request
// in flight began to be written.
type conn struct {
	net.Conn
	client *Client
	plain  bool // no TLS on it: what is read is HTTP

	// idle says that nothing is asked: what comes now is nobody's answer. Set
	// when the transport keeps the connection, cleared by the next write.
	idle atomic.Bool
	// used says that a request got the connection.
	used  atomic.Bool
	reads atomic.Int64 // that brought bytes
	mark  atomic.Int64 // reads when the request in flight began to be written
	bytes atomic.Int64 // read since then
	left  atomic.Int64 // that may still be read; 0 = no bound

	mu    sync.Mutex
	first []byte // what came first since then, at most firstBytes
}

const firstBytes = 256

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	if c.reads.Load() == c.mark.Load() {
		c.mu.Lock()
		c.first = append(c.first[:0], p[:min(n, firstBytes)]...)
		c.mu.Unlock()
	}
	if c.plain && c.idle.Load() {
		// The transport would log these bytes, or take them for the answer to
		// the next request.
		return 0, errors.Join(errUnasked, c.Close())
	}
	c.client.heard.Store(int64(max(time.Since(c.client.born), 1)))
	c.bytes.Add(int64(n))
	c.reads.Add(1)
	if left := c.left.Load(); left > 0 && c.left.Add(-int64(n)) <= 0 {
		c.left.Store(1) // still bound
		return 0, errors.Join(errLong, c.Close())
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.idle.CompareAndSwap(true, false) {
		c.mark.Store(c.reads.Load())
		c.bytes.Store(0)
	}
	return c.Conn.Write(p)
}

func (c *conn) Close() error {
	c.client.forget(c)
	return c.Conn.Close()
}

// heard says whether anything came since the request in flight began to be
// written. An answer that was there before is not an answer to it.
func (c *conn) heard() bool { return c.reads.Load() != c.mark.Load() }

// began is what came first since then.
func (c *conn) began() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.first)
}

// dial is the transport's and the websocket's dialer. A dial ends with the
// request it was made for and with the client, although the transport would let
// it go on for a later request: a blackhole would pile them up.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	a := attemptOf(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errDialTimeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	if a != nil {
		defer context.AfterFunc(a.ctx, cancel)()
	}
	raw, err := c.dialer(ctx, network, addr)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errDialTimeout) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, err
	}
	made := &conn{Conn: raw, client: c, plain: c.plain}
	made.idle.Store(true)
	if !c.remember(made) {
		return nil, errors.Join(errClosed, raw.Close())
	}
	a.connected(made)
	return made, nil
}

// errDialTimeout says that a dial took longer than any request waits for.
var errDialTimeout = errors.New("nobody took the connection")

func (c *Client) remember(k *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		return false
	}
	c.conns[k] = struct{}{}
	return true
}

func (c *Client) forget(k *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, k)
}
