package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// held is how much of an answer is read before any of it goes to the client
// (F5): whole up to there, it can be judged, and asked for again when it is cut.
const held = 64 << 10

// answer is what one attempt brought.
type answer struct {
	upstream int
	start    time.Time // by this machine's clock
	began    time.Time // by the core's
	took     time.Duration
	cancel   func()
	clock    *time.Timer   // the request's time
	pause    time.Duration // the longest between two reads of a long answer
	sent     bool          // it may have reached the upstream
	left     bool          // the client went away
	lost     bool          // another attempt won
	late     bool          // the request's time was up
	useful   bool          // the client's answer

	resp    *http.Response
	buf     *bytes.Buffer // what was read of the body
	whole   bool          // that is all of it
	outcome model.Outcome
}

var heldBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read reads the answer's beginning, and puts a body in its place that the
// client can have from the start.
func (a *answer) read() error {
	a.buf, _ = heldBuffers.Get().(*bytes.Buffer)
	a.buf.Reset()
	body := a.resp.Body
	if streams(a.resp) {
		a.clock.Stop() // it has no end, and may pause
		a.pause = 0
		a.resp.Body = &answerBody{a: a, rest: body, from: bytes.NewReader(nil)}
		return nil
	}
	switch _, err := io.CopyN(a.buf, body, held+1); {
	case errors.Is(err, io.EOF):
		a.whole = true
	case err != nil:
		return err
	}
	a.resp.Body = &answerBody{a: a, rest: body, from: bytes.NewReader(a.buf.Bytes())}
	if a.whole && a.resp.Request.Method != http.MethodHead && len(a.resp.Trailer) == 0 {
		a.resp.ContentLength = int64(a.buf.Len())
	}
	return nil
}

// streams says that an answer is a stream of events.
func streams(r *http.Response) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "text/event-stream"
}

// limited says that the upstream asks to slow down.
func (a *answer) limited() bool {
	f := a.outcome.Findings
	return a.outcome.Reason == model.ReasonRateLimit || f.Has(model.RateLimited) || f.Has(model.Quota)
}

// discard gives back what an answer holds, when nobody is to have it.
func (a *answer) discard() {
	if a.resp != nil {
		_ = a.resp.Body.Close() // it is being thrown away
	}
	a.free()
}

func (a *answer) free() {
	a.cancel()
	if a.buf != nil && a.buf.Cap() <= 2*held {
		heldBuffers.Put(a.buf)
	}
	a.buf = nil
}

// answerBody is an answer's body: what was read, then what comes.
type answerBody struct {
	a      *answer
	rest   io.ReadCloser
	from   *bytes.Reader
	closed bool
}

func (b *answerBody) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.from.Len() > 0 {
		return b.from.Read(p)
	}
	if b.a.whole {
		return 0, io.EOF
	}
	n, err := b.rest.Read(p)
	if b.a.pause > 0 {
		b.a.clock.Reset(b.a.pause) // it has the request's time between two reads: it goes on as long as it comes
	}
	return n, err
}

// Close ends the attempt.
func (b *answerBody) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	err := b.rest.Close()
	b.a.free()
	return err
}

// judge says what an attempt brought, by the probes' own code.
func (j *journey) judge(ctx context.Context, client *rpc.Client, a *answer, err error) {
	a.late = errors.Is(context.Cause(ctx), errTimeUp)
	if err != nil && ctx.Err() != nil && !a.late {
		a.left = j.req.Context().Err() != nil
		a.lost = !a.left
		return
	}
	x := rpc.Exchange{Took: a.took, Asked: true}
	var failed *rpc.Failure
	whole := false
	switch {
	case errors.Is(err, rpc.ErrUnbuilt):
		j.g.o.Logger.Error("a request could not be built", "chain", j.c.route.key, "upstream", j.c.route.upstream[a.upstream], "err", err)
		a.outcome = model.Outcome{Kind: model.NoOutcome, Reason: model.ReasonOwnSide}
		return
	case err != nil && a.resp != nil:
		a.outcome = model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTruncated, Took: a.took}
		if a.late {
			a.outcome.Reason = model.ReasonTimeout
		}
		return
	case errors.As(err, &failed):
		a.sent = a.sent || failed.Sent
		x.Failed = failed
	case err != nil:
		a.outcome = model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonReset, Took: a.took}
		return
	default:
		a.late = false
		x.Status, x.Header = a.resp.StatusCode, a.resp.Header
		var all bool
		if a.buf != nil {
			x.Body, all = plain(a.buf.Bytes(), a.resp.Header.Get("Content-Encoding"))
		}
		if whole = a.whole && all; !whole {
			x.Cut = &rpc.Failure{Reason: model.ReasonTruncated, Text: "longer than is judged"}
		}
	}
	a.outcome = j.c.judge(client, x, whole)
	j.use(a)
}

// judge is the outcome of an exchange for this request.
func (c *call) judge(client *rpc.Client, x rpc.Exchange, whole bool) model.Outcome {
	good := model.Outcome{Kind: model.Result, Took: x.Took, Evidence: model.Evidence{Layer: model.LayerHTTP, HTTP: x.Status}}
	switch {
	case x.Failed != nil:
	case !c.judged && x.Status < 500 && x.Status != http.StatusTooManyRequests && x.Status != http.StatusProxyAuthRequired:
		return good // of a REST question every status below 500 is the node's answer
	case c.judged && len(c.ids) == 0 && x.Status < 300:
		return good // notifications get no reply
	case !whole && x.Status < 300 && (x.Body == nil || looksRight(x.Body)):
		return good
	}
	return client.Judge(x, c.ids...).Outcome
}

// looksRight says whether the beginning of a long success may be JSON-RPC.
func looksRight(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// use says whether the client is to have an answer, or another upstream is
// asked for a better one (F5).
func (j *journey) use(a *answer) {
	limited := a.limited()
	switch a.outcome.Kind {
	case model.Result:
		a.useful = !limited || !j.c.repeat
	case model.Answer:
		a.useful = !j.c.repeat || !(limited || a.outcome.Findings.Has(model.Gateway))
	case model.NoAnswer, model.NoOutcome:
	}
}

// plain is a body as it can be judged, and whether that is all of it: of a
// zipped one at most four times what is held is unzipped.
func plain(body []byte, encoding string) (text []byte, all bool) {
	if encoding != "gzip" {
		return body, true
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, true
	}
	text, err = io.ReadAll(io.LimitReader(z, 4*held+1))
	return text, err == nil && len(text) <= 4*held
}

func (c *call) reader() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.body)), nil }
