package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// journey is one request on its way over the upstreams.
type journey struct {
	g    *Gateway
	c    *call
	req  *http.Request // as the proxy made it; its body is not read, see call.body
	ends time.Time     // gateway.timeout

	tried    model.Tried
	met      map[int]string // by upstream: why it was of no use, in a word
	over     *answer        // the newest upstream's own answer that another was tried for
	attempts int
	hedged   bool
	answered bool // some attempt got a result or an error answer
	trouble  bool // an attempt got no answer, or was passed over
	failed   bool // what the client gets is an error, and not the node's own answer
}

// carry takes a request over the upstreams until one has an answer for the
// client. Its error is a refusal, or says that the client went away.
func (g *Gateway) carry(r *http.Request, c *call) (*http.Response, error) {
	j := &journey{g: g, c: c, req: r, ends: c.start.Add(c.route.set.Timeout)}
	resp, err := j.run()
	j.end(resp, err)
	return resp, err
}

func (j *journey) run() (*http.Response, error) {
	for {
		i := j.next()
		if i < 0 {
			return j.none()
		}
		a := j.first(i)
		switch {
		case a.left:
			return nil, j.req.Context().Err()
		case a.useful:
			j.drop()
			return j.give(a), nil
		case a.late:
			a.discard()
			return nil, j.silent(a, http.StatusGatewayTimeout)
		case a.sent && !j.c.repeat && a.outcome.Kind == model.NoAnswer:
			a.discard()
			return nil, j.silent(a, http.StatusBadGateway)
		}
		j.passOver(a)
	}
}

// next is the upstream to ask now, on the picture as it is now (F1), -1 when
// there is none. Once an upstream gave an answer of its own only a fit one is
// asked for a better (F5): of those that are not, another limit is to be had.
func (j *journey) next() int {
	i, why := model.Route(j.chain(), j.g.o.Now(), j.tried)
	if j.over != nil && !fit(why) {
		return -1
	}
	return i
}

// fit says that Route found a fit upstream.
func fit(why model.RouteWhy) bool {
	return why == model.RouteFit || why == model.RouteBackup || why == model.RoutePinned
}

func (j *journey) chain() *model.Chain { return j.g.o.Picture().Chains[j.c.route.n] }

func (j *journey) take(i int) {
	j.tried = j.tried.With(i)
	j.attempts++
}

// passOver notes an answer that another upstream is asked for.
func (j *journey) passOver(a *answer) {
	j.trouble = true
	if j.met == nil {
		j.met = map[int]string{}
	}
	j.met[a.upstream] = a.outcome.Word()
	if a.resp == nil || a.outcome.Kind == model.NoAnswer {
		a.discard()
		return
	}
	j.drop()
	j.over = a
}

// drop forgets the answer that was kept for the case that there is no better.
func (j *journey) drop() {
	if j.over != nil {
		j.over.discard()
		j.over = nil
	}
}

// give hands an answer to the client.
func (j *journey) give(a *answer) *http.Response {
	h := a.resp.Header
	for _, name := range []string{"Alt-Svc", "Strict-Transport-Security", "X-Served-By"} {
		h.Del(name)
	}
	if a.resp.StatusCode >= 300 && a.resp.StatusCode < 400 {
		h.Del("Location") // it may hold the upstream's key
	}
	j.failed = j.felt(a)
	h.Set("X-Served-By", j.c.route.upstream[a.upstream])
	return a.resp
}

// none is when nobody is left to ask: an upstream's own answer, if there is one.
func (j *journey) none() (*http.Response, error) {
	if a := j.over; a != nil {
		j.over = nil
		return j.give(a), nil
	}
	if !j.answered {
		j.g.missed(j.c.route)
	}
	return nil, refusal{status: http.StatusServiceUnavailable, code: -32050, text: model.NoneFit(j.chain(), j.g.o.Now(), j.met)}
}

// silent is when the time is up, or a request was sent that is not to be sent
// again.
func (j *journey) silent(a *answer, status int) error {
	if !j.answered {
		j.g.missed(j.c.route)
	}
	text := "no answer from " + j.c.route.upstream[a.upstream]
	if status == http.StatusGatewayTimeout {
		text += fmt.Sprintf(" within %s", j.c.route.set.Timeout)
	}
	if !j.c.repeat && a.sent {
		text += "; it may have been executed"
	}
	j.drop()
	return refusal{status: status, code: -32051, text: text}
}

// end counts what became of the request.
func (j *journey) end(resp *http.Response, err error) {
	var no refusal
	failed := errors.As(err, &no)
	if err != nil && !failed {
		return // the client went away: nobody felt anything
	}
	if resp != nil {
		failed = j.failed
	}
	j.c.route.stats.served(j.g.o.Now(), served{
		took: time.Since(j.c.start), failed: failed, retried: j.attempts > 1 && j.trouble, hedged: j.hedged,
	})
}

// felt says that an answer is an error to the client, and not the node's own
// answer to a valid question (S4): a revert is that, a rate limit is not.
func (j *journey) felt(a *answer) bool {
	return a.limited() || a.outcome.Kind == model.Answer && (!j.c.judged || a.outcome.Reason != model.ReasonNodeError)
}

// errTimeUp is the cause with which an attempt ends when the request's time is up.
var errTimeUp = errors.New("gateway.timeout is up")

// start is an attempt at upstream i that has not asked yet. Its context is not
// the proxy's, which carries a trace that would pass the interim answers of both
// attempts on to the client; it ends when the client goes away, with the answer,
// or when the request's time is up.
func (j *journey) start(i int) (context.Context, *answer) {
	ctx, cancel := context.WithCancelCause(context.Background())
	untie := context.AfterFunc(j.req.Context(), func() { cancel(nil) })
	clock := time.AfterFunc(time.Until(j.ends), func() { cancel(errTimeUp) })
	if j.c.repeat {
		ctx = rpc.WithRepeat(ctx)
	}
	return ctx, &answer{upstream: i, clock: clock, pause: j.c.route.set.Timeout, cancel: func() {
		clock.Stop()
		untie()
		cancel(nil)
	}}
}

// ask asks, and reads what may be judged of the answer.
func (j *journey) ask(ctx context.Context, a *answer) {
	client := j.c.route.clients[a.upstream]
	a.start, a.began = time.Now(), j.g.o.Now()
	resp, err := client.RoundTrip(j.request(ctx))
	if err == nil {
		a.sent, a.resp = true, resp
		err = a.read()
	}
	a.took = time.Since(a.start)
	j.judge(ctx, client, a, err)
	j.g.saw(j.c, a)
}

// request is the proxy's request, with a body of its own.
func (j *journey) request(ctx context.Context) *http.Request {
	r := j.req.WithContext(ctx)
	r.URL, r.Body, r.GetBody, r.ContentLength, r.TransferEncoding, r.Trailer, r.Close = j.c.path, nil, nil, 0, nil, nil, false
	if len(j.c.body) > 0 {
		r.GetBody = j.c.reader
		r.Body, _ = j.c.reader() // it cannot fail
		r.ContentLength = int64(len(j.c.body))
	}
	return r
}
