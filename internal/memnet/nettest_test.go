package memnet

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"
)

// What any net.Conn promises: concurrent use, deadlines before, during and
// after, racing closes.
func TestIsANetConn(t *testing.T) {
	for _, n := range []*Network{{}, {Buffer: 64}} {
		nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
			l, err := n.Listen("127.0.0.1:0")
			if err != nil {
				return nil, nil, nil, err
			}
			defer shut(l)
			if c1, err = n.Dial(t.Context(), "tcp", l.Addr().String()); err != nil {
				return nil, nil, nil, err
			}
			if c2, err = l.Accept(); err != nil {
				return nil, nil, nil, err
			}
			return c1, c2, func() { shut(c1, c2) }, nil
		})
	}
}
