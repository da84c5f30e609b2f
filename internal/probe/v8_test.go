package probe_test

import (
	"context"
	"testing"
	"time"

	"chaintop/internal/probe"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// behave is a server with one behaviour, and the address that leads to it.
func behave(t *testing.T, play func(c *rpctest.Conn)) string {
	t.Helper()
	if play == nil {
		addr, err := rpctest.Closed()
		if err != nil {
			t.Fatal(err)
		}
		return "http://" + addr
	}
	s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		if _, _, ok := c.Request(); ok {
			play(c)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL()
}

const v8Page = "<html><head><title>503 Service Temporarily Unavailable</title></head></html>"

// TestV8 is the table every release reproduces against live sockets.
func TestV8(t *testing.T) {
	for _, c := range []struct {
		name    string
		play    func(c *rpctest.Conn)
		verdict model.Verdict
		reason  model.Reason
	}{
		{"a result", func(c *rpctest.Conn) { c.Result(`"0x10"`) }, model.VerdictHealthy, ""},
		{"an error body with 200", func(c *rpctest.Conn) {
			c.Answer("200 OK", "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`)
		}, model.VerdictInconclusive, model.ReasonNodeError},
		{"503 with HTML", func(c *rpctest.Conn) { c.Answer("503 X", "Content-Type: text/html\r\n", v8Page) }, model.VerdictInconclusive, model.ReasonHTTPStatus},
		{"403", func(c *rpctest.Conn) { c.Answer("403 X", "", "forbidden") }, model.VerdictInconclusive, model.ReasonHTTPStatus},
		{"429", func(c *rpctest.Conn) { c.Answer("429 X", "", "") }, model.VerdictInconclusive, model.ReasonRateLimit},
		{"a dropped connection", func(*rpctest.Conn) {}, model.VerdictUnreachable, model.ReasonEOF},
		{"a closed port", nil, model.VerdictUnreachable, model.ReasonRefused},
		{"silence", func(c *rpctest.Conn) { c.Wait() }, model.VerdictUnreachable, model.ReasonTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := evmTarget(t, behave(t, c.play), nil)
			defer target.Client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			o, err := probe.Try(ctx, target)
			if err != nil {
				t.Fatal(err)
			}
			verdict := model.Judge([]model.Try{{Kind: o.Kind}})
			if verdict != c.verdict || o.Reason != c.reason {
				t.Errorf("%s %s (%s), want %s %s", verdict, o.Reason, o.Evidence, c.verdict, c.reason)
			}
		})
	}
}
