package memnet

import (
	"context"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// firstPort is where the ports nobody asked for begin.
const firstPort = 40000

// defaultBuffer is how many bytes a direction holds when nothing else is set;
// of the size a kernel gives a loopback socket.
const defaultBuffer = 256 << 10

// backlog is how many connections wait to be accepted before a dial waits too.
const backlog = 128

// Network is a set of listeners that can be dialed. The zero value is ready.
type Network struct {
	// Buffer is how many bytes one direction of a connection holds before a
	// write waits for the reader; 0 = 256 KiB. Set it before the first dial.
	Buffer int

	mu        sync.Mutex
	listeners map[string]*Listener // by address
	ports     int                  // handed out so far
}

// Addr is an address on a Network: host:port.
type Addr string

// Network is "mem".
func (Addr) Network() string { return "mem" }

func (a Addr) String() string { return string(a) }

// Listen is a listener alone on a network of its own; its DialContext reaches
// it whatever the address.
func Listen() *Listener {
	l, err := new(Network).Listen("127.0.0.1:0")
	if err != nil {
		panic("memnet: a new network refused its first listener: " + err.Error())
	}
	return l
}

// Listen listens on addr, a host:port as a URL has it. Without a port it is
// port 80; port 0 is one nobody has. A taken address is EADDRINUSE.
func (n *Network) Listen(addr string) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	addr = n.bind(addr)
	if n.listeners[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: Addr(addr),
			Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &Listener{network: n, addr: Addr(addr), queue: make(chan *Conn, backlog), closed: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = make(map[string]*Listener)
	}
	n.listeners[addr] = l
	return l, nil
}

// bind is the address that is meant by addr. The caller holds the lock.
func (n *Network) bind(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = addr, "80"
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "0" {
		port = n.port()
	}
	return net.JoinHostPort(host, port)
}

// port is one that was not given out before. The caller holds the lock.
func (n *Network) port() string {
	n.ports++
	return strconv.Itoa(firstPort + n.ports)
}

// Dial connects to whoever listens on addr; its signature is
// net.Dialer.DialContext's. With nobody there it fails as a real dial does: a
// *net.OpError around ECONNREFUSED. With a full backlog it waits for room,
// until ctx ends.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: Addr(addr), Err: err}
	}
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return fail(net.UnknownNetworkError(network))
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	n.mu.Lock()
	l := n.listeners[addr]
	local := net.JoinHostPort("127.0.0.1", n.port())
	n.mu.Unlock()
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	if l == nil {
		return fail(refused)
	}
	near, far := n.pair(Addr(local), l.addr, network)
	select {
	case l.queue <- far:
	case <-l.closed:
		return fail(refused)
	case <-ctx.Done():
		return fail(ctx.Err())
	}
	if l.isClosed() {
		// Queued while the listener closed: nobody will accept it.
		far.Reset()
		return fail(refused)
	}
	return near, nil
}

// pair is both ends of a new connection.
func (n *Network) pair(near, far Addr, network string) (*Conn, *Conn) {
	limit := n.Buffer
	if limit <= 0 {
		limit = defaultBuffer
	}
	up, down := newStream(limit), newStream(limit)
	return &Conn{in: down, out: up, local: near, remote: far, network: network},
		&Conn{in: up, out: down, local: far, remote: near, network: network}
}

func (n *Network) forget(l *Listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[string(l.addr)] == l {
		delete(n.listeners, string(l.addr))
	}
}
