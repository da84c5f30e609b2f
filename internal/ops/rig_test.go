package ops

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	commonmodel "github.com/prometheus/common/model"

	"chaintop/feed"
	"chaintop/model"
)

var epoch0 = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

// rig is an instance driven by hand: a clock, its log, and the tries in the air.
type rig struct {
	t    *testing.T
	inst model.Instance
	log  *feed.Log
	pic  atomic.Pointer[model.Instance]
	now  time.Time
	air  []model.EffectTry
}

func chainOn(name string, upstreams ...model.Upstream) *model.Chain {
	set := model.DefaultSettings(model.EVM)
	set.Jitter = 0
	return &model.Chain{Name: name, Interface: "jsonrpc", Family: model.EVM, Settings: set, Upstreams: upstreams}
}

func primaries(names ...string) []model.Upstream {
	var us []model.Upstream
	for _, n := range names {
		us = append(us, model.Upstream{Name: n})
	}
	return us
}

func newRig(t *testing.T, policy model.Policy, drain model.DrainSettings, chains ...*model.Chain) *rig {
	r := &rig{t: t, now: epoch0, log: feed.NewLog(&model.Instance{Epoch: "e1"})}
	i := model.Begin(model.Instance{
		Name: "gw-1", Version: "v0.3.0", Epoch: "e1", Policy: policy, Gateway: true, Chains: chains, Drain: model.Drain{Settings: drain},
	}, epoch0)
	started := model.Event{At: epoch0, Chain: -1, Body: model.Started{Instance: i}}
	r.inst.Apply(started)
	r.publish(started)
	return r
}

func (r *rig) publish(events ...model.Event) {
	pic := r.inst.Clone()
	r.pic.Store(pic)
	r.log.Append(pic, events)
}

func (r *rig) in(in model.Input) {
	events, effects := r.inst.Step(in)
	r.publish(events...)
	for _, e := range effects {
		if try, ok := e.(model.EffectTry); ok {
			r.air = append(r.air, try)
		}
	}
}

// take takes the probe's (else a check's) try of a chain out of the air.
func (r *rig) take(chain int, probe bool) model.EffectTry {
	r.t.Helper()
	for i, e := range r.air {
		if e.Chain == chain && (e.Probe != 0) == probe {
			r.air = append(r.air[:i:i], r.air[i+1:]...)
			return e
		}
	}
	r.t.Fatalf("no try of chain %d in the air (probe %v)", chain, probe)
	return model.EffectTry{}
}

func (r *rig) answer(e model.EffectTry, o model.Outcome, took time.Duration) {
	started := e.Stamp.Add(e.Delay)
	o.Took = took
	r.now = started.Add(took)
	r.in(model.TryDone{Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp, Started: started, Ended: r.now, Outcome: o})
}

// probe lets a probe of the chain end with the outcomes given, one a try.
func (r *rig) probe(chain int, outcomes ...model.Outcome) {
	r.t.Helper()
	r.in(model.Command{At: r.now, ID: "c", Op: model.OpProbe, Chains: []int{chain}, Who: "oncall"})
	for _, o := range outcomes {
		r.answer(r.take(chain, true), o, 3*time.Millisecond)
	}
	if r.inst.Chains[chain].Probe != nil {
		r.t.Fatalf("the probe of chain %d still flies after %d outcomes", chain, len(outcomes))
	}
}

// round lets one round of checks end with the outcomes given, by upstream.
func (r *rig) round(chain int, outcomes ...model.Outcome) {
	r.t.Helper()
	if due := r.inst.Chains[chain].Checks.Due; due.After(r.now) {
		r.now = due
	}
	r.in(model.Due{At: r.now, Chain: chain})
	for _, o := range outcomes {
		r.answer(r.take(chain, false), o, 20*time.Millisecond)
	}
}

// drop forgets what is in the air: nobody waits for it in this test.
func (r *rig) drop() { r.air = nil }

func (r *rig) options() Options {
	return Options{Picture: r.pic.Load, Source: r.log, Now: func() time.Time { return r.now }}
}

// counted is a server that has read the whole log.
func (r *rig) counted() *Server {
	r.t.Helper()
	s := New(r.options())
	r.log.Close()
	if err := s.Run(r.t.Context()); err != nil {
		r.t.Fatalf("Run: %v", err)
	}
	return s
}

func head(n uint64) model.Outcome {
	return model.Outcome{Kind: model.Result, Facts: model.Facts{Head: model.Say(n)}, Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200}, Asked: 1}
}

func silence(r model.Reason) model.Outcome {
	return model.Outcome{Kind: model.NoAnswer, Reason: r, Evidence: model.Evidence{Layer: model.LayerTCP}, Asked: 1}
}

func answered(code int, fs ...model.Finding) model.Outcome {
	return model.Outcome{
		Kind: model.Answer, Reason: model.ReasonHTTPStatus, Evidence: model.Evidence{Layer: model.LayerHTTP, HTTP: code},
		Findings: model.FindingSet(fs...), Asked: 1,
	}
}

func limited(after time.Duration) model.Outcome {
	o := answered(429, model.RateLimited)
	o.Reason, o.RetryAfter = model.ReasonRateLimit, after
	return o
}

func times(n int, o model.Outcome) []model.Outcome {
	out := make([]model.Outcome, n)
	for i := range out {
		out[i] = o
	}
	return out
}

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// numbers is a scrape, by metric.
type numbers map[string]*dto.MetricFamily

func scraped(t *testing.T, h http.Handler) numbers {
	t.Helper()
	w := ask(h, http.MethodGet, "/metrics")
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", w.Code, w.Body)
	}
	parser := expfmt.NewTextParser(commonmodel.LegacyValidation)
	got, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatalf("/metrics: %v", err)
	}
	return got
}

// value is that of the one series with these labels (name, value, …); ok is
// false when there is none.
func (n numbers) value(name string, labels ...string) (v float64, ok bool) {
	for _, m := range n["chaintop_"+name].GetMetric() {
		if matches(m, labels) {
			return number(m), true
		}
	}
	return 0, false
}

func matches(m *dto.Metric, labels []string) bool {
	for i := 0; i < len(labels); i += 2 {
		if labelOf(m, labels[i]) != labels[i+1] {
			return false
		}
	}
	return true
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func number(m *dto.Metric) float64 {
	switch {
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return m.GetUntyped().GetValue()
}

// series is how many series are ours.
func (n numbers) series() int {
	sum := 0
	for name, f := range n {
		if strings.HasPrefix(name, "chaintop_") {
			sum += len(f.GetMetric())
		}
	}
	return sum
}
