package memnet

import (
	"bytes"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream is one direction of a connection: one end writes it, the other reads.
type stream struct {
	limit int // bytes it holds before a write waits

	mu            sync.Mutex
	moved         *sync.Cond // anything below changed
	buf           bytes.Buffer
	eof           bool  // the writer is done: what is left, then io.EOF
	busy          bool  // a write is under way, and others wait their turn
	readErr       error // what reads get at once
	writeErr      error // what writes get at once
	reads, writes deadline
}

// deadline is when reads, or writes, of a stream give up.
type deadline struct {
	timer *time.Timer
	set   int // counts changes, so that a timer overtaken by one does nothing
	past  bool
}

func newStream(limit int) *stream {
	s := &stream{limit: limit}
	s.moved = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readErr != nil:
			return 0, s.readErr
		case s.reads.past:
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case s.buf.Len() > 0:
			defer s.moved.Broadcast()
			return s.buf.Read(b)
		case s.eof:
			return 0, io.EOF
		}
		s.moved.Wait()
	}
}

// write puts all of b in, one write after another.
func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.await(func() bool { return !s.busy }); err != nil {
		return 0, err
	}
	s.busy = true
	defer func() { s.busy = false; s.moved.Broadcast() }()
	n := 0
	for n < len(b) {
		if err := s.await(func() bool { return s.buf.Len() < s.limit }); err != nil {
			return n, err
		}
		m := min(len(b)-n, s.limit-s.buf.Len())
		s.buf.Write(b[n : n+m])
		n += m
		s.moved.Broadcast()
	}
	return n, nil
}

// await waits until the writer may go on, or may write no more.
func (s *stream) await(ready func() bool) error {
	for {
		switch {
		case s.writeErr != nil:
			return s.writeErr
		case s.writes.past:
			return os.ErrDeadlineExceeded
		case ready():
			return nil
		}
		s.moved.Wait()
	}
}

// finish is the writer's end of writing; its later writes get err.
func (s *stream) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eof, s.writeErr = true, err
	s.writes.stop()
	s.moved.Broadcast()
}

// abandon is the reader's end of reading; the writer then gets err.
func (s *stream) abandon(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
	s.readErr = net.ErrClosed
	if s.writeErr == nil {
		s.writeErr = err
	}
	s.reads.stop()
	s.moved.Broadcast()
}

// abort is the writer's end of everything: what is under way is lost, and the
// reader gets err.
func (s *stream) abort(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
	if s.readErr == nil {
		s.readErr = err
	}
	s.moved.Broadcast()
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	d.past = false
	if !t.IsZero() {
		wait := time.Until(t)
		d.past = wait <= 0
		if !d.past {
			set := d.set
			d.timer = time.AfterFunc(wait, func() { s.expire(d, set) })
		}
	}
	s.moved.Broadcast()
}

func (s *stream) expire(d *deadline, set int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.set == set {
		d.past = true
		s.moved.Broadcast()
	}
}

// stop ends the timer. The caller holds the stream's lock.
func (d *deadline) stop() {
	d.set++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
