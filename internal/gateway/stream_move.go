package gateway

import (
	"slices"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// Times of a move.
const (
	settleWithin = 5 * time.Second // on an upstream: to subscribe, and to fill
	seekFirst    = 250 * time.Millisecond
	seekMost     = 2 * time.Second
	mostReplays  = 2   // upstreams that may be asked a request again
	mostLater    = 256 // notifications that wait for those before them
)

// move is a session between two upstreams, until what it missed is filled.
type move struct {
	ends    time.Time // when it gives up: gateway.timeout
	tried   model.Tried
	asked   int // upstreams since tried was cleared
	dialing bool
	retry   time.Time // zero: not set
	pause   time.Duration
	settles time.Time // when the upstream is left that does not answer; zero: there is none

	left  int // subscriptions that are not confirmed yet
	fill  *fill
	held  []delayed
	bytes int
}

// delayed is a notification that waits for those before it.
type delayed struct {
	sub   *sub
	frame rpc.Frame
	early bool // it came before the head was known to which blocks are filled
}

// begin leaves the upstream there is and looks for another that is not tried.
func (s *session) begin(tried model.Tried) {
	if s.move == nil {
		s.move = &move{ends: time.Now().Add(s.rt.set.Timeout), pause: seekFirst}
	}
	s.unfit, s.stuck, s.worse = time.Time{}, time.Time{}, false
	s.move.tried |= tried
	s.drop()
	s.seek()
}

// drop ends the link, and settles what was asked on it.
func (s *session) drop() {
	l := s.link
	if l == nil {
		return
	}
	s.link = nil
	l.end()
	s.old = append(slices.DeleteFunc(s.old, func(o *link) bool { return o.done() }), l)
	s.rt.streams.attached(l.upstream, -1)
	reached := l.head.Load()
	for _, n := range s.subs {
		n.upID = nil
		n.memory.moved()
		if n.kind == subLogs {
			n.upTo = max(n.upTo, reached)
		}
	}
	clear(s.byUp)
	s.early = nil
	if m := s.move; m != nil {
		m.held, m.bytes, m.fill, m.left, m.settles = nil, 0, nil, 0, time.Time{}
	}
	s.unanswered(l.upstream)
}

// unanswered is what becomes of requests that were on their way to an upstream
// that is left: repeated on the next, or answered.
func (s *session) unanswered(upstream int) {
	s.urgent, s.again = nil, nil
	for _, r := range s.asked {
		if r.own != nil || r.expired {
			s.free(r)
		}
	}
	for _, r := range slices.Clone(s.queue) {
		if r == nil || s.asked[r.key] != r || !r.out {
			continue
		}
		switch {
		case r.what == unsubscribing && r.sub != nil:
			s.unsubscribed(r.sub) // it ended with the upstream
			s.free(r)
			s.answer(r, []byte(`{"jsonrpc":"2.0","id":`+string(r.frame.ID)+`,"result":true}`))
			s.done(r, false)
		case (repeatable(r.method) || r.what == subscribing) && r.tries <= mostReplays:
			r.out = false
			s.again = append(s.again, r)
		default:
			s.free(r)
			s.fail(r, upstream, "")
		}
	}
}

// seek opens the upstream that a request would go to now. With none it waits for
// the picture to change, and looks again by itself: an upstream may be fit by
// the picture and take no stream.
func (s *session) seek() {
	m := s.move
	if m.dialing || s.link != nil || s.over {
		return
	}
	i, _ := model.Route(s.g.chain(s.rt), s.g.o.Now(), m.tried)
	if i < 0 || m.asked >= len(s.rt.upstream) {
		if m.tried != 0 {
			m.retry = time.Now().Add(m.pause)
			m.pause = min(2*m.pause, seekMost)
		}
		m.tried, m.asked = 0, 0
		return
	}
	m.retry = time.Time{}
	m.dialing = true
	m.asked++
	s.dials.Go(func() { s.dialed <- s.g.dialStream(s.life, s.rt, i, s.at) })
}

// opened takes an upstream's websocket, or that there is none.
func (s *session) opened(d dialed) {
	m := s.move
	m.dialing = false
	if d.conn == nil {
		m.tried = m.tried.With(d.upstream)
		s.seek()
		return
	}
	s.hold(d)
	s.subscribeAgain()
}

// hold makes an open websocket the session's link.
func (s *session) hold(d dialed) {
	l := &link{upstream: d.upstream, client: s.rt.socketClient(d.upstream)}
	l.pipe = newPipe(newSocket(d.conn, streamMost, func() {
		if f := s.g.chain(s.rt).Upstreams[d.upstream].State.Facts.Head; f.Known() {
			l.head.Store(f.Value)
		}
	}))
	l.sock.seen()
	s.link = l
	s.rt.streams.attached(d.upstream, 1)
}

// done says that nothing of a pipe runs any more.
func (p *pipe) done() bool { return p.runs.Load() == 0 }

// subscribeAgain asks the new upstream for the client's subscriptions; the
// client does not see the answers. What was unanswered is asked with them.
func (s *session) subscribeAgain() {
	m := s.move
	m.settles = time.Now().Add(settleWithin)
	m.left = len(s.subs)
	for _, n := range slices.Clone(s.subs) {
		params := string(n.params)
		if params == "" {
			params = "[]"
		}
		s.own(n.method, params, func(f rpc.Frame) { s.subscribedAgain(n, f) })
	}
	s.urgent = append(s.urgent, s.again...)
	s.again = nil
	if m.left == 0 {
		s.settled()
	}
}

func (s *session) subscribedAgain(n *sub, f rpc.Frame) {
	key, ok := idKey(f.Result)
	if f.Err != nil || !ok || key == "null" || s.byUp[key] != nil {
		s.passOver()
		return
	}
	m := s.move
	m.left--
	if slices.Contains(s.subs, n) {
		n.upID = slices.Clone(f.Result)
		s.byUp[key] = n
	}
	if m.left == 0 {
		s.startFill()
	}
}

// passOver leaves an upstream that does not take the client's subscriptions.
func (s *session) passOver() {
	i := s.link.upstream
	s.begin(model.Tried(0).With(i))
}

// unsettled is when an upstream took too long: to subscribe, and it is left; to
// fill, and that is a gap.
func (s *session) unsettled() {
	if f := s.move.fill; f != nil {
		s.move.settles = time.Time{}
		s.endFill(f, true)
		return
	}
	s.note(s.link.upstream, model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTimeout}, "eth_subscribe", time.Now(), s.g.o.Now())
	s.passOver()
}

// delay keeps a notification until what is before it is filled.
func (m *move) delay(s *session, n *sub, f rpc.Frame) {
	m.held = append(m.held, delayed{sub: n, frame: f, early: m.fill == nil || !m.fill.known})
	if m.bytes += len(f.Raw); m.bytes > mostWaits || len(m.held) > mostLater {
		s.end(closeTryAgain)
	}
}

// settled ends a move: what waited is handed on, and the client is live again.
func (s *session) settled() {
	m := s.move
	s.move = nil
	filled, gaps := 0, 0
	if f := m.fill; f != nil {
		filled, gaps = f.filled, f.gaps
	}
	for _, h := range m.held {
		if slices.Contains(s.subs, h.sub) && !m.fill.covers(h) {
			s.deliver(h.sub, h.frame)
		}
	}
	s.rt.streams.moved(filled, gaps)
	s.g.busy()
	s.g.o.Logger.Debug("a stream moved", "chain", s.rt.key, "upstream", s.rt.upstream[s.link.upstream], "filled", filled, "gaps", gaps)
	s.look()
}

// giveUp ends a session that found no upstream in time: with what the last one
// said to its client, if it said anything.
func (s *session) giveUp() {
	code := s.said
	if code == 0 {
		code = closeTryAgain
	}
	s.end(code)
}
