package memnet

import (
	"context"
	"net"
	"sync"
)

// Listener is a net.Listener on a Network.
type Listener struct {
	network *Network
	addr    Addr
	queue   chan *Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept waits for a connection; after Close it fails with net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	if !l.isClosed() {
		select {
		case c := <-l.queue:
			return c, nil
		case <-l.closed:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
}

// Close frees the address and resets the connections nobody accepted. Those
// that were accepted live on. A second Close fails with net.ErrClosed.
func (l *Listener) Close() error {
	err := error(&net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed})
	l.once.Do(func() {
		err = nil
		l.network.forget(l)
		close(l.closed)
		for {
			select {
			case c := <-l.queue:
				c.Reset()
			default:
				return
			}
		}
	})
	return err
}

// Addr is the address it listens on.
func (l *Listener) Addr() net.Addr { return l.addr }

// DialContext dials this listener's address, whatever addr says: for a client
// whose URLs name a host that does not exist.
func (l *Listener) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	return l.network.Dial(ctx, network, string(l.addr))
}

// Relisten listens again on the same address of the same network, after Close.
// DialContext of either listener reaches the one that listens now.
func (l *Listener) Relisten() (net.Listener, error) {
	again, err := l.network.Listen(string(l.addr))
	if err != nil {
		return nil, err
	}
	return again, nil
}

func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}
