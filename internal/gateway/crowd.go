package gateway

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// crowd is a listener that bounds the connections that are open at once. When
// it is full, the one on which nothing was asked for longest makes room: a
// client that never finishes a request, or one that keeps an idle connection.
// When a request runs on each, the new one is turned away.
type crowd struct {
	net.Listener
	most int

	mu    sync.Mutex // held for a few lines, never across IO
	open  int
	quiet list.List // of *guest, without a request, the longest first
}

// guest is a connection of a crowd.
type guest struct {
	net.Conn
	of *crowd

	// Under of.mu.
	asking int           // requests that run on it
	at     *list.Element // in of.quiet; nil while one runs
	gone   bool
}

// Bounded is l with a bound on the connections that are open at once.
func Bounded(l net.Listener) net.Listener { return &crowd{Listener: l, most: mostConns} }

// Accept is the next connection there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		raw, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in, out := c.enter(raw)
		if out != nil {
			_ = out.Close() // it was asked nothing
		}
		if in != nil {
			return in, nil
		}
		_ = raw.Close() // turned away
	}
}

// enter makes a guest of raw, and says whom to see out for that; nil, nil: there
// is no room.
func (c *crowd) enter(raw net.Conn) (in, out *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most {
		longest := c.quiet.Front()
		if longest == nil {
			return nil, nil
		}
		out, _ = longest.Value.(*guest)
		c.forget(out)
	}
	in = &guest{Conn: raw, of: c}
	in.at = c.quiet.PushBack(in)
	c.open++
	return in, out
}

// forget takes a guest out of the count. Called with the lock held.
func (c *crowd) forget(q *guest) {
	if q.gone {
		return
	}
	q.gone = true
	c.open--
	if q.at != nil {
		c.quiet.Remove(q.at)
		q.at = nil
	}
}

// Close closes the connection, and makes room.
func (q *guest) Close() error {
	q.of.mu.Lock()
	q.of.forget(q)
	q.of.mu.Unlock()
	return q.Conn.Close()
}

// asks says that a request runs on it, until the returned function is called.
func (q *guest) asks() (done func()) {
	c := q.of
	c.mu.Lock()
	defer c.mu.Unlock()
	q.asking++
	if q.at != nil {
		c.quiet.Remove(q.at)
		q.at = nil
	}
	return q.done
}

func (q *guest) done() {
	c := q.of
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.asking--; q.asking == 0 && !q.gone {
		q.at = c.quiet.PushBack(q)
	}
}

type guestKey struct{}

// withGuest is http.Server's ConnContext.
func withGuest(ctx context.Context, c net.Conn) context.Context {
	if q, ok := c.(*guest); ok {
		return context.WithValue(ctx, guestKey{}, q)
	}
	return ctx
}

// counted is h with its requests noted on their connections.
func counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q, ok := r.Context().Value(guestKey{}).(*guest); ok {
			defer q.asks()()
		}
		h.ServeHTTP(w, r)
	})
}
