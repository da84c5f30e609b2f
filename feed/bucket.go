package feed

import (
	"sync"
	"time"
)

// bucket lets through rate things a second, and burst at once. The zero time
// finds it full.
type bucket struct {
	rate  float64
	burst float64

	mu   sync.Mutex
	used float64
	last time.Time
}

func newBucket(rate float64, burst int) *bucket { return &bucket{rate: rate, burst: float64(burst)} }

// take says whether one more may pass at now.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if gone := now.Sub(b.last); gone > 0 || b.last.IsZero() {
		b.used = max(0, b.used-b.rate*gone.Seconds())
	}
	b.last = now
	if b.used+1 > b.burst {
		return false
	}
	b.used++
	return true
}
