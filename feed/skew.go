package feed

import "time"

// skewWindow is how long a measurement of a clock counts at least.
const skewWindow = 30 * time.Second

// skew measures another clock against ours. A frame's time is of when it was
// sealed, so each difference is too small by the time it took to get here: the
// largest of late is the nearest.
type skew struct {
	now, before time.Duration // the largest of this window, and of the one before
	some, older bool
	began       time.Time // of this window
}

func (k *skew) add(theirs, ours time.Time) {
	if gone := ours.Sub(k.began); gone >= skewWindow || gone < 0 {
		k.before, k.older = k.now, k.some && gone < 2*skewWindow && gone >= 0
		k.some, k.began = false, ours
	}
	if d := theirs.Sub(ours); !k.some || d > k.now {
		k.now, k.some = d, true
	}
}

func (k *skew) value() time.Duration {
	if k.older && (!k.some || k.before > k.now) {
		return k.before
	}
	return k.now
}
