package rpc

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest pause an upstream can ask for (SPEC F6).
const maxRetryAfter = 30 * time.Minute

// retryAfter is the pause an answer asks for: seconds, or a date against the
// answer's own Date, so that no clock but the upstream's counts. 0 says that it
// asked for none; a pause that is over already is a second.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil || n != 0 {
		return pause(n)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if said, err := http.ParseTime(h.Get("Date")); err == nil {
		now = said
	}
	return pause(at.Sub(now).Seconds())
}

func pause(seconds float64) time.Duration {
	switch {
	case seconds >= maxRetryAfter.Seconds():
		return maxRetryAfter
	case seconds >= 1:
		return time.Duration(seconds * float64(time.Second))
	}
	return time.Second // NaN as well
}
