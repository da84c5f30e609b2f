package probe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/config"

	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// corpusRight is how many cases of the project's own corpus are right. It may
// not fall.
const corpusRight = 133

// played are the corpus's families that have a prober here.
var played = []string{"evm", "http", "tcp", "tls", "ws"}

// result is how a case came out.
type result struct {
	got       model.OutcomeKind
	wrong     []string
	forbidden bool
}

// tally counts the cases of a run.
type tally struct {
	mu                                      sync.Mutex
	cases, right, wrong, forbidden, skipped int
	missing                                 map[string]int // cases by family without a prober
	lines                                   []string       // of the cases that are not right
}

// corpusTally is that of the last run, for sumUp.
var corpusTally *tally

// note counts a case; ok says that it is right.
func (s *tally) note(id string, r result) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(r.wrong) == 0:
		s.right++
		return true
	case r.forbidden:
		s.forbidden++
	default:
		s.wrong++
	}
	s.lines = append(s.lines, id+": "+strings.Join(r.wrong, "; "))
	return false
}

// sumUp prints a line for each case that is not right, and the sum.
func sumUp() {
	s := corpusTally
	if s == nil {
		return
	}
	for _, f := range slices.Sorted(maps.Keys(s.missing)) {
		fmt.Printf("corpus: %d cases of family %s skipped: no prober\n", s.missing[f], f)
	}
	slices.Sort(s.lines)
	for _, l := range s.lines {
		fmt.Println("corpus: " + l)
	}
	fmt.Printf("corpus: %d cases, %d right, %d wrong, %d forbidden, %d skipped\n", s.cases, s.right, s.wrong, s.forbidden, s.skipped)
}

// TestCorpus plays the corpus through the real prober and model. CHAINTOP_CORPUS
// is another folder to play.
func TestCorpus(t *testing.T) {
	cases := loadCorpus(t)
	ca := newAuthority(t)
	sum := &tally{cases: len(cases), missing: map[string]int{}}
	corpusTally = sum
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			if !slices.Contains(played, c.Family) {
				sum.skipped++
				sum.missing[c.Family]++
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				if !sum.note(c.ID, playCase(t, c, ca)) {
					t.Fail() // sumUp says why
				}
			})
		}
	})
	if os.Getenv("CHAINTOP_CORPUS") == "" && sum.right < corpusRight {
		t.Errorf("%d cases are right, were %d", sum.right, corpusRight)
	}
}

// playCase asks as the case says, folds what comes and scores it.
func playCase(t *testing.T, c corpusCase, ca *authority) result {
	p := play(t, c, ca)
	target := probe.Target{Family: model.EVM, Client: corpusClient(t, c, p)}
	w := newFolded(c)
	times := c.ProbeAtS
	if len(times) == 0 {
		times = []int{0}
	}
	var r result
	for i, s := range times {
		last := w.probe(t, c, target, time.Duration(s)*time.Second)
		r.got = last.Kind
		if i < len(c.Expect.PerPoll) {
			if want := c.Expect.PerPoll[i].Head; want != nil && (!last.Facts.Head.Known() || last.Facts.Head.Value != *want) {
				r.wrong = append(r.wrong, fmt.Sprintf("poll %d: head %v, want %d", i, last.Facts.Head, *want))
			}
		}
	}
	score(c.Expect, w, &r)
	return r
}

func corpusClient(t *testing.T, c corpusCase, p *player) *rpc.Client {
	t.Helper()
	_, port, err := net.SplitHostPort(p.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	u, err := rpc.ParseURL("up", c.Target.Scheme+"://"+net.JoinHostPort(c.Target.Host, port)+c.Probe.Path)
	if err != nil {
		t.Fatal(err)
	}
	o := rpc.Options{HTTP: config.DefaultHTTPClientConfig, Dial: p.dial, RootCAs: p.ca.pool}
	if c.Target.Via == "http_proxy" {
		o.HTTP.ProxyURL = config.URL{URL: &url.URL{Scheme: "http", Host: "proxy.test:3128"}}
	}
	client, err := rpc.NewClient(u, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// question is what the case asks.
func (c corpusCase) question() probe.Question {
	q := probe.Question{Method: c.Probe.Method, Params: c.Probe.Params, Batch: c.Probe.Batch, HTTPMethod: c.Probe.HTTPMethod}
	if c.Family == "ws" {
		q.HTTPMethod = ""
	}
	_ = json.Unmarshal(c.Probe.ID, &q.ID) // an id that is no number: one of the client's own
	return q
}

// folded is an instance with one chain of one upstream, at the case's times.
type folded struct {
	inst  model.Instance
	begin time.Time
}

func newFolded(c corpusCase) *folded {
	set := model.DefaultSettings(model.EVM)
	set.Tries, set.Jitter = c.Tries, 0
	chain := &model.Chain{
		Name: "corpus", Interface: "jsonrpc", Family: model.EVM, Seed: 1, Settings: set,
		ExpectID: strings.Trim(string(c.Target.ExpectedChain), `"`), Upstreams: []model.Upstream{{Name: "up"}},
	}
	begin := time.Now()
	return &folded{begin: begin, inst: model.Begin(model.Instance{Name: "test", Policy: model.ReadyAll, Chains: []*model.Chain{chain}}, begin)}
}

func (w *folded) state() model.UpstreamState { return w.inst.Chains[0].Upstreams[0].State }

// probe is one probe of the chain at a time of the model: its tries are asked
// for real, one after another, and nobody waits between them.
func (w *folded) probe(t *testing.T, c corpusCase, target probe.Target, at time.Duration) model.Outcome {
	t.Helper()
	now := w.begin.Add(at)
	var best model.Outcome
	events, effects := w.inst.Decide(model.Command{At: now, Op: model.OpProbe, Who: "test"})
	w.inst.Apply(events...)
	for len(effects) > 0 {
		e := effects[0].(model.EffectTry)
		effects = effects[1:]
		if e.Probe == 0 {
			continue // a check, which the case does not ask for
		}
		o := askCase(t, c, target)
		if best.Kind == model.NoOutcome || o.Kind < best.Kind {
			best = o
		}
		done := model.TryDone{Probe: e.Probe, N: e.N, Stamp: e.Stamp, Started: e.Stamp.Add(e.Delay), Outcome: o}
		done.Ended = done.Started.Add(o.Took)
		events, more := w.inst.Decide(done)
		w.inst.Apply(events...)
		effects = append(effects, more...)
	}
	return best
}

func askCase(t *testing.T, c corpusCase, target probe.Target) model.Outcome {
	t.Helper()
	deadline := time.Duration(c.DeadlineMS) * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	begun := time.Now()
	o, err := probe.Ask(ctx, target, c.question())
	if err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	if took := time.Since(begun); took > deadline+250*time.Millisecond {
		t.Errorf("%s: took %v, deadline %v", c.ID, took, deadline)
	}
	t.Logf("%s %s at %s: %s %v", o.Kind, o.Reason, o.Evidence.Layer, o.Evidence, o.Findings.Words())
	return o
}

// score follows the corpus's README: what must not be, the outcome, then head,
// syncing, facts and findings.
func score(want expectation, w *folded, r *result) {
	got := r.got.String()
	switch {
	case slices.Contains(want.MustNot, got):
		r.forbidden = true
		r.wrong = append(r.wrong, "FORBIDDEN "+got)
		return
	case got == want.Outcome:
	case want.Confidence == "contested" && slices.Contains(want.AlsoAcceptable, got):
		return // another reading, of which the rest of the case says nothing
	default:
		r.wrong = append(r.wrong, fmt.Sprintf("%s, want %s", got, want.Outcome))
		return
	}
	if v := w.inst.Chains[0].Last.Verdict.String(); v != map[string]string{"result": "healthy", "answer": "inconclusive", "no_answer": "unreachable"}[got] {
		r.wrong = append(r.wrong, "verdict "+v)
	}
	s := w.state()
	if want.Head != nil && (!s.Facts.Head.Known() || s.Facts.Head.Value != *want.Head) {
		r.wrong = append(r.wrong, fmt.Sprintf("head %v, want %d", s.Facts.Head, *want.Head))
	}
	if want.Syncing != nil && (!s.Facts.Syncing.Known() || s.Facts.Syncing.Value != *want.Syncing) {
		r.wrong = append(r.wrong, fmt.Sprintf("syncing %v, want %v", s.Facts.Syncing, *want.Syncing))
	}
	r.wrong = append(r.wrong, scoreFacts(want, s.Facts)...)
	have, need := s.Findings.Words(), slices.Clone(want.Degraded)
	slices.Sort(have)
	slices.Sort(need)
	if !slices.Equal(have, need) {
		r.wrong = append(r.wrong, fmt.Sprintf("findings %v, want %v", have, need))
	}
}

// scoreFacts compares the facts that the model has a place for.
func scoreFacts(want expectation, f model.Facts) (wrong []string) {
	for name, v := range want.Facts {
		switch name {
		case "chain_id":
			if fmt.Sprint(v) != f.ChainID.Value {
				wrong = append(wrong, fmt.Sprintf("chain id %v, want %v", f.ChainID, v))
			}
		case "syncing":
			if v == "unknown" && f.Syncing.Known() {
				wrong = append(wrong, "a sync state was invented")
			}
		case "head":
			if v == "unknown" && f.Head.Known() {
				wrong = append(wrong, "a head was invented")
			}
		case "head_age_s":
			if age := f.Head.At.Sub(f.Block.Value.Time).Seconds(); age < v.(float64)-5 || age > v.(float64)+5 {
				wrong = append(wrong, fmt.Sprintf("head age %v s, want %v", age, v))
			}
		}
	}
	return wrong
}
