package feed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func manyTokens() []Token {
	var ts []Token
	for i := range 32 {
		ts = append(ts, Token{Name: fmt.Sprint("wall", i), Role: RoleViewer, Secret: fmt.Sprint("ct_", i)})
	}
	return ts
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// beat appends events at a pace until it is stopped; those a busy machine kept
// from their time come late, but come.
func (p *plant) beat(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	start := time.Now()
	for n := 0; ; {
		select {
		case <-tick.C:
			for ; n < int(time.Since(start)/every); n++ {
				p.reading(n)
			}
		case <-ctx.Done():
			return
		}
	}
}

// After a restart everybody comes back at once and needs all of a picture of a
// thousand chains: it is encoded once, and all are live within ten seconds.
func TestThousandViewersComeBackAfterARestart(t *testing.T) {
	if testing.Short() || raceOn {
		t.Skip("moves 6 GB over loopback")
	}
	const viewers = 1000
	p := newPlant("e2", 1000, 4)
	for n := range 4000 {
		p.reading(n)
		p.mu.Lock()
		for u := range p.inst.Chains[n%1000].Upstreams { // full windows, as after a while
			p.inst.Chains[n%1000].Upstreams[u].Latency.Samples = make([]time.Duration, 64)
		}
		p.mu.Unlock()
	}
	p.log.Append(p.inst.Clone(), nil)
	l := listen(t)
	h := newHouse(t, l, p, func(o *ServerOptions) { o.Tokens = manyTokens })
	ctx, cancel := context.WithCancel(context.Background())
	var bg sync.WaitGroup
	bg.Go(func() { p.beat(ctx, 10*time.Millisecond) })
	var crowd sync.WaitGroup
	var failed atomic.Value
	start := time.Now()
	for n := range viewers {
		crowd.Go(func() {
			k, err := skim(ctx, l.Addr().String(), fmt.Sprint("ct_", n%32), &place{Epoch: "e1", Seq: 77})
			if err == nil {
				defer k.s.close()
				err = k.toLive()
			}
			if err != nil {
				failed.Store(fmt.Errorf("viewer %d: %w", n, err))
			}
		})
	}
	crowd.Wait()
	took := time.Since(start)
	cancel()
	bg.Wait()
	shut, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	h.shut(shut)
	if err := failed.Load(); err != nil {
		t.Error(err)
	}
	encoded := h.feed.snapshots.encoded.Load()
	t.Logf("all live after %v; a picture of %d KiB encoded %d times", took, len(p.picture())>>10, encoded)
	if took > 30*time.Second { // 10 s is the bar of two idle cores; a busy machine is given three times that
		t.Errorf("all live after %v", took)
	}
	// One for all who need it within a second of it; they all do when they come
	// at once, but on a busy machine the last may come later.
	if most := uint64(1 + took/snapshotFor); encoded > most {
		t.Errorf("%d pictures were encoded in %v", encoded, took)
	}
}

// A reader that stopped must cost the others nothing (R4): their slowest
// hundredth is compared with that of a run without such, medians of three.
func TestStoppedReadersDelayNobody(t *testing.T) {
	if testing.Short() || raceOn {
		t.Skip("compares times")
	}
	var alone, beside []int64
	for range 3 {
		alone, beside = append(alone, slowest(t, 0)), append(beside, slowest(t, 2))
	}
	slices.Sort(alone)
	slices.Sort(beside)
	t.Logf("p99 %v ms, beside stopped readers %v ms", alone, beside)
	if beside[1] > 2*alone[1]+50 {
		t.Errorf("p99 %d ms without, %d ms beside stopped readers", alone[1], beside[1])
	}
}

// slowest is the p99, in milliseconds, of two hundred viewers at 500 events a
// second, some of which stop reading.
func slowest(t *testing.T, stopped int) int64 {
	t.Helper()
	const viewers = 200
	p := newPlant("e1", 20, 4)
	l := listen(t)
	h := newHouse(t, l, p, func(o *ServerOptions) { o.Tokens = manyTokens })
	ctx, cancel := context.WithCancel(context.Background())
	var d delays
	var crowd sync.WaitGroup
	var all []*skimmer
	for n := range viewers {
		k, err := skim(ctx, l.Addr().String(), fmt.Sprint("ct_", n%32), nil)
		if err == nil {
			err = k.toLive()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
		if n >= stopped {
			crowd.Go(func() {
				if err := k.follow(&d); ctx.Err() == nil {
					t.Error(err)
				}
			})
		}
	}
	pace, stop := context.WithTimeout(ctx, 1500*time.Millisecond)
	p.beat(pace, 2*time.Millisecond) // stopped readers fill up soon
	stop()
	cancel()
	shut, done := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer done()
	h.shut(shut)
	for _, k := range all {
		k.s.close()
	}
	crowd.Wait()
	if d.total.Load() < 500*int64(viewers-stopped) {
		t.Fatalf("%d events were seen: this measures nothing", d.total.Load())
	}
	return d.quantile(0.99)
}

// BenchmarkViewers is P5: a thousand viewers, in a process of their own, of one
// instance at a hundred events a second.
func BenchmarkViewers(b *testing.B) {
	const viewers = 1000
	p := newPlant("e1", 25, 4)
	l := listen(b)
	feed, err := NewServer(ServerOptions{Log: p.log, Tokens: manyTokens, Loopback: true})
	if err != nil {
		b.Fatal(err)
	}
	h := &house{t: b, l: l, feed: feed, done: make(chan error, 1)}
	h.srv = newHTTP(feed)
	go func() { h.done <- h.srv.Serve(l) }()
	before := inUse()
	child := exec.Command(os.Args[0], "-test.run=^TestViewersOfTheBenchmark$", "-test.count=1")
	child.Env = append(os.Environ(), "CHAINTOP_VIEWERS="+l.Addr().String())
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "live" {
	}
	each := float64(inUse()-before) / viewers
	cpu := cpuTime()
	wall := time.Now()
	for b.Loop() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		p.beat(ctx, 10*time.Millisecond)
		stop()
	}
	share := float64(cpuTime()-cpu) / float64(time.Since(wall))
	end := max(each, float64(inUse()-before)/viewers)
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	h.shut(ctx)
	var seen struct{ P50, P99, Events int64 }
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "seen "); ok {
			if err := json.Unmarshal([]byte(text), &seen); err != nil {
				b.Error(err)
			}
		}
	}
	if err := child.Wait(); err != nil {
		b.Error(err)
	}
	if seen.Events < viewers*100 {
		b.Errorf("%d events were seen", seen.Events)
	}
	b.ReportMetric(float64(seen.P50), "p50-ms")
	b.ReportMetric(float64(seen.P99), "p99-ms")
	b.ReportMetric(end/1024, "KiB/viewer")
	b.ReportMetric(100*share, "%core")
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// TestViewersOfTheBenchmark is the other process of BenchmarkViewers.
func TestViewersOfTheBenchmark(t *testing.T) {
	addr := os.Getenv("CHAINTOP_VIEWERS")
	if addr == "" {
		t.Skip("started by BenchmarkViewers")
	}
	var d delays
	var crowd, coming sync.WaitGroup
	var failed atomic.Value
	for n := range 1000 {
		coming.Add(1)
		crowd.Go(func() {
			k, err := skim(context.Background(), addr, fmt.Sprint("ct_", n%32), nil)
			if err == nil {
				defer k.s.close()
				err = k.toLive()
			}
			coming.Done()
			if err == nil {
				if err = k.follow(&d); errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "close 4001") {
					err = nil
				}
			}
			if err != nil {
				failed.Store(err)
			}
		})
	}
	coming.Wait()
	fmt.Println("live")
	crowd.Wait()
	text, _ := json.Marshal(map[string]int64{"P50": d.quantile(0.5), "P99": d.quantile(0.99), "Events": d.total.Load()})
	fmt.Printf("seen %s\n", text)
	if err := failed.Load(); err != nil {
		t.Error(err)
	}
}

// On a real socket too a reader that stopped at P5's pace is told so when it
// reads again: the goodbye was sent while there was room for it.
func TestStoppedReaderFindsItsGoodbyeOnARealSocket(t *testing.T) {
	if testing.Short() || raceOn {
		t.Skip("takes the write deadline of a real socket")
	}
	p := newPlant("e1", 20, 4)
	l := listen(t)
	h := newHouse(t, l, p, func(o *ServerOptions) { o.Tokens = manyTokens })
	k, err := skim(t.Context(), l.Addr().String(), "ct_0", nil)
	if err == nil {
		err = k.toLive()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer k.s.close()
	pace, stop := context.WithTimeout(t.Context(), flowWait+writeWithin+2*time.Second)
	p.beat(pace, 10*time.Millisecond)
	stop()
	if _, err := (raw{k.s}).end(); fmt.Sprint(err) != fmt.Sprint(&closedError{CloseSlow}) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	h.shut(ctx)
}
