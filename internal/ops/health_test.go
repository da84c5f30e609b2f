package ops

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"chaintop/model"
)

var immediate = model.DrainSettings{Mode: model.DrainImmediate, Immediate: 5 * time.Second}

func begin(r *rig)    { r.in(model.Signal{At: r.now, Name: "SIGTERM"}) }
func simulate(r *rig) { r.in(model.Command{At: r.now, Op: model.OpSimulate, Who: "ann"}) }
func idle(r *rig) {
	r.now = r.inst.Drain.Due()
	r.in(model.DrainDue{At: r.now, Activity: model.Activity{At: r.now}})
}

// D1, D2: every row is asked on both listeners, which must say the same.
func TestHealthAndReadiness(t *testing.T) {
	down := func(n int) func(*rig) { return func(r *rig) { r.probe(n, times(6, silence(model.ReasonRefused))...) } }
	up := func(n int) func(*rig) { return func(r *rig) { r.probe(n, head(100)) } }
	errors := func(n int) func(*rig) { return func(r *rig) { r.probe(n, times(6, answered(500))...) } }
	for _, tt := range []struct {
		name   string
		policy model.Policy
		drain  model.DrainSettings
		chains int
		do     []func(*rig)

		alive, ready, draining bool
		cause                  string
	}{
		{name: "no chains", policy: model.ReadyAll, alive: true, ready: true},
		{name: "no chains, any", policy: model.ReadyAny, alive: true, ready: true},
		{name: "unknown", policy: model.ReadyAll, chains: 1, alive: true, cause: "c0/jsonrpc"},
		{name: "healthy", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0)}, alive: true, ready: true},
		{name: "unhealthy", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0), down(0)}, alive: true, cause: "c0/jsonrpc"},
		{name: "error answers to a new replica", policy: model.ReadyAll, chains: 1, do: []func(*rig){errors(0)}, alive: true, cause: "c0/jsonrpc"},
		{name: "error answers to a ready one", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0), errors(0)}, alive: true, ready: true},
		{name: "all, one is unhealthy", policy: model.ReadyAll, chains: 2, do: []func(*rig){up(0), down(1)}, alive: true, cause: "c1/jsonrpc"},
		{name: "any, one is unhealthy", policy: model.ReadyAny, chains: 2, do: []func(*rig){up(0), down(1)}, alive: true, ready: true},
		{name: "any, none is healthy", policy: model.ReadyAny, chains: 2, do: []func(*rig){down(1)}, alive: true, cause: "c1/jsonrpc"},
		{name: "a list without the unhealthy one", policy: "c0/jsonrpc", chains: 2, do: []func(*rig){up(0), down(1)}, alive: true, ready: true},
		{name: "a list with the unhealthy one", policy: "c0/jsonrpc,c1/jsonrpc", chains: 3, do: []func(*rig){up(0), down(1), down(2)}, alive: true, cause: "c1/jsonrpc"},
		{name: "consensus without groups", policy: model.ReadyConsensus, chains: 2, do: []func(*rig){down(0), down(1)}, alive: true, ready: true},
		{name: "consensus without groups, draining", policy: model.ReadyConsensus, chains: 1, do: []func(*rig){down(0), begin}, alive: true, draining: true},
		{name: "an idle drain", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0), begin}, alive: true, draining: true},
		{name: "an idle drain of an unhealthy one", policy: model.ReadyAll, chains: 1, do: []func(*rig){down(0), begin}, alive: true, draining: true, cause: "c0/jsonrpc"},
		{name: "drained", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0), begin, idle}, alive: true, draining: true},
		{name: "a simulated drain", policy: model.ReadyAll, chains: 1, do: []func(*rig){up(0), simulate}, alive: true, ready: true},
		{name: "an immediate drain", policy: model.ReadyAll, drain: immediate, chains: 1, do: []func(*rig){up(0), begin}, draining: true},
		{name: "an immediate drain that is over", policy: model.ReadyAll, drain: immediate, chains: 1, do: []func(*rig){up(0), begin, idle}, draining: true},
		{name: "a simulated immediate drain", policy: model.ReadyAll, drain: immediate, chains: 1, do: []func(*rig){up(0), simulate}, alive: true, ready: true},
		{name: "mode immediate, serving", policy: model.ReadyAll, drain: immediate, chains: 1, do: []func(*rig){up(0)}, alive: true, ready: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var chains []*model.Chain
			for n := range tt.chains {
				chains = append(chains, chainOn(fmt.Sprintf("c%d", n), primaries("a")...))
			}
			r := newRig(t, tt.policy, tt.drain, chains...)
			for _, do := range tt.do {
				do(r)
			}
			o := r.options()
			own, client := New(o), Health(o.Picture, o.Now)

			var alive aliveBody
			same(t, own, client, "/healthz", tt.alive, &alive)
			if alive.Alive != tt.alive || alive.Instance != "gw-1" || alive.Version != "v0.3.0" {
				t.Errorf("/healthz says %+v", alive)
			}
			var ready readyBody
			same(t, own, client, "/readyz", tt.ready, &ready)
			if ready.Ready != tt.ready || ready.Draining != tt.draining || ready.Cause != tt.cause || len(ready.Chains) != tt.chains {
				t.Errorf("/readyz says %+v", ready)
			}
			if want := model.Ready(r.pic.Load(), tt.policy); ready.Ready != want.Ready {
				t.Errorf("/readyz says %v, model.Ready %v", ready.Ready, want.Ready)
			}
		})
	}
}

// same asks both listeners, and decodes what both say.
func same(t *testing.T, own, client http.Handler, path string, ok bool, into any) {
	t.Helper()
	a, b := ask(own, http.MethodGet, path), ask(client, http.MethodGet, path)
	if want := status(ok); a.Code != want || b.Code != want {
		t.Errorf("%s: %d and %d, want %d", path, a.Code, b.Code, want)
	}
	if a.Body.String() != b.Body.String() {
		t.Errorf("%s: two answers:\n%s\n%s", path, a.Body, b.Body)
	}
	for name, want := range map[string]string{"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store"} {
		if got := b.Header().Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", path, name, got, want)
		}
	}
	dec := json.NewDecoder(a.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

func TestReadySaysWhyByTheModelsWords(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("fine", primaries("a")...), chainOn("cut", primaries("b")...), chainOn("new", primaries("c")...))
	r.probe(0, head(100))
	r.probe(1, times(6, silence(model.ReasonRefused))...)
	body := readiness(r.pic.Load(), r.now)
	if got := []string{body.Chains[0].Chain, body.Chains[1].Chain, body.Chains[2].Chain}; strings.Join(got, " ") != "cut/jsonrpc new/jsonrpc fine/jsonrpc" {
		t.Errorf("the order is %q", got)
	}
	if body.Cause != "cut/jsonrpc" || body.Others != 1 {
		t.Errorf("the cause is %s and %d others", body.Cause, body.Others)
	}
	d := model.Fleet{Now: r.now, Instances: []*model.Instance{r.pic.Load()}}.Chain(0, 1)
	if c := body.Chains[0]; c.Why != d.Why.Long || c.Whose != d.Whose.Long || c.Next != d.Next.Long || c.Why == "" || c.Whose == "" || c.Next == "" {
		t.Errorf("it says %+v, the model %+v", c, d)
	}
}

// Before there is a picture it lives, and is not ready.
func TestHealthBeforeThePicture(t *testing.T) {
	h := Health(func() *model.Instance { return nil }, nil)
	if w := ask(h, http.MethodGet, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("/healthz: %d", w.Code)
	}
	if w := ask(h, http.MethodGet, "/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"ready":false`) {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
}

func TestReadyIsBounded(t *testing.T) {
	var chains []*model.Chain
	for n := range 1200 {
		chains = append(chains, chainOn(fmt.Sprintf("%s%d", strings.Repeat("x\x1b[31m", 2000), n), primaries("a")...))
	}
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chains...)
	r.probe(1199, times(6, silence(model.ReasonTimeout))...)
	w := ask(New(r.options()), http.MethodGet, "/readyz")
	var body readyBody
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Chains) != 1000 || body.More != 200 || body.Chains[0].Verdict != "unreachable" {
		t.Errorf("%d chains and %d more, the first %+v", len(body.Chains), body.More, body.Chains[0])
	}
	for _, c := range body.Chains {
		if len([]rune(c.Chain)) > mostText || strings.ContainsRune(c.Chain, 0x1b) || len([]rune(c.Why)) > mostText {
			t.Fatalf("a text is not bounded or not clean: %+v", c)
		}
	}
}

// X1: who asks is not for whoever may read readiness or numbers.
func TestNoClientsAddressLeaves(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	r.probe(0, head(1))
	begin(r)
	who := model.Client{Addr: "10.83.2.9", Kind: model.ClientHTTP, Last: r.now, Count: 9, Conns: 1, Since: epoch0, Every: time.Second}
	r.in(model.Sums{At: r.now, Activity: &model.Activity{
		At: r.now, Since: epoch0, Last: r.now, Kind: model.ClientHTTP, Client: who.Addr, OldLast: r.now, OldClient: who.Addr,
		MessageClient: who.Addr, Clients: []model.Client{who},
	}})
	s := New(r.options())
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if body := ask(s, http.MethodGet, path).Body.String(); strings.Contains(body, "10.83.2") {
			t.Errorf("%s names a client:\n%s", path, body)
		}
	}
	if body := readiness(r.pic.Load(), r.now); body.Drain == nil || body.Drain.Why == "" || body.Drain.Next == "" {
		t.Errorf("the drain is not said: %+v", body.Drain)
	}
}

func TestOnlyWhatThereIsAndOnlyReading(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{})
	o := r.options()
	none := New(o)
	asked := 0
	o.Feed = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusNoContent) })
	own, client := New(o), Health(o.Picture, o.Now)
	for _, tt := range []struct {
		name         string
		h            http.Handler
		method, path string
		want         int
	}{
		{"own", own, "GET", "/metrics", 200},
		{"own", own, "HEAD", "/metrics", 200},
		{"own", own, "HEAD", "/healthz", 200},
		{"own", own, "GET", "/feed", 204},
		{"own", own, "POST", "/feed", 405},
		{"own", own, "POST", "/healthz", 405},
		{"own", own, "DELETE", "/readyz", 405},
		{"own", own, "PUT", "/metrics", 405},
		{"own", own, "OPTIONS", "/metrics", 405},
		{"own", own, "GET", "/", 404},
		{"own", own, "GET", "/healthz/", 404},
		{"own", own, "GET", "//healthz", 404},
		{"own", own, "GET", "/debug/pprof/", 404},
		{"own", own, "POST", "/nothing", 404},
		{"no feed", none, "GET", "/feed", 404},
		{"client", client, "GET", "/healthz", 200},
		{"client", client, "HEAD", "/readyz", 200},
		{"client", client, "POST", "/readyz", 405},
		{"client", client, "GET", "/metrics", 404},
		{"client", client, "GET", "/feed", 404},
	} {
		w := ask(tt.h, tt.method, tt.path)
		if w.Code != tt.want {
			t.Errorf("%s: %s %s: %d, want %d", tt.name, tt.method, tt.path, w.Code, tt.want)
		}
		if w.Code < 400 {
			continue
		}
		var body struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Error == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s %s: refused by %q (%v)", tt.name, tt.method, tt.path, w.Body, err)
		}
		if (w.Code == 405) != (w.Header().Get("Allow") == "GET, HEAD") {
			t.Errorf("%s: %s %s: Allow is %q", tt.name, tt.method, tt.path, w.Header().Get("Allow"))
		}
	}
	if asked != 1 {
		t.Errorf("the feed was asked %d times", asked)
	}
}

// D3, D4: nothing but readiness (and liveness, of an immediate drain) tells a
// drain: numbers and feed go on until the exit.
func TestDrainInjectsNoOther503(t *testing.T) {
	for _, set := range []model.DrainSettings{model.DefaultDrain(), immediate} {
		r := newRig(t, model.ReadyAll, set, chainOn("c", primaries("a")...))
		o := r.options()
		o.Feed = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		s := New(o)
		for _, step := range []func(*rig){func(*rig) {}, begin, idle} {
			step(r)
			if w := ask(s, "GET", "/metrics"); w.Code != 200 {
				t.Errorf("%v, %v: /metrics %d", set.Mode, r.inst.Drain.State, w.Code)
			}
			if w := ask(s, "GET", "/feed"); w.Code != 204 {
				t.Errorf("%v, %v: /feed %d", set.Mode, r.inst.Drain.State, w.Code)
			}
		}
		if r.inst.Drain.State != model.Drained {
			t.Fatalf("%v: it is %v", set.Mode, r.inst.Drain.State)
		}
	}
}
