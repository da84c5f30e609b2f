package probe_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"chaintop/internal/probe"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// fault is one row of the fault catalogue: how an upstream fails, and what a
// try makes of it.
type fault struct {
	name string
	make func(t *testing.T) probe.Target
	want string // kind and reason; the reason may be left out
}

// over is a target that answers each request of HTTP/1.1 by play.
func over(play func(c *rpctest.Conn)) func(*testing.T) probe.Target {
	return func(t *testing.T) probe.Target { return evmTarget(t, behave(t, play), nil) }
}

// respond is a target that answers with one response.
func respond(status, header, body string) func(*testing.T) probe.Target {
	return over(func(c *rpctest.Conn) { c.Answer(status, header, body) })
}

func text(s string) *string { return &s }

// rawTCP is a target whose server does not read first.
func rawTCP(play func(c *rpctest.Conn)) func(*testing.T) probe.Target {
	return func(t *testing.T) probe.Target {
		s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) { play(c) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return evmTarget(t, s.URL(), nil)
	}
}

// blackhole is a listener whose backlog is full: nobody takes a SYN.
func blackhole(t *testing.T) probe.Target {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for {
		conn, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
		if err != nil {
			break
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	return evmTarget(t, "http://"+addr, nil)
}

// drip says a text slowly and never ends.
func drip(c *rpctest.Conn, head string) {
	if !c.Say(head) {
		return
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if !c.Say(" ") {
			return
		}
	}
}

// endless says a text for ever.
func endless(c *rpctest.Conn, head, piece string) {
	if !c.Say(head) {
		return
	}
	for c.Say(piece) {
		continue
	}
}

// bomb is 200 MiB of zeros, gzipped, a member a MiB.
func bomb() string { return strings.Repeat(zipped(strings.Repeat("\x00", 1<<20)), 200) }

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

const (
	jsonHead    = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	chunked     = jsonHead + "Transfer-Encoding: chunked\r\n\r\n"
	badGateway  = "HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n"
	resultInOne = `{"jsonrpc":"2.0","id":1,"result":"0x10"}`
	page        = "<!DOCTYPE html><html><head><title>Sorry</title></head></html>"
)

// faults is the catalogue, rows 1 to 20.
func faults() []fault {
	var all []fault
	add := func(row int, name string, make func(*testing.T) probe.Target, want string) {
		all = append(all, fault{fmt.Sprintf("%02d %s", row, name), make, want})
	}
	piece := fmt.Sprintf("%x\r\n%s\r\n", 16384, strings.Repeat(" ", 16384))

	add(1, "refused", over(nil), "no_answer refused")
	add(2, "reset as it opens", rawTCP(func(c *rpctest.Conn) { c.Reset() }), "no_answer reset")
	add(2, "reset after the request", over(func(c *rpctest.Conn) { c.Reset() }), "no_answer reset")
	add(2, "reset in the body", over(func(c *rpctest.Conn) { c.Say(chunked + "5\r\n{\"id\"\r\n"); c.Reset() }), "no_answer truncated")
	add(3, "blackhole", blackhole, "no_answer timeout")
	add(4, "silence", over(func(c *rpctest.Conn) { c.Wait() }), "no_answer timeout")
	add(5, "headers dripped", over(func(c *rpctest.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX:") }), "no_answer timeout")
	add(5, "body dripped", over(func(c *rpctest.Conn) { drip(c, jsonHead+"Content-Length: 4000\r\n\r\n") }), "no_answer timeout")
	add(6, "cut", over(func(c *rpctest.Conn) { c.Say(jsonHead + "Content-Length: 400\r\n\r\n" + resultInOne) }), "no_answer truncated")
	add(7, "endless body", over(func(c *rpctest.Conn) { endless(c, jsonHead+"\r\n", piece) }), "no_answer truncated")
	add(7, "endless chunks", over(func(c *rpctest.Conn) { endless(c, chunked, piece) }), "no_answer truncated")
	add(7, "endless chunks of an error", over(func(c *rpctest.Conn) { endless(c, badGateway, piece) }), "answer http_status")
	add(8, "gzip bomb", respond("200 OK", "Content-Encoding: gzip\r\n", bomb()), "no_answer truncated")
	add(8, "gzip in gzip", respond("200 OK", "Content-Encoding: gzip, gzip\r\n", zipped(zipped(resultInOne))), "no_answer malformed")
	add(8, "gzip, as labelled", respond("200 OK", "Content-Encoding: gzip\r\n", zipped(`{"jsonrpc":"2.0","id":1,"result":"0x10"}`)), "result")
	add(8, "not the gzip it is labelled", respond("200 OK", "Content-Encoding: gzip\r\n", resultInOne), "no_answer malformed")
	add(8, "brotli", respond("200 OK", "Content-Encoding: br\r\n", resultInOne), "no_answer malformed")
	add(8, "zstd", respond("200 OK", "Content-Encoding: zstd\r\n", resultInOne), "no_answer malformed")
	add(9, "HTML", respond("200 OK", "", page), "no_answer not_protocol")
	add(9, "another content type", respond("200 OK", "Content-Type: image/png\r\n", resultInOne), "result")
	add(9, "byte order mark", respond("200 OK", "", "\ufeff"+resultInOne), "result")
	add(9, "empty", respond("200 OK", "", ""), "no_answer empty")
	add(9, "trailing garbage", respond("200 OK", "", resultInOne+"//"), "no_answer malformed")
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x"}}`:        "answer node_error",
		`{"jsonrpc":"2.0","id":2,"result":"0x10"}`:                              "no_answer id_mismatch",
		`{"jsonrpc":"2.0","id":1,"result":"0x10","result":"0x11"}`:              "answer unusable_result",
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                "answer unusable_result",
		`{"jsonrpc":"2.0","id":1,"result":1e400}`:                               "answer unusable_result",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\ud800"}}`:        "answer node_error",
		`{"a":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}`: "no_answer malformed",
	} {
		add(10, body[:min(len(body), 60)], respond("200 OK", "", body), want)
	}
	for status, want := range map[string]string{
		"401 X": "answer http_status", "403 X": "answer http_status", "500 X": "answer http_status", "502 X": "answer http_status",
		"503 X": "answer http_status", "999 X": "answer http_status", "429 X": "answer rate_limit",
	} {
		add(11, status, respond(status, "Content-Type: text/html\r\nRetry-After: 99999999\r\n", page), want)
	}
	add(11, "204", over(func(c *rpctest.Conn) { c.Say("HTTP/1.1 204 No Content\r\n\r\n") }), "no_answer empty")
	add(12, "interim answers", over(func(c *rpctest.Conn) { endless(c, "", "HTTP/1.1 103 Early Hints\r\n\r\n") }), "no_answer")
	add(13, "redirect loop", respond("302 X", "Location: /\r\n", ""), "answer http_status")
	add(13, "redirect to a file", respond("302 X", "Location: file:///etc/passwd\r\n", ""), "no_answer own_side")
	add(13, "redirect to metadata", respond("302 X", "Location: http://169.254.169.254/\r\n", ""), "no_answer own_side")
	add(13, "redirect to another host", respond("307 X", "Location: http://other.test/\r\n", ""), "no_answer own_side")
	return append(all, layered()...)
}

func TestFaultCatalogue(t *testing.T) {
	const timeout = time.Second
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			target := f.make(t)
			t.Cleanup(target.Client.Close)
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			begun := time.Now()
			o, err := probe.Try(ctx, target)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > timeout+250*time.Millisecond {
				t.Errorf("took %v", took)
			}
			if got := o.Kind.String() + " " + string(o.Reason); !strings.HasPrefix(got, f.want) {
				t.Errorf("%s (%s %s), want %s", got, o.Evidence.Layer, o.Evidence, f.want)
			}
			if strings.Contains(o.Evidence.Text, "127.0.0.1") || strings.Contains(o.Evidence.Text, "://") {
				t.Errorf("an address in %q", o.Evidence.Text)
			}
		})
	}
}

// Row 17: a late answer belongs to no later try, on the same connection or another.
func TestLateAnswerIsNobodys(t *testing.T) {
	var asked atomic.Int32
	gate := make(chan struct{})
	srv, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		for {
			if _, _, ok := c.Request(); !ok {
				return
			}
			if asked.Add(1) == 1 {
				<-gate
			}
			c.Result(fmt.Sprintf(`"0x%d"`, asked.Load()))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	target := evmTarget(t, srv.URL(), nil)
	defer target.Client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if o, err := probe.Ask(ctx, target, probe.Question{Method: "eth_blockNumber", ID: 1}); err != nil || o.Reason != model.ReasonTimeout {
		t.Fatalf("%s %v", o.Reason, err)
	}
	close(gate)
	o, err := probe.Ask(t.Context(), target, probe.Question{Method: "eth_blockNumber", ID: 1})
	if err != nil || !o.Facts.Head.Known() || o.Facts.Head.Value != 2 {
		t.Errorf("%+v %v", o, err)
	}
}

// Row 18: what a node says of itself is a result, whatever it says.
func TestStrangeHeadsAreResults(t *testing.T) {
	for value, want := range map[string]uint64{`"0x0"`: 0, `"0xffffffffffffffff"`: 1<<64 - 1} {
		target := respond("200 OK", "", `{"jsonrpc":"2.0","id":1,"result":`+value+`}`)(t)
		o, err := probe.Try(t.Context(), target)
		if err != nil || o.Kind != model.Result || o.Facts.Head != model.Say(want) {
			t.Errorf("%s: %+v %v", value, o, err)
		}
		target.Client.Close()
	}
	target := respond("200 OK", "", `{"jsonrpc":"2.0","id":1,"result":{"number":"0x5","timestamp":"0xffffffffffffffff"}}`)(t)
	defer target.Client.Close()
	o, err := probe.Ask(t.Context(), target, probe.Question{Method: "eth_getBlockByNumber", Params: []byte(`["latest",false]`), ID: 1})
	if err != nil || o.Kind != model.Result || o.Facts.Block.Known() || o.Facts.Head.Value != 5 {
		t.Errorf("a block of the far future: %+v %v", o, err)
	}
}

// Row 19: a connection that its peer closed between two probes does not count.
func TestConnectionClosedBetweenProbes(t *testing.T) {
	srv, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		if _, _, ok := c.Request(); ok {
			c.Result(`"0x10"`)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	target := evmTarget(t, srv.URL(), nil)
	defer target.Client.Close()
	for n := range 50 {
		o, err := probe.Ask(t.Context(), target, probe.Question{Method: "eth_blockNumber", ID: 1})
		if err != nil || o.Kind != model.Result {
			t.Fatalf("probe %d: %s %s %v", n, o.Kind, o.Evidence, err)
		}
	}
}
