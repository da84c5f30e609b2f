package core

import (
	"context"
	"log/slog"
	"time"

	"chaintop/model"
)

// Signal says that the process was asked to end, by the signal of that name. It
// never blocks for long: a signal waits for nothing but the inputs before it.
func (c *Core) Signal(name string) { c.give(model.Signal{At: c.Now(), Name: name}) }

// Closed says that the listeners are closed and what was in flight is over, but
// for what was cut. It answers Options.Close.
func (c *Core) Closed(cut model.Cut) { c.give(model.Closed{At: c.Now(), Cut: cut}) }

// step decides one input and folds what it brings. Around what may begin, end
// or cut a drain the activity is read, so that its counts are of that drain.
func (c *Core) step(in model.Input) ([]model.Event, []model.Effect) {
	var read []model.Event
	if _, ok := in.(model.Signal); ok {
		read = c.readActivity(in.When())
	}
	since := c.inst.Drain.Since
	events, effects := c.inst.Step(in)
	if !c.inst.Drain.Since.Equal(since) {
		events = append(events, c.readActivity(in.When())...)
	}
	return append(read, events...), effects
}

// readActivity folds who uses the gateway now.
func (c *Core) readActivity(now time.Time) []model.Event {
	if c.activity == nil {
		return nil
	}
	a := c.activity(now, c.inst.Drain.Since)
	events, _ := c.inst.Step(model.Sums{At: now, Activity: &a})
	return events
}

// drainDue is the drain's timer, with the activity at the moment it rings.
func (c *Core) drainDue(now time.Time) model.DrainDue {
	in := model.DrainDue{At: now}
	if c.activity != nil {
		in.Activity = c.activity(now, c.inst.Drain.Since)
	}
	return in
}

// readSums adds what clients asked, and who they are; once more when nobody asks
// any longer, so that the last number is true.
func (c *Core) readSums(batch []model.Input, now time.Time) []model.Input {
	c.sums = time.Time{}
	sums, ok := c.relay.Sums(now)
	if ok {
		c.sums = now.Add(readEvery)
	}
	if c.activity != nil {
		a := c.activity(now, c.inst.Drain.Since)
		sums.At, sums.Activity = now, &a
		ok = true
	}
	if !ok {
		return batch
	}
	return append(batch, sums)
}

// closeListeners lets the service end. Where there is none it is over at once.
func (c *Core) closeListeners() {
	if c.close != nil {
		c.close()
		return
	}
	c.tries.Go(func() { c.Closed(model.Cut{}) })
}

// noteDrain writes one line a change of the drain; what was cut is in it (D5).
func (c *Core) noteDrain(b model.DrainChanged) {
	d, level := b.Drain, slog.LevelInfo
	if d.End == model.DrainEndMax || d.Cut != (model.Cut{}) || d.Code != 0 {
		level = slog.LevelWarn
	}
	c.logger.Log(context.Background(), level, "drain",
		"what", string(b.What), "state", d.Real().String(), "who", d.Who, "reason", d.Reason, "final", d.Final,
		"end", string(d.End), "requests", d.Activity.InFlight, "streams", d.Activity.Streams,
		"cut_requests", d.Cut.Requests, "cut_streams", d.Cut.Streams, "exit", d.Code)
}
