//go:build linux

package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// load is an open loop: requests are sent at their times, whatever became of
// those before.
type load struct {
	addr string
	rate int // requests a second
	last time.Duration
	fill func(i int, a *ask)

	started chan<- struct{} // closed when start is known; nil: nobody asks
	start   time.Time
	done    sync.WaitGroup
	all     samples

	mu   sync.Mutex
	idle []*shooter // the one used last is at the end
	open []*shooter
}

// shooter is a connection of an open loop. Its requests are written by the pacer,
// on time; its own goroutine reads the answers.
type shooter struct {
	link *link
	sent chan shot // at most one
}

type shot struct {
	n    int
	want []byte
}

// reads makes requests of one call that may be repeated.
func reads(_ int, a *ask) { a.single(methodRead) }

func batches(_ int, a *ask) { a.batch() }

// run sends what there is to send, unless ctx ends, and waits for the answers.
func (l *load) run(ctx context.Context) (samples, error) {
	n := int(l.last.Seconds() * float64(l.rate))
	l.all = make(samples, n)
	every := time.Second / time.Duration(l.rate)
	l.start = time.Now().Add(10 * time.Millisecond)
	if l.started != nil {
		close(l.started)
	}
	sent := 0
	err := pace(ctx, l.start, n, every, func(i int, at time.Time) {
		sent++
		l.all[i].at = at.Sub(l.start)
		l.done.Add(1)
		l.fire(ctx, i)
	})
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.open {
		close(s.sent)
		s.link.close()
	}
	return l.all[:sent], err
}

// fire sends request i on an idle connection, or on a new one.
func (l *load) fire(ctx context.Context, i int) {
	var a ask
	l.fill(i, &a)
	l.mu.Lock()
	if k := len(l.idle); k > 0 {
		s := l.idle[k-1]
		l.idle = l.idle[:k-1]
		l.mu.Unlock()
		l.shoot(s, i, a)
		return
	}
	l.mu.Unlock()
	go func() { // a dial may take its time
		k, err := open(ctx, l.addr)
		if err != nil {
			l.end(i, reply{}, err.Error())
			return
		}
		s := &shooter{link: k, sent: make(chan shot, 1)}
		l.mu.Lock()
		l.open = append(l.open, s)
		l.mu.Unlock()
		go l.listen(s)
		l.shoot(s, i, a)
	}()
}

func (l *load) shoot(s *shooter, i int, a ask) {
	if err := s.link.send(a.body); err != nil {
		s.link.close() // whoever reads from it ends by itself: nothing was sent to wait for
		l.end(i, reply{}, err.Error())
		return
	}
	s.sent <- shot{i, a.want}
}

// listen reads the answers of a connection while it is good for another request.
func (l *load) listen(s *shooter) {
	for want := range s.sent {
		r, err := s.link.receive()
		if err != nil {
			s.link.close()
			l.end(want.n, r, err.Error())
			return
		}
		l.end(want.n, r, r.fault(want.want))
		if r.last {
			s.link.close()
			return
		}
		l.mu.Lock()
		l.idle = append(l.idle, s)
		l.mu.Unlock()
	}
}

func (l *load) end(i int, r reply, fault string) {
	s := &l.all[i]
	s.took = time.Since(l.start) - s.at
	s.status, s.server, s.fault = r.status, string(r.server), fault
	l.done.Done()
}

// pace calls fire n times, each at its time. It sleeps in the kernel: Go's own
// timers ring up to a millisecond late when nothing else happens, which is more
// than what is measured.
func pace(ctx context.Context, start time.Time, n int, every time.Duration, fire func(i int, at time.Time)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const timerSlack = 29                                             // PR_SET_TIMERSLACK, in ns
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, timerSlack, 1, 0) // without it: 50 µs later
	for i := range n {
		at := start.Add(time.Duration(i) * every)
		for left := time.Until(at); left > 0; left = time.Until(at) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			nap := syscall.NsecToTimespec(int64(min(left, 100*time.Millisecond)))
			_ = syscall.Nanosleep(&nap, nil) // interrupted: the loop looks at the clock
		}
		fire(i, at)
	}
	return ctx.Err()
}

// saturate is a closed loop: each connection asks its next question when the
// last is answered. It returns the right answers a second, and how many others
// there were.
func saturate(ctx context.Context, addr string, conns int, last time.Duration) (rate float64, failed int64) {
	var good, bad atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for range conns {
		all.Go(func() {
			var k *link
			var a ask
			defer func() {
				if k != nil {
					k.close()
				}
			}()
			for ctx.Err() == nil && time.Since(begin) < last {
				var err error
				if k == nil {
					if k, err = open(ctx, addr); err != nil {
						bad.Add(1)
						return
					}
				}
				a.single(methodRead)
				more, err := k.ask(a)
				if err != nil {
					bad.Add(1)
				} else {
					good.Add(1)
				}
				if !more {
					k.close()
					k = nil
				}
			}
		})
	}
	all.Wait()
	return float64(good.Load()) / time.Since(begin).Seconds(), bad.Load()
}
