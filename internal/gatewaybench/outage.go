//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// outage is a load through a fault of the primary.
type outage struct {
	before time.Duration // how long it goes on before; what is compared with
	begins time.Duration // when the fault begins, since the start of the load
	ends   time.Duration // when it was over
	all    samples
	beside samples // a request every 50 ms, beside the load
}

// calm is what came before the fault.
func (o *outage) calm() samples { return o.all.between(0, o.before) }

// told are the requests that count: those from shortly before the fault on.
func (o *outage) told() samples { return o.all.between(o.before, time.Hour) }

// fault is what is done to the primary, and how it is undone.
type fault struct{ begin, end func(*upstream) error }

var (
	killed = fault{
		begin: func(u *upstream) error { u.kill(); return nil },
		end:   func(u *upstream) error { return u.begin() },
	}
	stopped = fault{
		begin: func(u *upstream) error { return u.signal(syscall.SIGSTOP) },
		end:   func(u *upstream) error { return u.signal(syscall.SIGCONT) },
	}
)

// through runs a load of the given requests through a fault.
func (b *bench) through(ctx context.Context, up *pair, t target, f fault, fill func(int, *ask)) (*outage, error) {
	warm := load{addr: t.addr, rate: steadyRate, last: b.spans.warm, fill: fill}
	if _, err := warm.run(ctx); err != nil {
		return nil, err
	}
	o := &outage{before: b.spans.before, begins: b.spans.before + b.spans.lead}
	total := b.spans.before + b.spans.outage
	l := load{addr: t.addr, rate: steadyRate, last: total, fill: fill}
	beside := load{addr: t.addr, rate: 20, last: total, fill: reads}
	besideDone := deferred(func() (err error) { o.beside, err = beside.run(ctx); return err })
	faultDone := deferred(func() error {
		start := time.Now()
		if err := nap(ctx, o.begins); err != nil {
			return err
		}
		o.begins = time.Since(start)
		if err := f.begin(up.a); err != nil {
			return err
		}
		if err := nap(ctx, b.spans.down); err != nil {
			return err
		}
		err := f.end(up.a)
		o.ends = time.Since(start)
		return err
	})
	var err error
	o.all, err = l.run(ctx)
	return o, errors.Join(err, <-faultDone, <-besideDone)
}

// deferred runs f beside its caller.
func deferred(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// back is when the primary served again, since the fault's end, as it is shown.
func (o *outage) back() string {
	at, ok := o.all.returned("a", o.ends)
	if !ok {
		return "not in this run"
	}
	return seconds(at - o.ends)
}

// when says of the first answers that took longer than d when they were asked
// for, since the fault began, and from whom they came.
func (o *outage) when(all samples, d time.Duration) string {
	var list []string
	for _, s := range all {
		if s.ok() && s.took > d && len(list) < 5 {
			list = append(list, fmt.Sprintf("%s from %s at %s", ms(s.took), s.server, seconds(s.at-o.begins)))
		}
	}
	return strings.Join(list, ", ")
}

// runKill kills the primary under single calls, and under batches.
func runKill(ctx context.Context, b *bench) error {
	var rows [][]string
	for _, shape := range []struct {
		name string
		fill func(int, *ask)
	}{{"single", reads}, {fmt.Sprintf("batch of %d", batchCalls), batches}} {
		up, t, err := b.scene(ctx)
		if err != nil {
			return err
		}
		o, err := b.through(ctx, up, t, killed, shape.fill)
		if err != nil {
			return err
		}
		b.brood.end()
		p99, told := o.calm().quantile(0.99), o.told()
		over := told.slowest() - p99
		refused := o.beside.status(502, 503)
		rows = append(rows, []string{
			shape.name, fmt.Sprintf("%d of %d", told.failed(), len(told)), ms(p99), ms(told.slowest()), ms(over), o.back(),
			fmt.Sprintf("%d failed, %d of them 502 or 503, of %d", o.beside.failed(), refused, len(o.beside)),
		})
		for _, fault := range append(told.faults(), o.beside.faults()...) {
			b.say("%s: %s", shape.name, fault)
		}
		if when := o.when(told, p99+20*time.Millisecond); when != "" {
			b.say("%s, slower than p99 + 20 ms: %s.\n", shape.name, when)
		}
		b.hard("kill -9, "+shape.name+": failed", fmt.Sprintf("%d of %d", told.failed(), len(told)), "0", told.failed() == 0)
		b.hard("kill -9, "+shape.name+": failed of a request every 50 ms", fmt.Sprint(o.beside.failed()), "0", o.beside.failed() == 0)
		b.soft("kill -9, "+shape.name+": slowest, over the steady p99", ms(over), "≤ 20 ms", over <= 20*time.Millisecond)
	}
	b.say("%d req/s; the primary is killed and started again %s later.\n", steadyRate, seconds(b.spans.down))
	b.table([]string{"requests", "failed", "steady p99", "slowest", "over p99", "primary serves again, after its start", "a request every 50 ms beside"}, rows)
	return nil
}

// The bounds of an automatic hedge_after (SPEC F11), which follows from what
// calls take: 50 ms here, unless the machine is busy.
const (
	hedgeLeast = 50 * time.Millisecond
	hedgeMost  = 300 * time.Millisecond
)

// runHang stops the primary for a while.
func runHang(ctx context.Context, b *bench) error {
	up, t, err := b.scene(ctx)
	if err != nil {
		return err
	}
	o, err := b.through(ctx, up, t, stopped, reads)
	if err != nil {
		return err
	}
	hedge := min(max(2*o.calm().quantile(0.95), hedgeLeast), hedgeMost)
	told, p99 := o.told(), o.calm().quantile(0.99)
	clear := p99 + 20*time.Millisecond
	settled := o.begins + hedge + time.Second
	late := told.between(settled, time.Hour)
	b.say("%d req/s; the primary is stopped for %s. hedge_after is %s here (auto).\n", steadyRate, seconds(b.spans.down), ms(hedge))
	b.table([]string{
		"failed", "steady p99", "slowest", "slower than p99 + 20 ms, up to a second after the first stall", "later", "slowest later", "primary serves again, after it goes on",
		"a request every 50 ms beside",
	}, [][]string{{
		fmt.Sprintf("%d of %d", told.failed(), len(told)), ms(p99), ms(told.slowest()), fmt.Sprint(told.between(0, settled).slower(clear)),
		fmt.Sprint(late.slower(clear)), ms(late.slowest()), o.back(), fmt.Sprintf("%d failed of %d", o.beside.failed(), len(o.beside)),
	}})
	for _, fault := range told.faults() {
		b.say("%s", fault)
	}
	if when := o.when(late, clear); when != "" {
		b.say("Slower later: %s.\n", when)
	}
	b.hard("hang: failed", fmt.Sprintf("%d of %d", told.failed(), len(told)), "0", told.failed() == 0)
	b.soft("hang: slowest", ms(told.slowest()), "≤ hedge_after + 50 ms = "+ms(hedge+50*time.Millisecond), told.slowest() <= hedge+50*time.Millisecond)
	b.soft("hang: slower than before, from a second after the first stall", fmt.Sprint(late.slower(clear)), "0", late.slower(clear) == 0)
	return nil
}
