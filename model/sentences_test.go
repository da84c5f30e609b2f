package model

import (
	"os"
	"regexp"
	"testing"
	"time"
)

// The sentences are a closed set: each that the code can say is said here once,
// and reads as a sentence for the state that asks for it.
func TestEverySentenceIsSaid(t *testing.T) {
	said := map[string]bool{}
	look := func(w *world) {
		d := w.diagnose()
		for _, s := range []Sentence{d.Why, d.Whose, d.Felt, d.Next, d.Do} {
			if s.Long == "" || s.Short == "" {
				t.Errorf("%s says nothing: %+v", s.ID, s)
			}
			said[s.ID] = true
		}
	}
	one := func(do func(w *world)) {
		w := newWorld(t, testChain("x", primaries("a", "b")...))
		do(w)
		look(w)
	}
	refused := func(w *world) { w.probe(n(refusedTry(), 6)...) }
	fine := func(w *world) { w.probe(head(5)) }

	one(func(*world) {})
	one(func(w *world) { w.in(Command{At: w.now, Op: OpProbe}) })
	w := newWorld(t, testChain("none"))
	w.due()
	look(w)
	one(fine)
	one(refused)
	one(func(w *world) {
		w.probe(n(Outcome{Kind: NoAnswer, Reason: ReasonOwnSide, Evidence: Evidence{HTTP: 407}}, 6)...)
	})
	one(func(w *world) { w.probe(n(status(500), 6)...) })
	one(func(w *world) {
		w.chain().Settings.Recovers = RecoversAll
		w.probe(n(status(500), 6)...)
		w.chain().State.Verdict = VerdictHealthy
	})
	for _, why := range []NextWhy{NextFirst, NextInterval, NextHeard, NextSoon, NextHeld, NextPassed, NextAllFailed} {
		one(func(w *world) { fine(w); w.chain().State.Next.Why = why })
	}
	for _, why := range []RouteWhy{RouteFit, RoutePinned, RouteBackup, RouteLast, RouteHeld, RouteNone} {
		one(func(w *world) { fine(w); w.chain().Serving.Why = why })
	}
	for f := range findingCount {
		one(func(w *world) {
			fine(w)
			w.chain().Upstreams[0].State.Findings = FindingSet(f)
		})
	}
	one(func(w *world) { fine(w); w.chain().Upstreams[0].State.Record = Record{Health: Unhealthy, Streak: 3} })
	one(func(w *world) { w.probe(limited(time.Minute), head(4)) })
	one(func(w *world) {
		fine(w)
		w.live(Live{Run: 3, Reason: ReasonStalled})
	})
	for _, heads := range []int{1, 2} {
		one(func(w *world) {
			fine(w)
			for i := range heads {
				w.chain().Upstreams[i].State.Findings = FindingSet(StaleHead)
			}
			w.chain().State.Halted = w.now.Add(-time.Minute)
		})
	}

	for _, r := range drainSayings() {
		d := DiagnoseDrain(&Instance{Name: "gw", Gateway: !r.alone, Drain: r.drain}, epoch0.Add(r.at))
		for _, s := range []Sentence{d.Why, d.Whose, d.Felt, d.Next, d.Do} {
			said[s.ID] = true
		}
	}

	for id := range sentencesInCode(t) {
		if !said[id] {
			t.Errorf("%s is never said", id)
		}
		delete(said, id)
	}
	for id := range said {
		t.Errorf("%s is said, and the code does not list it", id)
	}
}

// sentencesInCode are the ids that stand in the code.
func sentencesInCode(t *testing.T) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	whole := regexp.MustCompile(`"((?:why|whose|felt|next|do)\.[a-z_]+)"`)
	ofUpstream := regexp.MustCompile(`say\("([a-z_]+)"`)
	for _, file := range []string{"diagnose.go", "whose.go", "drain_diagnose.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range whole.FindAllSubmatch(code, -1) {
			ids[string(m[1])] = true
		}
		for _, m := range ofUpstream.FindAllSubmatch(code, -1) {
			ids["why."+string(m[1])] = true
		}
	}
	for _, why := range []NextWhy{NextFirst, NextInterval, NextHeard, NextSoon, NextHeld, NextPassed, NextAllFailed} {
		ids["next."+string(why)] = true
	}
	for _, why := range []RouteWhy{RouteFit, RoutePinned, RouteBackup, RouteLast, RouteHeld, RouteNone} {
		ids["felt."+string(why)] = true
	}
	return ids
}
