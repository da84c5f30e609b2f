package feed

import (
	"sort"
	"sync"
)

// ringBytes is how much of the past is kept as sealed frames for those who come
// back.
const ringBytes = 8 << 20

// frameCost is what a frame costs beside its text.
const frameCost = 512

// frame is a run of the log, encoded once and shared by all who are sent it.
type frame struct {
	no          uint64 // counts the frames of a ring
	first, last uint64 // the events inside; a heartbeat has none, and last is the newest event
	heart       bool
	full        *message // as operators see it
	masked      *message // as viewers see it: the same one where nothing is masked
}

func (f *frame) as(role Role) *message {
	if role == RoleOperator {
		return f.full
	}
	return f.masked
}

func (f *frame) cost() int {
	n := frameCost + f.full.size
	if f.masked != f.full {
		n += f.masked.size
	}
	return n
}

// ring holds the newest sealed frames. Whoever reads it has a spot of its own.
type ring struct {
	limit int // bytes

	mu     sync.Mutex // held for a few assignments, never across IO or encoding
	frames []*frame
	bytes  int
	no     uint64        // of the newest frame
	upTo   uint64        // the newest event that was sealed, or passed over
	wake   chan struct{} // closed by the next seal; nil while nobody waits
}

// spot is how far a reader is: it has every event up to seq.
type spot struct{ no, seq uint64 }

// add appends a frame and drops what is too old.
func (r *ring) add(f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.no++
	f.no, r.upTo = r.no, f.last
	r.frames = append(r.frames, f)
	r.bytes += f.cost()
	for r.bytes > r.limit && len(r.frames) > 1 {
		r.bytes -= r.frames[0].cost()
		r.frames[0] = nil // the array outlives the slice; the frame need not
		r.frames = r.frames[1:]
	}
	r.stir()
}

// skipTo forgets all frames: the events up to seq cannot be had from here.
func (r *ring) skipTo(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames, r.bytes, r.upTo = nil, 0, seq
	r.no++ // a reader that waits for the next frame has to look again
	r.stir()
}

func (r *ring) stir() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// at is the spot of a reader that has the events up to seq; ok is false when
// what follows is gone.
func (r *ring) at(seq uint64) (spot, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spot(seq)
}

func (r *ring) spot(seq uint64) (spot, bool) {
	i := sort.Search(len(r.frames), func(i int) bool { return r.frames[i].last > seq })
	if i == len(r.frames) {
		return spot{r.no + 1, seq}, seq >= r.upTo
	}
	f := r.frames[i]
	return spot{f.no, seq}, f.first <= seq+1
}

// next is the next frame for a reader. Without one it gives what to wait for.
// ok is false when the reader fell out of the ring.
func (r *ring) next(at *spot) (f *frame, wait <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if len(r.frames) == 0 || at.no < r.frames[0].no {
			found, ok := r.spot(at.seq)
			if !ok {
				return nil, nil, false
			}
			at.no = found.no
		}
		if at.no > r.no {
			if r.wake == nil {
				r.wake = make(chan struct{})
			}
			return nil, r.wake, true
		}
		f := r.frames[at.no-r.frames[0].no]
		at.no++
		if f.last < at.seq || (f.last == at.seq && !f.heart) {
			continue // it is in the reader's snapshot
		}
		at.seq = f.last
		return f, nil, true
	}
}
