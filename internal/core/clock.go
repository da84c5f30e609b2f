package core

import (
	"sync/atomic"
	"time"
)

// clock is the core's time: the wall clock at its start plus the time since, so
// that a wall clock that is set back moves no schedule and makes no age
// negative. It follows the wall clock forward, which is how a machine that slept
// looks from here: what was due meanwhile is then due at once.
type clock struct {
	wall    time.Time // at the start, without a monotonic reading
	running time.Time // at the start, with one
	slept   atomic.Int64
}

// leastSleep is how far the wall clock must be ahead to be followed; less is its
// ordinary correction.
const leastSleep = 2 * time.Second

func newClock() *clock {
	now := time.Now()
	return &clock{wall: now.Round(0), running: now}
}

func (c *clock) now() time.Time {
	for {
		slept := c.slept.Load()
		now := c.wall.Add(time.Since(c.running) + time.Duration(slept))
		gap := time.Now().Round(0).Sub(now)
		if gap < leastSleep {
			return now
		}
		c.slept.CompareAndSwap(slept, slept+int64(gap))
	}
}

// Now is the core's clock. It never goes back.
func (c *Core) Now() time.Time { return c.clock.now() }
