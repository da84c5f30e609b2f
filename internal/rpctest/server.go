// Package rpctest is upstreams for tests that misbehave byte by byte, on real
// loopback sockets. It imports nothing of testing: who uses it closes it.
package rpctest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Server plays a function on each connection it accepts.
type Server struct {
	Addr string // host:port

	l    net.Listener
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// Serve plays play on each connection, the first with n = 0, and closes the
// connection when play returns.
func Serve(play func(n int, c *Conn)) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve a script: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{Addr: l.Addr().String(), l: l, stop: stop}
	s.wg.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				defer func() { _ = conn.Close() }()
				play(n, &Conn{Conn: conn, br: bufio.NewReader(conn)})
			})
		}
	})
	return s, nil
}

// URL is the server's address as an http URL.
func (s *Server) URL() string { return "http://" + s.Addr }

// Close cuts every connection and waits for every play to return.
func (s *Server) Close() {
	s.stop()
	_ = s.l.Close() // nothing is served any more either way
	s.wg.Wait()
}

// Conn is a connection to a client.
type Conn struct {
	net.Conn
	br *bufio.Reader
}

// Request reads one HTTP/1.1 request, body included; ok is false when the
// client is gone.
func (c *Conn) Request() (req *http.Request, body []byte, ok bool) {
	req, err := http.ReadRequest(c.br)
	if err != nil {
		return nil, nil, false
	}
	body, err = io.ReadAll(req.Body)
	return req, body, err == nil
}

// Say writes text as it is; ok is false when the client is gone.
func (c *Conn) Say(text string) (ok bool) {
	_, err := io.WriteString(c.Conn, text)
	return err == nil
}

// Answer writes a whole response. The header lines end in \r\n each.
func (c *Conn) Answer(status, header, body string) bool {
	return c.Say(fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
}

// Result answers a JSON-RPC request with id 1 and a value.
func (c *Conn) Result(value string) bool {
	return c.Answer("200 OK", "Content-Type: application/json\r\n", `{"jsonrpc":"2.0","id":1,"result":`+value+`}`)
}

// Wait reads and drops what comes until the client goes.
func (c *Conn) Wait() {
	_, _ = io.Copy(io.Discard, c.br) // its end is what is waited for
}

// Reset tears the connection down with a RST.
func (c *Conn) Reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // what cannot be reset is closed
	}
	_ = c.Close()
}

// Closed is an address on which nobody listens.
func Closed() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a closed port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
