package feed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"chaintop/model"
)

// ErrNotConnected says that a command was not sent, for there is no connection.
var ErrNotConnected = errors.New("not connected to the instance")

// ErrRestarted says that the instance stopped before it answered a command:
// whether it was carried out is not known.
var ErrRestarted = errors.New("the instance restarted before it answered: whether it was done is not known")

// mostCalls bounds the commands that wait for an answer.
const mostCalls = 256

// call is a command on its way.
type call struct {
	id    string
	data  cmdData   // without budget
	until time.Time // when its sender waits no more
	done  chan outcome
	again bool // Do: it is sent again after a lost connection, under its key

	// Guarded by calls.
	taken bool
	epoch string   // of the server it was sent to first
	on    *session // the connection it was sent on last
}

// outcome is how a call ended for who waits for it.
type outcome struct {
	answer Answer
	err    error
}

// calls are the commands that wait for their answer.
type calls struct {
	wake chan struct{} // holds one when there may be something to send

	mu  sync.Mutex // held for a few assignments
	all []*call    // oldest first
}

func (c *calls) add(k *call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= mostCalls {
		return errors.New("too many commands wait for an answer")
	}
	c.all = append(c.all, k)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// take removes the calls that fit and returns them.
func (c *calls) take(fits func(*call) bool) []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*call
	c.all = slices.DeleteFunc(c.all, func(k *call) bool {
		if fits(k) {
			out = append(out, k)
			return true
		}
		return false
	})
	return out
}

// next is the oldest command that was not sent on this connection; nil when
// there is none.
func (c *calls) next(s *session) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.all {
		if k.on != s {
			k.on, k.epoch = s, s.epoch
			return k
		}
	}
	return nil
}

// strangers are the calls that were sent to an earlier start of the instance.
func (c *calls) strangers(epoch string) []*call {
	return c.take(func(k *call) bool { return k.epoch != "" && k.epoch != epoch })
}

// answered is the call an answer ends; nil when none, or when more is to come.
func (c *calls) answered(kind, id string) *call {
	ends := c.take(func(k *call) bool {
		if k.id == id {
			k.taken = k.taken || kind == typeAccepted
			return kind != typeAccepted
		}
		return false
	})
	if len(ends) == 0 {
		return nil
	}
	return ends[0]
}

// Send hands over a command and does not wait. Its effect comes back as events;
// a refusal that is in no event goes to Options.Refused.
func (c *Client) Send(ctx context.Context, cmd model.Command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	status := c.Status()
	if status.Phase != Live {
		return ErrNotConnected
	}
	if status.Role != RoleOperator {
		return &RefusedError{CodeForbidden, fmt.Sprintf("a viewer may not %q: this needs a token of role operator", cmd.Op)}
	}
	k, err := c.call(ctx, cmd)
	if err != nil {
		return err
	}
	return c.calls.add(k)
}

// Do gives a command and waits for its result, or for the answer that refuses
// it; an answer is no error. ctx bounds the wait, 10 s unless it says less or
// more; what was begun goes on. A lost connection is waited for, and the command
// sent again under the same key, so that it acts once.
func (c *Client) Do(ctx context.Context, cmd model.Command) (Answer, error) {
	if _, set := ctx.Deadline(); !set {
		bounded, cancel := context.WithTimeout(ctx, budgetDefault)
		defer cancel()
		ctx = bounded
	}
	if _, _, err := c.Snapshot(ctx); err != nil {
		return Answer{}, err
	}
	k, err := c.call(ctx, cmd)
	if err != nil {
		return Answer{}, err
	}
	k.again = true
	if err := c.calls.add(k); err != nil {
		return Answer{}, err
	}
	defer c.calls.take(func(other *call) bool { return other == k })
	select {
	case out := <-k.done:
		return out.answer, out.err
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// call is a command with the names this client's picture has for its indexes.
func (c *Client) call(ctx context.Context, cmd model.Command) (*call, error) {
	pic, _, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	args, ok := argsOf(pic, cmd)
	if !ok {
		return nil, errors.New("the instance has no such chain or upstream")
	}
	k := &call{
		id: cmd.ID, data: cmdData{Op: string(cmd.Op), Args: args, Key: rand.Text()},
		until: time.Now().Add(budgetDefault), done: make(chan outcome, 1),
	}
	if at, set := ctx.Deadline(); set {
		k.until = at
	}
	if k.id == "" {
		k.id = rand.Text()
	}
	return k, nil
}

// frame is the call on the wire: the rest of its time is its budget.
func (k *call) frame() ([]byte, error) {
	data := k.data
	data.Budget = min(max(time.Until(k.until), time.Millisecond), budgetMost).String()
	return encode(typeCmd, Cursor{}, k.id, data)
}

// end gives a call's outcome to who waits for it; nobody waits for what Send
// sent, and only a refusal that no event tells is told.
func (c *Client) end(k *call, out outcome) {
	if k.again {
		k.done <- out // there is room: it ends once
		return
	}
	if c.o.Refused != nil && out.answer.Seq == 0 && out.answer.Code != CodeOK && !k.taken {
		c.o.Refused(k.id, out.answer)
	}
}

// endAll ends every call.
func (c *Client) endAll(err error, words string) {
	for _, k := range c.calls.take(func(*call) bool { return true }) {
		c.end(k, outcome{answer(CodeCanceled, words), err})
	}
}

// write sends the commands that wait, those of before the connection was lost
// too, until ctx ends.
func (s *session) write(ctx context.Context) {
	for _, k := range s.c.calls.strangers(s.epoch) {
		s.c.end(k, outcome{answer(CodeCanceled, ErrRestarted.Error()), ErrRestarted})
	}
	for {
		k := s.c.calls.next(s)
		if k == nil {
			select {
			case <-s.c.calls.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		text, err := k.frame()
		if err == nil {
			err = s.sock.write(text, writeWithin)
		}
		if err != nil {
			s.sock.close() // the reads end with it
			return
		}
	}
}

// leave ends the calls that are not sent again.
func (s *session) leave() {
	for _, k := range s.c.calls.take(func(k *call) bool { return !k.again }) {
		s.c.end(k, outcome{answer: answer(CodeCanceled, "the connection was lost before an answer came: whether it was done is not known")})
	}
}
