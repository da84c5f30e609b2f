//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	steadyRate  = 200 // requests a second, open loop
	closedConns = 32
	directName  = "direct"
	stockName   = "ReverseProxy, stock"
	pooledName  = "ReverseProxy, 64 idle connections"
	plainName   = "nginx, stock"
	tunedName   = "nginx, tuned"

	chaintopName = "chaintop"
)

// seen is what the rounds brought of one target.
type seen struct {
	p50, p99 []time.Duration
	rate     []float64
	others   []float64 // share of the machine that others used
	failed   int64
	conns    int64 // to the upstream in the last closed loop
	rss      float64
	cost     []float64 // of the target's own processor time, µs an answer in the closed loop
}

// runSteady compares the targets in turns: a round of each, then the next round.
func runSteady(ctx context.Context, b *bench) error {
	up, targets, err := b.everybody(ctx)
	if err != nil {
		return err
	}
	all := make([]seen, len(targets))
	for round := range b.spans.rounds {
		for i := range targets {
			n := (i + round) % len(targets) // each is first once
			if err := b.quietRound(ctx, up, targets[n], &all[n]); err != nil {
				return fmt.Errorf("%s: %w", targets[n].name, err)
			}
		}
	}
	b.compare(targets, all)
	return nil
}

// everybody starts one of each kind over one pair.
func (b *bench) everybody(ctx context.Context) (*pair, []target, error) {
	up, gateway, err := b.scene(ctx)
	if err != nil {
		return nil, nil, err
	}
	targets := []target{{name: directName, addr: up.a.addr, p: up.a.process}}
	for _, kind := range []struct {
		name string
		idle int
	}{{stockName, 0}, {pooledName, 64}} {
		t, err := startProxy(&b.brood, kind.name, up, kind.idle)
		if err != nil {
			return nil, nil, err
		}
		targets = append(targets, t)
	}
	for _, kind := range []struct{ name, text string }{{plainName, nginxStock}, {tunedName, nginxTuned}} {
		switch t, err := startNginx(ctx, &b.brood, b.dir, kind.name, kind.text, up); {
		case errors.Is(err, errNoNginx):
			b.say("%s: SKIPPED: %v", kind.name, err)
		case err != nil:
			return nil, nil, err
		default:
			targets = append(targets, t)
		}
	}
	return up, append(targets, gateway), nil
}

// quietRound is a round in which others left the machine alone, as long as there
// is patience left to measure it again. What failed in any counts.
func (b *bench) quietRound(ctx context.Context, up *pair, t target, s *seen) error {
	for {
		if err := b.quiet(ctx); err != nil {
			return err
		}
		begin, was := b.brood.used(), *s
		if err := b.round(ctx, up, t, s); err != nil {
			return err
		}
		others := b.brood.others(begin)
		if others <= loudShare || b.patience <= 0 {
			s.others = append(s.others, others)
			return nil
		}
		b.patience -= time.Since(begin.at)
		was.failed = s.failed
		*s = was
	}
}

// round is one open loop and one closed loop, each after a warm-up.
func (b *bench) round(ctx context.Context, up *pair, t target, s *seen) error {
	warm := load{addr: t.addr, rate: steadyRate, last: b.spans.warm / 3, fill: reads}
	if _, err := warm.run(ctx); err != nil {
		return err
	}
	l := load{addr: t.addr, rate: steadyRate, last: b.spans.steady, fill: reads}
	got, err := l.run(ctx)
	if err != nil {
		return err
	}
	if n := got.failed(); n > 0 {
		b.say("%s: %d of %d failed: %v", t.name, n, len(got), got.faults())
	}
	s.p50, s.p99 = append(s.p50, got.quantile(0.5)), append(s.p99, got.quantile(0.99))
	saturate(ctx, t.addr, closedConns, b.spans.warm/3)
	before, err := up.a.counts(ctx, 0, 0)
	if err != nil {
		return err
	}
	paid, begin := t.p.used(), time.Now()
	rate, failed := saturate(ctx, t.addr, closedConns, b.spans.closed)
	paid, answers := t.p.used()-paid, rate*time.Since(begin).Seconds()
	s.cost = append(s.cost, float64(paid)/ticks*1e6/max(answers, 1))
	after, err := up.a.counts(ctx, 0, 0)
	s.rate, s.conns = append(s.rate, rate), after.Conns-before.Conns
	s.failed += failed + int64(got.failed())
	s.rss = t.p.rss()
	return errors.Join(err, ctx.Err())
}

func (b *bench) compare(targets []target, all []seen) {
	by := map[string]*seen{}
	for n := range targets {
		by[targets[n].name] = &all[n]
	}
	direct := by[directName]
	var rows [][]string
	for n, t := range targets {
		s := &all[n]
		rows = append(rows, []string{
			t.name, ms(median(s.p50)) + " / " + ms(median(s.p99)),
			ms(median(s.p50)-median(direct.p50)) + " / " + ms(median(s.p99)-median(direct.p99)),
			fmt.Sprintf("%.0f", median(s.rate)), fmt.Sprintf("%.0f–%.0f", slices.Min(s.rate), slices.Max(s.rate)),
			fmt.Sprintf("%.0f", median(s.cost)),
			fmt.Sprint(s.conns), fmt.Sprintf("%.0f", s.rss), fmt.Sprint(s.failed), noise(slices.Max(s.others)),
		})
	}
	b.table([]string{
		"target", fmt.Sprintf("p50 / p99 at %d req/s", steadyRate), "added p50 / p99",
		fmt.Sprintf("closed loop, %d connections, req/s", closedConns), "of the rounds", "its own CPU, µs a request", "new upstream connections in it", "RSS MiB", "failed", "others used, at most",
	}, rows)
	mine, stock := by[chaintopName], by[stockName]
	over := median(mine.p50) - median(stock.p50)
	b.soft("added p50, over stock ReverseProxy's", ms(over), "≤ 0.10 ms", over <= 100*time.Microsecond)
	for _, name := range []string{plainName, tunedName} {
		if s := by[name]; s != nil {
			ratio := median(mine.rate) / median(s.rate)
			b.soft("closed loop, of "+name, fmt.Sprintf("%.2f", ratio), "≥ 0.60", ratio >= 0.6)
		}
	}
	ratio := median(mine.rate) / median(by[pooledName].rate)
	b.soft("closed loop, of "+pooledName, fmt.Sprintf("%.2f", ratio), "", true)
	b.hard("answers that were not their request's own, steady", fmt.Sprint(mine.failed), "0", mine.failed == 0)
}
