package probe

import (
	"context"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// askSocket asks over one websocket. Of several calls, a batch over a socket
// being many messages, the first is the head.
func askSocket(ctx context.Context, c *rpc.Client, calls []call) (model.Outcome, error) {
	judged, sent, err := converse(ctx, c, calls, true)
	if err != nil {
		return model.Outcome{}, err
	}
	o := judged[0].Outcome
	o.Asked = sent
	for _, j := range judged[1:] {
		if o.Kind == model.Result && j.Kind == model.Result {
			merge(&o.Facts, j.Facts)
		}
	}
	return o, nil
}

// socketFacts asks the fact questions over one websocket.
func socketFacts(ctx context.Context, c *rpc.Client, questions model.Questions) (model.Told, error) {
	var calls []call
	var asked model.Questions
	for _, q := range questions {
		if k, ok := factCall(c, q); ok {
			calls, asked = append(calls, k), append(asked, q)
		}
	}
	if len(calls) == 0 {
		return model.Told{}, nil
	}
	judged, sent, err := converse(ctx, c, calls, false)
	told := model.Told{Asked: sent}
	if err != nil {
		return told, err
	}
	for i, q := range asked {
		if j := judged[i]; j.Kind != model.NoOutcome {
			var t model.Told
			t.Facts, t.Findings = factOf(q, j)
			add(&told, t)
		}
	}
	return told, nil
}

// converse opens a socket of its own, sends the calls in order and reads until
// each has its reply, known by its id, or ctx ends; with headed it is also over
// when the first has one that is no result. It returns what is judged of each,
// and how many messages were sent. Of a call without a reply there is no
// outcome, but of the first: the end of the socket is its.
func converse(ctx context.Context, c *rpc.Client, calls []call, headed bool) ([]rpc.Judgement, int, error) {
	begun := time.Now()
	judged := make([]rpc.Judgement, len(calls))
	s, j, err := c.Open(ctx)
	if s == nil {
		judged[0] = j
		return judged, j.Asked, err
	}
	defer s.Close()
	sent := 0
	for _, k := range calls {
		if err = s.Send(body([]call{k})); err != nil {
			break
		}
		sent++
	}
	for left := len(calls); left > 0 && err == nil; {
		var message []byte
		if message, err = s.Next(); err != nil {
			break
		}
		i, j := whose(c, message, calls)
		switch {
		case i < 0:
			s.Skip()
			continue
		case judged[i].Kind != model.NoOutcome:
			continue // said twice: the first counts
		}
		j.Took = time.Since(begun)
		judged[i] = valued(c, j, rpc.Exchange{}, calls[i:i+1])
		left--
		if headed && judged[0].Kind > model.Result {
			break
		}
	}
	if judged[0].Kind != model.NoOutcome {
		return judged, sent, nil
	}
	end, err := s.Ended(err)
	end.Took = time.Since(begun)
	judged[0] = end
	return judged, sent, err
}

// whose is the index of the call that a message replies to, -1 for none.
func whose(c *rpc.Client, message []byte, calls []call) (int, rpc.Judgement) {
	for i, k := range calls {
		if j, ok := c.JudgeMessage(message, k.rawID()); ok {
			return i, j
		}
	}
	return -1, rpc.Judgement{}
}
