package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// streamDial bounds the handshake with one upstream.
const streamDial = 5 * time.Second

// streamMost bounds a message of an upstream, in bytes.
const streamMost = 16 << 20

// stream carries a client's websocket, until one of the two is done (F12). The
// upstream is opened first, so that a client whom nobody can serve is told so by
// an HTTP status. It owns the visit, which ends with the stream.
func (g *Gateway) stream(w http.ResponseWriter, r *http.Request, rt *route, at *url.URL, v visit) {
	v.method("websocket")
	first, no := g.openStream(r.Context(), rt, at)
	if no != nil {
		v.leave()
		if r.Context().Err() == nil {
			refuse(w, r, nil, *no)
		}
		return
	}
	conn, err := upgrade(w, r, http.Header{"X-Served-By": {rt.upstream[first.upstream]}})
	if err != nil {
		v.leave()
		_ = first.conn.Close() // nobody is to have it
		return
	}
	s := newSession(g, rt, at, conn)
	s.activity = v.open(g.o.Now())
	if !rt.streams.begin(s) {
		s.end(closeAway)
	}
	s.run(first)
	rt.streams.end(s)
	s.activity.close(g.o.Now())
	g.busy()
}

// dialed is what came of opening a websocket to an upstream.
type dialed struct {
	upstream int
	conn     *websocket.Conn // nil: there is none
	outcome  model.Outcome   // then what came instead
	err      error           // or why there is none
	start    time.Time       // by this machine's clock
	began    time.Time       // by the core's
}

// dialStream opens a websocket to upstream i, and notes what that says of it.
func (g *Gateway) dialStream(ctx context.Context, rt *route, i int, at *url.URL) dialed {
	d := dialed{upstream: i, start: time.Now(), began: g.o.Now()}
	ctx, cancel := context.WithTimeout(ctx, streamDial)
	defer cancel()
	conn, j, err := rt.socketClient(i).Stream(ctx, at)
	d.conn, d.outcome, d.err = conn, j.Outcome, err
	switch {
	case errors.Is(err, rpc.ErrUnbuilt):
		g.o.Logger.Error("a websocket could not be asked for", "chain", rt.key, "upstream", rt.upstream[i], "err", err)
	case err == nil && conn == nil:
		g.saw(&call{route: rt, method: "websocket"}, &answer{upstream: i, outcome: d.outcome, took: time.Since(d.start), began: d.began})
	}
	return d
}

// openStream opens the first upstream of a stream: as a request would go (F3),
// over all that may be asked, once each. It refuses as F9 has it.
func (g *Gateway) openStream(ctx context.Context, rt *route, at *url.URL) (dialed, *refusal) {
	g.busy()
	ctx, cancel := context.WithTimeout(ctx, rt.set.Timeout)
	defer cancel()
	met := map[int]string{}
	tried, answered := model.Tried(0), false
	for range rt.upstream {
		i, _ := model.Route(g.chain(rt), g.o.Now(), tried)
		if i < 0 || ctx.Err() != nil {
			break
		}
		d := g.dialStream(ctx, rt, i, at)
		if d.conn != nil {
			return d, nil
		}
		answered = answered || d.outcome.Kind == model.Answer
		met[i] = d.outcome.Word()
		tried = tried.With(i)
	}
	if !answered {
		g.missed(rt)
	}
	return dialed{}, &refusal{status: http.StatusServiceUnavailable, code: -32050, text: model.NoneFit(g.chain(rt), g.o.Now(), met)}
}

func (g *Gateway) chain(rt *route) *model.Chain { return g.o.Picture().Chains[rt.n] }
