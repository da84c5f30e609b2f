package simnode

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Script is what becomes of a node, step by step.
type Script struct {
	Node   *Node
	Steps  []Step
	Repeat bool // from the first step again, until the context ends
}

// Step sets a fault, so long after the step before it.
type Step struct {
	After time.Duration
	Fault Fault
}

// Run plays the script: nil at its end, ctx's error when ctx ends first. A step
// that fails ends it. Times are kept from the beginning, so steps do not drift.
func (s Script) Run(ctx context.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	due := time.Now()
	for {
		for i, step := range s.Steps {
			due = due.Add(step.After)
			if !sleep(ctx, time.Until(due)) {
				return ctx.Err()
			}
			if err := s.Node.Set(step.Fault); err != nil {
				return fmt.Errorf("step %d of %s, %v: %w", i+1, s.Node.Name(), step.Fault, err)
			}
		}
		if !s.Repeat {
			return nil
		}
	}
}

func (s Script) check() error {
	var length time.Duration
	for i, step := range s.Steps {
		if step.After < 0 {
			return fmt.Errorf("step %d is %v after the one before it", i+1, step.After)
		}
		length += step.After
	}
	if s.Repeat && length == 0 {
		return errors.New("a script that repeats takes no time")
	}
	return nil
}
