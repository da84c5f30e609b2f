package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// requests are those of a session that have no answer yet, and what is to be
// sent. An id that is asked is asked once: a second request with it waits for
// the answer to the first, since nobody could tell the two answers apart.
type requests struct {
	asked  map[string]*request   // by id
	held   map[string][]*request // which wait for the answer to another with their id
	queue  []*request            // by age; those that are answered are passed over
	outbox []*request            // of the client, not sent yet
	urgent []*request            // ours, and those asked again: sent also during a move
	again  []*request            // to be asked again on the next upstream
	holds  int
	waits  int // bytes of outbox
	kept   int // bytes of requests and subscriptions
	n      int64
}

func (q *requests) open() { q.asked, q.held = map[string]*request{}, map[string][]*request{} }

// request is one JSON-RPC request of a client, or one of ours.
type request struct {
	frame   rpc.Frame
	key     string // of its id; empty: a notification, which gets no answer
	batch   *batch
	place   int // in the batch
	method  string
	what    requestKind
	sub     *sub // that it ends
	own     func(rpc.Frame)
	start   time.Time // by this machine's clock
	began   time.Time // by the core's
	ends    time.Time
	out     bool // it may have been sent to the upstream that is now
	tries   int
	expired bool // its client has been told; the id is not free before its answer came
}

type requestKind uint8

const (
	plainRequest requestKind = iota
	subscribing
	unsubscribing
)

// kindOfRequest says what a method does to subscriptions.
func kindOfRequest(method string) requestKind {
	switch {
	case method == "eth_unsubscribe", strings.HasSuffix(method, "Unsubscribe"), strings.Contains(method, "_unsubscribe"):
		return unsubscribing
	case method == "eth_subscribe", strings.HasSuffix(method, "Subscribe"), strings.Contains(method, "_subscribe"):
		return subscribing
	}
	return plainRequest
}

// idKey is an id as it is compared: the same value is the same id, however it is
// written. ok is false for what JSON-RPC has no id for.
func idKey(id json.RawMessage) (key string, ok bool) {
	if len(id) == 0 || len(id) > 256 {
		return "", false
	}
	switch id[0] {
	case '"':
		var text string
		if json.Unmarshal(id, &text) != nil {
			return "", false
		}
		return "s" + text, true
	case 'n':
		return "null", true
	case '{', '[', 't', 'f':
		return "", false
	}
	text := string(id)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return "n" + strconv.FormatInt(n, 10), true
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == float64(int64(f)) && f > -1<<53 && f < 1<<53 {
		return "n" + strconv.FormatInt(int64(f), 10), true
	}
	return "n" + text, true
}

// batch is a list of requests that a client sent in one message. They go out one
// by one, so that a move treats each as it is; the answers come back as a list.
type batch struct {
	left    int
	replies []json.RawMessage
	size    int
}

var errLongBatch = refusal{code: -32052, text: fmt.Sprintf("the answers to a batch are longer than %d bytes", streamMost)}

// errorFor is an answer of our own.
func errorFor(id json.RawMessage, no refusal) json.RawMessage {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := json.Marshal(errorReply{Version: "2.0", ID: id, Error: errorMember{Code: no.code, Message: no.text}})
	if err != nil { // an id that is no JSON cannot get here
		return json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return b
}

// fromClient takes what came from the client.
func (s *session) fromClient(c came) {
	switch {
	case errors.Is(c.err, rpc.ErrLongMessage):
		s.rt.stats.refused()
		s.tell(errorFor(nil, refusal{code: -32052, text: fmt.Sprintf("a message holds at most %d bytes here (max_body)", s.rt.set.MaxBody)}))
		s.end(closeTooBig)
		return
	case c.err != nil:
		s.end(0)
		return
	}
	now := s.g.o.Now()
	s.activity.wrote(now)
	s.g.busy()
	frames, list, err := rpc.Frames(c.b, s.rt.set.MaxBatch)
	switch {
	case errors.Is(err, rpc.ErrManyCalls):
		s.rt.stats.refused()
		s.tell(errorFor(nil, refusal{code: -32052, text: fmt.Sprintf("a batch holds at most %d calls here (max_batch)", s.rt.set.MaxBatch)}))
		return
	case err != nil:
		s.rt.stats.refused()
		s.tell(errorFor(nil, refusal{code: -32700, text: "not a JSON-RPC request: " + err.Error()}))
		return
	}
	var b *batch
	if list {
		b = &batch{left: 1} // until all its members were taken
	}
	for _, f := range frames {
		s.take(f, b, now)
	}
	if list {
		s.settle(b)
	}
}

// take takes one request in.
func (s *session) take(f rpc.Frame, b *batch, now time.Time) {
	r := &request{frame: f, batch: b, method: f.Method, what: kindOfRequest(f.Method), start: time.Now(), began: now}
	r.ends = r.start.Add(s.rt.set.Timeout)
	replied := f.ID != nil || f.Torn || f.Method == "" // else it is a notification
	if b != nil && replied {
		r.place = len(b.replies)
		b.replies = append(b.replies, nil)
		b.left++
	}
	s.rt.stats.asked(now)
	if no := s.doubt(r); no != nil {
		s.rt.stats.refused()
		if replied {
			s.answer(r, errorFor(r.frame.ID, *no))
		}
		return
	}
	if f.ID == nil {
		s.wait(r)
		return
	}
	s.kept += len(f.Raw)
	s.queue = append(s.queue, r)
	if s.asked[r.key] != nil {
		s.held[r.key] = append(s.held[r.key], r)
		s.holds++
		return
	}
	s.asked[r.key] = r
	s.wait(r)
}

// doubt says why a request goes nowhere, if it does not.
func (s *session) doubt(r *request) *refusal {
	f := &r.frame
	if f.Torn || f.Method == "" {
		f.ID = nil
		return &refusal{code: -32600, text: "not a JSON-RPC request"}
	}
	if f.ID != nil {
		var ok bool
		if r.key, ok = idKey(f.ID); !ok {
			f.ID = nil
			return &refusal{code: -32600, text: "not an id of JSON-RPC"}
		}
	}
	if s.rt.deny.has(f.Method) {
		return &refusal{code: -32601, text: "the method is denied here"}
	}
	if len(s.asked)+s.holds >= mostAsked {
		return &refusal{code: -32052, text: fmt.Sprintf("a stream holds at most %d requests without an answer here", mostAsked)}
	}
	if int64(s.kept+len(f.Raw)) > streamKept*s.rt.set.MaxBody {
		return &refusal{code: -32052, text: fmt.Sprintf("a stream holds at most %d bytes of requests and subscriptions here", streamKept*s.rt.set.MaxBody)}
	}
	return s.doubtSubs(r)
}

// wait puts a request where it is sent from, which during a move is bounded.
func (s *session) wait(r *request) {
	s.outbox = append(s.outbox, r)
	s.waits += len(r.frame.Raw)
	if s.move != nil && (len(s.outbox) > mostWaiting || s.waits > mostWaits) {
		s.end(closeTryAgain)
	}
}

// question is the next message for the upstream, nil when there is none.
func (s *session) question() []byte {
	var r *request
	switch {
	case len(s.urgent) > 0:
		r = s.urgent[0]
	case s.move == nil && len(s.outbox) > 0:
		r = s.outbox[0]
	default:
		return nil
	}
	if r.sub != nil && r.what == unsubscribing {
		return r.frame.WithFirstArg(r.sub.upID)
	}
	return r.frame.Raw
}

// asks notes that question's message is on its way.
func (s *session) asks() {
	list := &s.outbox
	if len(s.urgent) > 0 {
		list = &s.urgent
	}
	r := (*list)[0]
	(*list)[0] = nil
	*list = (*list)[1:]
	if list == &s.outbox {
		s.waits -= len(r.frame.Raw)
	}
	r.out = true
	r.tries++
}

// own asks the upstream something the client does not hear of: its id is none
// that is asked.
func (s *session) own(method, params string, then func(rpc.Frame)) {
	var id string
	for {
		s.n++
		id = fmt.Sprintf("ct-%d", s.n)
		if s.asked["s"+id] == nil {
			break
		}
	}
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"%s","params":%s}`, id, method, params)
	r := &request{frame: rpc.Frame{Raw: json.RawMessage(raw)}, key: "s" + id, method: method, own: then, out: true}
	s.asked[r.key] = r
	s.urgent = append(s.urgent, r)
}

// free ends a request: one that waited for its id is asked now.
func (s *session) free(r *request) {
	delete(s.asked, r.key)
	waiting := s.held[r.key]
	if len(waiting) == 0 {
		return
	}
	next := waiting[0]
	if s.held[r.key] = waiting[1:]; len(waiting) == 1 {
		delete(s.held, r.key)
	}
	s.holds--
	s.asked[next.key] = next
	s.wait(next)
}

// answer gives a request's answer to the client, in its batch if it came in one.
func (s *session) answer(r *request, raw json.RawMessage) {
	b := r.batch
	if b == nil {
		s.tell(raw)
		return
	}
	if b.size += len(raw); b.size > streamMost {
		raw = errorFor(r.frame.ID, errLongBatch)
	}
	b.replies[r.place] = raw
	s.settle(b)
}

// settle sends a batch's answers when all are there.
func (s *session) settle(b *batch) {
	if b.left--; b.left > 0 || len(b.replies) == 0 {
		return
	}
	out := make([]byte, 0, b.size+len(b.replies)+2)
	sep := byte('[')
	for _, raw := range b.replies {
		out = append(append(out, sep), raw...)
		sep = ','
	}
	s.tell(append(out, ']'))
}

// done counts what became of a request.
func (s *session) done(r *request, failed bool) {
	s.kept -= len(r.frame.Raw)
	s.rt.stats.served(s.g.o.Now(), served{took: time.Since(r.start), failed: failed, retried: r.tries > 1})
}

// fail answers a request for an upstream that has not, as F9 has it.
func (s *session) fail(r *request, upstream int, within string) {
	text := "no answer from " + s.rt.upstream[upstream] + within
	if r.tries > 0 && !repeatable(r.method) {
		text += "; it may have been executed"
	}
	s.answer(r, errorFor(r.frame.ID, refusal{code: -32051, text: text}))
	s.done(r, true)
}

// expires is when the oldest request without an answer has waited for too long.
func (s *session) expires() time.Time {
	for len(s.queue) > 0 {
		r := s.queue[0]
		if s.waiting(r) {
			return r.ends
		}
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	return time.Time{}
}

// waiting says that a request's client still waits for its answer.
func (s *session) waiting(r *request) bool {
	if r.expired {
		return false
	}
	if s.asked[r.key] == r {
		return true
	}
	for _, h := range s.held[r.key] {
		if h == r {
			return true
		}
	}
	return false
}

// expire answers the requests that have waited for gateway.timeout.
func (s *session) expire(now time.Time) {
	for at := s.expires(); !at.IsZero() && !now.Before(at); at = s.expires() {
		r := s.queue[0]
		r.expired = true
		if s.link != nil && r.out {
			s.note(s.link.upstream, model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonTimeout}, r.method, r.start, r.began)
			s.fail(r, s.link.upstream, fmt.Sprintf(" within %s", s.rt.set.Timeout))
			continue
		}
		s.forget(r)
		s.answer(r, errorFor(r.frame.ID, refusal{code: -32050, text: model.NoneFit(s.g.chain(s.rt), s.g.o.Now(), nil)}))
		s.done(r, true)
	}
}

// forget takes back a request that was not sent.
func (s *session) forget(r *request) {
	without := func(list []*request) []*request {
		for i, one := range list {
			if one == r {
				return append(list[:i:i], list[i+1:]...)
			}
		}
		return list
	}
	if s.asked[r.key] != r {
		s.held[r.key] = without(s.held[r.key])
		s.holds--
		return
	}
	before := len(s.outbox)
	if s.outbox = without(s.outbox); len(s.outbox) < before {
		s.waits -= len(r.frame.Raw)
	}
	s.urgent, s.again = without(s.urgent), without(s.again)
	s.free(r)
}
