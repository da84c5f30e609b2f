package feed

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// socket is a websocket connection. Its file is the only one that knows the
// library, and holds its rules: no compression; reads through read alone, which
// bounds them and is not called again after an error; data written by one
// goroutine; every write with a deadline.
type socket struct {
	conn *websocket.Conn
	buf  bytes.Buffer // of the last read
}

// socketBuffer is the kernel's send buffer of an accepted connection: what it
// holds is old news to a reader that stopped.
const socketBuffer = 64 << 10

var (
	errTooBig  = errors.New("a frame is longer than is read")
	errNotText = errors.New("a frame is not text")
)

// closedError says that the peer closed the connection, and with which code.
type closedError struct{ code CloseCode }

func (e *closedError) Error() string { return fmt.Sprintf("closed with %d: %v", int(e.code), e.code) }

// message is a text frame in the form it has on the wire, made once for all who
// get it.
type message struct {
	prepared *websocket.PreparedMessage
	size     int
}

func prepare(text []byte) (*message, error) {
	p, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
	if err != nil {
		return nil, fmt.Errorf("prepare a frame: %w", err)
	}
	return &message{prepared: p, size: len(text)}, nil
}

// speaks says whether the request asks for the protocol.
func speaks(r *http.Request) bool {
	for _, p := range websocket.Subprotocols(r) {
		if p == Protocol {
			return true
		}
	}
	return false
}

func upgrading(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// upgrade answers the handshake. Origin was judged before. On an error the
// request was answered.
func upgrade(w http.ResponseWriter, r *http.Request) (*socket, error) {
	u := websocket.Upgrader{
		HandshakeTimeout: writeWithin,
		Subprotocols:     []string{Protocol},
		CheckOrigin:      func(*http.Request) bool { return true },
		Error: func(w http.ResponseWriter, _ *http.Request, status int, _ error) {
			refuseHTTP(w, status, answer(CodeBadRequest, "this is not a websocket handshake"), 0)
		},
	}
	conn, err := u.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	raw := conn.NetConn()
	if t, ok := raw.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if c, ok := raw.(interface{ SetWriteBuffer(int) error }); ok {
		_ = c.SetWriteBuffer(socketBuffer) // a wish: without it more old news is on its way
	}
	return &socket{conn: conn}, nil
}

// dialing is how a client reaches a server.
type dialing struct {
	url    string
	header http.Header
	tls    *tls.Config
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

// open makes the handshake. When the server refused it the response is returned
// beside the error; its body is bounded.
func (d dialing) open(ctx context.Context) (*socket, *http.Response, error) {
	w := websocket.Dialer{
		NetDialContext: d.dial, TLSClientConfig: d.tls, HandshakeTimeout: helloWithin,
		Subprotocols: []string{Protocol},
	}
	if d.dial == nil {
		w.Proxy = http.ProxyFromEnvironment
	}
	conn, res, err := w.DialContext(ctx, d.url, d.header)
	if err != nil {
		return nil, res, err
	}
	return &socket{conn: conn}, res, nil
}

func (s *socket) protocol() string { return s.conn.Subprotocol() }

// read is the next text frame of at most limit bytes. The bytes are good until
// the next call. After an error the socket must not be read again.
func (s *socket) read(limit int64) ([]byte, error) {
	kind, r, err := s.conn.NextReader()
	if err != nil {
		var closed *websocket.CloseError
		if errors.As(err, &closed) {
			return nil, &closedError{CloseCode(closed.Code)}
		}
		return nil, err
	}
	if kind != websocket.TextMessage {
		return nil, errNotText
	}
	s.buf.Reset()
	n, err := s.buf.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, errTooBig
	}
	return s.buf.Bytes(), nil
}

// readBy bounds the reads from now on.
func (s *socket) readBy(t time.Time) { _ = s.conn.SetReadDeadline(t) } // fails only when closed, and so does the read

// onControl says what happens on a ping and a pong, inside a read. A ping is
// answered when it returns true.
func (s *socket) onControl(ping func() bool, pong func(payload string)) {
	s.conn.SetPingHandler(func(data string) error {
		if !ping() {
			return errNoisy
		}
		// A peer that is gone may have said goodbye first: the reads will tell.
		_ = s.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		return nil
	})
	s.conn.SetPongHandler(func(data string) error {
		pong(data)
		return nil
	})
}

var errNoisy = errors.New("too many frames")

func isTimeout(err error) bool {
	var net net.Error
	return errors.As(err, &net) && net.Timeout()
}

// send writes a shared frame, write one's own.
func (s *socket) send(m *message, within time.Duration) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(within)) // always nil
	return s.conn.WritePreparedMessage(m.prepared)
}

func (s *socket) write(text []byte, within time.Duration) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(within)) // always nil
	return s.conn.WriteMessage(websocket.TextMessage, text)
}

func (s *socket) ping(payload string) error {
	return s.conn.WriteControl(websocket.PingMessage, []byte(payload), time.Now().Add(writeWithin))
}

// goodbye sends the close frame; nothing is written after it.
func (s *socket) goodbye(code CloseCode) {
	frame := websocket.FormatCloseMessage(int(code), code.String())
	_ = s.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(time.Second)) // it may be gone already
}

// linger reads and forgets what the peer still sends, so that closing does not
// reset the connection before our goodbye was read.
func (s *socket) linger(within time.Duration) {
	raw := s.conn.NetConn()
	_ = raw.SetReadDeadline(time.Now().Add(within))                   // fails only when closed
	_, _ = io.Copy(io.Discard, io.LimitReader(raw, 4*maxServerFrame)) // whatever ends it, it is over
}

func (s *socket) close() { _ = s.conn.Close() } // nobody is left to tell
