package rpc

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// stage is how far an attempt came.
type stage uint8

const (
	stageBuilding  stage = iota // its headers are put together
	stageWaiting                // for a connection, it is not known what in
	stageResolving              // the host's name
	stageDialing                // TCP
	stageDialed                 // TCP is there, what follows is not: a proxy's tunnel
	stageTLS                    // handshake
	stageSending                // a connection is there, the request is not out
	stageSent                   // the request is out, no byte of an answer is here
	stageAnswering              // bytes are here, the headers are not whole
	stageBody                   // status and headers are whole
)

// attempt follows one request on its way out, so that a failure can say where
// it happened. Its methods may be called on nil and from any goroutine.
type attempt struct {
	ctx context.Context // of the request

	mu     sync.Mutex
	at     stage
	conn   *conn
	reused bool
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// follow is ctx with an attempt in it that hears of everything the transport does.
func follow(ctx context.Context) (context.Context, *attempt) {
	a := &attempt{ctx: ctx}
	ctx = context.WithValue(ctx, attemptKey{}, a)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:             func(httptrace.DNSStartInfo) { a.reach(stageResolving) },
		ConnectStart:         func(string, string) { a.reach(stageDialing) },
		TLSHandshakeStart:    func() { a.reach(stageTLS) },
		GotConn:              a.gotConn,
		WroteRequest:         a.wrote,
		GotFirstResponseByte: func() { a.reach(stageAnswering) },
		PutIdleConn:          a.kept,
	}), a
}

// reach moves the attempt on. What a dial says after the request got another
// connection is late and says nothing.
func (a *attempt) reach(s stage) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s > a.at {
		a.at = s
	}
}

func (a *attempt) connected(c *conn) {
	if a == nil {
		return
	}
	a.reach(stageDialed)
	a.mu.Lock()
	if a.at < stageSending {
		a.conn = c
	}
	a.mu.Unlock()
	// A handshake or a tunnel that hangs ends with the request that wanted it.
	context.AfterFunc(a.ctx, func() {
		if !c.used.Load() {
			// Nobody is told: the request is over.
			_ = c.Close()
		}
	})
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	c := underlying(info.Conn)
	if c != nil {
		c.used.Store(true)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conn, a.reused = c, info.Reused
	a.at = max(a.at, stageSending)
}

func (a *attempt) wrote(info httptrace.WroteRequestInfo) {
	if info.Err != nil {
		return
	}
	a.reach(stageSent)
}

// hangUp closes the connection there is.
func (a *attempt) hangUp() {
	if _, k, _ := a.state(); k != nil {
		// Nobody is told: the request is over.
		_ = k.Close()
	}
}

// kept marks the connection as one on which nothing is asked.
func (a *attempt) kept(err error) {
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.conn != nil {
		a.conn.idle.Store(true)
	}
}

// state is what is known of the attempt now.
func (a *attempt) state() (at stage, c *conn, reused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at, a.conn, a.reused
}

// lost says whether it failed for no reason but the kept connection it went out
// on: that died before the first byte of an answer, or brought an answer that
// nobody had asked for, as a server's 408 to an idle connection is.
func (a *attempt) lost(resp *http.Response, err error) bool {
	at, k, reused := a.state()
	if !reused || a.ctx.Err() != nil {
		return false
	}
	if err != nil {
		return at < stageAnswering
	}
	return resp.ProtoMajor == 1 && (resp.StatusCode == http.StatusRequestTimeout || (k != nil && !k.heard()))
}

// sent says whether the request went out whole.
func (a *attempt) sent() bool {
	at, _, _ := a.state()
	return at >= stageSent
}

// underlying is the connection beneath any TLS.
func underlying(k any) *conn {
	for {
		switch c := k.(type) {
		case *conn:
			return c
		case *tls.Conn:
			k = c.NetConn()
		default:
			return nil
		}
	}
}
