package rpc

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/model"
)

// Bounds of a websocket (SPEC X3).
const (
	upgradeBytes = 2 * maxHeaderBytes // what may come before the upgrade is done, TLS included
	// A socket that talks of other things is given up at this many times the
	// bound of a message.
	talkMessages = 16
)

// errTalk says that a socket brought more than anyone wants to read.
var errTalk = errors.New("more messages than are read")

// errUnwanted says that a socket opened when nobody wanted it any more.
var errUnwanted = errors.New("cancelled as it opened")

// Socket is one websocket to an upstream, for one try. One goroutine reads.
type Socket struct {
	client *Client
	ws     *websocket.Conn
	ctx    context.Context
	stop   func() bool
	others int   // messages that were not for us
	left   int64 // bytes that may still come
}

// Open dials, and asks for an upgrade, within ctx. Without a socket the
// Judgement says what came instead: a refused upgrade with a status of 400 or
// more is an answer. The error is as Do's. The socket ends with ctx.
func (c *Client) Open(ctx context.Context) (*Socket, Judgement, error) {
	ws, j, err := c.upgraded(ctx, nil)
	if ws == nil {
		return nil, j, err
	}
	if at, ok := ctx.Deadline(); ok {
		// A failure shows at the first read or write.
		_ = ws.SetReadDeadline(at)
		_ = ws.SetWriteDeadline(at)
	}
	s := &Socket{client: c, ws: ws, ctx: ctx, left: talkMessages * c.maxBody}
	s.stop = context.AfterFunc(ctx, func() { _ = ws.NetConn().Close() })
	return s, Judgement{}, nil
}

// upgraded dials, and asks for an upgrade at the address with the path and the
// query of at, within ctx. The connection does not end with ctx.
func (c *Client) upgraded(ctx context.Context, at *url.URL) (*websocket.Conn, Judgement, error) {
	begun := time.Now()
	ctx, a := follow(ctx)
	header, err := c.upgradeHeader(ctx)
	if err != nil {
		return nil, Judgement{}, c.given(ctx, c.fault(a, err))
	}
	// TLS and a proxy's tunnel are ours, so that a failure is typed and bounded.
	d := websocket.Dialer{NetDialContext: c.dialSocket, NetDialTLSContext: c.dialSocket}
	to := c.target(at)
	to.Scheme = "ws" + strings.TrimPrefix(to.Scheme, "http")
	halt := context.AfterFunc(ctx, a.hangUp)
	ws, resp, err := d.DialContext(ctx, to.String(), header)
	halt()
	if err == nil && len(resp.Header.Values("Sec-Websocket-Extensions")) > 0 {
		// Nobody asked for compression, whose bombs would count for little on the wire.
		err = errors.Join(errEncoding, ws.Close())
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		if ws != nil {
			err = errors.Join(err, errUnwanted, ws.Close())
		}
		return nil, Judgement{}, c.given(ctx, err)
	}
	if err != nil {
		j, err := c.notOpen(a, resp, err)
		j.Took = time.Since(begun)
		if at, _, _ := a.state(); at >= stageSending {
			j.Asked = 1
		}
		return nil, j, err
	}
	if k := underlying(ws.NetConn()); k != nil {
		k.left.Store(0)
	}
	return ws, Judgement{}, nil
}

// notOpen judges an upgrade that did not happen.
func (c *Client) notOpen(a *attempt, resp *http.Response, err error) (Judgement, error) {
	if resp == nil || !errors.Is(err, websocket.ErrBadHandshake) {
		if errors.Is(err, errEncoding) {
			return noAnswer(model.ReasonMalformed, model.Evidence{Layer: model.LayerWS, Text: "an extension that was not asked for"}), nil
		}
		var f *Failure
		if fault := c.fault(a, err); !errors.As(fault, &f) {
			return Judgement{}, c.given(a.ctx, fault)
		}
		if at, _, _ := a.state(); f.Reason == model.ReasonTimeout && at >= stageSending {
			f.Layer, f.Text = model.LayerWS, "upgrade asked for, no answer"
		}
		return c.failed(f, 0), nil
	}
	body, bodyErr := io.ReadAll(resp.Body) // at most 1 KiB, which is there already
	x := Exchange{Status: resp.StatusCode, Header: resp.Header, Body: body}
	if bodyErr != nil || int64(len(body)) < resp.ContentLength {
		x.Cut = &Failure{Reason: model.ReasonTruncated, Layer: model.LayerHTTP, Text: "body not read"}
	}
	if x.Status >= 300 {
		return c.Judge(x), nil
	}
	return noAnswer(model.ReasonNotProtocol, evidence(x, "no websocket: "+c.bodyText(x))), nil
}

// upgradeHeader is the configured credentials and headers.
func (c *Client) upgradeHeader(ctx context.Context) (http.Header, error) {
	taken := &taker{}
	layers, err := c.dressed(taken)
	if err != nil {
		return nil, err
	}
	req := (&http.Request{Method: http.MethodGet, URL: c.target(nil), Header: http.Header{}}).WithContext(ctx)
	if user := c.url.raw.User; user != nil && !c.authorized() {
		word, _ := user.Password()
		req.SetBasicAuth(user.Username(), word)
	}
	req.Header.Set("User-Agent", "chaintop")
	if _, err := layers.RoundTrip(req); !errors.Is(err, errTaken) {
		return nil, err
	}
	attemptOf(ctx).reach(stageWaiting)
	c.scrub.learn(sentSecrets(taken.header, c.keys)...)
	return taken.header, nil
}

// taker takes a request's headers and sends nothing.
type taker struct{ header http.Header }

var errTaken = errors.New("headers taken")

func (t *taker) RoundTrip(req *http.Request) (*http.Response, error) {
	t.header = req.Header
	return nil, errTaken
}

// dialSocket makes a connection for a websocket: through our proxy, if one is
// configured, and with TLS, if the address says so.
func (c *Client) dialSocket(ctx context.Context, network, addr string) (net.Conn, error) {
	a := attemptOf(ctx)
	var via *url.URL
	if find := c.http.Proxy(); find != nil {
		var err error
		if via, err = find(&http.Request{URL: c.target(nil)}); err != nil {
			return nil, err
		}
	}
	to := addr
	if via != nil {
		if via.Scheme != "http" {
			return nil, fmt.Errorf("%w: a websocket cannot go through a proxy of scheme %s", ErrUnbuilt, via.Scheme)
		}
		to = hostPort(via)
	}
	raw, err := c.dial(ctx, network, to)
	if err != nil {
		if via != nil {
			err = &net.OpError{Op: "proxyconnect", Net: network, Err: err}
		}
		return nil, err
	}
	underlying(raw).left.Store(upgradeBytes)
	if at, ok := ctx.Deadline(); ok {
		// A failure shows at the first read or write.
		_ = raw.SetDeadline(at)
	}
	if via != nil {
		if err := c.tunnel(raw, via, addr); err != nil {
			return nil, errors.Join(err, raw.Close())
		}
	}
	if c.plain {
		return raw, nil
	}
	conf := c.tls.config()
	if conf.ServerName == "" {
		conf.ServerName = c.url.raw.Hostname()
	}
	conf.NextProtos = []string{"http/1.1"}
	a.reach(stageTLS)
	secure := tls.Client(raw, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return secure, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// tunnel asks a proxy for a connection to addr.
func (c *Client) tunnel(raw net.Conn, via *url.URL, addr string) error {
	header := c.http.GetProxyConnectHeader()
	if header == nil {
		header = http.Header{}
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: header.Clone()}
	if user := via.User; user != nil {
		word, _ := user.Password()
		req.SetBasicAuth(user.Username(), word)
		req.Header.Set("Proxy-Authorization", req.Header.Get("Authorization"))
		req.Header.Del("Authorization")
	}
	if err := req.Write(raw); err != nil {
		return err
	}
	// The upstream does not speak until spoken to: nothing is lost in the buffer.
	resp, err := http.ReadResponse(bufio.NewReader(raw), req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return &proxyError{status: resp.StatusCode}
	}
	return nil
}

// Send writes one message.
func (s *Socket) Send(message []byte) error {
	return s.ws.WriteMessage(websocket.TextMessage, message)
}

// Next is the next message, at most the client's bound long.
func (s *Socket) Next() ([]byte, error) {
	kind, r, err := s.ws.NextReader()
	if err != nil {
		return nil, err
	}
	bound := s.client.maxBody
	message, err := io.ReadAll(io.LimitReader(r, bound+1))
	if s.left -= int64(len(message)); s.left < 0 {
		return nil, errTalk
	}
	switch {
	case err != nil:
		return nil, err
	case int64(len(message)) > bound:
		return nil, errLong
	case kind != websocket.TextMessage && kind != websocket.BinaryMessage:
		return nil, nil
	}
	return message, nil
}

// Skip counts a message that was not for us, for the evidence.
func (s *Socket) Skip() { s.others++ }

// Close ends the socket.
func (s *Socket) Close() {
	s.stop()
	// A word of goodbye, if it goes out at once; the socket is over either way.
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(100*time.Millisecond))
	_ = s.ws.Close()
}

// Ended judges the error of Send or Next: what the end of the socket means for a
// question that was not answered on it. The error is as Do's.
func (s *Socket) Ended(err error) (Judgement, error) {
	c := s.client
	if errors.Is(s.ctx.Err(), context.Canceled) {
		return Judgement{}, c.given(s.ctx, err)
	}
	e := model.Evidence{Layer: model.LayerWS}
	var closed *websocket.CloseError
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return c.closed(closed), nil
	case errors.Is(err, errLong), errors.Is(err, errTalk):
		e.Text = err.Error()
		return noAnswer(model.ReasonTruncated, e), nil
	case timedOut(s.ctx, err):
		e.Text = "question sent, no reply to it"
		if s.others > 0 {
			e.Text += " among other messages"
		}
		return noAnswer(model.ReasonTimeout, e), nil
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Text = "question sent, then the connection was reset"
		return noAnswer(model.ReasonReset, e), nil
	case errors.As(err, &closed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		e.Text = "question sent, closed without a reply"
		return noAnswer(model.ReasonEOF, e), nil
	}
	e.Text = "not valid websocket"
	return noAnswer(model.ReasonMalformed, e), nil
}

// closed judges a close frame: a code that is meant for the client is an answer,
// one that only says goodbye is none (V2, V4).
func (c *Client) closed(closed *websocket.CloseError) Judgement {
	e := model.Evidence{Layer: model.LayerWS, Code: int64(closed.Code), Text: c.scrub.text(closed.Text, model.EvidenceRunes)}
	switch code := closed.Code; {
	case code == websocket.ClosePolicyViolation, code == websocket.CloseInternalServerErr, code == websocket.CloseTryAgainLater,
		code >= 4000 && code <= 4999:
	default:
		return noAnswer(model.ReasonEOF, e)
	}
	s := said{code: e.Code, words: strings.ToLower(closed.Text), reply: true}
	f := s.findings()
	if closed.Code == websocket.ClosePolicyViolation && s.limit() == noLimit {
		f = f.With(model.AccessDenied)
	}
	return c.limited(s, Exchange{Header: http.Header{}}, answer(model.ReasonWSClose, e, f))
}
