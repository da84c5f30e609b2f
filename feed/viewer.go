package feed

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"chaintop/internal/clean"
)

// viewer is one connection. The goroutine of its handler reads, another writes;
// ctx is its own, and ends with either.
type viewer struct {
	s    *Server
	sock *socket
	who  identity

	ctx     context.Context
	cancel  context.CancelFunc
	out     chan []byte   // answers on their way; the writer sends them between frames
	leaving chan struct{} // closed when it has to go
	once    sync.Once
	last    byeData // why it goes; written before leaving is closed

	spot    spot   // the writer's
	start   string // why the first snapshot; empty: replay
	slow    slowness
	flow    flow
	written chan struct{} // closed when the writer is done
}

// outWaiting bounds the answers that wait for the writer.
const outWaiting = 64

func newViewer(s *Server, sock *socket, who identity) *viewer {
	v := &viewer{s: s, sock: sock, who: who, out: make(chan []byte, outWaiting), leaving: make(chan struct{}), written: make(chan struct{})}
	v.ctx, v.cancel = context.WithCancel(s.ctx)
	v.flow.moved = make(chan struct{}, 1)
	return v
}

// bye has the viewer told why it has to go, and when to come back. The first
// reason counts. It never blocks.
func (v *viewer) bye(code CloseCode, after time.Duration) {
	v.once.Do(func() {
		v.last = byeData{Code: code, Reason: code.String(), After: after}
		close(v.leaving)
	})
}

// turnAway says goodbye to one that was not let in.
func (v *viewer) turnAway(why *byeData) {
	v.bye(why.Code, why.After)
	v.farewell()
	v.sock.linger(time.Second)
	v.sock.close()
	v.cancel()
}

// serve reads until the connection ends, and returns when nothing of it is
// left.
func (v *viewer) serve() {
	stop := context.AfterFunc(v.ctx, v.sock.close) // a write in flight ends with it
	defer stop()
	hello, err := v.hello()
	if err != nil {
		v.bye(closeCode(err), 0)
		v.farewell()
		close(v.written)
	} else {
		v.arrive(hello)
		go v.write()
		err = v.read()
	}
	v.end(err)
}

// end closes what the reads ended, after the goodbye if one is still possible.
func (v *viewer) end(err error) {
	v.s.o.Logger.Debug("feed: a viewer left", "who", v.who.name, "err", err)
	code := closeCode(err)
	if code == 0 { // it left by itself
		v.cancel()
		<-v.written
	} else {
		v.bye(code, 0)
		<-v.written // the writer said it, or could not within its deadline
		v.sock.linger(time.Second)
	}
	v.cancel()
	v.sock.close()
}

// closeCode is what to close with after a read failed; 0: the peer is gone or
// said goodbye itself.
func closeCode(err error) CloseCode {
	var closed *closedError
	switch {
	case errors.As(err, &closed):
		return 0
	case errors.Is(err, errTooBig):
		return CloseTooBig
	case errors.Is(err, errNoisy):
		return CloseLimit
	case errors.Is(err, errNotText), errors.Is(err, errBadFrame):
		return CloseBadFrame
	case isTimeout(err):
		return CloseHeartbeat
	}
	return 0
}

var errBadFrame = errors.New("a frame is not what the protocol says")

// hello is the first frame: who it is and where it was.
func (v *viewer) hello() (helloData, error) {
	v.sock.readBy(time.Now().Add(helloWithin))
	text, err := v.sock.read(maxHello)
	if err != nil {
		return helloData{}, err
	}
	frame, err := decode(text)
	if err != nil || frame.Type != typeHello {
		return helloData{}, errBadFrame
	}
	var hello helloData
	if len(frame.Data) > 0 {
		if err := unmarshal(frame.Data, &hello); err != nil {
			return helloData{}, errBadFrame
		}
	}
	hello.Client = clean.Text(hello.Client, maxRunes)
	return hello, nil
}

// arrive decides how the viewer is brought up to date and queues its welcome.
func (v *viewer) arrive(hello helloData) {
	pic, at, _ := v.s.o.Log.Snapshot(v.ctx) // a Log's never fails
	v.start = whyFirst
	if r := hello.Resume; r != nil && r.Epoch != "" {
		v.start = whyEpoch
		if r.Epoch == at.Epoch {
			var ok bool
			if v.spot, ok = v.s.sealer.ring.at(r.Seq); ok && r.Seq <= at.Seq {
				v.start = ""
			} else {
				v.start = whySlow
			}
		}
	}
	w := welcomeData{
		Instance: pic.Name, Version: pic.Version, Role: v.who.role, Now: v.s.o.Now().UTC(), Heartbeat: heartbeat,
		Resume: byReplay, Why: v.start, Insecure: v.s.o.Insecure,
		Limits: limitsData{ClientFrame: maxClientFrame, ServerFrame: maxServerFrame, Snapshot: maxSnapshot,
			Commands: commandsEvery, Burst: commandsBurst},
	}
	if v.start != "" {
		w.Resume = bySnapshot
	}
	v.s.o.Logger.Debug("feed: a viewer came", "who", v.who.name, "client", hello.Client, "resume", w.Resume, "why", w.Why)
	if text, err := encode(typeWelcome, at, "", w); err == nil {
		v.out <- text // the first: there is room
	}
}

// read takes frames until one fails, and answers commands.
func (v *viewer) read() error {
	noise := newBucket(framesEvery, framesBurst)
	alive := func() { v.sock.readBy(time.Now().Add(readWithin)) }
	v.sock.onControl(
		func() bool { alive(); return noise.take(time.Now()) },
		func(payload string) { alive(); v.flow.pong(payload) },
	)
	for {
		alive()
		text, err := v.sock.read(maxClientFrame)
		if err != nil {
			return err
		}
		if !noise.take(time.Now()) {
			return errNoisy
		}
		frame, err := decode(text)
		if err != nil {
			return errBadFrame
		}
		if frame.Type == typeCmd { // others are of a version to come
			v.s.desk.command(v, frame)
		}
	}
}

// reply queues an answer. One that finds no room ends the connection: whoever
// asks has to read.
func (v *viewer) reply(kind, id string, a Answer) {
	text, err := encode(kind, v.s.epoch(), id, a)
	if err != nil {
		v.s.o.Logger.Error("feed: an answer was not made", "err", err)
		return
	}
	select {
	case v.out <- text:
	case <-v.ctx.Done():
	default:
		v.bye(CloseSlow, 0)
	}
}

// epoch is the cursor that answers carry: no place in the log.
func (s *Server) epoch() Cursor { return Cursor{Epoch: s.o.Log.epoch} }

// farewell sends the goodbye, after which nothing is written. It is called by
// whoever owns the writing.
func (v *viewer) farewell() {
	if v.last.Code == 0 {
		return // the peer said it first
	}
	if text, err := encode(typeBye, v.s.epoch(), "", v.last); err == nil {
		_ = v.sock.write(text, time.Second) // it may be gone already
	}
	v.sock.goodbye(v.last.Code)
	time.AfterFunc(time.Second, v.cancel) // for its own goodbye
}

// slowness counts the snapshots a viewer needed because it fell behind.
type slowness struct{ at []time.Time }

// slowSnapshots within slowWithin are too many.
const (
	slowSnapshots = 3
	slowWithin    = time.Minute
)

// again notes one more, and says whether it is one too many.
func (s *slowness) again(now time.Time) bool {
	s.at = append(s.at, now)
	if len(s.at) > slowSnapshots {
		s.at = s.at[1:]
	}
	return len(s.at) == slowSnapshots && now.Sub(s.at[0]) < slowWithin
}

// flow knows how much of what was written the viewer has read: pings travel in
// the same stream, and the answer to one says that everything before it arrived.
// So a reader that stopped is seen before its socket blocks.
type flow struct {
	sent  int64     // bytes, the writer's
	asked int64     // sent when the unanswered ping was; 0 = none
	since time.Time // of that ping
	moved chan struct{}

	mu  sync.Mutex
	got int64 // sent when the newest answered ping was
}

// How far a viewer may lag: it is asked every flowAsk bytes, and is sent no more
// while flowMost bytes are unanswered for flowWait.
const (
	flowAsk  = 32 << 10
	flowMost = 64 << 10
	flowWait = time.Second
)

func (f *flow) pong(payload string) {
	n, err := strconv.ParseInt(payload, 10, 64)
	if err != nil {
		return // the answer to a ping that asked for nothing
	}
	f.mu.Lock()
	f.got = max(f.got, n)
	f.mu.Unlock()
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

func (f *flow) acked() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return min(f.got, f.sent)
}

// due says whether to ask now, with which payload.
func (f *flow) due(now time.Time) (payload string, ok bool) {
	if got := f.acked(); f.asked > got || f.sent-got < flowAsk {
		return "", false
	}
	f.asked, f.since = f.sent, now
	return strconv.FormatInt(f.sent, 10), true
}

// stopped says that the viewer does not seem to read.
func (f *flow) stopped(now time.Time) bool {
	got := f.acked()
	return f.asked > got && f.sent-got >= flowMost && now.Sub(f.since) >= flowWait
}
