package model

import (
	"strings"
	"testing"
	"time"
)

func refusedTry() Outcome {
	o := noAnswer(ReasonRefused)
	o.Evidence.Text = "connect: connection refused"
	return o
}

func (w *world) diagnose() Diagnosis {
	return Fleet{Now: w.now, Instances: []*Instance{&w.inst}}.Chain(0, 0)
}

// One row a sentence: what happened, and the five lines as they read then.
// FELT says what clients got where a gateway runs, and that none does elsewhere.
func TestFeltByClients(t *testing.T) {
	w := served(t)
	for _, tt := range []struct {
		name    string
		gateway bool
		traffic Traffic
		felt    Felt
		long    string
		short   string
	}{
		{"no gateway", false, Traffic{}, Felt{}, "clients: — (no gateway runs in this process)", "routing: a · readiness: it counts, and is fine"},
		{"nobody asked", true, Traffic{}, Felt{}, "clients: none has asked yet", "routing: a · readiness: it counts, and is fine"},
		{"nobody asks now", true, Traffic{Total: 412, Errors: 9, Last: w.now.Add(-47 * time.Second)}, Felt{},
			"clients: none asks since 47s ago, 9 of 412 failed", "no request since 47s ago · readiness: it counts, and is fine"},
		{"asked", true, Traffic{Total: 3660, Requests: 3660, Window: time.Minute, Failed: 702, Retried: 3}, Felt{Ended: w.now.Add(-5 * time.Second), Retried: 14, Slowest: 38 * time.Millisecond},
			"clients: 61 req/s, 702 failed and 3 retried in the last minute · trouble 5s ago: 0 failed, 14 retried, slowest 38ms",
			"702 of 3660 requests failed, 3 retried · readiness: it counts, and is fine"},
		{"with streams", true, Traffic{Total: 60, Requests: 60, Window: time.Minute, Streams: 9, Moves: 3, Filled: 12, Gaps: 1}, Felt{},
			"clients: 1.0 req/s, 0 failed and 0 retried in the last minute · 9 streams, 3 moves, 12 filled in, 1 gap",
			"0 of 60 requests failed, 0 retried · readiness: it counts, and is fine"},
	} {
		w.inst.Gateway = tt.gateway
		c := w.chain().clone()
		c.Traffic, c.Felt = tt.traffic, tt.felt
		w.inst.Chains[0] = c
		felt := w.diagnose().Felt
		if !strings.HasSuffix(felt.Long, tt.long) || felt.Short != tt.short {
			t.Errorf("%s:\n%s\n%s", tt.name, felt.Long, felt.Short)
		}
	}
}

func TestDiagnose(t *testing.T) {
	key := status(403, AccessDenied)
	key.Evidence.Text = "invalid key"
	old := head(100)
	old.Facts.Block = Say(Block{Number: 100, Time: epoch0.Add(-10 * time.Minute)})
	other := head(7)
	other.Facts.ChainID = Say("137")
	result := head(21034112)
	result.Evidence.Text = "head 21034112"
	syncing := head(80)
	syncing.Facts.Syncing = Say(true)
	own := Outcome{Kind: NoAnswer, Reason: ReasonOwnSide, Evidence: Evidence{Layer: LayerHTTP, HTTP: 407}}

	for _, tt := range []struct {
		name string
		us   []string
		do   func(w *world)
		want string // lines that must be there, as label: text
	}{
		{"not begun", []string{"a"}, func(*world) {}, `
			WHY nothing is known yet: its first probe has not begun
			WHOSE can't be told yet
			FELT routing: a · readiness: NOT READY, it counts
			NEXT now: the first one`},
		{"first probe", []string{"a"}, func(w *world) {
			w.in(Command{At: w.now, Op: OpProbe, Who: "ann"})
			w.answer(w.take(true), noAnswer(ReasonTimeout), 5*time.Second)
		}, `
			WHY nothing is known yet: probe #1 is at try 2 of 6: a after a pause; so far timeout ×1
			NEXT probe #1 is at try 2 of 6: a after a pause; so far timeout ×1, asked by ann
			DO wait for the probe · enter shows its tries`},
		{"nobody to ask", nil, func(w *world) { w.due() }, `
			WHY it has no upstream to ask
			WHOSE the config: no upstream is listed
			DO add an upstream to the config and restart`},
		{"healthy", []string{"a"}, func(w *world) { w.probe(result) }, `
			WHY a answered in 1.0ms: HTTP 200 · head 21034112
			WHOSE nobody's: nothing is wrong here
			FELT routing: a · readiness: it counts, and is fine
			NEXT in 5m00s: healthy, every 5m
			DO nothing · p probe now · enter opens it`},
		{"unreachable, never heard", []string{"a"}, func(w *world) { w.probe(n(refusedTry(), 6)...) }, `
			WHY no answer in 6 tries (1.3s): refused ×6 at tcp; no result ever
			WHOSE can't tell from one replica: its own path, or an outage all share
			FELT routing: a · readiness: NOT READY, it counts
			NEXT in 15s: unhealthy, every 15s
			DO p probe now · enter tries · start it, or check its port`},
		{"unreachable, heard before", []string{"a"}, func(w *world) {
			w.probe(result)
			w.now = w.now.Add(time.Minute)
			w.probe(n(refusedTry(), 6)...)
		}, `
			WHY no answer in 6 tries (1.3s): refused ×6 at tcp; last result 1m01s ago`},
		{"our own proxy", []string{"a"}, func(w *world) { w.probe(n(own, 6)...) }, `
			WHOSE our own side: a proxy of ours answers in the upstream's place
			DO p probe now · enter tries · check the proxy settings of this host`},
		{"the key", []string{"a"}, func(w *world) { w.probe(n(key, 6)...) }, `
			WHY no result in 6 tries (1.3s): 403 ×6. Health stays unknown
			WHOSE your key at a, or its allow-list; it answers, so it is not this path
			DO check the key and the allow-list at a · p probe now`},
		{"the quota", []string{"a"}, func(w *world) { w.probe(result); w.probe(limited(40 * time.Second)) }, `
			WHY no result in 1 try (1.0ms): 429 ×1. Health stays healthy
			WHOSE your quota at a; it answers, so it is not this path
			FELT routing: a, held, as the last resort · readiness: it counts, and is fine
			NEXT in 5m00s: healthy, every 5m · holds: a 40s
			DO wait 40s · raise the quota or add an upstream · p asks at once`},
		{"errors", []string{"a"}, func(w *world) { w.probe(n(status(500), 6)...) }, `
			WHOSE the upstream's trouble: it is reached and answers with errors, to every replica alike
			DO ask the upstream's owner, with its words · enter shows the tries · p probe now`},
		{"all held", []string{"a"}, func(w *world) { w.probe(limited(40 * time.Second)) }, `
			NEXT in 40s: all upstreams are held, the first hold ends then · holds: a 40s`},
		{"wrong chain", []string{"a", "b"}, func(w *world) { w.probe(result); w.round(other, head(7)) }, `
			WHY a says chain id 137, 1 is configured
			WHOSE the config: a is another chain's node, or chain_id is wrong
			FELT routing: b · readiness: it counts, and is fine
			DO check the address and the chain id of a`},
		{"one node syncs", []string{"a", "b"}, func(w *world) { w.probe(result); w.round(syncing, head(100)) }, `
			WHY a says it is syncing, 20 behind
			WHOSE that node: a; the chain gets its results
			DO look at a; routing takes it back by itself · enter shows it`},
		{"one node has no peers", []string{"a"}, func(w *world) {
			w.probe(result)
			alone := head(9)
			alone.Facts.Peers = Say(uint64(0))
			w.round(alone)
		}, `
			WHY a has no peers; its head is 9
			WHOSE that node: a; the chain gets its results
			DO nothing at once: a serves as before · enter shows it`},
		{"one node is behind", []string{"a", "b"}, func(w *world) { w.probe(result); w.round(head(90), head(100)) }, `
			WHY a is 10 behind the tip 100 (max 5)`},
		{"one node is gone", []string{"a", "b"}, func(w *world) {
			w.probe(result)
			for range 3 {
				w.round(refusedTry(), head(7))
			}
		}, `
			WHY a failed 3 checks in a row: connect: connection refused
			WHOSE that node: a; the chain gets its results`},
		{"halted", []string{"a", "b"}, func(w *world) { w.probe(result); w.round(old, old) }, `
			WHY 2 upstreams answer, their heads stand still: 100 for 10m01s
			WHOSE the chain itself: all 2 heads stand still
			DO nothing to do here: it is still served · tell its users`},
		{"one head stands still", []string{"a"}, func(w *world) { w.probe(result); w.round(old) }, `
			WHOSE the node or the chain: with one head to see it can't be told`},
		{"a check passed", []string{"a"}, func(w *world) {
			w.probe(n(refusedTry(), 6)...)
			w.chain().State.Next.Why = NextPassed
		}, `
			NEXT in 15s: a check passed, the chain is not healthy yet`},
		{"a client got nothing", []string{"a"}, func(w *world) { w.probe(result); w.in(Missed{At: w.now}) }, `
			NEXT in 15s: a client got no answer from any upstream`},
	} {
		c := testChain("x", primaries(tt.us...)...)
		c.ExpectID = "1"
		w := newWorld(t, c)
		tt.do(w)
		d := w.diagnose()
		lines := map[string]Sentence{"WHY": d.Why, "WHOSE": d.Whose, "FELT": d.Felt, "NEXT": d.Next, "DO": d.Do}
		for _, want := range strings.Split(strings.TrimSpace(tt.want), "\n") {
			label, text, _ := strings.Cut(strings.TrimSpace(want), " ")
			if got := lines[label].Short; got != text {
				t.Errorf("%s: %s\n got %q\nwant %q", tt.name, label, got, text)
			}
		}
		for label, s := range lines {
			if s.ID == "" || s.Long == "" || s.Short == "" || len([]rune(s.Short)) > len([]rune(s.Long)) {
				t.Errorf("%s: %s is not whole: %+v", tt.name, label, s)
			}
		}
	}
}

func TestDiagnoseSaysHowManyOthersAreReached(t *testing.T) {
	w := newWorld(t, testChain("x", primaries("a")...), testChain("y", primaries("b")...), testChain("z", primaries("c")...))
	w.in(Command{At: w.now, Op: OpProbe, Chains: []int{1}})
	w.answer(w.take(true), head(1), time.Millisecond)
	w.probe(n(refusedTry(), 6)...)
	if got := w.diagnose().Whose.Long; !strings.HasSuffix(got, "1 other chain reached from here") {
		t.Errorf("%q", got)
	}
	if all := Diagnose(Fleet{Now: w.now, Instances: []*Instance{&w.inst}}); len(all) != 3 || all[0] != w.diagnose() {
		t.Errorf("Diagnose says otherwise than Chain")
	}
}

func TestWhyNamesWhatIsNotAsMeant(t *testing.T) {
	syncing := head(80)
	syncing.Facts.Syncing = Say(true)
	for _, tt := range []struct {
		name  string
		do    func(w *world)
		want  Why
		class Class
	}{
		{"nothing", func(w *world) { w.probe(head(1)); w.round(head(1), head(1)) }, Why{Upstream: -1}, ClassHealthy},
		{"unknown", func(*world) {}, Why{Upstream: -1}, ClassUnknown},
		{"silence", func(w *world) { w.probe(append(n(noAnswer(ReasonRefused), 5), noAnswer(ReasonTimeout))...) },
			Why{Reasons: []ReasonCount{{"refused", 5}, {"timeout", 1}}, Upstream: -1}, ClassUnhealthyCounts},
		{"syncing", func(w *world) { w.probe(head(1)); w.round(syncing, head(100)) },
			Why{Sign: SignWarn, Word: "syncing", Finding: Syncing, Detail: "lag 20", Upstream: 0}, ClassBackup},
		{"held", func(w *world) { w.probe(limited(40*time.Second), head(1)) },
			Why{Sign: SignHeld, Word: "held", Detail: "40s", Upstream: 0}, ClassInconclusive},
		{"limited", func(w *world) { w.probe(head(1)); w.probe(limited(40*time.Second), limited(50*time.Second)) },
			Why{Reasons: []ReasonCount{{"429", 2}}, Sign: SignHeld, Word: "held", Detail: "40s", Upstream: 0}, ClassInconclusive},
		{"gone", func(w *world) {
			w.probe(head(1))
			for range 3 {
				w.round(head(7), noAnswer(ReasonRefused))
			}
		}, Why{Sign: SignUnhealthy, Word: "unhealthy", Detail: "refused", Upstream: 1}, ClassBackup},
	} {
		w := newWorld(t, testChain("x", primaries("a", "b")...))
		tt.do(w)
		got := WhyOf(w.chain(), w.now)
		if got.Sign != tt.want.Sign || got.Word != tt.want.Word || got.Detail != tt.want.Detail ||
			got.Upstream != tt.want.Upstream || counted(got.Reasons, "×", " ") != counted(tt.want.Reasons, "×", " ") {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
		if class := ClassOf(w.chain(), ReadyAll, w.now); class != tt.class {
			t.Errorf("%s: class %d, want %d", tt.name, class, tt.class)
		}
	}
}

func TestDescribe(t *testing.T) {
	w := newWorld(t, testChain("base", primaries("llama", "base")...))
	w.probe(head(5))
	w.probe(limited(40*time.Second), status(503, Gateway), status(503, Gateway), status(503, Gateway), status(503, Gateway), status(503, Gateway))
	w.in(Missed{At: w.now})
	for w.chain().Upstreams[1].State.Health != Unhealthy {
		w.round(noAnswer(ReasonRefused))
	}
	var got []string
	for _, e := range w.events {
		if l, ok := Describe(&w.inst, e); ok {
			got = append(got, strings.TrimSpace(l.Subject+" | "+l.What+" | "+l.Detail))
		} else if !e.Reading() && e.Kind() != "probe_started" && e.Kind() != "try_ended" {
			t.Errorf("a change without a line: %s", e.Kind())
		}
	}
	want := `gw | started | v1 · epoch e1 · 1 chain
oncall | probe | base/jsonrpc → accepted: probe #1
base/jsonrpc | healthy | #1 manual: llama: HTTP 200 in 1.0ms · 1 try 1.0ms · by oncall · next in 5m00s
base/jsonrpc | healthy | ◌ unknown → ● healthy
gw | READY | ✖ NOT READY → ● READY · base/jsonrpc healthy
oncall | probe | base/jsonrpc → accepted: probe #2
base/llama | held 40s | 429, Retry-After 40s
base/llama | rate_limited |
base/jsonrpc | base | serves, was llama
base | gateway |
base/jsonrpc | base | last resort, was base: no upstream is fit
base/jsonrpc | inconclusive | #2 manual: 503×5 429×1 at http · 6 tries 1.0s · health stays healthy · by oncall · next in 5m00s
base/jsonrpc | next probe in 15s | a client got no answer from any upstream
base/jsonrpc | llama held | all are held, its hold ends first
base | unhealthy | ◌ unknown → ✖ unhealthy · 3 failed checks in a row: refused`
	if strings.Join(got, "\n") != want {
		t.Errorf("the lines:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
	}
}

func TestHeard(t *testing.T) {
	c := testChain("x", primaries("a")...)
	c.Settings.CheckInterval = time.Hour
	w := newWorld(t, c)
	w.probe(head(1))
	if h := w.chain().State.Heard; h.By != HeardProbe || !h.At.Equal(w.now) {
		t.Errorf("a probe's result: %+v", h)
	}
	client := w.now.Add(4 * time.Minute)
	w.now = w.chain().State.Next.At
	w.in(Due{At: w.now, Heard: client})
	if h := w.chain().State.Heard; h.By != HeardClient || !h.At.Equal(client) {
		t.Errorf("a client's result: %+v", h)
	}
	w.probe(n(noAnswer(ReasonRefused), 6)...)
	if h := w.chain().State.Heard; !h.At.Equal(client) {
		t.Errorf("silence is not heard: %+v", h)
	}
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Age(0), "0s"}, {Age(-time.Hour), "0s"}, {Age(59 * time.Second), "59s"}, {Age(188 * time.Second), "3m08s"},
		{Age(134 * time.Minute), "2h14m"}, {Age(76 * time.Hour), "3d04h"},
		{Countdown(epoch0.Add(1500*time.Millisecond), epoch0), "2s"}, {Countdown(epoch0, epoch0), "0s"},
		{Countdown(epoch0.Add(time.Nanosecond), epoch0), "1s"}, {Countdown(epoch0, epoch0.Add(time.Minute)), "0s"},
		{Took(400 * time.Microsecond), "0.4ms"}, {Took(42 * time.Millisecond), "42ms"}, {Took(5 * time.Second), "5.0s"},
		{Every(5 * time.Minute), "5m"}, {Every(15 * time.Second), "15s"}, {Every(90 * time.Second), "1m30s"}, {Every(time.Hour), "1h"},
		{Height(21034112), "21 034 112"}, {Height(0), "0"}, {Height(999), "999"}, {Height(1000), "1 000"}, {Height(1<<64 - 1), "18 446 744 073 709 551 615"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestMeterCountsWholeMinutes(t *testing.T) {
	var m Meter
	if _, ok := m.PerMinute(epoch0); ok {
		t.Error("an empty meter has a rate")
	}
	m.add(epoch0.Add(10*time.Second), 3)
	if _, ok := m.PerMinute(epoch0.Add(30 * time.Second)); ok {
		t.Error("a rate before a whole minute")
	}
	m.add(epoch0.Add(70*time.Second), 5)
	if n, ok := m.PerMinute(epoch0.Add(80 * time.Second)); !ok || n != 3 {
		t.Errorf("%d %v, want 3", n, ok)
	}
	if n, _ := m.PerMinute(epoch0.Add(130 * time.Second)); n != 5 {
		t.Errorf("%d, want 5", n)
	}
	if n, ok := m.PerMinute(epoch0.Add(10 * time.Minute)); n != 0 || !ok {
		t.Errorf("long quiet: %d %v, want 0", n, ok)
	}
}

func TestLatencyQuantiles(t *testing.T) {
	var l Latency
	if _, ok := l.Quantile(0.5); ok {
		t.Error("an empty window has a median")
	}
	for i := range 200 {
		l.add(time.Duration(i) * time.Millisecond)
	}
	if d, _ := l.Quantile(0.5); len(l.Samples) != latencySamples || d < 166*time.Millisecond || d > 169*time.Millisecond {
		t.Errorf("%d samples, median %v", len(l.Samples), d)
	}
}
