package ui

import (
	"context"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/feed"
	"chaintop/model"
)

// p1Rate is P1's pace.
const p1Rate = 800 // events a second

// paced hands a log out at a pace in real time, shifted so that it begins now.
type paced struct {
	log   played
	start time.Time
	shift time.Duration
}

func (p *paced) Snapshot(context.Context) (*model.Instance, feed.Cursor, error) {
	return p.log.inst, feed.Cursor{}, nil
}

// comes is when event n is in the log.
func (p *paced) comes(n int) time.Time {
	return p.start.Add(time.Duration(n) * time.Second / p1Rate)
}

func (p *paced) After(ctx context.Context, at feed.Cursor) ([]model.Event, feed.Cursor, error) {
	from := int(at.Seq)
	if from == len(p.log.events) {
		return nil, at, feed.ErrClosed
	}
	pause(ctx, time.Until(p.comes(from)))
	if ctx.Err() != nil {
		return nil, at, ctx.Err()
	}
	to := from + 1
	for to < len(p.log.events) && !p.comes(to).After(time.Now()) {
		to++
	}
	batch := slices.Clone(p.log.events[from:to])
	for i := range batch {
		batch[i].At = batch[i].At.Add(p.shift)
	}
	at.Seq = uint64(to)
	return batch, at, nil
}

// framed is the screen, and notes when the frame with an event in it was there.
type framed struct {
	*Model
	source *paced
	folded int
	drawn  int
	waits  []time.Duration
	ended  chan struct{}
}

func (f *framed) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := f.Model.Update(msg)
	switch msg := msg.(type) {
	case changedMsg:
		f.folded += len(msg.events)
	case endedMsg:
		close(f.ended)
	}
	return f, cmd
}

func (f *framed) View() tea.View {
	v := f.Model.View()
	now := time.Now()
	for ; f.drawn < f.folded; f.drawn++ {
		f.waits = append(f.waits, now.Sub(f.source.comes(f.drawn)))
	}
	return v
}

// replayP1 plays the log once through the whole program, renderer and all, and
// returns how long each event waited for its frame, sorted, and how much of one
// processor it took.
func replayP1(tb testing.TB, log played) ([]time.Duration, float64) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src := &paced{log: log, start: time.Now().Add(300 * time.Millisecond)}
	src.shift = src.start.Sub(log.events[0].At)
	m := New(Options{Source: src, Mode: "local"})
	m.ctx = ctx
	f := &framed{Model: m, source: src, ended: make(chan struct{})}
	p := tea.NewProgram(f, tea.WithContext(ctx), tea.WithFPS(fps), tea.WithInput(nil), tea.WithOutput(io.Discard),
		tea.WithWindowSize(140, 45), tea.WithoutSignalHandler())
	var g sync.WaitGroup
	g.Go(func() {
		p.Send(tea.WindowSizeMsg{Width: 140, Height: 45})
		follow(ctx, src, p.Send)
	})
	g.Go(func() {
		select {
		case <-f.ended:
		case <-ctx.Done():
		}
		p.Quit()
	})
	cpu, wall := processorTime(tb), time.Now()
	if _, err := p.Run(); err != nil {
		tb.Fatal(err)
	}
	share := float64(processorTime(tb)-cpu) / float64(time.Since(wall))
	cancel()
	g.Wait()
	if len(f.waits) != len(log.events) {
		tb.Fatalf("%d of %d events got a frame", len(f.waits), len(log.events))
	}
	slices.Sort(f.waits)
	return f.waits, share
}

func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func quantileOf(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))]
}

// BenchmarkP1 is P1: 1,000 chains with 4 upstreams each at 800 events a second,
// from an event in the log to the frame that has it. To that a terminal adds the
// renderer's next turn, at most a 30th of a second.
func BenchmarkP1(b *testing.B) {
	log := p1Log(b)
	var p50, p99, cpu float64
	n := 0
	for b.Loop() {
		again := played{log.inst.Clone(), log.events}
		waits, share := replayP1(b, again)
		p50 += quantileOf(waits, 0.5).Seconds() * 1000
		p99 += quantileOf(waits, 0.99).Seconds() * 1000
		cpu += share * 100
		n++
	}
	b.ReportMetric(p50/float64(n), "p50-ms")
	b.ReportMetric(p99/float64(n), "p99-ms")
	b.ReportMetric(cpu/float64(n), "cpu-%")
}
