package feed

import (
	"net/http"
	"syscall"
	"time"
)

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func newHTTP(h http.Handler) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/feed", h)
	return &http.Server{Handler: mux}
}
