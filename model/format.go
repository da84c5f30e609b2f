package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age writes an age or a countdown: 0s 59s 3m08s 2h14m 3d04h. Negative is 0s.
func Age(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// Countdown writes the time until at: rounded up, so that it reads 0s only when
// it is due.
func Countdown(at, now time.Time) string {
	return Age((at.Sub(now) + time.Second - 1).Truncate(time.Second))
}

// Every writes a configured duration as briefly as it can: 5m 15s 1h 250ms 1m30s.
func Every(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Took writes a measured duration: 0.4ms 42ms 5.0s.
func Took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond)/time.Millisecond)
	case d < 100*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return Age(d)
}

// Height writes a block height in groups of three: 21 034 112.
func Height(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// PerSecond is a rate as the screens write it: "0.5", "61", "1.5k".
func PerSecond(r float64) string {
	switch {
	case r <= 0:
		return "0"
	case r < 9.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case r < 9999.5:
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return strconv.FormatFloat(r/1000, 'f', 1, 64) + "k"
}
