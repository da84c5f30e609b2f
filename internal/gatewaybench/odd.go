//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// odd is a load on a pair whose primary is odd but well.
type odd struct {
	all       samples
	asked     int64 // calls of clients
	missed    int64 // of those, that the primary never saw: it was passed over
	elsewhere int64 // calls the backup saw: hedges, and what passed over the primary
}

// despite runs a load and counts who was asked what.
func (b *bench) despite(ctx context.Context, up *pair, l *load) (*odd, error) {
	from := lastID.Load() + 1
	before, err := up.b.counts(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	o := &odd{}
	if o.all, err = l.run(ctx); err != nil {
		return nil, err
	}
	to := lastID.Load() + 1
	a, errA := up.a.counts(ctx, from, to)
	other, errB := up.b.counts(ctx, from, to)
	o.asked = to - from
	o.missed, o.elsewhere = o.asked-a.Seen, other.Calls-before.Calls
	return o, errors.Join(errA, errB)
}

// slowBy is what the slow calls take longer.
const slowBy = 120 * time.Millisecond

// runSlow has a primary that takes its time over every third call. It is well:
// nothing is to be kept from it.
func runSlow(ctx context.Context, b *bench) error {
	var rows [][]string
	for _, rate := range []int{steadyRate, 1500} {
		up, t, err := b.scene(ctx)
		if err != nil {
			return err
		}
		// Its pace is known when it slows down. The hedges of a tenth are counted
		// over ten seconds: those of the warm-up are in them.
		l := load{addr: t.addr, rate: rate, last: b.spans.warm + b.spans.odd, fill: reads}
		slows := deferred(func() error { return errors.Join(nap(ctx, b.spans.warm), up.a.slow(ctx, slowBy)) })
		o, err := b.despite(ctx, up, &l)
		err = errors.Join(err, <-slows)
		if err != nil {
			return err
		}
		b.brood.end()
		share := float64(o.elsewhere) / float64(o.asked)
		name := fmt.Sprintf("slow on a third of its calls, %d req/s", rate)
		rows = append(rows, []string{
			fmt.Sprint(rate), fmt.Sprintf("%d of %d", o.all.failed(), len(o.all)), ms(o.all.quantile(0.5)) + " / " + ms(o.all.quantile(0.99)),
			fmt.Sprint(o.missed), fmt.Sprintf("%d (%.1f %%)", o.elsewhere, 100*share),
		})
		for _, fault := range o.all.faults() {
			b.say("%d req/s: %s", rate, fault)
		}
		b.hard(name+": requests kept from it", fmt.Sprint(o.missed), "0", o.missed == 0)
		b.hard(name+": hedges", fmt.Sprintf("%.1f %%", 100*share), "≤ 10 %", share <= 0.1)
	}
	b.say("Every third call takes %s longer, from one moment to the next.\n", ms(slowBy))
	b.table([]string{"req/s", "failed", "p50 / p99", "requests the primary never saw", "asked of the backup"}, rows)
	return nil
}

// runIdle has a primary that closes its idle connections every second.
func runIdle(ctx context.Context, b *bench) error {
	up, t, err := b.scene(ctx)
	if err != nil {
		return err
	}
	if err := up.a.closeIdle(ctx, time.Second); err != nil {
		return err
	}
	o, err := b.despite(ctx, up, &load{addr: t.addr, rate: 50, last: b.spans.odd, fill: reads})
	if err != nil {
		return err
	}
	silent, err := t.noAnswers(ctx, "a")
	if err != nil {
		return err
	}
	b.table([]string{"req/s", "failed", "requests the primary never saw", "asked of the backup", "no answers chaintop counted"}, [][]string{
		{"50", fmt.Sprintf("%d of %d", o.all.failed(), len(o.all)), fmt.Sprint(o.missed), fmt.Sprint(o.elsewhere), fmt.Sprint(silent)},
	})
	b.hard("closes idle connections: no answers counted", fmt.Sprint(silent), "0", silent == 0)
	b.hard("closes idle connections: failed", fmt.Sprint(o.all.failed()), "0", o.all.failed() == 0)
	b.hard("closes idle connections: requests kept from it, or asked of the backup", fmt.Sprint(o.missed+o.elsewhere), "0", o.missed+o.elsewhere == 0)
	return nil
}

// runWrites sends a write in four requests through a kill and through a hang.
func runWrites(ctx context.Context, b *bench) error {
	var rows [][]string
	for _, f := range []struct {
		name string
		fault
	}{{"kill -9", killed}, {"hang", stopped}} {
		up, t, err := b.scene(ctx)
		if err != nil {
			return err
		}
		isWrite := func(i int) bool { return i%4 == 0 }
		o, err := b.through(ctx, up, t, f.fault, func(i int, a *ask) {
			if isWrite(i) {
				a.single(methodWrite)
			} else {
				a.single(methodRead)
			}
		})
		if err != nil {
			return err
		}
		ids, err := up.written()
		if err != nil {
			return err
		}
		b.brood.end()
		twice := 0
		for _, n := range ids {
			if n > 1 {
				twice++
			}
		}
		var wrote, read samples
		for i, s := range o.all {
			if isWrite(i) {
				wrote = append(wrote, s)
			} else {
				read = append(read, s)
			}
		}
		rows = append(rows, []string{
			f.name, fmt.Sprintf("%d of %d", wrote.failed(), len(wrote)), ms(wrote.slowest()), fmt.Sprint(len(ids)), fmt.Sprint(twice),
			fmt.Sprintf("%d of %d", read.failed(), len(read)), ms(read.slowest()),
		})
		for _, fault := range wrote.faults() {
			b.say("%s, a write: %s", f.name, fault)
		}
		b.hard(f.name+": writes an upstream saw twice", fmt.Sprintf("%d of %d", twice, len(ids)), "0", twice == 0 && len(ids) > 0)
	}
	b.say("%d req/s, every fourth a write. A write that may have been sent fails rather than be asked twice.\n", steadyRate)
	b.table([]string{"fault", "writes failed", "slowest write", "writes the upstreams saw", "twice", "reads failed", "slowest read"}, rows)
	return nil
}
