package ui

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/heap"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"chaintop/model"
)

// The log of P1: an instance of 1,000 chains with 4 upstreams each, and what
// happens to it in the two seconds after, a line of JSON each. The model's own rules
// made it, from the answers of nodes that are told below; -update makes it anew.
const (
	p1File     = "testdata/p1.jsonl.gz"
	p1Chains   = 1000
	p1Events   = 1600 // two seconds at 800 a second
	p1Warm     = 27 * time.Second
	p1MostSize = 300 << 10
)

// played is what a log is played from.
type played struct {
	inst   *model.Instance
	events []model.Event
}

// p1Log reads the log.
func p1Log(tb testing.TB) played {
	tb.Helper()
	f, err := os.Open(p1File)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var p played
	d := json.NewDecoder(bufio.NewReader(z))
	if err := d.Decode(&p.inst); err != nil {
		tb.Fatal(err)
	}
	for {
		var e model.Event
		if err := d.Decode(&e); err == io.EOF {
			return p
		} else if err != nil {
			tb.Fatal(err)
		}
		p.events = append(p.events, e)
	}
}

// nodes drives an instance through the model's rules: a clock, inputs to come,
// and nodes that answer.
type nodes struct {
	inst   model.Instance
	coming inputs
	n      int
	events []model.Event
}

// inputs is what is to come, the earliest first.
type inputs []input

type input struct {
	at time.Time
	n  int // order of those at one time
	in model.Input
}

func (h inputs) Len() int { return len(h) }
func (h inputs) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].n < h[j].n
}
func (h inputs) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *inputs) Push(x any)   { *h = append(*h, x.(input)) }
func (h *inputs) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// due lets a chain look at the clock when it wants to, on a whole millisecond: a
// log of finer times is not small.
func (w *nodes) due(chain int) {
	at := w.inst.Chains[chain].Due().Add(time.Millisecond - 1).Truncate(time.Millisecond)
	w.push(at, model.Due{At: at, Chain: chain})
}

func (w *nodes) push(at time.Time, in model.Input) {
	w.n++
	heap.Push(&w.coming, input{at, w.n, in})
}

// step takes the earliest input.
func (w *nodes) step() time.Time {
	next := heap.Pop(&w.coming).(input)
	chain := -1
	switch in := next.in.(type) {
	case model.Due:
		chain = in.Chain
	case model.TryDone:
		chain = in.Chain
	case model.Command, model.FactsDone, model.Missed, model.Live, model.Sums, model.Signal, model.DrainDue, model.Closed:
		panic("no such input was pushed")
	}
	events, effects := w.inst.Step(next.in)
	w.events = append(w.events, events...)
	for _, e := range effects {
		if try, ok := e.(model.EffectTry); ok {
			w.answer(try)
		}
	}
	if w.inst.Chains[chain].Due().After(next.at) {
		w.due(chain)
	}
	return next.at
}

// answer is what a node says to a try: one node in fifty refuses and all of
// every 25th chain, one stands still, the others have a new block every two seconds.
func (w *nodes) answer(e model.EffectTry) {
	took := time.Duration(20+(e.Chain*7+e.Upstream*13)%60) * time.Millisecond
	started := e.Stamp.Add(e.Delay)
	ended := started.Add(took)
	head := uint64(21_000_000+e.Chain) + uint64(ended.Sub(before(time.Hour))/(2*time.Second))
	out := model.Outcome{
		Kind: model.Result, Facts: model.Facts{Head: model.Say(head), ChainID: model.Say("1")}, Took: took, Asked: 1,
		Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200},
	}
	switch n := (e.Chain*4 + e.Upstream) % 50; {
	case n == 7 || e.Chain%25 == 3:
		out = model.Outcome{Kind: model.NoAnswer, Reason: model.ReasonRefused, Took: took, Asked: 1,
			Evidence: model.Evidence{Layer: model.LayerTCP, Text: evidence[model.ReasonRefused]}}
	case n == 23:
		out.Facts.Head = model.Say[uint64](21_000_000)
	}
	w.push(ended, model.TryDone{
		Chain: e.Chain, Upstream: e.Upstream, Probe: e.Probe, N: e.N, Stamp: e.Stamp, Started: started, Ended: ended, Outcome: out,
	})
}

// recordP1 makes the log.
func recordP1(tb testing.TB) []byte {
	tb.Helper()
	i := model.Instance{Name: "gw-7fe3", Version: "v0.4.0", Epoch: "p1", Policy: model.ReadyAll}
	for c := range p1Chains {
		chain := &model.Chain{Name: fmt.Sprintf("chain-%04d", c), Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM)}
		for u := range 4 {
			chain.Upstreams = append(chain.Upstreams, model.Upstream{Name: fmt.Sprintf("node-%d", u), Tier: model.Tier(u / 3)})
		}
		i.Chains = append(i.Chains, chain)
	}
	w := &nodes{inst: model.Begin(i, at)}
	for c := range w.inst.Chains {
		w.due(c)
	}
	for w.step().Before(at.Add(p1Warm)) {
	}
	picture, from := w.inst.Clone(), len(w.events)
	for i, c := range picture.Chains {
		own := *c
		own.Upstreams = slices.Clone(c.Upstreams)
		picture.Chains[i] = &own
	}
	picture.Recent = picture.Recent[max(0, len(picture.Recent)-32):]
	for _, c := range picture.Chains {
		// What a screen does not show, or will know again, keeps the log from being small.
		c.Seed, c.Checks.Due, c.State.Next.At = 0, c.Checks.Due.Truncate(time.Second), c.State.Next.At.Truncate(time.Second)
		for u := range c.Upstreams {
			c.Upstreams[u].Latency, c.Upstreams[u].Asked = model.Latency{}, model.Meter{}
		}
	}
	for len(w.events) < from+p1Events {
		w.step()
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		tb.Fatal(err)
	}
	out := json.NewEncoder(z)
	if err := out.Encode(picture); err != nil {
		tb.Fatal(err)
	}
	for _, e := range w.events[from : from+p1Events] {
		if err := out.Encode(e); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// The log is small, and it is one: folding it makes a picture that differs.
func TestP1Log(t *testing.T) {
	if u := flag.Lookup("update"); u != nil && u.Value.String() == "true" {
		if err := os.WriteFile(p1File, recordP1(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(p1File)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > p1MostSize {
		t.Errorf("%s has %d bytes", p1File, info.Size())
	}
	p := p1Log(t)
	if len(p.inst.Chains) != p1Chains || len(p.inst.Chains[0].Upstreams) != 4 || len(p.events) != p1Events {
		t.Fatalf("%d chains, %d events", len(p.inst.Chains), len(p.events))
	}
	kinds := map[model.EventKind]int{}
	for _, e := range p.events {
		kinds[e.Kind()]++
	}
	t.Log(kinds, p.events[len(p.events)-1].At.Sub(p.events[0].At))
	was := p.inst.Clone()
	p.inst.Apply(p.events...)
	changed := 0
	for i := range was.Chains {
		if was.Chains[i] != p.inst.Chains[i] {
			changed++
		}
	}
	if changed < 100 {
		t.Errorf("the log changes %d chains", changed)
	}
}
