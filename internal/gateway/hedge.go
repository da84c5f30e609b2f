package gateway

import (
	"sync"
	"time"

	"chaintop/model"
)

// race is one attempt and the hedge beside it.
type race struct {
	mu     sync.Mutex
	won    bool         // one of them has the client's answer
	over   bool         // the first attempt ended and nobody waits for a hedge that was not sent
	cancel func()       // of the hedge
	done   chan *answer // of the hedge
}

// claim says whether its caller has the client's answer.
func (r *race) claim() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.won {
		return false
	}
	r.won = true
	return true
}

// first asks upstream i, and another one as well when i is silent for longer
// than hedge_after (F11). It runs in the request's own goroutine; nothing is
// spawned for a healthy request.
func (j *journey) first(i int) *answer {
	j.take(i)
	ctx, a := j.start(i)
	after := j.hedgeAfter()
	if !j.c.repeat || after <= 0 {
		j.ask(ctx, a)
		return j.count(a)
	}
	r := &race{done: make(chan *answer, 1)}
	tried, sent, stop := j.tried, time.Now(), a.cancel
	timer := time.AfterFunc(after, func() { j.hedge(r, i, tried, sent, stop) })
	j.ask(ctx, a)
	if timer.Stop() {
		return j.count(a)
	}
	return j.finish(r, a)
}

// finish takes the end of the first attempt when a hedge may be on its way.
func (j *journey) finish(r *race, a *answer) *answer {
	if a.useful && r.claim() {
		r.mu.Lock()
		stop := r.cancel
		r.over = true
		r.mu.Unlock()
		if stop != nil {
			stop()
			j.collect(r)
		}
		return j.count(a)
	}
	r.mu.Lock()
	flying := r.cancel != nil
	r.over = true
	r.mu.Unlock()
	if !flying {
		return j.count(a)
	}
	h := <-r.done // it ends with the request's time at the latest
	j.hedged = true
	j.take(h.upstream)
	j.attempts-- // a hedge is no retry
	j.count(h)
	if h.useful {
		a.discard()
		if !a.lost {
			j.count(a)
		}
		return h
	}
	j.passOver(h)
	return j.count(a)
}

// collect notes the hedge that lost, when it has ended.
func (j *journey) collect(r *race) {
	j.hedged = true
	go func() {
		(<-r.done).discard()
	}()
}

// count notes what an attempt means to the whole request.
func (j *journey) count(a *answer) *answer {
	switch a.outcome.Kind {
	case model.Result, model.Answer:
		j.answered = true
	case model.NoAnswer, model.NoOutcome:
	}
	return a
}

// hedge asks the next fit upstream, when the first is silent and there is one.
// A stall is counted when it is sent (F11).
func (j *journey) hedge(r *race, i int, tried model.Tried, sent time.Time, stop func()) {
	rt := j.c.route
	stalled := !rt.clients[i].HeardSince(sent)
	k, why := model.Route(j.chain(), j.g.o.Now(), tried)
	if k < 0 || !fit(why) || !rt.hedging.allow(time.Now(), stalled) {
		return
	}
	ctx, h := j.start(k)
	r.mu.Lock()
	if r.over || r.won {
		r.mu.Unlock()
		h.cancel()
		return
	}
	r.cancel = h.cancel
	r.mu.Unlock()
	if stalled {
		j.g.stalled(j.c, i, sent)
	}
	j.ask(ctx, h)
	if h.useful && r.claim() {
		stop()
	} else {
		h.useful = false
	}
	r.done <- h
}

// hedgeAfter is how long the first upstream of this request may be silent.
func (j *journey) hedgeAfter() time.Duration {
	if set := j.c.route.set; !set.HedgeAuto {
		return set.HedgeAfter
	}
	return j.c.route.methods.hedgeAfter(j.c.method)
}
