//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Limits of what others may do on the machine while something is measured, as a
// share of all its processors.
const (
	quietShare = 0.05
	loudShare  = 0.10
)

// used is processor time, in ticks: of everybody, and of this process with those
// it started.
type used struct {
	at       time.Time
	all, own int64
}

// ticks are what /proc counts in, a second.
const ticks = 100

func (b *brood) used() used {
	now := used{at: time.Now()}
	text, _ := os.ReadFile("/proc/stat") // without it nobody else is seen
	line, _, _ := strings.Cut(string(text), "\n")
	if f := strings.Fields(line); len(f) > 3 {
		for _, field := range f[1:4] { // user, nice, system: interrupts are the loopback's, and so ours
			n, _ := strconv.ParseInt(field, 10, 64)
			now.all += n
		}
	}
	now.own = usedBy(os.Getpid())
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.all {
		now.own += p.used()
	}
	return now
}

// used is what a process and its children used, in ticks.
func (p *process) used() int64 {
	sum := usedBy(p.cmd.Process.Pid)
	for _, child := range p.children() {
		sum += usedBy(child)
	}
	return sum
}

// usedBy is what a process used, with its children that have ended.
func usedBy(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // none: it ended, and its parent counts it
	// The name, which may hold anything, ends with the last parenthesis.
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	sum := int64(0)
	for i := 11; i <= 14 && i < len(f); i++ {
		n, _ := strconv.ParseInt(f[i], 10, 64)
		sum += n
	}
	return sum
}

// others is the share of the processors that others used since then.
func (b *brood) others(since used) float64 {
	now := b.used()
	whole := now.at.Sub(since.at).Seconds() * ticks * float64(cpus)
	return max(0, float64((now.all-since.all)-(now.own-since.own))/whole)
}

// quiet waits until others leave the machine alone, as long as there is patience
// left. What it costs is taken from the whole run's patience.
func (b *bench) quiet(ctx context.Context) error {
	for b.patience > 0 {
		begin := b.brood.used()
		if err := nap(ctx, 300*time.Millisecond); err != nil {
			return err
		}
		b.patience -= 300 * time.Millisecond
		if b.brood.others(begin) <= quietShare {
			return nil
		}
	}
	return ctx.Err()
}

// noise says what others used, for a report.
func noise(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
