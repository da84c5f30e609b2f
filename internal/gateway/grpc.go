package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"chaintop/internal/clean"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// grpcStatus is a code of gRPC.
type grpcStatus int

// The codes that are ours to say.
const (
	grpcUnknown       grpcStatus = 2
	grpcInvalid       grpcStatus = 3
	grpcLate          grpcStatus = 4
	grpcDenied        grpcStatus = 7
	grpcTooLarge      grpcStatus = 8
	grpcUnimplemented grpcStatus = 12
	grpcInternal      grpcStatus = 13
	grpcUnavailable   grpcStatus = 14
	grpcNobody        grpcStatus = 16 // unauthenticated
)

// asksGRPC says that a request is a gRPC call. gRPC-Web is none: it is HTTP, and
// goes as that.
func asksGRPC(r *http.Request) bool { return r.ProtoMajor >= 2 && grpcType(r.Header) }

func grpcType(h http.Header) bool {
	kind := h.Get("Content-Type")
	return kind == "application/grpc" || strings.HasPrefix(kind, "application/grpc+") || strings.HasPrefix(kind, "application/grpc;")
}

// findGRPC is the chain of a gRPC call, and its path there. A client of gRPC
// cannot put anything before the path: where that names no chain, the one chain
// with the interface grpc is meant, or the one that the first label of the host
// names.
func (g *Gateway) findGRPC(r *http.Request) (*route, *url.URL) {
	if first, _ := segment(r.URL.EscapedPath()); len(g.names[first]) > 0 {
		return g.find(r.URL)
	}
	if climbs(r.URL.EscapedPath()) {
		return nil, nil
	}
	var found []*route
	for _, rt := range g.routes {
		if rt.face == "grpc" {
			found = append(found, rt)
		}
	}
	if len(found) > 1 {
		label, _, _ := strings.Cut(r.Host, ".")
		found = slices.DeleteFunc(found, func(rt *route) bool { return rt.name != label })
	}
	if len(found) != 1 {
		return nil, nil
	}
	return found[0], beyond(r.URL.EscapedPath(), r.URL.RawQuery)
}

// grpcWrites are the methods that change something, by how their names begin:
// they are not sent twice (F10).
var grpcWrites = newPatterns([]string{
	"Broadcast*", "Send*", "Submit*", "Execute*", "Transfer*", "Create*", "Delete*", "Update*", "Set*", "Put*", "Add*", "Remove*", "Write*", "Publish*",
})

// grpcCall is one gRPC call on its way.
type grpcCall struct {
	g      *Gateway
	rt     *route
	at     *url.URL
	r      *http.Request
	w      http.ResponseWriter
	method string // service/method
	body   *grpcBody
	start  time.Time
	ends   time.Time // of a unary call, until the first byte of its answer
	tried  model.Tried
	met    map[int]string
	asked  int
}

// grpc carries a gRPC call. A unary one goes on to the next fit upstream until
// the first byte of an answer came; of a streaming one the request is gone once
// it was sent. A status that came over the wire is the answer, whatever it says;
// our own is one without a message before it.
func (g *Gateway) grpc(w http.ResponseWriter, r *http.Request, v visit) {
	rt, at := g.findGRPC(r)
	if rt == nil {
		grpcRefuse(w, grpcUnimplemented, "there is no such chain here")
		return
	}
	now := g.o.Now()
	c := &grpcCall{g: g, rt: rt, at: at, r: r, w: w, start: time.Now(), met: map[int]string{}}
	c.method = clean.Text(strings.TrimPrefix(at.EscapedPath(), "/"), methodRunes)
	v.method(c.method)
	rt.stats.asked(now)
	g.busy()
	_, name, _ := strings.Cut(strings.TrimPrefix(at.Path, "/"), "/")
	if rt.deny.has(name) || rt.deny.has(strings.TrimPrefix(at.Path, "/")) {
		rt.stats.refused()
		grpcRefuse(w, grpcUnimplemented, "the method is denied here")
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})  // a stream has no end; where there is none, so be it
	_ = control.SetWriteDeadline(time.Time{}) // likewise
	c.body = newGRPCBody(r.Body, rt.set.MaxBody)
	defer c.body.end()
	c.ends = c.start.Add(min(rt.set.Timeout, grpcTimeout(r.Header.Get("Grpc-Timeout"), rt.set.Timeout)))
	if err := c.body.look(r.Context()); err != nil {
		rt.stats.refused()
		if errors.Is(err, errLongCall) {
			grpcRefuse(w, grpcTooLarge, fmt.Sprintf("a message holds at most %d bytes here (max_body)", rt.set.MaxBody))
		}
		return
	}
	failed, gone := c.carry(name)
	if !gone {
		rt.stats.served(g.o.Now(), served{took: time.Since(c.start), failed: failed, retried: c.asked > 1})
	}
}

// carry asks one upstream after the other. failed says that the client sees an
// error that is not the node's own answer, gone that it went away.
func (c *grpcCall) carry(name string) (failed, gone bool) {
	again := c.body.whole && !grpcWrites.has(name)
	answered := false
	for range c.rt.upstream {
		i, _ := model.Route(c.g.chain(c.rt), c.g.o.Now(), c.tried)
		if i < 0 {
			break
		}
		c.tried = c.tried.With(i)
		c.asked++
		a := c.ask(i, again)
		switch {
		case c.r.Context().Err() != nil:
			return false, true
		case a.given:
			return a.failed, false
		case a.late:
			c.refuse(answered, grpcLate, "no answer from "+c.rt.upstream[i]+" within "+c.rt.set.Timeout.String())
			return true, false
		case a.sent && !again:
			c.refuse(answered, grpcUnavailable, "no answer from "+c.rt.upstream[i]+"; it may have been executed")
			return true, false
		}
		answered = answered || a.outcome.Kind == model.Answer
		c.met[i] = a.outcome.Word()
	}
	c.refuse(answered, grpcUnavailable, model.NoneFit(c.g.chain(c.rt), c.g.o.Now(), c.met))
	return true, false
}

func (c *grpcCall) refuse(answered bool, code grpcStatus, text string) {
	if !answered {
		c.g.missed(c.rt)
	}
	grpcRefuse(c.w, code, text)
}

// grpcAttempt is what came of asking one upstream.
type grpcAttempt struct {
	outcome model.Outcome
	given   bool // the client has the answer
	failed  bool
	sent    bool
	late    bool
}

// ask sends the call to upstream i, and hands its answer on, if it has one.
func (c *grpcCall) ask(i int, again bool) (a grpcAttempt) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer context.AfterFunc(c.r.Context(), func() { cancel(nil) })()
	if again {
		ctx = rpc.WithRepeat(ctx)
	}
	clock := time.AfterFunc(time.Until(c.ends), func() { cancel(errTimeUp) })
	defer clock.Stop()
	if !c.body.whole {
		clock.Stop() // of a stream nobody knows when it answers
	}
	start, began := time.Now(), c.g.o.Now()
	resp, err := c.rt.clients[i].RoundTrip(c.request(ctx))
	first := make([]byte, 16<<10)
	n := 0
	if err == nil {
		defer func() { _ = resp.Body.Close() }() // it was read, or is given up
		a.sent = true
		for c.body.whole && n == 0 && err == nil { // of a stream the headers alone may be what the client waits for
			n, err = resp.Body.Read(first)
		}
	}
	clock.Stop()
	a.late = errors.Is(context.Cause(ctx), errTimeUp)
	if n > 0 || errors.Is(err, io.EOF) && resp != nil {
		err = nil
	}
	a.judge(c.rt.clients[i], resp, err)
	if ctx.Err() == nil || a.late {
		c.g.saw(&call{route: c.rt, method: c.method}, &answer{upstream: i, outcome: a.outcome, took: time.Since(start), began: began})
	}
	if err != nil || (a.outcome.Findings.Has(model.Gateway) && again) {
		return a
	}
	a.given = true
	c.give(i, &a, resp, first[:n])
	return a
}

// judge says what an attempt means: a status of gRPC is the node's, wherever it
// stands; anything else is judged as HTTP.
func (a *grpcAttempt) judge(client *rpc.Client, resp *http.Response, err error) {
	var failure *rpc.Failure
	switch {
	case errors.As(err, &failure):
		a.sent = a.sent || failure.Sent
		a.outcome = client.Judge(rpc.Exchange{Failed: failure}).Outcome
	case errors.Is(err, rpc.ErrUnbuilt):
		a.outcome = model.Outcome{Kind: model.NoOutcome, Reason: model.ReasonOwnSide}
	case err != nil:
		a.outcome = model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTruncated}
	case resp.StatusCode != http.StatusOK || !grpcType(resp.Header):
		a.outcome = client.Judge(rpc.Exchange{Status: resp.StatusCode, Header: resp.Header, Cut: &rpc.Failure{Reason: model.ReasonNotProtocol, Text: "not gRPC"}}).Outcome
		a.failed = true
	default:
		a.outcome = model.Outcome{Kind: model.Result}
		code := resp.Header.Get("Grpc-Status")
		if code == "" {
			code = resp.Trailer.Get("Grpc-Status")
		}
		if n, err := strconv.ParseInt(code, 10, 32); err == nil && n != 0 {
			a.outcome = model.Outcome{Kind: model.Answer, Reason: model.ReasonGRPCStatus, Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: resp.StatusCode, Code: n}}
		}
	}
	if a.late && a.outcome.Kind == model.NoAnswer {
		a.outcome.Reason = model.ReasonTimeout
	}
}

// request is the client's, for one upstream: its credentials are for nobody
// beyond this gateway.
func (c *grpcCall) request(ctx context.Context) *http.Request {
	h := c.r.Header.Clone()
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization", "Connection", "Te", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Te", "trailers")
	r := (&http.Request{Method: http.MethodPost, URL: c.at, Header: h}).WithContext(ctx)
	if c.body.whole {
		r.GetBody = c.body.reader
		r.Body, _ = c.body.reader() // it cannot fail
		r.ContentLength = int64(len(c.body.begun))
		return r
	}
	r.Body = io.NopCloser(c.body)
	r.ContentLength = -1
	return r
}

// give hands an answer to the client as it comes, with its trailers. One that is
// cut ends with a status of ours.
func (c *grpcCall) give(i int, a *grpcAttempt, resp *http.Response, first []byte) {
	if resp.StatusCode != http.StatusOK || !grpcType(resp.Header) {
		grpcRefuse(c.w, grpcOf(resp.StatusCode), fmt.Sprintf("%s answered HTTP %d", c.rt.upstream[i], resp.StatusCode))
		return
	}
	h := c.w.Header()
	maps.Copy(h, resp.Header)
	for _, name := range []string{"Alt-Svc", "Connection", "Strict-Transport-Security", "Trailer"} {
		h.Del(name)
	}
	h.Set("X-Served-By", c.rt.upstream[i])
	if resp.Header.Get("Grpc-Status") != "" && len(first) == 0 {
		c.w.WriteHeader(http.StatusOK) // headers alone, which end the stream
		return
	}
	c.w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(c.w)
	if !c.body.whole {
		_ = flush.Flush() // the next write fails if this does
	}
	buf := make([]byte, 32<<10)
	var err error
	for n := copy(buf, first); ; {
		if n > 0 {
			if _, wrote := c.w.Write(buf[:n]); wrote != nil {
				return // the client is gone
			}
			_ = flush.Flush() // the next write fails if this does
		}
		if err != nil {
			break
		}
		n, err = resp.Body.Read(buf)
	}
	if !errors.Is(err, io.EOF) {
		a.failed = true
		grpcTrailers(h, grpcUnavailable, "no answer from "+c.rt.upstream[i]+": it was cut")
		return
	}
	for name, values := range resp.Trailer {
		for _, v := range values {
			h.Add(http.TrailerPrefix+name, v)
		}
	}
}

// grpcOf is the status that gRPC has for one of HTTP.
func grpcOf(status int) grpcStatus {
	switch status {
	case http.StatusBadRequest:
		return grpcInternal
	case http.StatusUnauthorized:
		return grpcNobody
	case http.StatusForbidden:
		return grpcDenied
	case http.StatusNotFound:
		return grpcUnimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return grpcUnavailable
	}
	return grpcUnknown
}

// grpcRefuse writes an answer of our own: headers alone.
func grpcRefuse(w http.ResponseWriter, code grpcStatus, text string) {
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Status", strconv.Itoa(int(code)))
	h.Set("Grpc-Message", grpcText(text))
	w.WriteHeader(http.StatusOK)
}

func grpcTrailers(h http.Header, code grpcStatus, text string) {
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(code)))
	h.Set(http.TrailerPrefix+"Grpc-Message", grpcText(text))
}

// grpcText is a message as gRPC sends it: what is not plain ASCII in percent.
func grpcText(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// grpcTimeout reads the client's own deadline: digits and a unit.
func grpcTimeout(s string, none time.Duration) time.Duration {
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}
	if len(s) < 2 || len(s) > 9 {
		return none
	}
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 64)
	unit, ok := units[s[len(s)-1]]
	if err != nil || !ok || n < 0 || time.Duration(n) > none/unit+1 {
		return none
	}
	return time.Duration(n) * unit
}
