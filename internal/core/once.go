package core

import (
	"context"
	"fmt"

	"chaintop/model"
)

// Once makes one probe of every chain, all at the same time, and returns the
// picture after them. It makes no checks: what it sends is what the probes
// need. When ctx ends first the picture is what there was, with the error.
func Once(ctx context.Context, definition model.Instance, prober Prober) (*model.Instance, error) {
	c, err := New(Options{Instance: definition, Prober: prober})
	if err != nil {
		return nil, err
	}
	tries, abandon := context.WithCancel(ctx)
	defer func() {
		close(c.stopped)
		abandon()
		c.tries.Wait()
	}()
	if err := c.once(ctx, tries); err != nil {
		return &c.inst, fmt.Errorf("probe every chain: %w", err)
	}
	return &c.inst, nil
}

// once asks for the probes and takes what comes until every try is over, its
// facts too.
func (c *Core) once(ctx, tries context.Context) error {
	var over chan struct{}
	var next model.Input = model.Command{At: c.Now(), ID: "once", Op: model.OpProbe}
	for {
		_, effects := c.inst.Step(next)
		for _, e := range effects {
			if try, ok := e.(model.EffectTry); ok && try.Probe != 0 {
				c.tries.Go(func() { c.try(tries, try) })
			}
		}
		if over == nil && !probing(&c.inst) {
			over = make(chan struct{})
			go func() {
				c.tries.Wait()
				close(over)
			}()
		}
		select {
		case next = <-c.inputs:
		case <-over:
			if len(c.inputs) == 0 {
				return nil
			}
			next = <-c.inputs
		case err := <-c.crashed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func probing(i *model.Instance) bool {
	for _, c := range i.Chains {
		if c.Probe != nil {
			return true
		}
	}
	return false
}
