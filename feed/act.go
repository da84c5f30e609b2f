package feed

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"chaintop/model"
)

// actMost bounds how long the end of an act is waited for: six tries of five
// seconds and a long way beyond. What was begun goes on by its own deadlines.
const actMost = 3 * time.Minute

// act is one command that was taken. It goes on whoever leaves.
type act struct {
	desk  *desk
	key   string // in the desk's table; empty: it has none
	print [sha256.Size]byte
	cmd   model.Command

	// first is written before told is closed, last before over is. Of an act
	// that was refused both are closed, and last is nothing.
	told  chan struct{}
	first Answer
	over  chan struct{}
	last  Answer
}

func (a *act) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// tell gives one sender the answer and then the result, within its budget.
func (a *act) tell(v *viewer, id string, budget time.Duration, replayed bool) {
	timer := time.NewTimer(budget)
	defer timer.Stop()
	late := answer(CodeDeadline, "the budget of "+budget.String()+" is over; what was begun goes on")
	late.Replayed = replayed
	say := func(kind string, ans Answer) {
		ans.Replayed = replayed
		v.reply(kind, id, ans)
	}
	select {
	case <-a.told:
	case <-timer.C:
		say(typeError, late)
		return
	case <-v.ctx.Done():
		return
	}
	if a.first.Code != CodeAccepted {
		say(typeError, a.first)
		return
	}
	say(typeAccepted, a.first)
	select {
	case <-a.over:
		say(typeResult, a.last)
	case <-timer.C:
		say(typeResult, late)
	case <-v.ctx.Done():
	}
}

// perform hands the command over and follows the log until it is over.
func (a *act) perform(ctx context.Context) {
	defer a.desk.release(a.cmd.ID)
	ctx, cancel := context.WithTimeout(ctx, actMost)
	defer cancel()
	log := a.desk.s.o.Log
	_, at, _ := log.Snapshot(ctx) // a Log's never fails
	send, done := context.WithTimeout(ctx, budgetDefault)
	err := a.desk.s.o.Sink.Send(send, a.cmd)
	done()
	if err != nil {
		a.desk.undo(a)
		a.desk.s.o.Logger.Warn("feed: a command was not taken", "op", string(a.cmd.Op), "who", a.cmd.Who, "err", err)
		a.refused(answer(CodeUnavailable, "the instance takes no commands now"))
		return
	}
	event, at, err := a.await(ctx, log, at)
	if err != nil {
		a.refused(ended(err))
		return
	}
	a.first = answer(event.Code, wordsOf(event.Code, event.Answer))
	a.first.Seq, a.first.Joined = at.Seq, event.Joined
	if event.Code != CodeAccepted {
		a.refused(a.first)
		return
	}
	close(a.told)
	a.last = a.follow(ctx, log, event)
	close(a.over)
}

func (a *act) refused(ans Answer) {
	a.first = ans
	close(a.told)
	close(a.over)
}

// ended is the answer when the log gives no more.
func ended(err error) Answer {
	if errors.Is(err, context.DeadlineExceeded) {
		return answer(CodeDeadline, "it is not over yet; what was begun goes on")
	}
	return answer(CodeCanceled, "the instance stops")
}

// await is the event that answers the command, and its place.
func (a *act) await(ctx context.Context, log *Log, at Cursor) (model.CommandDone, Cursor, error) {
	mine := func(e model.Event) (model.CommandDone, bool) {
		b, ok := e.Body.(model.CommandDone)
		return b, ok && b.ID == a.cmd.ID && e.Who == a.cmd.Who
	}
	for {
		events, next, err := log.After(ctx, at)
		gap := errors.Is(err, ErrGap)
		if gap { // a burst: the newest changes are in the picture too
			var pic *model.Instance
			pic, next, err = log.Snapshot(ctx)
			events = pic.Recent
		}
		if err != nil {
			return model.CommandDone{}, at, err
		}
		for i, e := range events {
			if b, ok := mine(e); ok {
				if !gap { // what the picture keeps has no numbers
					next.Seq -= uint64(len(events) - 1 - i)
				}
				return b, next, nil
			}
		}
		at = next
	}
}

// follow waits until what was accepted is over, and says what came of it.
func (a *act) follow(ctx context.Context, log *Log, done model.CommandDone) Answer {
	pic, _, _ := log.Snapshot(ctx) // a Log's never fails
	over := func(*model.Instance) ([]End, bool) { return nil, true }
	if a.cmd.Op == model.OpProbe {
		over = probesOver(pic, done)
	} else if a.cmd.Op == model.OpCheck {
		over = checkOver(pic, a.cmd)
	}
	for {
		pic, at, _ := log.Snapshot(ctx)
		if ended, ok := over(pic); ok {
			ans := answer(CodeOK, "done")
			ans.Seq, ans.Ended = at.Seq, ended
			return ans
		}
		if _, _, err := log.After(ctx, at); err != nil && !errors.Is(err, ErrGap) {
			return ended(err)
		}
	}
}

// probesOver says whether the probes a command started or joined have ended.
func probesOver(pic *model.Instance, done model.CommandDone) func(*model.Instance) ([]End, bool) {
	chains := slices.Clone(done.Chains)
	if len(chains) == 0 {
		for n := range pic.Chains {
			chains = append(chains, n)
		}
	}
	found := make([]*End, min(len(chains), len(done.Probes)))
	return func(pic *model.Instance) ([]End, bool) {
		all := true
		for i := range found {
			if n := chains[i]; found[i] == nil && n < len(pic.Chains) {
				found[i] = probeEnd(pic.Chains[n], done.Probes[i])
			}
			all = all && found[i] != nil
		}
		if !all {
			return nil, false
		}
		out := make([]End, len(found))
		for i := range found {
			out[i] = *found[i]
		}
		return out, true
	}
}

// probeEnd is what came of a chain's probe; nil while it flies.
func probeEnd(c *model.Chain, id uint64) *End {
	if c.Probe != nil && c.Probe.ID <= id {
		return nil
	}
	end := &End{Chain: c.Key(), Probe: id, Verdict: c.State.Verdict, Health: c.State.Health}
	row := func(p *model.Probe) bool { return p != nil && p.ID == id }
	p := c.Last
	if !row(p) {
		p = nil
		for i := range c.History {
			if row(&c.History[i]) {
				p = &c.History[i]
			}
		}
	}
	if p != nil {
		end.Verdict, end.Health = p.Verdict, p.Health
		if n := len(p.Tries); n > 0 {
			end.Why = p.Tries[n-1].Word()
		}
	}
	return end
}

// checkOver says whether the check a command started or joined has ended.
func checkOver(pic *model.Instance, cmd model.Command) func(*model.Instance) ([]End, bool) {
	n, u := cmd.Chains[0], cmd.Upstream
	flight := func(pic *model.Instance) (model.Check, bool) {
		if n >= len(pic.Chains) {
			return model.Check{}, false
		}
		flying := pic.Chains[n].Checks.Flying
		i := slices.IndexFunc(flying, func(k model.Check) bool { return k.Upstream == u })
		if i < 0 {
			return model.Check{}, false
		}
		return flying[i], true
	}
	mine, begun := flight(pic)
	return func(pic *model.Instance) ([]End, bool) {
		if now, flies := flight(pic); begun && flies && now.Stamp.Equal(mine.Stamp) {
			return nil, false
		}
		if n >= len(pic.Chains) || u >= len(pic.Chains[n].Upstreams) {
			return nil, true
		}
		up := &pic.Chains[n].Upstreams[u]
		return []End{{
			Chain: pic.Chains[n].Key(), Upstream: up.Name, Outcome: up.State.Last.Kind,
			Health: up.State.Health, Why: up.State.Last.Word(),
		}}, true
	}
}

// wordsOf is an answer's words without what its code says already.
func wordsOf(code int, words string) string {
	words = strings.TrimPrefix(words, "refused: ")
	for _, name := range []string{codeName(code), "state_moved", "confirm_required"} {
		words = strings.TrimPrefix(words, name+": ")
	}
	return words
}
