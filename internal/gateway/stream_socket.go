package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/rpc"
)

// How long the parties of a stream may be silent, and take to read.
const (
	streamPing  = 20 * time.Second
	streamRead  = 45 * time.Second // extended by any frame
	streamWrite = 5 * time.Second
	streamWait  = time.Second // for the other side's goodbye
)

// beginning is how much of a message is kept that is too long: enough for its id.
const beginning = 4 << 10

// Codes with which a stream ends.
const (
	closeNormal   = websocket.CloseNormalClosure
	closeAway     = websocket.CloseGoingAway
	closeTooBig   = websocket.CloseMessageTooBig
	closeTryAgain = websocket.CloseTryAgainLater
)

// socket is a websocket, a client's or an upstream's. Its file is the only one
// here that knows the library, and holds its rules: no compression; reads are
// bounded and end with the first error; one goroutine writes messages; every
// read and write has a deadline.
type socket struct {
	conn *websocket.Conn
	most int64  // bytes of a message
	seen func() // called at every frame; may be nil
}

func newSocket(conn *websocket.Conn, most int64, seen func()) *socket {
	s := &socket{conn: conn, most: most, seen: seen}
	ping := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		s.heard()
		return ping(data)
	})
	conn.SetPongHandler(func(string) error {
		s.heard()
		return nil
	})
	return s
}

func (s *socket) heard() {
	_ = s.conn.SetReadDeadline(time.Now().Add(streamRead)) // fails only when closed, and so does the read
	if s.seen != nil {
		s.seen()
	}
}

// upgrading says that a request asks for a websocket.
func upgrading(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// upgrade answers a client's handshake. A page of another site is turned away:
// a browser would hand it the chain. On an error the request was answered.
func upgrade(w http.ResponseWriter, r *http.Request, header http.Header) (*websocket.Conn, error) {
	u := websocket.Upgrader{
		HandshakeTimeout: streamWrite,
		Error: func(w http.ResponseWriter, r *http.Request, status int, _ error) {
			refuse(w, r, nil, refusal{status: status, code: -32600, text: "this is not a websocket handshake that is taken here"})
		},
	}
	return u.Upgrade(w, r, header)
}

// read is the next message. One that is too long is rpc.ErrLongMessage with its
// beginning, and the socket can be read on; every other error is the end.
func (s *socket) read() ([]byte, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(streamRead)) // fails only when closed, and so does the read
	_, r, err := s.conn.NextReader()
	if err != nil {
		return nil, err
	}
	s.heard()
	b, err := io.ReadAll(io.LimitReader(r, s.most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) <= s.most:
		return b, nil
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(r, 16*s.most)); err != nil || n == 16*s.most {
		return nil, errors.Join(rpc.ErrBadMessage, err)
	}
	return bytes.Clone(b[:min(len(b), beginning)]), rpc.ErrLongMessage
}

func (s *socket) write(b []byte) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(streamWrite)) // always nil
	return s.conn.WriteMessage(websocket.TextMessage, b)
}

func (s *socket) ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(streamWrite))
}

// goodbye sends the close frame; nothing is written after it.
func (s *socket) goodbye(code int) {
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(streamWait)) // it may be gone already
}

func (s *socket) close() { _ = s.conn.Close() } // nobody is left to tell

// closeCode is the code in an error of read, when the other side sent one that
// may be sent on.
func closeCode(err error) (int, bool) {
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		return 0, false
	}
	switch c := closed.Code; c {
	case websocket.ClosePolicyViolation, websocket.CloseInternalServerErr, websocket.CloseServiceRestart, websocket.CloseTryAgainLater:
		return c, true
	default:
		return c, c >= 4000 && c <= 4999
	}
}

// came is what a pipe's reader brings: a message, or the end.
type came struct {
	b   []byte
	err error
}

// pipe is a socket with the two goroutines that move its bytes. They own nothing
// of the session, which alone sends on out and closes the pipe.
type pipe struct {
	sock   *socket
	in     chan came
	out    chan []byte
	broken chan error // a write failed; the socket is over
	quit   chan struct{}
	code   int // of the goodbye, set before out is closed
	left   sync.WaitGroup
	runs   atomic.Int32 // goroutines
}

// pipeRoom is how many messages may wait for a writer.
const pipeRoom = 16

func newPipe(s *socket) *pipe {
	p := &pipe{
		sock: s, in: make(chan came), out: make(chan []byte, pipeRoom),
		broken: make(chan error, 1), quit: make(chan struct{}),
	}
	p.runs.Store(2)
	p.left.Go(p.reads)
	p.left.Go(p.writes)
	return p
}

func (p *pipe) reads() {
	defer p.runs.Add(-1)
	for {
		b, err := p.sock.read()
		select {
		case p.in <- came{b, err}:
		case <-p.quit:
			return
		}
		if err != nil && !errors.Is(err, rpc.ErrLongMessage) {
			return
		}
	}
}

func (p *pipe) writes() {
	defer p.runs.Add(-1)
	ping := time.NewTicker(streamPing)
	defer ping.Stop()
	for {
		var err error
		select {
		case b, more := <-p.out:
			if !more {
				p.sock.goodbye(p.code)
				return
			}
			err = p.sock.write(b)
		case <-ping.C:
			err = p.sock.ping()
		case <-p.quit:
			return
		}
		if err != nil {
			p.broken <- err
			p.sock.close()
			return
		}
	}
}

// end closes the socket. What waits for the writer is lost.
func (p *pipe) end() {
	close(p.quit)
	p.sock.close()
}

// farewell hands the writer what is left, which then says goodbye with code, and
// waits a moment for the other side to have read it.
func (p *pipe) farewell(left [][]byte, code int) {
	defer p.end()
	clock := time.NewTimer(streamWait)
	defer clock.Stop()
	for _, b := range left {
		select {
		case p.out <- b:
		case <-p.broken: //nolint:errcheck // how it ended is of no matter here
			return
		case <-clock.C:
			return
		}
	}
	p.code = code
	close(p.out)
	for {
		select {
		case c := <-p.in:
			if c.err != nil && !errors.Is(c.err, rpc.ErrLongMessage) {
				return
			}
		case <-clock.C:
			return
		}
	}
}
