package core

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"chaintop/model"
)

// try makes one try: the head question, and after a result the fact questions,
// under one deadline. The deadline runs from the moment it begins, not from
// when it was sent off or queued (U1).
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
	started := c.Now()
	own, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	outcome, err := c.prober.Try(own, e.Chain, e.Upstream)
	if err != nil {
		c.ours(e, err)
		outcome = model.Outcome{}
	}
	c.give(model.TryDone{
		Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp,
		Started: started, Ended: c.Now(), Outcome: outcome,
	})
	if outcome.Kind != model.Result || len(e.Ask) == 0 {
		return
	}
	told, err := c.prober.Facts(own, e.Chain, e.Upstream, e.Ask)
	if err != nil {
		c.ours(e, err)
		return
	}
	c.give(model.FactsDone{At: c.Now(), Chain: e.Chain, Upstream: e.Upstream, Stamp: e.Stamp, Told: told})
}

// give hands an input to the loop, or drops it when the loop has ended.
func (c *Core) give(in model.Input) {
	select {
	case c.inputs <- in:
	case <-c.stopped:
	}
}

// ours logs what failed on our own side. It counts against no upstream (U8).
func (c *Core) ours(e model.EffectTry, err error) {
	if !errors.Is(err, context.Canceled) {
		c.logger.Error("a try could not be made", "chain", e.Chain, "upstream", e.Upstream, "err", err)
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
