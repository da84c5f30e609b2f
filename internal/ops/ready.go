package ops

import (
	"net/http"
	"slices"
	"time"

	"chaintop/model"
)

// mostChains bounds the chains of an answer.
const mostChains = 1000

// readyBody is the answer of /readyz; docs/ops/health.md describes it.
type readyBody struct {
	Ready    bool        `json:"ready"`
	Instance string      `json:"instance"`
	Version  string      `json:"version"`
	Policy   string      `json:"policy"`
	Draining bool        `json:"draining"`
	Since    time.Time   `json:"since,omitzero"`
	Cause    string      `json:"cause,omitempty"`
	Others   int         `json:"others,omitempty"`
	Drain    *drainBody  `json:"drain,omitempty"`
	Chains   []chainBody `json:"chains"`
	More     int         `json:"more,omitempty"`
}

type drainBody struct {
	State     string    `json:"state"`
	Mode      string    `json:"mode"`
	Simulated bool      `json:"simulated"`
	Since     time.Time `json:"since,omitzero"`
	Why       string    `json:"why"`
	Next      string    `json:"next"`
}

type chainBody struct {
	Chain   string    `json:"chain"`
	Counts  bool      `json:"counts"`
	Ready   bool      `json:"ready"`
	Health  string    `json:"health"`
	Since   time.Time `json:"since,omitzero"`
	Verdict string    `json:"verdict"`
	Why     string    `json:"why"`
	Whose   string    `json:"whose"`
	Next    string    `json:"next"`
}

// ready is readiness (D2), by model.Ready and nothing else.
func (h *health) ready(w http.ResponseWriter, i *model.Instance) {
	if i == nil {
		answer(w, http.StatusServiceUnavailable, readyBody{Chains: []chainBody{}})
		return
	}
	body := readiness(i, h.now())
	answer(w, status(body.Ready), body)
}

func readiness(i *model.Instance, now time.Time) readyBody {
	r := model.Ready(i, i.Policy)
	body := readyBody{
		Ready: r.Ready, Instance: text(i.Name), Version: text(i.Version), Policy: text(string(i.Policy)),
		Draining: r.Draining, Since: i.ReadySince.UTC(), Others: r.More, Drain: drainOf(i, now),
	}
	if r.Cause >= 0 && r.Cause < len(i.Chains) {
		body.Cause = text(i.Chains[r.Cause].Key())
	}
	order := problemsFirst(i, now)
	body.More = max(len(order)-mostChains, 0)
	body.Chains = make([]chainBody, 0, len(order)-body.More)
	// FELT is not in the body, so who counts is no matter to the sentences; by
	// the simplest policy a thousand of them cost no look at a thousand chains each.
	plain := *i
	plain.Policy = model.ReadyAll
	fleet := model.Fleet{Now: now, Instances: []*model.Instance{&plain}}
	for _, n := range order[:len(order)-body.More] {
		body.Chains = append(body.Chains, chainOf(i.Chains[n], i.Policy, fleet.Chain(0, n)))
	}
	return body
}

func chainOf(c *model.Chain, p model.Policy, d model.Diagnosis) chainBody {
	counts := p.Counts(c)
	return chainBody{
		Chain: text(c.Key()), Counts: counts, Ready: !counts || c.State.Health == model.Healthy,
		Health: c.State.Health.String(), Since: c.State.Since.UTC(), Verdict: c.State.Verdict.String(),
		Why: text(d.Why.Long), Whose: text(d.Whose.Long), Next: text(d.Next.Long),
	}
}

// problemsFirst is the indexes of the chains, those that need attention first,
// then in config order.
func problemsFirst(i *model.Instance, now time.Time) []int {
	order := make([]int, len(i.Chains))
	class := make([]model.Class, len(i.Chains))
	for n, c := range i.Chains {
		order[n], class[n] = n, model.ClassOf(c, i.Policy, now)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(class[a]) - int(class[b]) })
	return order
}

// drainOf is the drain or the simulation there is, nil when there is none. What
// it says is for anybody: clients' addresses are cut (X1).
func drainOf(i *model.Instance, now time.Time) *drainBody {
	d := i.Drain
	if d.State == model.DrainServing {
		return nil
	}
	masked := (&model.Instance{Gateway: i.Gateway, Drain: d}).Masked()
	said := model.DiagnoseDrain(masked, now)
	return &drainBody{
		State: d.State.String(), Mode: d.Settings.Mode.String(), Simulated: d.Simulated, Since: d.Since.UTC(),
		Why: text(said.Why.Long), Next: text(said.Next.Long),
	}
}
