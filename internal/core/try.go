package core

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"chaintop/model"
)

// try makes one try and answers with its end. Its deadline runs from the
// moment it begins, not from when it was sent off or queued (U1).
func (c *Core) try(ctx context.Context, e model.EffectTry) {
	defer c.recover("making a try")
	if !pause(ctx, e.Delay) {
		return
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return
	}
	done := model.TryDone{
		Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp, Started: c.Now(),
	}
	own, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	outcome, err := c.prober.Try(own, e.Chain, e.Upstream, e.Ask)
	if err == nil {
		done.Outcome = outcome
	} else if !errors.Is(err, context.Canceled) {
		c.logger.Error("a try could not be made", "chain", e.Chain, "upstream", e.Upstream, "err", err)
	}
	done.Ended = c.Now()
	select {
	case c.inputs <- done:
	case <-c.stopped:
	}
}

// PanicError is a panic in a goroutine of the core. It was kept, so that whoever
// holds the terminal can restore it first.
type PanicError struct {
	Where string
	Value any
	Stack []byte
}

// Error is the panic in one line; the stack is for a log.
func (e *PanicError) Error() string { return fmt.Sprintf("panic while %s: %v", e.Where, e.Value) }

func (c *Core) recover(where string) {
	if v := recover(); v != nil {
		select {
		case c.crashed <- &PanicError{Where: where, Value: v, Stack: debug.Stack()}:
		default: // one is enough
		}
	}
}

// pause waits for d; it is false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
