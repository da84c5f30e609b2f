package gateway

import (
	"sync"
	"time"
)

// budget bounds the hedges that no stall excuses: at most a tenth of a chain's
// requests over ten seconds (F11).
type budget struct {
	mu     sync.Mutex
	second int64 // unix, of the newest place of the rings
	asked  [10]int
	spent  [10]int
}

const hedgeShare = 10 // one in so many

// turn moves the rings on to now. Called with the lock held.
func (b *budget) turn(now time.Time) int {
	second := now.Unix()
	for range min(max(second-b.second, 0), int64(len(b.asked))) {
		b.second++
		i := int(b.second % int64(len(b.asked)))
		b.asked[i], b.spent[i] = 0, 0
	}
	b.second = max(b.second, second)
	return int(b.second % int64(len(b.asked)))
}

// request counts a request.
func (b *budget) request(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked[b.turn(now)]++
}

// allow says whether a hedge may be sent, and counts it. One for a stall always
// may.
func (b *budget) allow(now time.Time, stall bool) bool {
	if stall {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, asked, spent := b.turn(now), 0, 0
	for i := range b.asked {
		asked += b.asked[i]
		spent += b.spent[i]
	}
	if (spent+1)*hedgeShare > asked {
		return false
	}
	b.spent[at]++
	return true
}
