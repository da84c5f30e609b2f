package ops

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/model"
)

// A log that was longer than it holds has lost its beginning: what is left is
// counted once, what the picture already shows is not, and it says so.
func TestGapIsCountedAndNotMadeUp(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	r.round(0, head(1))
	s := New(r.options())
	synctest.Test(t, func(t *testing.T) {
		// Of the bubble, so that it is known when Run has read all there is.
		r.log = shortened(r)
		s.source = r.log
		done := make(chan error, 1)
		go func() { done <- s.Run(t.Context()) }()
		synctest.Wait()
		if n := s.counts.lost(); n != 1 {
			t.Errorf("%d gaps, want 1", n)
		}
		r.probe(0, head(2)) // its reading shows the check from before the gap again
		r.round(0, head(2))
		r.round(0, silence(model.ReasonEOF))
		r.log.Close()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	got := scraped(t, s)
	for outcome, want := range map[string]float64{"result": 1, "no_answer": 1, "answer": 0} {
		if v, _ := got.value("upstream_tries_total", "by", "check", "outcome", outcome); v != want {
			t.Errorf("%s: %v checks, want %v: those after the gap", outcome, v, want)
		}
	}
	if v, _ := got.value("metrics_gaps_total"); v != 1 {
		t.Errorf("metrics_gaps_total is %v", v)
	}
}

// shortened is the rig's log when it has lost its beginning.
func shortened(r *rig) *feed.Log {
	log := feed.NewLog(&model.Instance{Epoch: r.inst.Epoch})
	for range 9000 {
		log.Append(r.inst.Clone(), []model.Event{{At: r.now, Chain: -1, Body: model.TrafficRead{}}})
	}
	return log
}

// What is counted again after a gap in the same start goes on; another start
// begins at 0.
func TestAnotherEpochCountsFromZero(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	r.probe(0, head(1))
	s := r.counted()
	s.counts.skip(r.pic.Load())
	if n := s.counts.chain(0).probes[model.VerdictHealthy]; n != 1 {
		t.Errorf("after a gap: %d probes, want 1", n)
	}
	again := r.pic.Load().Clone()
	again.Epoch = "e2"
	s.counts.skip(again)
	if n := s.counts.chain(0).probes[model.VerdictHealthy]; n != 0 {
		t.Errorf("after another start: %d probes, want 0", n)
	}
}

// V1: a try that was abandoned has no outcome and moves no count of them; what
// it sent was sent.
func TestAbandonedTryIsNoTry(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	r.publish(model.Event{At: r.now, Chain: 0, Body: model.TryEnded{Probe: 1, Try: model.Try{N: 1}, Asked: 2}})
	u := r.counted().counts.chain(0).upstreams[0]
	if want := (upstreamCounts{asked: 2}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a")...))
	for _, source := range []feed.Source{r.log, nil} {
		s := New(r.options())
		s.source = source
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	}
}

// prober gives the outcomes of a node that answers two questions of three.
type prober struct{ asked, results atomic.Int64 }

func (p *prober) Try(_ context.Context, _, _ int) (model.Outcome, error) {
	time.Sleep(30 * time.Millisecond) // in a bubble
	if p.asked.Add(1)%3 == 0 {
		return silence(model.ReasonReset), nil
	}
	p.results.Add(1)
	o := head(1)
	o.Took = 30 * time.Millisecond
	return o, nil
}

func (*prober) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	return model.Told{Asked: 2}, nil
}

// Every try of a real core is counted once, while scrapes go on beside it.
func TestEveryTryIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{}
		c, err := core.New(core.Options{
			Prober:   p,
			Instance: model.Instance{Name: "gw", Epoch: "e1", Policy: model.ReadyAll, Chains: []*model.Chain{chainOn("c", primaries("a", "b")...)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := New(Options{Picture: c.Picture, Source: c.Log(), Now: c.Now})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = c.Run(ctx) }) // ends by ctx
		counted := make(chan error, 1)
		go func() { counted <- s.Run(context.Background()) }()
		for range 40 {
			time.Sleep(3 * time.Second)
			ask(s, "GET", "/metrics")
		}
		time.Sleep(time.Second) // nothing is in the air
		cancel()
		all.Wait()
		if err := <-counted; err != nil {
			t.Errorf("Run: %v", err)
		}
		var results, silences, samples uint64
		for _, u := range s.counts.chain(0).upstreams {
			for by := range askers {
				results += u.tries[by][model.Result]
				silences += u.tries[by][model.NoAnswer]
			}
			for _, n := range u.latency {
				samples += n
			}
		}
		asked, got := uint64(p.asked.Load()), uint64(p.results.Load())
		if asked < 40 || results != got || silences != asked-got || samples != got {
			t.Errorf("%d results, %d without an answer and %d latencies of %d tries, %d of them results", results, silences, samples, asked, got)
		}
	})
}

// Each reason of the model has a label of its own; none is a stranger's text.
func TestReasonsAreTheModels(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../model/outcome.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []model.Reason
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if typ, is := spec.Type.(*ast.Ident); ok && is && typ.Name == "Reason" {
			word, _ := strconv.Unquote(lit.Value)
			all = append(all, model.Reason(word))
		}
		return true
	})
	if len(all) < 20 {
		t.Fatalf("found %d reasons: this checks nothing", len(all))
	}
	for _, r := range all {
		if !slices.Contains(answers[:], r) && !slices.Contains(silent[:], r) {
			t.Errorf("the reason %s has no label", r)
		}
	}
}
