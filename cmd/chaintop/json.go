package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"chaintop/model"
)

// The schema of `probe -o json`. Fields are added at the end, never changed.
type (
	reportJSON struct {
		Chains []chainJSON `json:"chains"`
	}
	chainJSON struct {
		Chain     string        `json:"chain"`
		Family    model.Family  `json:"family"`
		Verdict   string        `json:"verdict"` // "" while there is none
		Health    string        `json:"health"`
		Findings  []string      `json:"findings"`
		Tries     []tryJSON     `json:"tries"`
		Facts     factsJSON     `json:"facts"`
		Diagnosis diagnosisJSON `json:"diagnosis"`
	}
	tryJSON struct {
		Upstream  string  `json:"upstream"`
		Outcome   string  `json:"outcome"`
		Reason    string  `json:"reason"`
		Evidence  string  `json:"evidence"`
		LatencyMS float64 `json:"latency_ms"`
	}
	// A fact nobody reported is absent: unknown is never zero (V7).
	factsJSON struct {
		Head      *factJSON[uint64] `json:"head,omitempty"`
		HeadTime  *factJSON[string] `json:"head_time,omitempty"`
		ChainID   *factJSON[string] `json:"chain_id,omitempty"`
		Syncing   *factJSON[bool]   `json:"syncing,omitempty"`
		Peers     *factJSON[uint64] `json:"peers,omitempty"`
		Safe      *factJSON[uint64] `json:"safe,omitempty"`
		Finalized *factJSON[uint64] `json:"finalized,omitempty"`
		Client    *factJSON[string] `json:"client,omitempty"`
	}
	factJSON[T any] struct {
		Value T     `json:"value"`
		AgeMS int64 `json:"age_ms"`
	}
	diagnosisJSON struct {
		Why   string `json:"why"`
		Whose string `json:"whose"`
		Do    string `json:"do"`
	}
)

func writeJSON(out io.Writer, picture *model.Instance, now time.Time) error {
	report := reportJSON{Chains: []chainJSON{}}
	for n := range picture.Chains {
		report.Chains = append(report.Chains, chainReport(picture, n, now))
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(report)
}

func chainReport(picture *model.Instance, n int, now time.Time) chainJSON {
	c := picture.Chains[n]
	d := model.Fleet{Now: now, Instances: []*model.Instance{picture}}.Chain(0, n)
	r := chainJSON{
		Chain: c.Key(), Family: c.Family, Verdict: c.State.Verdict.String(), Health: c.State.Health.String(),
		Tries:     []tryJSON{},
		Diagnosis: diagnosisJSON{Why: d.Why.Long, Whose: d.Whose.Long, Do: d.Do.Long},
	}
	var findings model.Findings
	for i := range c.Upstreams {
		findings |= c.Upstreams[i].State.Findings
	}
	r.Findings = findings.Words()
	if c.Last != nil {
		for _, t := range c.Last.Tries {
			r.Tries = append(r.Tries, tryReport(c, t))
		}
	}
	if len(c.Upstreams) > 0 {
		r.Facts = factsReport(c.Upstreams[answered(c)].State.Facts, now)
	}
	return r
}

// answered is the upstream whose facts a chain is shown with: the one that gave
// the probe its result, else the first.
func answered(c *model.Chain) int {
	if c.Last == nil {
		return 0
	}
	for _, t := range c.Last.Tries {
		if t.Kind == model.Result && t.Upstream >= 0 {
			return t.Upstream
		}
	}
	return 0
}

func tryReport(c *model.Chain, t model.Try) tryJSON {
	r := tryJSON{
		Outcome: t.Kind.String(), Reason: string(t.Reason), Evidence: evidence(t.Evidence),
		LatencyMS: math.Round(float64(t.Took)/float64(time.Millisecond)*10) / 10,
	}
	if t.Upstream >= 0 {
		r.Upstream = c.Upstreams[t.Upstream].Name
	}
	return r
}

// evidence is a try's evidence in one line for a machine's log: "http 200, head 21034112".
func evidence(e model.Evidence) string {
	var parts []string
	if e.HTTP != 0 {
		parts = append(parts, fmt.Sprintf("http %d", e.HTTP))
	}
	if e.Code != 0 {
		parts = append(parts, fmt.Sprintf("code %d", e.Code))
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	return strings.Join(parts, ", ")
}

func factsReport(f model.Facts, now time.Time) factsJSON {
	r := factsJSON{
		Head: aged(f.Head, now), ChainID: aged(f.ChainID, now), Syncing: aged(f.Syncing, now),
		Peers: aged(f.Peers, now), Safe: aged(f.Safe, now), Finalized: aged(f.Finalized, now), Client: aged(f.Client, now),
	}
	if f.Block.Known() {
		at := f.Block.Value.Time.UTC().Format(time.RFC3339)
		r.HeadTime = aged(model.Fact[string]{Know: model.Known, Value: at, At: f.Block.At}, now)
	}
	return r
}

func aged[T any](f model.Fact[T], now time.Time) *factJSON[T] {
	if !f.Known() {
		return nil
	}
	return &factJSON[T]{Value: f.Value, AgeMS: max(now.Sub(f.At), 0).Milliseconds()}
}
