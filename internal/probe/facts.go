package probe

import (
	"context"
	"sync"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// fromFacts are the findings a fact question may bring; what else it says is
// about one method, not about the upstream.
var fromFacts = model.FindingSet(model.RateLimited, model.Quota, model.Noncompliant)

// httpFacts asks each question in a request of its own, with a place of its own
// for what comes of it.
func httpFacts(ctx context.Context, c *rpc.Client, questions model.Questions) model.Told {
	each := make([]model.Told, len(questions))
	var wg sync.WaitGroup
	for i, q := range questions {
		wg.Go(func() { each[i] = askFact(ctx, c, q) })
	}
	wg.Wait()
	var all model.Told
	for _, t := range each {
		add(&all, t)
	}
	return all
}

// add takes what t told into all.
func add(all *model.Told, t model.Told) {
	merge(&all.Facts, t.Facts)
	all.Findings |= t.Findings
	all.Asked += t.Asked
}

// askFact asks one fact question. Whatever fails leaves the fact unknown.
func askFact(ctx context.Context, c *rpc.Client, q model.Question) (t model.Told) {
	k, ok := factCall(c, q)
	if !ok {
		return t
	}
	j, sent, err := askHTTP(ctx, c, []call{k}, rpc.Request{})
	if err == nil {
		t.Facts, t.Findings = factOf(q, j)
	}
	if sent {
		t.Asked = 1
	}
	return t
}

// factOf is what a judged fact question says.
func factOf(q model.Question, j rpc.Judgement) (model.Facts, model.Findings) {
	f := j.Facts
	f.Head = model.Fact[uint64]{} // the head question's alone
	switch {
	case j.Kind == model.Answer && len(j.Said) > 0 && j.Said[0].Err.Lacks():
		return lacking(q), 0
	case j.Kind == model.Answer && (q == model.AskSafe || q == model.AskFinalized) && noSuchBlock(j):
		return lacking(q), 0
	}
	return f, j.Findings & fromFacts
}

// noSuchBlock says whether a node has no block of that name. A chain without
// finality says it for ever, so it is not asked at every try.
func noSuchBlock(j rpc.Judgement) bool {
	if len(j.Said) == 0 || j.Reason == model.ReasonRateLimit {
		return false
	}
	said := j.Said[0]
	if said.Err == nil {
		return string(said.Result) == "null"
	}
	switch said.Err.Code {
	case -32000, -32001, -32602, -39001:
		return true
	}
	return false
}
