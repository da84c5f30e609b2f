package ops

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"chaintop/model"
)

func TestNumbersOfARichPicture(t *testing.T) {
	r := rich(t)
	got := scraped(t, r.counted())
	eth, arb, base, gno, lin := "ethereum/jsonrpc", "arbitrum/jsonrpc", "base/jsonrpc", "gnosis/jsonrpc", "linea/jsonrpc"
	for _, tt := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{1, "instance_info", []string{"name", "gw-1", "version", "v0.3.0", "policy", "all"}},
		{0, "ready", nil},
		{0, "metrics_gaps_total", nil},
		{0, "drain_state", []string{"state", "serving"}},
		{1, "drain_state", []string{"state", "draining"}},
		{0, "drain_simulated", nil},
		{2, "drain_idle_seconds", nil},
		{6, "drain_in_flight_requests", nil},
		{3, "drain_open_streams", nil},

		{1, "chain_health", []string{"chain", eth, "health", "healthy"}},
		{0, "chain_health", []string{"chain", eth, "health", "unhealthy"}},
		{1, "chain_health", []string{"chain", arb, "health", "unhealthy"}},
		{1, "chain_health", []string{"chain", lin, "health", "unknown"}},
		{1, "chain_verdict", []string{"chain", arb, "verdict", "unreachable"}},
		{1, "chain_verdict", []string{"chain", base, "verdict", "inconclusive"}},
		{0, "chain_verdict", []string{"chain", lin, "verdict", "healthy"}},
		{1, "chain_counts_for_readiness", []string{"chain", eth}},
		{1, "chain_probes_total", []string{"chain", eth, "verdict", "healthy"}},
		{1, "chain_probes_total", []string{"chain", arb, "verdict", "unreachable"}},
		{1, "chain_probes_total", []string{"chain", base, "verdict", "inconclusive"}},
		{0, "chain_probes_total", []string{"chain", lin, "verdict", "healthy"}},
		{0, "chain_probe_in_flight", []string{"chain", eth}},
		{101, "chain_head", []string{"chain", eth}},
		{0, "chain_lag_blocks", []string{"chain", eth}},
		{0, "chain_halted", []string{"chain", eth}},
		{1, "chain_route", []string{"chain", eth, "why", "pinned"}},
		{0, "chain_route", []string{"chain", eth, "why", "none"}},
		{1, "chain_route", []string{"chain", gno, "why", "backup"}},
		{0, "chain_failover_active", []string{"chain", eth}},
		{1, "chain_failover_active", []string{"chain", gno}},

		{1, "upstream_info", []string{"chain", gno, "upstream", "hired", "tier", "backup"}},
		{1, "upstream_health", []string{"chain", gno, "upstream", "mine", "health", "unhealthy"}},
		{4, "upstream_streak", []string{"chain", gno, "upstream", "mine"}}, // one of them was asked for by the probe's silence
		{1, "upstream_serving", []string{"chain", gno, "upstream", "hired"}},
		{0, "upstream_serving", []string{"chain", gno, "upstream", "mine"}},
		{1, "upstream_finding", []string{"chain", eth, "upstream", "infura", "finding", "behind"}},
		{1, "upstream_finding", []string{"chain", eth, "upstream", "cold", "finding", "erroring"}},
		{1, "upstream_finding", []string{"chain", base, "upstream", "only", "finding", "access_denied"}},
		{1, "upstream_pinned", []string{"chain", eth, "upstream", "alchemy"}},
		{0, "upstream_pinned", []string{"chain", eth, "upstream", "infura"}},
		{0, "upstream_held_seconds", []string{"chain", eth, "upstream", "alchemy"}},
		{90, "upstream_head", []string{"chain", eth, "upstream", "infura"}},
		{11, "upstream_lag_blocks", []string{"chain", eth, "upstream", "infura"}},
		{5, "upstream_latency_seconds", []string{"chain", eth, "upstream", "alchemy"}},
		{1, "upstream_tries_total", []string{"chain", eth, "upstream", "alchemy", "by", "probe", "outcome", "result"}},
		{4, "upstream_tries_total", []string{"chain", eth, "upstream", "alchemy", "by", "check", "outcome", "result"}},
		{4, "upstream_tries_total", []string{"chain", eth, "upstream", "cold", "by", "check", "outcome", "answer"}},
		{0, "upstream_tries_total", []string{"chain", eth, "upstream", "cold", "by", "check", "outcome", "no_answer"}},
		{3, "upstream_tries_total", []string{"chain", arb, "upstream", "one", "by", "probe", "outcome", "no_answer"}},
		{3, "upstream_try_reasons_total", []string{"chain", arb, "upstream", "two", "outcome", "no_answer", "reason", "refused"}},
		{1, "upstream_try_reasons_total", []string{"chain", eth, "upstream", "spare", "outcome", "answer", "reason", "rate_limit"}},
		{5, "upstream_probe_requests_total", []string{"chain", eth, "upstream", "alchemy"}},

		{50, "gateway_requests_total", []string{"chain", eth}},
		{4, "gateway_failed_requests_total", []string{"chain", eth}},
		{2, "gateway_refused_requests_total", []string{"chain", eth}},
		{40, "gateway_attempts_total", []string{"chain", eth, "upstream", "alchemy", "outcome", "result"}},
		{3, "gateway_attempts_total", []string{"chain", eth, "upstream", "alchemy", "outcome", "answer"}},
		{7, "gateway_attempts_total", []string{"chain", eth, "upstream", "alchemy", "outcome", "no_answer"}},
		{1, "gateway_attempts_total", []string{"chain", eth, "upstream", "alchemy", "outcome", "abandoned"}},
		{0, "gateway_attempts_total", []string{"chain", lin, "upstream", "l", "outcome", "result"}},
		{3, "gateway_streams", []string{"chain", eth}},
		{5, "gateway_stream_moves_total", []string{"chain", eth}},
		{60, "gateway_stream_filled_total", []string{"chain", eth}},
		{1, "gateway_stream_gaps_total", []string{"chain", eth}},
	} {
		if v, ok := got.value(tt.name, tt.labels...); !ok || math.Abs(v-tt.want) > 1e-9 {
			t.Errorf("%s %q is %v (%v), want %v", tt.name, tt.labels, v, ok, tt.want)
		}
	}
	next, _ := got.value("chain_next_probe_seconds", "chain", arb)
	if want := r.inst.Chains[1].State.Next.At.Sub(r.now).Seconds(); next != want {
		t.Errorf("the next probe is in %v, want %v", next, want)
	}
	held, _ := got.value("upstream_held_seconds", "chain", eth, "upstream", "spare")
	if want := r.inst.Chains[0].Upstreams[2].State.Hold.Until.Sub(r.now).Seconds(); held != want || held <= 0 {
		t.Errorf("held for %v, want %v", held, want)
	}
	for _, f := range families {
		if got[f.name] == nil {
			t.Errorf("%s is not in a scrape of a picture that has everything", f.name)
		}
	}
}

// V7: what nobody reported is not there, and is never 0.
func TestUnknownIsAbsent(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	got := scraped(t, r.counted())
	for _, name := range []string{
		"chain_head", "chain_head_reported_timestamp_seconds", "chain_lag_blocks", "chain_heard_timestamp_seconds", "upstream_head",
		"upstream_head_reported_timestamp_seconds", "upstream_lag_blocks", "upstream_finding", "upstream_try_reasons_total",
		"drain_started_timestamp_seconds", "drain_idle_seconds", "drain_in_flight_requests", "client_last_request_timestamp_seconds",
	} {
		if v, ok := got.value(name); ok {
			t.Errorf("%s is %v though nothing is known", name, v)
		}
	}
	r.probe(0, head(0))
	if v, ok := scraped(t, New(r.options())).value("chain_head", "chain", "c/jsonrpc"); !ok || v != 0 {
		t.Errorf("a head of 0 that was reported is %v (%v)", v, ok)
	}
}

func TestWhatIsOverIsGone(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a", "b", "d")...))
	s := New(r.options())
	r.probe(0, head(100))
	r.round(0, head(100), head(80), head(100))
	if v, _ := scraped(t, s).value("upstream_finding", "upstream", "b", "finding", "behind"); v != 1 {
		t.Fatalf("behind is %v", v)
	}
	r.round(0, head(100), head(100), head(100))
	if _, ok := scraped(t, s).value("upstream_finding", "upstream", "b"); ok {
		t.Error("a finding that is over is still there")
	}
	simulate(r)
	if v, ok := scraped(t, s).value("drain_idle_seconds"); !ok || v != 0 {
		t.Errorf("a simulation is idle for %v (%v)", v, ok)
	}
	r.in(model.Command{At: r.now, Op: model.OpUndrain, Who: "ann"})
	if _, ok := scraped(t, s).value("drain_idle_seconds"); ok {
		t.Error("a simulation that is over is still there")
	}
}

func TestNextProbe(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	s := New(r.options())
	r.probe(0, head(1))
	r.now = r.inst.Chains[0].State.Next.At.Add(90 * time.Second)
	if v, _ := scraped(t, s).value("chain_next_probe_seconds"); v != -90 {
		t.Errorf("overdue for 90 s is %v", v)
	}
	r.in(model.Command{At: r.now, Op: model.OpProbe, Chains: []int{0}})
	got := scraped(t, s)
	next, _ := got.value("chain_next_probe_seconds")
	flies, _ := got.value("chain_probe_in_flight")
	if next != 0 || flies != 1 {
		t.Errorf("in flight: next %v, flies %v", next, flies)
	}
}

// Without a gateway there are no clients, and no zeros that say so wrongly.
func TestNoGatewayNoTraffic(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	r.inst.Gateway = false
	r.probe(0, head(1))
	for name := range scraped(t, New(r.options())) {
		if strings.HasPrefix(name, "chaintop_gateway_") {
			t.Errorf("%s is there without a gateway", name)
		}
	}
}

func TestLintClean(t *testing.T) {
	body := ask(rich(t).counted(), http.MethodGet, "/metrics").Body
	problems, err := promlint.New(body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "chaintop_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Z4: a text from outside makes no series.
func TestSeriesAreBounded(t *testing.T) {
	series := func(texts int) (int, float64) {
		r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
		for i := range texts {
			silent := silence(model.Reason(fmt.Sprintf("reason %d", i)))
			silent.Evidence.Text = fmt.Sprintf("text %d", i)
			wrong := answered(500)
			wrong.Reason = model.Reason(fmt.Sprintf("why %d", i))
			r.round(0, silent)
			r.round(0, wrong)
		}
		got := scraped(t, r.counted())
		rest, _ := got.value("upstream_try_reasons_total", "outcome", "no_answer", "reason", "other")
		return got.series(), rest
	}
	few, _ := series(5)
	many, rest := series(1000)
	if few != many || rest != 1000 {
		t.Errorf("%d series, %d with 2,000 texts, of which %v silences are counted as other", few, many, rest)
	}
}

// Names that cannot be labels as they are, or are alike, cost no scrape.
func TestLabelsAreCleanAndDistinct(t *testing.T) {
	long := strings.Repeat("n", 400)
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a\x1b[31m", "a", "a", long+"1", long+"2", "\xff\x00")...), chainOn("c", primaries("a")...))
	got := scraped(t, r.counted())
	var names []string
	for _, m := range got["chaintop_upstream_info"].GetMetric() {
		names = append(names, labelOf(m, "chain")+" "+labelOf(m, "upstream"))
	}
	if len(names) != 7 {
		t.Fatalf("%d upstreams: %q", len(names), names)
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) || len([]rune(n)) > 160 || strings.ContainsAny(n, "\x1b\x00") {
			t.Errorf("a name is not distinct, bounded and clean: %q", n)
		}
	}
}
