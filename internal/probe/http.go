package probe

import (
	"context"
	"net/http"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// headBody bounds the body of an answer to HEAD, which has none.
const headBody = 64 << 10

// tryHTTP asks whether somebody is there, by HEAD: any status below 500 is a
// result, but for a rate limit (SPEC U1, V1).
func tryHTTP(ctx context.Context, c *rpc.Client) (model.Outcome, error) {
	x, err := c.Do(ctx, rpc.Request{Method: http.MethodHead, MaxBody: headBody})
	if err != nil {
		return model.Outcome{}, err
	}
	o := c.Judge(x).Outcome
	switch {
	case x.Failed != nil, x.Status < 200, x.Status == http.StatusTooManyRequests, x.Status >= 500,
		x.Status == http.StatusProxyAuthRequired: // our own proxy's, so nobody is known to be there
		return o, nil
	}
	o = model.Outcome{Kind: model.Result, Evidence: model.Evidence{Layer: model.LayerHTTP, HTTP: x.Status}, Took: o.Took, Asked: o.Asked}
	if x.Status >= 300 && x.Status < 400 && x.Status != http.StatusNotModified {
		o.Findings = model.FindingSet(model.Misconfigured)
		o.Evidence.Text = "redirects, which is not followed"
	}
	return o, nil
}
