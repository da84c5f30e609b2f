package feed

import "time"

// How a client comes back.
const (
	backoffFirst = 500 * time.Millisecond
	backoffMost  = 30 * time.Second
	backoffReset = time.Minute // of a stable connection
	askedMost    = time.Minute // of what a server may ask for
)

// backoff is the pause before the next try, with full jitter: anything between
// nothing and a bound that doubles.
type backoff struct {
	roll  func() float64 // 0 ≤ x < 1
	tries int
}

func (b *backoff) next() time.Duration {
	bound := backoffMost
	if b.tries < 6 {
		bound = backoffFirst << b.tries
	}
	b.tries++
	return time.Duration(b.roll() * float64(min(bound, backoffMost)))
}

// stable notes how long a connection lived.
func (b *backoff) stable(lived time.Duration) {
	if lived >= backoffReset {
		b.tries = 0
	}
}
