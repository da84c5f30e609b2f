package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chaintop/internal/simnode"
)

// step is a cue with its node and its time.
type step struct {
	at   time.Duration // into the round
	who  *actor
	what change
}

// again is when what failed is tried again. A node comes back on its own port,
// which somebody may have taken meanwhile.
const again = time.Second

// player plays a demo. Everything of it is Run's goroutine's own.
type player struct {
	*Demo
	round time.Time // when this round of the script began
	next  int       // its next step
	later []coming  // at most one an actor
}

// coming is the second half of a change: the node comes back, or tries to.
type coming struct {
	at   time.Time
	who  *actor
	what change
}

func (p *player) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		p.play(time.Now())
		var wake <-chan time.Time
		if due, ok := p.due(); ok {
			timer.Reset(time.Until(due))
			wake = timer.C
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.over:
			return ErrOver
		case o := <-p.orders:
			o.done <- p.obey(o)
		case <-wake:
		}
	}
}

// due is when the next thing happens by itself; false: never.
func (p *player) due() (time.Time, bool) {
	var at time.Time
	if len(p.script) > 0 {
		at = p.round.Add(p.script[p.next].at)
	}
	for _, c := range p.later {
		if at.IsZero() || c.at.Before(at) {
			at = c.at
		}
	}
	return at, !at.IsZero()
}

// play does what is due at now. What fails is tried again until it succeeds, so
// nobody has to be told.
func (p *player) play(now time.Time) {
	for {
		at, ok := p.due()
		if !ok || now.Before(at) {
			return
		}
		if i := slices.IndexFunc(p.later, func(c coming) bool { return c.at.Equal(at) }); i >= 0 {
			c := p.later[i]
			p.later = slices.Delete(p.later, i, i+1)
			_ = p.turn(c.who, c.what) // tried again
			continue
		}
		s := p.script[p.next]
		p.advance(now)
		if !s.who.hand {
			_ = p.change(s.who, s.what) // tried again
		}
	}
}

// advance goes on to the next step. Rounds that passed while nobody played, as
// in a machine that slept, are not made up for.
func (p *player) advance(now time.Time) {
	if p.next++; p.next < len(p.script) {
		return
	}
	p.next = 0
	length := p.stretched(p.scenario.length)
	p.round = p.round.Add(length)
	if late := now.Sub(p.round); late >= length {
		p.round = now
	}
}

// change turns a node to what, by way of a downtime where that, or what stands,
// needs one. What it was about to become is forgotten.
func (p *player) change(a *actor, what change) error {
	p.later = slices.DeleteFunc(p.later, func(c coming) bool { return c.who == a })
	if !what.comes && !a.stands.goes {
		return p.turn(a, what)
	}
	p.later = append(p.later, coming{time.Now().Add(downtime), a, what})
	return p.set(a, simnode.Refuse())
}

// turn turns a node to what now, or again later.
func (p *player) turn(a *actor, what change) error {
	if err := p.set(a, what.fault); err != nil {
		p.later = append(p.later, coming{time.Now().Add(again), a, what})
		return err
	}
	a.stands = what
	return nil
}

func (p *player) set(a *actor, f simnode.Fault) error {
	if p.note != nil {
		p.note(a, f)
	}
	if err := a.Set(f); err != nil {
		return fmt.Errorf("%s, %v: %w", a.key(), f, err)
	}
	return nil
}
