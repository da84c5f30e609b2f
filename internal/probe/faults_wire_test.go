package probe_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// layered are the rows beneath and beside plain HTTP/1.1.
func layered() []fault {
	var all []fault
	add := func(row int, name string, make func(*testing.T) probe.Target, want string) {
		all = append(all, fault{fmt.Sprintf("%02d %s", row, name), make, want})
	}
	for _, mode := range []string{"expired", "not_yet_valid", "wrong_host", "self_signed", "alert", "client_cert_required", "close_mid_handshake"} {
		add(14, mode, scripted("https", "tls", step{Op: "accept"}, step{Op: "tls", Mode: mode}, step{Op: "read_request"}), "no_answer tls")
	}
	add(14, "stall in the handshake", scripted("https", "tls", step{Op: "accept"}, step{Op: "stall"}), "no_answer timeout")
	add(14, "huge chain", hugeChain, "no_answer tls")
	for rcode, want := range map[string]string{"NXDOMAIN": "dns", "SERVFAIL": "dns", "REFUSED": "dns", "EMPTY": "dns", "TIMEOUT": "timeout"} {
		add(15, rcode, scripted("http", "dns", step{Op: "dns", Rcode: rcode}), "no_answer "+want)
	}
	add(16, "GOAWAY", framed(func(fr *http2.Framer, _ uint32) { _ = fr.WriteGoAway(0, http2.ErrCodeInternal, []byte("x")) }), "no_answer reset")
	add(16, "RST_STREAM", framed(func(fr *http2.Framer, s uint32) { _ = fr.WriteRSTStream(s, http2.ErrCodeInternal) }), "no_answer reset")
	add(16, "REFUSED_STREAM", framed(func(fr *http2.Framer, s uint32) { _ = fr.WriteRSTStream(s, http2.ErrCodeRefusedStream) }), "no_answer")
	add(16, "SETTINGS flood", framed(func(fr *http2.Framer, _ uint32) {
		for fr.WriteSettings() == nil {
			continue
		}
	}), "no_answer timeout")
	add(16, "silence", framed(func(*http2.Framer, uint32) {}), "no_answer timeout")
	ws := func(steps ...step) func(*testing.T) probe.Target {
		return scripted("ws", "ws", append([]step{{Op: "accept"}, {Op: "read_request"}, {Op: "ws_upgrade"}, {Op: "ws_recv"}}, steps...)...)
	}
	add(20, "socket cut", ws(step{Op: "close"}), "no_answer eof")
	add(20, "socket reset", ws(step{Op: "reset"}), "no_answer reset")
	add(20, "ping flood", ws(repeated(step{Op: "ws_ping"}, 3000)...), "no_answer timeout")
	add(20, "fragment bomb", fragments, "no_answer truncated")
	add(20, "compressed", compressedSocket, "no_answer malformed")
	add(20, "no upgrade", scripted("ws", "ws", step{Op: "accept"}, step{Op: "read_request"}, step{Op: "stall"}), "no_answer timeout")
	add(20, "endless upgrade headers", scripted("ws", "ws", append([]step{{Op: "accept"}, {Op: "read_request"}, {Op: "raw", Text: text("HTTP/1.1 101 X\r\n")}},
		repeated(step{Op: "raw", Text: text("X-A: " + strings.Repeat("a", 1000) + "\r\n")}, 400)...)...), "no_answer")
	return all
}

// repeated is a step many times over.
func repeated(s step, n int) []step {
	var all []step
	for range n {
		all = append(all, s)
	}
	return all
}

// hugeChain sends a certificate that fills more than a handshake may have.
func hugeChain(t *testing.T) probe.Target {
	ca := newAuthority(t)
	conf := ca.server("ok")
	for range 2000 {
		conf.Certificates[0].Certificate = append(conf.Certificates[0].Certificate, conf.Certificates[0].Certificate[0])
	}
	s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) { _ = tls.Server(c.Conn, conf).Handshake() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return secure(t, s.Addr, ca)
}

// fragments sends one message in fragments without end.
func fragments(t *testing.T) probe.Target {
	return upgraded(t, "", func(k *link) {
		piece := append([]byte{0x00, 126, 0x40, 0x00}, make([]byte, 16384)...)
		if _, err := k.conn.Write([]byte{0x01, 1, '{'}); err != nil {
			return
		}
		for {
			if _, err := k.conn.Write(piece); err != nil {
				return
			}
		}
	})
}

func compressedSocket(t *testing.T) probe.Target {
	return upgraded(t, "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n", func(*link) {})
}

// upgraded is a websocket server that talks by talk once it was asked.
func upgraded(t *testing.T, header string, talk func(k *link)) probe.Target {
	s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		k := &link{conn: c.Conn}
		if k.readRequest() != nil || k.socket(step{Op: "ws_upgrade", Headers: headers{{"", header}}}) != nil {
			return
		}
		if k.socket(step{Op: "ws_recv"}) == nil {
			talk(k)
		}
		c.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return evmTarget(t, "ws"+strings.TrimPrefix(s.URL(), "http"), nil)
}

// scripted is a target played by the corpus's player.
func scripted(scheme, layer string, steps ...step) func(*testing.T) probe.Target {
	return func(t *testing.T) probe.Target {
		c := corpusCase{}
		c.Target.Scheme, c.Target.Host, c.Transport.Layer, c.Probe.ID = scheme, corpusHost, layer, []byte("1")
		c.Transport.Connections = append(c.Transport.Connections, struct{ Steps []step }{steps})
		p := play(t, c, newAuthority(t))
		return probe.Target{Family: model.EVM, Client: corpusClient(t, c, p)}
	}
}

// framed is an HTTP/2 server that answers a request by answer.
func framed(answer func(fr *http2.Framer, stream uint32)) func(*testing.T) probe.Target {
	return func(t *testing.T) probe.Target {
		ca := newAuthority(t)
		conf := ca.server("ok")
		conf.NextProtos = []string{"h2"}
		s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
			conn := tls.Server(c.Conn, conf)
			if conn.Handshake() != nil {
				return
			}
			if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
				return
			}
			k := &link{conn: conn, h2: http2.NewFramer(conn, conn)}
			if k.h2.WriteSettings() == nil && k.readStream() == nil {
				answer(k.h2, k.stream)
			}
			_, _ = io.Copy(io.Discard, conn)
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return secure(t, s.Addr, ca)
	}
}

// secure is a target at addr over TLS, which trusts the authority and no other.
func secure(t *testing.T, addr string, ca *authority) probe.Target {
	t.Helper()
	u, err := rpc.ParseURL("up", "https://"+addr)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rpc.NewClient(u, rpc.Options{RootCAs: ca.pool})
	if err != nil {
		t.Fatal(err)
	}
	return probe.Target{Family: model.EVM, Client: client}
}
