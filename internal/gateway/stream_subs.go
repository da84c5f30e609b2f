package gateway

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// subscriptions are those of a session: a client knows each by the id it first
// got, an upstream by its own.
type subscriptions struct {
	subs  []*sub          // by age
	byID  map[string]*sub // the client's ids
	byUp  map[string]*sub // the upstream's
	early []early         // for subscriptions whose id is not known yet
	rawed int             // bytes of logs that are remembered as they came
}

func (q *subscriptions) open() { q.byID, q.byUp = map[string]*sub{}, map[string]*sub{} }

// sub is one subscription.
type sub struct {
	id     json.RawMessage // the client's
	upID   json.RawMessage // the upstream's; nil = it has none now
	method string
	params json.RawMessage
	kind   subKind
	memory memory
	base   uint64 // the head when it began, by the picture; 0 = not known
	upTo   uint64 // the block up to which it has had everything; 0 = not known
}

// subKind is what a move can do for a subscription.
type subKind uint8

const (
	subOther subKind = iota // it cannot be filled
	subHeads
	subLogs
)

func kindOfSub(f rpc.Frame) subKind {
	args := f.Args()
	if f.Method != "eth_subscribe" || len(args) == 0 {
		return subOther
	}
	switch string(args[0]) {
	case `"newHeads"`:
		return subHeads
	case `"logs"`:
		return subLogs
	}
	return subOther
}

// early is a notification that came before the answer to its subscription.
type early struct {
	key   string
	frame rpc.Frame
}

const mostEarly = 64

// doubtSubs is doubt, of a request about a subscription.
func (s *session) doubtSubs(r *request) *refusal {
	switch r.what {
	case subscribing:
		if len(s.subs)+s.subscribing() >= mostSubs {
			return &refusal{code: -32052, text: fmt.Sprintf("a stream holds at most %d subscriptions here", mostSubs)}
		}
	case unsubscribing:
		args := r.frame.Args()
		if len(args) == 0 {
			return nil
		}
		key, _ := idKey(args[0])
		r.sub = s.byID[key]
		if r.sub == nil && s.byUp[key] != nil {
			// The upstream's id of one that the client knows by another.
			return &refusal{code: -32000, text: "subscription not found"}
		}
	case plainRequest:
	}
	return nil
}

// subscribing is how many subscriptions are asked for.
func (s *session) subscribing() (n int) {
	for _, r := range s.queue {
		if r != nil && r.what == subscribing && s.waiting(r) {
			n++
		}
	}
	return n
}

// subscribed adds the subscription that an upstream answered to, and is the
// answer as the client is to have it.
func (s *session) subscribed(r *request, f rpc.Frame) json.RawMessage {
	key, ok := idKey(f.Result)
	if f.Err != nil || !ok || key == "null" || s.byUp[key] != nil {
		return f.Raw
	}
	n := &sub{upID: bytes.Clone(f.Result), method: r.method, params: bytes.Clone(r.frame.Params), kind: kindOfSub(r.frame)}
	n.id = n.upID
	answer := f.Raw
	if s.byID[key] != nil { // another one has had that id from another upstream
		n.id = freshID()
		answer = f.WithResult(n.id)
	}
	n.base = s.link.head.Load()
	n.upTo = n.base
	s.add(n)
	s.byUp[key] = n
	return answer
}

func (s *session) add(n *sub) {
	key, _ := idKey(n.id) // it is one
	s.byID[key] = n
	s.subs = append(s.subs, n)
	s.kept += len(n.params)
}

// freshID is an id of a subscription that nobody else gives.
func freshID() json.RawMessage {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return json.RawMessage(`"0x` + hex.EncodeToString(b[:]) + `"`)
}

// unsubscribed takes a subscription away.
func (s *session) unsubscribed(n *sub) {
	i := slices.Index(s.subs, n)
	if i < 0 {
		return
	}
	s.subs = slices.Delete(s.subs, i, i+1)
	for _, of := range []map[string]*sub{s.byID, s.byUp} {
		for _, id := range []json.RawMessage{n.id, n.upID} {
			if key, ok := idKey(id); ok && of[key] == n {
				delete(of, key)
			}
		}
	}
	s.kept -= len(n.params)
	for _, one := range n.memory.all {
		s.rawed -= len(one.raw)
	}
}

// fromLink takes what came from the upstream.
func (s *session) fromLink(c came) {
	l := s.link
	switch {
	case errors.Is(c.err, rpc.ErrLongMessage):
		s.tooLong(c.b)
		return
	case c.err != nil:
		s.lost(c.err)
		return
	}
	frames, _, err := rpc.Frames(c.b, mostFrames)
	if err != nil {
		s.lost(rpc.ErrBadMessage)
		return
	}
	for _, f := range frames {
		switch {
		case f.Torn:
		case f.ID == nil && f.Method != "":
			s.notice(f)
		case f.ID != nil && f.Method == "" && (f.Result != nil || f.Err != nil):
			s.reply(f)
		}
		if s.over || s.link != l {
			return // the rest is of an upstream that was left
		}
	}
}

// tooLong answers the request whose reply is longer than is read; a notification
// that is is a gap.
func (s *session) tooLong(beginning []byte) {
	key, _ := idKey(rpc.IDOf(beginning))
	r := s.asked[key]
	switch {
	case r == nil || !r.out:
		s.rt.streams.gap()
	case r.own != nil:
		s.free(r)
		r.own(rpc.Frame{Err: json.RawMessage(`"too long"`)})
	default:
		s.free(r)
		if r.expired {
			return
		}
		s.answer(r, errorFor(r.frame.ID, refusal{code: -32052, text: fmt.Sprintf("an answer holds at most %d bytes here", streamMost)}))
		s.done(r, true)
	}
}

// reply takes an upstream's answer to the request that asked for it. One that
// nobody asked for is dropped.
func (s *session) reply(f rpc.Frame) {
	key, ok := idKey(f.ID)
	r := s.asked[key]
	if !ok || r == nil || !r.out {
		if key == "null" && f.Err != nil && s.move == nil && len(s.asked) > 0 {
			s.tell(f.Raw) // it could not read one of them; which, nobody knows
		}
		return
	}
	s.free(r)
	if r.own != nil {
		r.own(f)
		return
	}
	if r.expired {
		return
	}
	failed := s.heard(r, f)
	raw := f.Raw
	switch r.what {
	case subscribing:
		raw = s.subscribed(r, f)
	case unsubscribing:
		if r.sub != nil && f.Err == nil {
			s.unsubscribed(r.sub)
		}
	case plainRequest:
	}
	s.answer(r, raw)
	s.done(r, failed)
	if r.what == subscribing {
		s.catchUp()
	}
}

// heard notes what an answer says of the upstream, and whether the client sees
// it as an error that is not the node's own answer.
func (s *session) heard(r *request, f rpc.Frame) (failed bool) {
	o := model.Outcome{Kind: model.Result}
	if f.Err != nil {
		if j, ok := s.link.client.JudgeMessage(f.Raw, f.ID); ok {
			o = j.Outcome
		}
	}
	s.note(s.link.upstream, o, r.method, r.start, r.began)
	a := answer{outcome: o}
	return a.limited() || o.Kind == model.Answer && o.Reason != model.ReasonNodeError
}

// catchUp hands on what came before the answers to its subscriptions.
func (s *session) catchUp() {
	was := s.early
	s.early = nil
	for _, e := range was {
		if n := s.byUp[e.key]; n != nil {
			s.deliver(n, e.frame)
		} else if s.subscribing() > 0 {
			s.early = append(s.early, e)
		}
	}
}

// notice takes a notification. Of a subscription that is no longer the client's
// nobody wants one.
func (s *session) notice(f rpc.Frame) {
	id := f.Subscription()
	if id == nil {
		s.tell(f.Raw)
		return
	}
	key, ok := idKey(id)
	n := s.byUp[key]
	switch {
	case n != nil && s.move != nil:
		s.move.delay(s, n, f)
	case n != nil:
		s.deliver(n, f)
	case ok && len(s.early) < mostEarly && s.subscribing() > 0:
		s.early = append(s.early, early{key, f})
	}
}

// deliver hands a notification to the client under the id it knows, unless it
// had it from an upstream before.
func (s *session) deliver(n *sub, f rpc.Frame) {
	if !s.fresh(n, f.Notice()) {
		return
	}
	if bytes.Equal(n.id, n.upID) {
		s.tell(f.Raw)
		return
	}
	s.tell(f.WithSubscription(n.id))
}

// fresh remembers a notification, and says whether the client has not had it.
func (s *session) fresh(n *sub, what json.RawMessage) bool {
	switch n.kind {
	case subHeads:
		h, ok := headOf(what)
		if !ok {
			return true
		}
		if n.memory.twice(h.Hash) {
			return false
		}
		n.memory.keep(h.Hash, h.number, false, nil, rememberHeads)
		n.upTo = h.number
	case subLogs:
		e, ok := eventOf(what)
		if !ok {
			return true
		}
		if n.memory.twice(e.key(e.Removed)) {
			return false
		}
		s.keepLog(n, e, false, what)
	case subOther:
	}
	return true
}

// keepLog remembers a log: of one that is taken back, that it was, and no more
// that it is there.
func (s *session) keepLog(n *sub, e event, again bool, raw json.RawMessage) {
	s.rawed -= n.memory.forget(e.key(!e.Removed))
	if e.Removed || s.rawed+len(raw) > rememberBytes {
		raw = nil
	}
	most := min(max(rememberLogs/max(len(s.subs), 1), rememberLeast), rememberMost)
	s.rawed += n.memory.keep(e.key(e.Removed), e.number, again, raw, most)
	if !e.Removed {
		n.upTo = max(n.upTo, e.number)
	}
}
