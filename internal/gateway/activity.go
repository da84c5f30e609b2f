package gateway

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// Bounds of an activity.
const (
	mostAskers = 1024 // clients it keeps; beyond, the one quiet for longest is forgotten
	mostMethod = 64   // runes of a method's name
	lastAsks   = 8    // whose mean distance is a client's period
	countEvery = 10 * time.Second
	countSlots = 7 // the last minute, and the slot being filled
	quietSlots = 6 // the last five minutes likewise
)

// activity is who uses the gateway: what keeps a drain awake, and since when
// nobody does (D5, D6). Its law: a request is seen at handler entry, before
// anything may refuse it, and by nothing else; what it knows of the last request
// is exact, the counts of clients are bounded.
type activity struct {
	now func() time.Time // for the hooks of http.Server; a core's clock

	mu      sync.Mutex // held for a few assignments; by a snapshot, once a second, for one look at the open connections
	since   time.Time  // the drain the counts are of; zero = none
	started time.Time
	seq     uint64
	last    ask
	old     ask // of the connections accepted before since
	newConn time.Time

	message, oldMessage time.Time
	messageBy           string

	inFlight              int
	requests, oldRequests int // since since
	quiet                 time.Duration
	quiets                [quietSlots]time.Duration // the longest pause that ended in a minute
	minute                int64                     // of the newest of them
	total                 counts

	conns   map[net.Conn]*connInfo
	streams map[*openStream]struct{}
	askers  map[askerKey]*asker
	newest  *asker // of a ring by the last request; its before is the one quiet for longest
}

// ask is one request that bumped the idle timer.
type ask struct {
	at     time.Time
	seq    uint64
	method string
	kind   model.ClientKind
	chain  int
	client string
}

// connInfo is one open connection.
type connInfo struct {
	accepted time.Time
	last     time.Time // its last request; zero = it asked nothing yet
	by       *asker
}

type connKey struct{}

type askerKey struct {
	addr string
	kind model.ClientKind
}

// asker is a client, by one kind.
type asker struct {
	key           askerKey
	before, after *asker // in the ring

	method   string // of its last request; empty until it is read
	usual    string // the last one read: mostly the next one, too
	chain    int
	last     time.Time
	message  time.Time
	closed   time.Time // when a connection of its was last closed
	count    int       // since since
	oldCount int
	oldLast  time.Time
	recent   counts
	asks     [lastAsks]time.Time
	asked    int // of asks, in all

	// Of a snapshot.
	conns, streams int
	oldest         time.Time
	hasOld         bool
}

// newActivity is an activity nobody is seen in yet. now is the core's clock.
func newActivity(now func() time.Time) *activity {
	return &activity{
		now: now, conns: map[net.Conn]*connInfo{},
		streams: map[*openStream]struct{}{}, askers: map[askerKey]*asker{},
	}
}

// begin notes when anything was first asked of it. The core whose clock it goes
// by is made after it.
func (a *activity) begin(now time.Time) {
	if a.started.IsZero() {
		a.started = now
	}
}

// connContext is http.Server's ConnContext: it notes when a connection was
// accepted.
func (a *activity) connContext(ctx context.Context, c net.Conn) context.Context {
	ci := &connInfo{accepted: a.now()}
	a.mu.Lock()
	a.conns[c] = ci
	a.mu.Unlock()
	return context.WithValue(ctx, connKey{}, ci)
}

// connState is http.Server's ConnState: it notes when a connection is gone. A
// hijacked one is a stream's from then on.
func (a *activity) connState(c net.Conn, s http.ConnState) {
	if s != http.StateClosed && s != http.StateHijacked {
		return
	}
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if ci := a.conns[c]; ci != nil && ci.by != nil && s == http.StateClosed {
		ci.by.closed = now
	}
	delete(a.conns, c)
}

// connOf is the connection a request came by; nil when connContext did not see
// it.
func connOf(ctx context.Context) *connInfo {
	ci, _ := ctx.Value(connKey{}).(*connInfo)
	return ci
}

// clientOf is the address in a RemoteAddr, without port and zone.
func clientOf(remote string) string {
	if i := strings.LastIndexByte(remote, ':'); i >= 0 {
		remote = remote[:i]
	}
	remote = strings.TrimSuffix(strings.TrimPrefix(remote, "["), "]")
	remote, _, _ = strings.Cut(remote, "%")
	if v4, ok := strings.CutPrefix(remote, "::ffff:"); ok && strings.Contains(v4, ".") {
		return v4
	}
	return remote
}

// visit is one request between its entry and its end: by leave, or by open.
type visit struct {
	a   *activity
	by  *asker
	ci  *connInfo
	seq uint64
}

// enter is called first thing by the RPC handlers, for every request, whatever
// becomes of it (D5): chain is -1 where it names none there is. It allocates for
// a client that is new only.
func (a *activity) enter(ci *connInfo, chain int, kind model.ClientKind, client string, now time.Time) visit {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(now)
	a.seq++
	by := a.asker(askerKey{client, kind})
	by.method, by.chain, by.last = "", chain, now
	by.count++
	by.recent.add(now)
	by.asks[by.asked%lastAsks] = now
	by.asked++

	a.pause(now)
	a.last = ask{at: now, seq: a.seq, kind: kind, chain: chain, client: client}
	a.inFlight++
	a.requests++
	a.total.add(now)
	if ci != nil {
		if ci.last.IsZero() && ci.accepted.After(a.newConn) {
			a.newConn = ci.accepted
		}
		ci.last, ci.by = now, by
		if a.isOld(ci.accepted) {
			a.old, by.oldLast = a.last, now
			a.oldRequests++
			by.oldCount++
		}
	}
	return visit{a: a, by: by, ci: ci, seq: a.seq}
}

// isOld says whether a connection is older than the drain.
func (a *activity) isOld(accepted time.Time) bool { return accepted.Before(a.since) }

// pause notes how long nobody asked before now.
func (a *activity) pause(now time.Time) {
	a.turn(now)
	gap := now.Sub(a.quietFrom())
	a.quiet = max(a.quiet, gap)
	slot := &a.quiets[a.minute%quietSlots]
	*slot = max(*slot, gap)
}

// quietFrom is since when nobody asks.
func (a *activity) quietFrom() time.Time {
	from := a.started
	for _, t := range []time.Time{a.last.at, a.since} {
		if t.After(from) {
			from = t
		}
	}
	return from
}

// turn forgets the pauses of more than five minutes ago.
func (a *activity) turn(now time.Time) {
	minute := now.Unix() / 60
	for m := max(a.minute+1, minute-quietSlots+1); m <= minute; m++ {
		a.quiets[m%quietSlots] = 0
	}
	a.minute = max(a.minute, minute)
}

// asker is the client's row, now the newest of the ring.
func (a *activity) asker(key askerKey) *asker {
	by := a.askers[key]
	if by == nil {
		if len(a.askers) >= mostAskers {
			gone := a.newest.before
			delete(a.askers, gone.key)
			gone.unlink()
		}
		by = &asker{key: askerKey{strings.Clone(key.addr), key.kind}}
		a.askers[by.key] = by
	} else if by == a.newest {
		return by
	} else {
		by.unlink()
	}
	by.before, by.after = by, by
	if a.newest != nil {
		by.before, by.after = a.newest.before, a.newest
		by.before.after, by.after.before = by, by
	}
	a.newest = by
	return by
}

func (r *asker) unlink() { r.before.after, r.after.before = r.after, r.before }

// method says what was asked, when the body is read. It keeps nothing of the
// body.
func (v visit) method(name string) {
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	if v.by.usual != name {
		v.by.usual = strings.Clone(clean.Text(name, mostMethod))
	}
	name = v.by.usual
	v.by.method = name
	if v.a.last.seq == v.seq {
		v.a.last.method = name
	}
	if v.a.old.seq == v.seq {
		v.a.old.method = name
	}
}

// leave is the end of a request: it is answered, or its client is gone.
func (v visit) leave() {
	v.a.mu.Lock()
	v.a.inFlight--
	v.a.mu.Unlock()
}

// openStream is an open websocket.
type openStream struct {
	visit
	accepted time.Time
	last     time.Time // the last message from the client
}

// open says that a request became a stream. The stream's close is its end, in
// leave's place.
func (v visit) open(now time.Time) *openStream {
	s := &openStream{visit: v, accepted: now}
	if v.ci != nil {
		s.accepted = v.ci.accepted
	}
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	v.a.inFlight--
	v.a.streams[s] = struct{}{}
	return s
}

// wrote says that the client sent a message. It bumps nothing: whether messages
// count is the model's to say (D5).
func (s *openStream) wrote(now time.Time) {
	a := s.a
	a.mu.Lock()
	defer a.mu.Unlock()
	s.last, s.by.message = now, now
	a.message, a.messageBy = now, s.by.key.addr
	if a.isOld(s.accepted) {
		a.oldMessage = now
	}
}

// close is the end of the stream.
func (s *openStream) close(now time.Time) {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if _, open := s.a.streams[s]; !open {
		return
	}
	delete(s.a.streams, s)
	s.by.closed = now
}

// counts counts over the last minute or so.
type counts struct {
	slots [countSlots]int
	at    int64 // the newest slot, in countEvery since 1970
}

func slotOf(now time.Time) int64 { return now.UnixNano() / int64(countEvery) }

func (c *counts) turn(now time.Time) {
	slot := slotOf(now)
	for s := max(c.at+1, slot-countSlots+1); s <= slot; s++ {
		c.slots[s%countSlots] = 0
	}
	c.at = max(c.at, slot)
}

func (c *counts) add(now time.Time) {
	c.turn(now)
	c.slots[c.at%countSlots]++
}

func (c *counts) sum(now time.Time) (n int) {
	c.turn(now)
	for _, s := range c.slots {
		n += s
	}
	return n
}

// window is how far back counts go at now.
func (a *activity) window(now time.Time) time.Duration {
	from := time.Unix(0, (slotOf(now)-countSlots+1)*int64(countEvery))
	return now.Sub(later(from, a.started))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mark begins the counts of a drain. What came between its start and this call
// is made good from the open connections.
func (a *activity) mark(since time.Time) {
	a.since, a.requests, a.oldRequests, a.quiet = since, 0, 0, 0
	a.old, a.oldMessage = ask{}, time.Time{}
	for _, by := range a.askers {
		by.count, by.oldCount, by.oldLast = 0, 0, time.Time{}
	}
	if since.IsZero() {
		return
	}
	for _, ci := range a.conns {
		if ci.by == nil || ci.last.Before(since) {
			continue
		}
		a.requests++
		ci.by.count++
		if !a.isOld(ci.accepted) {
			continue
		}
		a.oldRequests++
		ci.by.oldCount++
		ci.by.oldLast = later(ci.by.oldLast, ci.last)
		if ci.last.After(a.old.at) {
			a.old = ask{at: ci.last, method: ci.by.method, kind: ci.by.key.kind, chain: ci.by.chain, client: ci.by.key.addr}
		}
	}
	for s := range a.streams {
		if a.isOld(s.accepted) && !s.last.Before(since) {
			a.oldMessage = later(a.oldMessage, s.last)
		}
	}
}
