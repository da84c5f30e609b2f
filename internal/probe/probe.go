package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// ErrNotImplemented says that nobody here can ask that target (SPEC U8).
var ErrNotImplemented = errors.New("not implemented")

// Target is what is asked, and how.
type Target struct {
	Family model.Family
	Client *rpc.Client
}

// socket says whether it is asked over a websocket.
func (t Target) socket() bool {
	scheme := t.Client.URL().Scheme()
	return scheme == "ws" || scheme == "wss"
}

// check is nil for a target that can be asked.
func (t Target) check() error {
	switch {
	case t.Client == nil:
		return fmt.Errorf("family %q without a client: %w", t.Family, ErrNotImplemented)
	case t.Family == model.EVM:
		return nil
	case t.Family == model.HTTP && !t.socket():
		return nil
	}
	return fmt.Errorf("family %q over %s: %w", t.Family, t.Client.URL().Scheme(), ErrNotImplemented)
}

// Try asks t for its head within ctx, which must have a deadline, and is one
// try's outcome. A deadline that passes is an outcome. The error, instead of an
// outcome, wraps ctx's when the try was cancelled before the head was answered,
// rpc.ErrUnbuilt or ErrNotImplemented.
func Try(ctx context.Context, t Target) (model.Outcome, error) {
	if err := t.check(); err != nil {
		return model.Outcome{}, err
	}
	if t.Family == model.HTTP {
		return tryHTTP(ctx, t.Client)
	}
	return ask(ctx, t, []call{headCall(t.Client)}, rpc.Request{})
}

// Facts asks t the fact questions, all at the same time, within ctx: what of
// them is not answered by then stays unknown. They are asked once the head has
// a result, under the deadline of the same try, so that an upstream that is
// dead or limits us costs one request, and one that stalls its first request
// stalls the head's (SPEC T5). The error is as Try's.
func Facts(ctx context.Context, t Target, questions model.Questions) (model.Told, error) {
	if err := t.check(); err != nil {
		return model.Told{}, err
	}
	if t.Family == model.HTTP || len(questions) == 0 {
		return model.Told{}, nil
	}
	if t.socket() {
		return socketFacts(ctx, t.Client, questions)
	}
	return httpFacts(ctx, t.Client, questions), nil
}

// Set is the targets of an instance, by chain and upstream.
type Set [][]Target

// Try is Try of one of them.
func (s Set) Try(ctx context.Context, chain, upstream int) (model.Outcome, error) {
	t, err := s.target(chain, upstream)
	if err != nil {
		return model.Outcome{}, err
	}
	return Try(ctx, t)
}

// Facts is Facts of one of them.
func (s Set) Facts(ctx context.Context, chain, upstream int, ask model.Questions) (model.Told, error) {
	t, err := s.target(chain, upstream)
	if err != nil {
		return model.Told{}, err
	}
	return Facts(ctx, t, ask)
}

func (s Set) target(chain, upstream int) (Target, error) {
	if chain < 0 || chain >= len(s) || upstream < 0 || upstream >= len(s[chain]) {
		return Target{}, fmt.Errorf("chain %d, upstream %d: %w", chain, upstream, ErrNotImplemented)
	}
	return s[chain][upstream], nil
}

// Close closes every client.
func (s Set) Close() {
	for _, chain := range s {
		for _, t := range chain {
			if t.Client != nil {
				t.Client.Close()
			}
		}
	}
}

// Question is one request, for Ask.
type Question struct {
	Method     string
	Params     json.RawMessage // nil = []
	Batch      []string        // methods without parameters, instead of Method
	ID         int64           // of a batch: of its first; 0 = one of the client's own
	HTTPMethod string          // "" = POST
	Path       string          // added to the upstream's own
}

// Ask asks one question and judges its answer, facts included. The error is as
// Try's.
func Ask(ctx context.Context, t Target, q Question) (model.Outcome, error) {
	if err := t.check(); err != nil {
		return model.Outcome{}, err
	}
	if t.Family == model.HTTP {
		return tryHTTP(ctx, t.Client)
	}
	calls, err := q.calls(t.Client)
	if err != nil {
		return model.Outcome{}, fmt.Errorf("asking %s: %w: %w", t.Client.URL().Name(), rpc.ErrUnbuilt, err)
	}
	return ask(ctx, t, calls, rpc.Request{Method: q.HTTPMethod, Path: q.Path})
}

// ask sends the calls the way t is asked. r is the form of an HTTP request.
func ask(ctx context.Context, t Target, calls []call, r rpc.Request) (model.Outcome, error) {
	if t.socket() {
		return askSocket(ctx, t.Client, calls)
	}
	j, _, err := askHTTP(ctx, t.Client, calls, r)
	return j.Outcome, err
}

// calls are the question's calls.
func (q Question) calls(c *rpc.Client) ([]call, error) {
	if q.Params != nil && !json.Valid(q.Params) {
		return nil, errors.New("parameters are not JSON")
	}
	first := q.ID
	if first == 0 {
		first = c.NextID()
	}
	if len(q.Batch) == 0 {
		return []call{newCall(first, q.Method, q.Params)}, nil
	}
	var calls []call
	for i, method := range q.Batch {
		id := first + int64(i)
		if q.ID == 0 && i > 0 {
			id = c.NextID()
		}
		calls = append(calls, newCall(id, method, nil))
	}
	return calls, nil
}
