// Package core owns an instance: one goroutine takes inputs, lets the model
// decide, folds and appends the events, publishes the picture and hands out
// the effects. Workers answer with inputs.
//
// Law: only the loop changes the picture; every change is in the log, in the
// step that made it; no try, reader or slow chain ever blocks the loop. Not
// promised: that a try which was sent off when the core stops has an outcome —
// it is abandoned and moves nothing.
package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/feed"
	"chaintop/model"
)

// Prober asks upstreams. Both return when they have what they ask for or ctx's
// deadline has come, whichever is first: a deadline is an outcome. The error is
// for what was abandoned or could not be built; then there is no outcome (U7,
// U8).
type Prober interface {
	// Try asks the head question.
	Try(ctx context.Context, chain, upstream int) (model.Outcome, error)
	// Facts asks fact questions, all at the same time; what is not answered
	// stays unknown.
	Facts(ctx context.Context, chain, upstream int, ask model.Questions) (model.Told, error)
}

// Relay is what a gateway in this process knows of clients' requests. None of
// its methods waits.
type Relay interface {
	// News is ready when Take or Sums have something new.
	News() <-chan struct{}
	// Take is what happened since the last call that a rule acts on.
	Take(now time.Time) []model.Input
	// Sums is what clients asked, and whether there will be more in a second
	// though nobody asks; ok is false when there is nothing.
	Sums(now time.Time) (sums model.Sums, ok bool)
	// Heard is when a client last got a result from a chain, zero for never. It
	// is asked when a probe is due (H3).
	Heard(chain int) time.Time
}

// Options is what a core is made of.
type Options struct {
	Instance model.Instance // its definitions; Begin gives it its first schedules
	Prober   Prober
	// Relay is the gateway of this process; nil: nobody relays here.
	Relay Relay
	// Activity is who uses the gateway of this process. The loop asks, about once
	// a second while there is traffic, when a drain begins, and when its timer
	// rings; since is the start of the drain, zero while there is none. It must
	// not block. Nil: nobody can ask here.
	Activity func(now, since time.Time) model.Activity
	// Close begins the end of the service when a drain is over; Core.Closed
	// answers it. It must not block. Nil: there is nothing to close.
	Close func()
	// Exit says that the process is to end, with that code. It must not block.
	Exit func(code int)
	// Fault injects a fault into an upstream of a demo. It must not block. Nil:
	// the upstreams are real.
	Fault  func(chain, upstream int, kind string)
	Logger *slog.Logger // one line a probe (H5); nil: none
}

// Bounds of a core.
const (
	batchInputs = 64   // inputs decided between two publications
	maxTries    = 1024 // tries in flight; others wait, their deadlines not yet running
)

// ErrStopped says that the core takes no more inputs.
var ErrStopped = errors.New("the instance has stopped")

// Core owns one instance while Run runs.
type Core struct {
	prober   Prober
	relay    Relay
	activity func(now, since time.Time) model.Activity
	close    func()
	exit     func(code int)
	fault    func(chain, upstream int, kind string)
	logger   *slog.Logger
	clock    *clock

	log     *feed.Log
	picture atomic.Pointer[model.Instance]
	inputs  chan model.Input
	stopped chan struct{}
	slots   chan struct{}
	crashed chan error // the first panic of a try
	tries   sync.WaitGroup

	// Written only by the loop.
	inst model.Instance
	due  schedule
	sums time.Time // when the sums of traffic are read next; zero = nobody asks
}

// New is a core that has not started: its log holds the instance's first event.
// It refuses settings no rule can work with, by the name of the field (U8).
func New(o Options) (*Core, error) {
	if o.Prober == nil {
		return nil, errors.New("core: no prober: not implemented")
	}
	for _, chain := range o.Instance.Chains {
		if err := chain.Validate(); err != nil {
			return nil, fmt.Errorf("core: %s: %w", chain.Key(), err)
		}
	}
	if o.Instance.Drain.Settings != (model.DrainSettings{}) {
		if err := o.Instance.Drain.Settings.Validate(); err != nil {
			return nil, fmt.Errorf("core: %w", err)
		}
	}
	c := &Core{
		prober: o.Prober, relay: o.Relay, fault: o.Fault, logger: o.Logger, clock: newClock(),
		activity: o.Activity, close: o.Close, exit: o.Exit,
		inputs: make(chan model.Input, 2*maxTries), stopped: make(chan struct{}),
		slots: make(chan struct{}, maxTries), crashed: make(chan error, 1),
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	now := c.Now()
	started := model.Event{At: now, Chain: -1, Body: model.Started{Instance: model.Begin(o.Instance, now)}}
	c.inst.Apply(started)
	c.log = feed.NewLog(&model.Instance{Epoch: o.Instance.Epoch})
	c.publish([]model.Event{started})
	c.due.reset(c.inst.Chains)
	return c, nil
}

// Log is the instance's log, the Source of all who follow it.
func (c *Core) Log() *feed.Log { return c.log }

// Picture is the newest published picture. It is shared and not to be changed.
func (c *Core) Picture() *model.Instance { return c.picture.Load() }

// Send hands over a command. It is stamped with the core's clock when it is
// taken.
func (c *Core) Send(ctx context.Context, cmd model.Command) error {
	cmd.At = c.Now()
	select {
	case <-c.stopped:
		return ErrStopped
	default:
	}
	select {
	case c.inputs <- cmd:
		return nil
	case <-c.stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run owns the instance until ctx ends, then abandons the tries in flight,
// waits for them and closes the log. A panic in a try ends it too, as its
// error. It may be called once.
func (c *Core) Run(ctx context.Context) error {
	tries, abandon := context.WithCancel(context.Background())
	defer func() {
		close(c.stopped)
		abandon()
		c.tries.Wait()
		c.log.Close()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	batch := make([]model.Input, 0, batchInputs)
	var news <-chan struct{}
	if c.relay != nil {
		news = c.relay.News()
	}
	for {
		c.arm(timer)
		batch = batch[:0]
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.crashed:
			return err
		case in := <-c.inputs:
			batch = c.fill(append(batch, in))
		case <-news:
			batch = c.told(batch)
		case <-timer.C:
			batch = c.dues(batch)
		}
		c.take(tries, batch)
	}
}

// arm sets the one timer to the earliest thing any chain or the drain waits for.
func (c *Core) arm(timer *time.Timer) {
	at, ok := c.due.first()
	for _, other := range []time.Time{c.sums, c.inst.Drain.Due()} {
		if !other.IsZero() && (!ok || other.Before(at)) {
			at, ok = other, true
		}
	}
	if !ok {
		timer.Stop()
		return
	}
	timer.Reset(max(at.Sub(c.Now()), 0))
}

// fill adds what else is waiting.
func (c *Core) fill(batch []model.Input) []model.Input {
	for len(batch) < batchInputs {
		select {
		case in := <-c.inputs:
			batch = append(batch, in)
		default:
			return batch
		}
	}
	return batch
}

// readEvery is the pace at which the sums of traffic are read.
const readEvery = time.Second

// told adds what clients' requests said, and sees to it that the sums are read.
func (c *Core) told(batch []model.Input) []model.Input {
	now := c.Now()
	if c.sums.IsZero() {
		c.sums = now.Add(readEvery)
	}
	return append(batch, c.relay.Take(now)...)
}

// dues adds what the drain waits for, and a Due for each chain whose time has
// come.
func (c *Core) dues(batch []model.Input) []model.Input {
	now := c.Now()
	if due := c.inst.Drain.Due(); !due.IsZero() && !now.Before(due) {
		batch = append(batch, c.drainDue(now))
	}
	if !c.sums.IsZero() && !now.Before(c.sums) {
		batch = c.readSums(batch, now)
	}
	for len(batch) < batchInputs {
		chain, ok := c.due.pop(now)
		if !ok {
			break
		}
		in := model.Due{At: now, Chain: chain}
		if c.relay != nil {
			in.Heard = c.relay.Heard(chain)
		}
		batch = append(batch, in)
	}
	return batch
}

// take decides a batch of inputs, one after the other, publishes once, and then
// sends off the effects.
func (c *Core) take(tries context.Context, batch []model.Input) {
	var events []model.Event
	var effects []model.Effect
	for _, in := range batch {
		evs, effs := c.step(in)
		events, effects = append(events, evs...), append(effects, effs...)
		c.reschedule(in)
	}
	if len(events) > 0 {
		c.publish(events)
	}
	for _, e := range effects {
		c.carryOut(tries, e)
	}
}

func (c *Core) carryOut(tries context.Context, e model.Effect) {
	switch e := e.(type) {
	case model.EffectTry:
		c.tries.Go(func() { c.try(tries, e) })
	case model.EffectFault:
		if c.fault != nil {
			c.fault(e.Chain, e.Upstream, e.Kind)
		}
	case model.EffectCloseListeners:
		c.closeListeners()
	case model.EffectExit:
		if c.exit != nil {
			c.exit(e.Code)
		}
	}
}

// reschedule fixes the due time of the chains an input touched.
func (c *Core) reschedule(in model.Input) {
	touched := []int{}
	switch in := in.(type) {
	case model.Due:
		touched = append(touched, in.Chain)
	case model.TryDone:
		touched = append(touched, in.Chain)
	case model.FactsDone:
		touched = append(touched, in.Chain)
	case model.Missed:
		touched = append(touched, in.Chain)
	case model.Live:
		touched = append(touched, in.Chain)
	case model.Sums, model.Signal, model.DrainDue, model.Closed:
	case model.Command:
		touched = in.Chains
		if len(touched) == 0 {
			c.due.reset(c.inst.Chains)
		}
	}
	for _, n := range touched {
		if n >= 0 && n < len(c.inst.Chains) {
			c.due.set(n, c.inst.Chains[n].Due())
		}
	}
}

func (c *Core) publish(events []model.Event) {
	pic := c.inst.Clone()
	c.picture.Store(pic)
	c.log.Append(pic, events)
	for _, e := range events {
		c.note(pic, e)
	}
}

// note writes one line a probe, with the health after it (H5), and one a change
// of the drain.
func (c *Core) note(pic *model.Instance, e model.Event) {
	if b, ok := e.Body.(model.DrainChanged); ok {
		c.noteDrain(b)
	}
	ended, ok := e.Body.(model.ProbeEnded)
	if !ok {
		return
	}
	p := ended.Probe
	level := slog.LevelInfo
	if p.Verdict != model.VerdictHealthy {
		level = slog.LevelWarn
	}
	c.logger.Log(context.Background(), level, "probe",
		"chain", pic.Chains[e.Chain].Key(), "id", p.ID, "verdict", p.Verdict.String(), "health", p.Health.String(),
		"tries", len(p.Tries), "took", p.Ended.Sub(p.Started), "trigger", string(p.Trigger), "who", p.Who,
		"next", ended.State.Next.At.Sub(p.Ended), "why", string(ended.State.Next.Why))
}
