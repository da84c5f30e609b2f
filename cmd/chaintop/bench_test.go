package main

import (
	"testing"
	"time"

	"chaintop/internal/termtest"
)

// BenchmarkFirstFrame is the time from the start of the built program to its
// first frame on a terminal of 80×24 (P6). It includes the terminal's own
// pace of looking.
func BenchmarkFirstFrame(b *testing.B) {
	path := built(b)
	dead := deadPort(b)
	var total time.Duration
	for b.Loop() {
		start := time.Now()
		term, err := termtest.Start(termtest.Program{Path: path, Args: []string{dead}})
		if err != nil {
			b.Fatal(err)
		}
		if err := term.WaitText(b.Context(), "? help"); err != nil {
			b.Fatal(err)
		}
		total += time.Since(start)
		if err := term.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/first-frame")
}
