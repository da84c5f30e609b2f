package probe_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http2"
)

// player is the fake upstream of one case, on real loopback sockets.
type player struct {
	c    corpusCase
	l    net.Listener
	ctx  context.Context
	wg   sync.WaitGroup
	ca   *authority
	dns  *fakeDNS
	mu   sync.Mutex
	next int // connection whose script is played next
}

func play(t *testing.T, c corpusCase, ca *authority) *player {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &player{c: c, l: l, ctx: ctx, ca: ca}
	if c.Transport.Layer == "dns" {
		p.dns = answerDNS(t, c.Transport.Connections[0].Steps[0].Rcode)
	}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		stop()
		_ = l.Close()
		p.wg.Wait()
	})
	return p
}

// steps is the script of the next connection.
func (p *player) steps(take bool) []step {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.c.Transport.Connections
	s := all[min(p.next, len(all)-1)].Steps
	if take {
		p.next++
	}
	return s
}

// dial leads every name to the player; a script that begins before there is a
// connection is played here.
func (p *player) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	var d net.Dialer
	switch first := p.steps(false)[0]; first.Op {
	case "dns":
		d.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if p.ctx.Err() != nil {
				return nil, p.ctx.Err()
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, "udp", p.dns.addr)
			if err == nil {
				// net's resolver reads on for seconds after its caller is gone.
				context.AfterFunc(p.ctx, func() { _ = conn.Close() })
			}
			return conn, err
		}}
		return d.DialContext(ctx, network, net.JoinHostPort(p.c.Target.Host, "80"))
	case "refuse":
		p.steps(true)
		return d.DialContext(ctx, network, closedPort())
	case "unreachable":
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}
	case "blackhole":
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
	}
	return d.DialContext(ctx, network, p.l.Addr().String())
}

// closedPort is an address on which nobody listens.
func closedPort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func (p *player) accept() {
	for {
		raw, err := p.l.Accept()
		if err != nil {
			return
		}
		steps := p.steps(true)
		p.wg.Go(func() {
			k := &link{player: p, raw: raw, conn: raw, id: p.c.Probe.ID}
			defer context.AfterFunc(p.ctx, func() { _ = raw.Close() })()
			defer func() { _ = raw.Close() }()
			if k.run(steps) == nil {
				// It stays open until the client closes it.
				_, _ = io.Copy(io.Discard, k.reader())
			}
		})
	}
}

// link is one accepted connection.
type link struct {
	player *player
	raw    net.Conn // TCP
	conn   net.Conn // TLS, after that step
	br     *bufio.Reader
	id     json.RawMessage // of the request read last
	zips   bool            // it accepts gzip
	h2     *http2.Framer
	stream uint32
	key    string // of the websocket handshake
}

var errOver = errors.New("the script closed it")

func (k *link) run(steps []step) error {
	for _, s := range steps {
		if err := k.step(s); err != nil {
			return err
		}
	}
	return nil
}

func (k *link) reader() *bufio.Reader {
	if k.br == nil {
		k.br = bufio.NewReader(k.conn)
	}
	return k.br
}

func (k *link) write(b string) error {
	_, err := io.WriteString(k.conn, b)
	return err
}

func (k *link) step(s step) error {
	switch s.Op {
	case "accept":
		return nil
	case "tls":
		return k.handshake(s)
	case "read_request":
		if k.h2 != nil {
			return k.readStream()
		}
		return k.readRequest()
	case "read_line":
		_, err := k.reader().ReadString('\n')
		return err
	case "delay_ms":
		return k.wait(time.Duration(s.MS) * time.Millisecond)
	case "respond":
		return k.respond(s)
	case "send_headers":
		return k.write(k.head(s, s.Headers))
	case "send_body", "raw":
		return k.write(k.text(s))
	case "send_chunk":
		t := k.text(s)
		return k.write(fmt.Sprintf("%x\r\n%s\r\n", len(t), t))
	case "end_chunks":
		return k.write("0\r\n\r\n")
	case "close":
		return errors.Join(errOver, k.conn.Close())
	case "reset":
		if tcp, ok := k.raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return errors.Join(errOver, k.raw.Close())
	case "stall":
		return k.wait(time.Hour)
	case "h2_goaway", "h2_headers", "h2_data", "h2_rst_stream", "h2_preface":
		return k.frame(s)
	case "ws_upgrade", "ws_recv", "ws_text", "ws_close", "ws_ping":
		return k.socket(s)
	}
	return fmt.Errorf("unknown step %q", s.Op)
}

func (k *link) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	gone := make(chan struct{})
	if d == time.Hour { // a stall ends when the client goes
		go func() { defer close(gone); _, _ = io.Copy(io.Discard, k.reader()) }()
	}
	select {
	case <-timer.C:
		return nil
	case <-gone:
		return errOver
	case <-k.player.ctx.Done():
		if d == time.Hour {
			_ = k.raw.Close()
			<-gone
		}
		return errOver
	}
}

func (k *link) text(s step) string {
	if s.Text != nil {
		return render(*s.Text, k.id)
	}
	b, _ := base64.StdEncoding.DecodeString(s.B64)
	return string(b)
}

func (k *link) readRequest() error {
	req, err := http.ReadRequest(k.reader())
	if err != nil {
		return err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	k.zips = strings.Contains(req.Header.Get("Accept-Encoding"), "gzip")
	k.key = req.Header.Get("Sec-WebSocket-Key")
	k.takeID(body)
	return nil
}

func (k *link) takeID(body []byte) {
	var one struct{ ID json.RawMessage }
	if json.Unmarshal(body, &one) == nil && one.ID != nil {
		k.id = one.ID
	}
}

func (k *link) head(s step, h headers) string {
	version := s.Version
	if version == "" {
		version = "HTTP/1.1"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d X\r\n", version, s.Status)
	for _, e := range h {
		fmt.Fprintf(&b, "%s: %s\r\n", e.name, e.value)
	}
	b.WriteString("\r\n")
	return b.String()
}

func (k *link) respond(s step) error {
	h := s.Headers
	add := func(name, value string) { h = append(h, struct{ name, value string }{name, value}) }
	if s.BodyRepeat != nil {
		add("Transfer-Encoding", "chunked")
		if err := k.write(k.head(s, h)); err != nil {
			return err
		}
		return k.repeat(*s.BodyRepeat)
	}
	body := ""
	switch {
	case s.BodyB64 != "":
		b, _ := base64.StdEncoding.DecodeString(s.BodyB64)
		body = string(b)
	case s.Body != nil:
		body = render(*s.Body, k.id)
	}
	if s.Encode == "gzip" && (!s.OnlyIfAccepted || k.zips) {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = io.WriteString(w, body)
		_ = w.Close()
		body = z.String()
	}
	switch {
	case s.Framing == "chunked":
		add("Transfer-Encoding", "chunked")
		if body != "" {
			body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
		}
		body += "0\r\n\r\n"
	case s.Status != http.StatusNoContent && !h.has("Content-Length"):
		add("Content-Length", fmt.Sprint(len(body)))
	}
	return k.write(k.head(s, h) + body)
}

// repeat sends a body too large to hold, in chunks.
func (k *link) repeat(r bodyRepeat) error {
	chunk := func(t string) error { return k.write(fmt.Sprintf("%x\r\n%s\r\n", len(t), t)) }
	if err := chunk(render(r.Prefix, k.id)); err != nil {
		return err
	}
	piece := strings.Repeat(r.Text, 32<<10/len(r.Text))
	for n := 0; n < r.Times; n += len(piece) / len(r.Text) {
		if err := chunk(piece); err != nil {
			return err
		}
	}
	if err := chunk(r.Suffix); err != nil {
		return err
	}
	return k.write("0\r\n\r\n")
}

func (k *link) handshake(s step) error {
	if s.Mode == "close_mid_handshake" {
		_, _ = k.raw.Read(make([]byte, 1))
		return errors.Join(errOver, k.raw.Close())
	}
	conf := k.player.ca.server(s.Mode)
	if s.ALPN != "" {
		conf.NextProtos = []string{s.ALPN}
	}
	if s.Mode == "alert" {
		conf.MinVersion, conf.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	}
	secure := tls.Server(k.raw, conf)
	if err := secure.HandshakeContext(k.player.ctx); err != nil {
		return err
	}
	k.conn = secure
	if s.ALPN == "h2" {
		return k.prefaceH2()
	}
	return nil
}

// fakeDNS answers every question with one code.
type fakeDNS struct{ addr string }

func answerDNS(t *testing.T, rcode string) *fakeDNS {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]dnsmessage.RCode{"SERVFAIL": dnsmessage.RCodeServerFailure, "NXDOMAIN": dnsmessage.RCodeNameError, "REFUSED": dnsmessage.RCodeRefused}[rcode]
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || rcode == "TIMEOUT" {
				continue
			}
			m.Response, m.RCode, m.Answers, m.Additionals = true, code, nil, nil
			if b, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(b, from)
			}
		}
	}()
	t.Cleanup(func() { _ = pc.Close(); <-done })
	return &fakeDNS{addr: pc.LocalAddr().String()}
}
