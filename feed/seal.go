package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/model"
)

// When a frame is sealed.
const (
	sealEvery  = 50 * time.Millisecond
	sealEvents = 256
	sealBytes  = 256 << 10
)

// sealer follows a log and cuts it into frames. While it sleeps nothing is
// encoded; when it wakes it goes on where it was, if the log still holds that.
type sealer struct {
	log    *Log
	ring   ring
	now    func() time.Time
	logger *slog.Logger

	encoded atomic.Uint64 // events encoded so far
	ended   chan struct{} // closed when a closed log is sealed to its end
	over    func()        // closes it, once
	done    chan struct{} // closed at the end of the newest run; the server's, who keeps runs apart

	// Written only by the one run at a time.
	at    Cursor
	begun bool
	last  time.Time // of the last seal
	open  pending
}

func newSealer(log *Log, now func() time.Time, logger *slog.Logger) *sealer {
	s := &sealer{log: log, now: now, logger: logger, ring: ring{limit: ringBytes}, ended: make(chan struct{})}
	s.over = sync.OnceFunc(func() { close(s.ended) })
	return s
}

// pending is the frame in the making: the events in it, encoded.
type pending struct {
	events int
	first  uint64
	full   bytes.Buffer
	masked bytes.Buffer // used once an event in it is masked
	differ bool
}

func (p *pending) reset() {
	p.events, p.differ = 0, false
	p.full.Reset()
	p.masked.Reset()
}

// begin sets the sealer to the end of the log, once.
func (s *sealer) begin() {
	if !s.begun {
		s.begun = true
		_, s.at, _ = s.log.Snapshot(context.Background()) // a Log's never fails
		s.ring.skipTo(s.at.Seq)
	}
}

// run seals until ctx ends.
func (s *sealer) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	woke := s.now() // who comes now has news of its own: no heartbeat yet
	for {
		events, next, wake, err := s.log.after(s.at)
		switch {
		case err == nil:
			s.take(events)
			s.at = next
		case errors.Is(err, ErrClosed):
			s.flush()
			s.over()
			<-ctx.Done() // what was sealed is still read
			return
		default:
			_, s.at, _ = s.log.Snapshot(ctx) // a Log's never fails
			s.open.reset()
			s.ring.skipTo(s.at.Seq)
		}
		due := woke.Add(heartbeat)
		if s.last.After(woke) {
			due = s.last.Add(heartbeat)
		}
		if s.open.events > 0 {
			due = s.last.Add(sealEvery)
		}
		wait := due.Sub(s.now())
		if wait <= 0 || wait > heartbeat { // longer: the clock was set back
			s.seal(false)
			continue
		}
		if wake == nil { // events were taken: is there more?
			if _, _, wake, err = s.log.after(s.at); err != nil || wake == nil {
				continue
			}
		}
		timer.Reset(wait)
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			s.flush()
			return
		}
	}
}

// flush seals what is open, so that a sleeping sealer holds nothing half.
func (s *sealer) flush() {
	if s.open.events > 0 {
		s.seal(false)
	}
}

// take adds events that are whole batches to the open frame, and seals what is
// full. A frame that ends within them says so.
func (s *sealer) take(events []model.Event) {
	for i, e := range events {
		seq := s.at.Seq + uint64(i) + 1
		s.encoded.Add(1)
		full, masked, differ, err := encodeEvent(e)
		if err != nil || len(full) > maxServerFrame-frameCost || len(masked) > maxServerFrame-frameCost {
			// Too much for a frame: whoever is not past it takes a snapshot.
			s.logger.Warn("feed: an event was not sealed", "kind", string(e.Kind()), "bytes", len(full), "err", err)
			s.open.reset()
			s.ring.skipTo(seq)
			continue
		}
		if s.open.events > 0 && s.open.full.Len()+len(full) > sealBytes {
			s.seal(i > 0)
		}
		s.open.add(seq, full, masked, differ)
		if s.open.events == sealEvents || s.open.full.Len() >= sealBytes {
			s.seal(i < len(events)-1)
		}
	}
}

func encodeEvent(e model.Event) (full, masked []byte, differ bool, err error) {
	if full, err = json.Marshal(e); err != nil {
		return nil, nil, false, err
	}
	m, differ := maskEvent(e)
	if !differ {
		return full, full, false, nil
	}
	masked, err = json.Marshal(m)
	return full, masked, true, err
}

func (p *pending) add(seq uint64, full, masked []byte, differ bool) {
	if p.events == 0 {
		p.first = seq
	}
	if differ && !p.differ {
		p.differ = true
		p.masked.Write(p.full.Bytes())
	}
	put := func(b *bytes.Buffer, text []byte) {
		if p.events > 0 {
			b.WriteByte(',')
		}
		b.Write(text)
	}
	put(&p.full, full)
	if p.differ {
		put(&p.masked, masked)
	}
	p.events++
}

// seal makes a frame of what is open, a heartbeat when nothing is.
func (s *sealer) seal(more bool) {
	s.last = s.now()
	p := &s.open
	f := &frame{first: p.first, last: p.first + uint64(p.events) - 1}
	if p.events == 0 {
		f.first, f.last, f.heart = s.at.Seq+1, s.at.Seq, true
	}
	at := Cursor{Epoch: s.at.Epoch, Seq: f.last}
	var err error
	if f.full, err = s.message(at, &p.full, p.events, more); err == nil {
		f.masked = f.full
		if p.differ {
			f.masked, err = s.message(at, &p.masked, p.events, more)
		}
	}
	p.reset()
	if err != nil {
		s.logger.Error("feed: a frame was not made", "err", err)
		s.ring.skipTo(f.last)
		return
	}
	s.ring.add(f)
}

func (s *sealer) message(at Cursor, body *bytes.Buffer, events int, more bool) (*message, error) {
	var b bytes.Buffer
	b.Grow(body.Len() + 256)
	now := s.last.UTC().Format(time.RFC3339Nano)
	if events == 0 {
		head(&b, typeHeart, at)
		b.WriteString(`{"now":"` + now + `"}}`)
		return prepare(b.Bytes())
	}
	head(&b, typeEvents, at)
	b.WriteString(`{"at":"` + now + `","events":[`)
	b.Write(body.Bytes())
	b.WriteByte(']')
	if more {
		b.WriteString(`,"more":true`)
	}
	b.WriteString(`}}`)
	return prepare(b.Bytes())
}
