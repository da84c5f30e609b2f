package memnet

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one end of a connection.
type Conn struct {
	in, out       *stream // this end reads in and writes out
	local, remote Addr
	network       string // as it was dialed, for errors

	hard   atomic.Bool // Close resets
	closed atomic.Bool
}

// Read reads what the peer wrote; io.EOF once the peer has closed and all of it
// was read.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.wrap("read", err)
}

// Write hands b over. It waits only while the direction is full.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.wrap("write", err)
}

// Close closes both directions: the peer reads what is left and then io.EOF,
// its writes fail with EPIPE.
func (c *Conn) Close() error {
	if c.hard.Load() {
		return c.end(syscall.ECONNRESET)
	}
	return c.end(nil)
}

// CloseWrite closes one direction: the peer reads what is left and then io.EOF,
// and can still write.
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return c.wrap("close", net.ErrClosed)
	}
	c.out.finish(syscall.EPIPE)
	return nil
}

// SetLinger is net.TCPConn's: with 0, Close resets the connection.
func (c *Conn) SetLinger(sec int) error {
	c.hard.Store(sec == 0)
	return nil
}

// Reset breaks the connection: what is in flight is lost, and the peer's reads
// and writes fail with ECONNRESET. After Close it does nothing.
func (c *Conn) Reset() { _ = c.end(syscall.ECONNRESET) }

// end closes this end; reset, if not nil, is what the peer gets for it.
func (c *Conn) end(reset error) error {
	if !c.closed.CompareAndSwap(false, true) {
		return c.wrap("close", net.ErrClosed)
	}
	if reset != nil {
		c.out.abort(reset)
		c.in.abandon(reset)
	} else {
		c.in.abandon(syscall.EPIPE)
	}
	c.out.finish(net.ErrClosed)
	return nil
}

// LocalAddr is this end's address.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the peer's.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines; the zero time is none.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline ends reads at t with os.ErrDeadlineExceeded, one in progress
// too.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(c.in, &c.in.reads, t) }

// SetWriteDeadline ends writes at t with os.ErrDeadlineExceeded, one in
// progress too.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(c.out, &c.out.writes, t) }

func (c *Conn) setDeadline(s *stream, d *deadline, t time.Time) error {
	if c.closed.Load() {
		return c.wrap("set", net.ErrClosed)
	}
	s.setDeadline(d, t)
	return nil
}

// wrap dresses an error as the net package does.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: c.network, Source: c.local, Addr: c.remote, Err: err}
}
