package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// call is one JSON-RPC request and who reads its value.
type call struct {
	id     int64
	method string
	params json.RawMessage
	read   reader
	bound  int64 // of the answer's body, bytes; 0 = the client's
}

func newCall(id int64, method string, params json.RawMessage) call {
	if params == nil {
		params = json.RawMessage("[]")
	}
	c := call{id: id, method: method, params: params, read: readerOf(method, params)}
	switch method {
	case methodHead, methodChainID, methodPeers, methodClient, methodSyncing:
		c.bound = smallAnswer
	}
	return c
}

// rawID is the call's id as it is sent.
func (k call) rawID() json.RawMessage { return strconv.AppendInt(nil, k.id, 10) }

// headCall asks for the head, in the cheapest way.
func headCall(c *rpc.Client) call { return newCall(c.NextID(), methodHead, nil) }

// factCall asks a fact question; ok is false for one an EVM node has no word for.
func factCall(c *rpc.Client, q model.Question) (k call, ok bool) {
	method, params := "", json.RawMessage(nil)
	switch q {
	case model.AskChainID:
		method = methodChainID
	case model.AskSyncing:
		method = methodSyncing
	case model.AskBlock:
		method, params = methodBlock, json.RawMessage(`["latest",false]`)
	case model.AskSafe:
		method, params = methodBlock, json.RawMessage(`["safe",false]`)
	case model.AskFinalized:
		method, params = methodBlock, json.RawMessage(`["finalized",false]`)
	case model.AskPeers:
		method = methodPeers
	case model.AskClient:
		method = methodClient
	default:
		return call{}, false
	}
	return newCall(c.NextID(), method, params), true
}

// body is the request, or the list of requests, on the wire.
func body(calls []call) []byte {
	var b bytes.Buffer
	if len(calls) > 1 {
		b.WriteByte('[')
	}
	for i, c := range calls {
		if i > 0 {
			b.WriteByte(',')
		}
		method, _ := json.Marshal(c.method) // a string always can be
		b.WriteString(`{"jsonrpc":"2.0","id":`)
		b.Write(c.rawID())
		b.WriteString(`,"method":`)
		b.Write(method)
		b.WriteString(`,"params":`)
		b.Write(c.params)
		b.WriteByte('}')
	}
	if len(calls) > 1 {
		b.WriteByte(']')
	}
	return b.Bytes()
}

// askHTTP sends the calls in one request of the form of r, and reads the
// values. sent says that the request went out, also where there is an error.
func askHTTP(ctx context.Context, c *rpc.Client, calls []call, r rpc.Request) (j rpc.Judgement, sent bool, err error) {
	ids := make([]json.RawMessage, len(calls))
	for i, k := range calls {
		ids[i] = k.rawID()
	}
	r.Body = body(calls)
	if len(calls) == 1 {
		r.MaxBody = calls[0].bound
	}
	x, err := c.Do(ctx, r)
	if err != nil {
		return rpc.Judgement{}, x.Asked, err
	}
	return valued(c, c.Judge(x, ids...), x, calls), x.Asked, nil
}

// valued is j with the values read: the facts they say, or, when none is of
// use, no result any more.
func valued(c *rpc.Client, j rpc.Judgement, x rpc.Exchange, calls []call) rpc.Judgement {
	if j.Kind != model.Result {
		return j
	}
	var all reading
	var useless json.RawMessage
	used := false
	for i, said := range j.Said {
		if said.Result == nil {
			continue
		}
		r, ok := calls[i].read(c, said.Result)
		if !ok {
			useless = said.Result
			continue
		}
		used = true
		all.add(r)
	}
	if !used {
		return c.Useless(j, x, useless)
	}
	j.Facts, j.Evidence.Text = all.facts, all.text
	j.Findings = j.Findings.Set(model.Noncompliant, all.bent || j.Findings.Has(model.Noncompliant))
	return j
}
