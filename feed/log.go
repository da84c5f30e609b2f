package feed

import (
	"context"
	"sync"

	"chaintop/model"
)

// keepEvents is how many events a Log holds for readers that are behind: about
// ten seconds at 800 a second.
const keepEvents = 8192

// Log is the log of one instance in memory. Append never waits for a reader.
type Log struct {
	epoch string

	mu     sync.Mutex // held for a few assignments, never across IO
	pic    *model.Instance
	seq    uint64
	events []model.Event // the newest, ending at seq; what was handed out is never written again
	wake   chan struct{} // closed by the next Append or Close; nil while nobody waits
	closed bool
}

// NewLog is an empty log of one start of an instance, whose picture is pic.
func NewLog(pic *model.Instance) *Log { return &Log{epoch: pic.Epoch, pic: pic} }

// Append adds events as one batch; pic is the picture after them. The caller
// changes neither afterwards.
func (l *Log) Append(pic *model.Instance, events []model.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pic = pic
	l.seq += uint64(len(events))
	l.events = append(l.events, events...)
	if over := len(l.events) - keepEvents; over > 0 {
		l.events = l.events[over:]
	}
	l.stir()
}

// replace puts another picture in the log's place, and the events after it: all
// who read get ErrGap.
func (l *Log) replace(pic *model.Instance, at Cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pic, l.epoch, l.seq, l.events = pic, at.Epoch, at.Seq, nil
	l.stir()
}

// Close ends the log: readers get what is left, then ErrClosed.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.stir()
}

// isClosed says whether nothing more comes.
func (l *Log) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *Log) stir() {
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// Snapshot is the newest picture. It never fails.
func (l *Log) Snapshot(context.Context) (*model.Instance, Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pic, Cursor{Epoch: l.epoch, Seq: l.seq}, nil
}

// After waits for events after at and returns all there are. The slice is
// shared and never written again.
func (l *Log) After(ctx context.Context, at Cursor) ([]model.Event, Cursor, error) {
	for {
		events, next, wait, err := l.after(at)
		if err != nil || len(events) > 0 {
			return events, next, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, at, ctx.Err()
		}
	}
}

func (l *Log) after(at Cursor) ([]model.Event, Cursor, <-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Epoch != l.epoch || at.Seq > l.seq || l.seq-at.Seq > uint64(len(l.events)) {
		return nil, at, nil, ErrGap
	}
	if n := int(l.seq - at.Seq); n > 0 {
		end := len(l.events)
		return l.events[end-n : end : end], Cursor{Epoch: l.epoch, Seq: l.seq}, nil, nil
	}
	if l.closed {
		return nil, at, nil, ErrClosed
	}
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return nil, at, l.wake, nil
}
