package gateway

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// Bounds of a session.
const (
	unfitFor    = 2 * time.Second // an upstream may be unfit before its streams move
	mostWaiting = 256             // messages that wait during a move, each way
	mostWaits   = 1 << 20         // and bytes
	mostPending = 64              // messages that wait for a client before it is listened to no more
	mostAsked   = 1024            // requests without an answer
	mostSubs    = 1024            // subscriptions
	mostFrames  = 4096            // messages in one list of an upstream
	streamKept  = 4               // times max_body: what is kept of requests and subscriptions to ask them again
)

// session is one client's websocket and whatever upstream it is carried by now.
// It is one goroutine that owns all of this; pipes bring it what came.
//
// It moves to another upstream when its own is lost, or has been unfit for 2 s
// and another one would be asked. A primary that is fit again does not pull it
// back: a move costs a client something, and F12 names no other cause.
type session struct {
	g        *Gateway
	rt       *route
	at       *url.URL // the upstream's part of the client's address
	activity *openStream
	client   *pipe
	woken    chan struct{}
	going    chan int
	dials    sync.WaitGroup
	dialed   chan dialed
	life     context.Context
	cancel   context.CancelFunc

	link *link // nil between two upstreams
	old  []*link
	move *move // nil: there is none
	said int   // the close code of the last upstream, when it is the client's to hear

	requests
	subscriptions

	pending [][]byte  // for the client
	unfit   time.Time // when its upstream will have been unfit for too long
	worse   bool      // it has been
	stuck   time.Time // when a session ends that has an unfit upstream and nowhere to go

	timer *time.Timer
	armed time.Time
	over  bool
	code  int // 0: the client is gone
}

// link is the session's websocket to one upstream.
type link struct {
	*pipe
	upstream int
	client   *rpc.Client
	head     atomic.Uint64 // the upstream's head by the picture when anything last came; 0 = not known
}

func newSession(g *Gateway, rt *route, at *url.URL, conn *websocket.Conn) *session {
	s := &session{
		g: g, rt: rt, at: at, client: newPipe(newSocket(conn, rt.set.MaxBody, nil)),
		woken: make(chan struct{}, 1), going: make(chan int, 1), dialed: make(chan dialed, 1),
		timer: time.NewTimer(time.Hour),
	}
	s.requests.open()
	s.subscriptions.open()
	s.life, s.cancel = context.WithCancel(context.Background())
	return s
}

// poke has the session look at the picture. It waits for nobody.
func (s *session) poke() {
	select {
	case s.woken <- struct{}{}:
	default: // it will
	}
}

// leave ends the session with code. It waits for nobody.
func (s *session) leave(code int) {
	select {
	case s.going <- code:
	default: // it goes already
	}
}

// end is leave by the session itself.
func (s *session) end(code int) {
	if !s.over {
		s.over, s.code = true, code
	}
}

// run carries the stream from its first upstream to its end.
func (s *session) run(first dialed) {
	s.hold(first)
	s.look()
	for !s.over {
		s.arm()
		s.step()
	}
	s.cancel()
	s.drop()
	if s.code == 0 {
		s.client.end()
	} else {
		s.client.farewell(s.pending, s.code)
	}
	s.client.left.Wait()
	for _, l := range s.old {
		l.left.Wait()
	}
	s.dials.Wait()
	select {
	case d := <-s.dialed:
		if d.conn != nil {
			_ = d.conn.Close() // it came too late
		}
	default:
	}
	s.timer.Stop()
}

// step waits for one thing and does it. What cannot be handed on stops what it
// came from: nothing here grows without a bound.
func (s *session) step() {
	var fromClient, fromLink <-chan came
	var toClient, toLink chan<- []byte
	var broken <-chan error
	var answer, question []byte
	if len(s.pending) < mostPending && (s.move != nil || len(s.outbox) == 0) {
		fromClient = s.client.in
	}
	if len(s.pending) > 0 {
		toClient, answer = s.client.out, s.pending[0]
	}
	if s.link != nil {
		broken = s.link.broken
		if len(s.pending) == 0 {
			fromLink = s.link.in
		}
		if question = s.question(); question != nil {
			toLink = s.link.out
		}
	}
	select {
	case c := <-fromClient:
		s.fromClient(c)
	case c := <-fromLink:
		s.fromLink(c)
	case toClient <- answer:
		s.pending[0] = nil
		s.pending = s.pending[1:]
	case toLink <- question:
		s.asks()
	case <-s.client.broken: //nolint:errcheck // how it ended is of no matter here
		s.end(0)
	case err := <-broken:
		s.lost(err)
	case d := <-s.dialed:
		s.opened(d)
	case <-s.woken:
		s.look()
	case <-s.timer.C:
		s.armed = time.Time{}
		s.due(time.Now())
	case code := <-s.going:
		s.end(code)
	}
}

// tell hands a message to the client, after those that wait.
func (s *session) tell(b []byte) { s.pending = append(s.pending, b) }

// arm sets the timer to the earliest thing the session waits for.
func (s *session) arm() {
	at := s.expires()
	earlier := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	earlier(s.stuck)
	if !s.unfit.IsZero() && s.stuck.IsZero() {
		earlier(s.unfit)
	}
	if m := s.move; m != nil {
		earlier(m.ends)
		earlier(m.retry)
		earlier(m.settles)
	}
	if at.Equal(s.armed) {
		return
	}
	s.armed = at
	if at.IsZero() {
		s.timer.Stop()
		return
	}
	s.timer.Reset(time.Until(at))
}

// due does what the time has come for.
func (s *session) due(now time.Time) {
	passed := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	s.expire(now)
	if passed(s.stuck) {
		s.end(closeTryAgain)
	}
	if passed(s.unfit) {
		s.unfit = time.Time{}
		s.away()
	}
	m := s.move
	switch {
	case m == nil:
	case passed(m.ends):
		s.giveUp()
	case passed(m.settles):
		s.unsettled()
	case passed(m.retry):
		m.retry = time.Time{}
		s.seek()
	}
}

// look compares the session's upstream with the picture: one that has been unfit
// for 2 s is left, if another one would be asked.
func (s *session) look() {
	switch {
	case s.move != nil:
		if s.link == nil {
			s.seek()
		}
	case s.link == nil:
	case s.g.chain(s.rt).Fitness(s.link.upstream, s.g.o.Now()) == model.Fit:
		s.unfit, s.stuck, s.worse = time.Time{}, time.Time{}, false
	case s.worse:
		s.away() // it has been unfit for long: where to go may have changed
	case s.unfit.IsZero():
		s.unfit = time.Now().Add(unfitFor)
	}
}

// away leaves an upstream that has been unfit for too long. With nobody to go to
// the session keeps what it has for as long as a request would wait; what is
// asked for want of a better one is kept, too.
func (s *session) away() {
	s.worse = true
	i, _ := model.Route(s.g.chain(s.rt), s.g.o.Now(), 0)
	switch {
	case i < 0:
		if s.stuck.IsZero() {
			s.stuck = time.Now().Add(s.rt.set.Timeout)
		}
	case i == s.link.upstream:
		s.stuck = time.Time{}
	default:
		s.begin(0)
	}
}

// lost is the end of the session's upstream.
func (s *session) lost(err error) {
	j := s.link.client.StreamEnded(err)
	if code, ok := closeCode(err); ok {
		s.said = code
	} else {
		s.said = 0
	}
	i := s.link.upstream
	s.note(i, j.Outcome, "websocket", time.Now(), s.g.o.Now())
	var tried model.Tried
	if j.Reason == model.ReasonTimeout {
		tried = tried.With(i) // it would only be silent again
	}
	s.begin(tried)
}

// note counts an attempt and what it says of its upstream.
func (s *session) note(i int, o model.Outcome, method string, start, began time.Time) {
	s.g.saw(&call{route: s.rt, method: method}, &answer{upstream: i, outcome: o, took: time.Since(start), began: began})
	s.g.busy()
}
