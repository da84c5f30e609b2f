//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	short := flag.Bool("short", false, "one pass, shorter: under a minute")
	only := flag.String("only", "", "scenarios, with commas: "+strings.Join(names(), ","))
	wait := flag.Duration("wait", 90*time.Second, "how long, in all, to wait for a quiet machine")
	program := flag.String("chaintop", "", "a built chaintop; empty: it is built from ./cmd/chaintop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	missed, err := measure(ctx, options{*short, *only, *wait, *program})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "gatewaybench:", err)
		os.Exit(2)
	case missed:
		os.Exit(1)
	}
}

// play runs one of the processes that are measured.
func play(role string, args []string) int {
	run := map[string]func([]string) error{"upstream": runNode, "proxy": runProxy}[role]
	if run == nil {
		fmt.Fprintln(os.Stderr, "gatewaybench: no such role:", role)
		return 2
	}
	fmt.Fprintln(os.Stderr, role+":", run(args))
	return 1
}

type options struct {
	short   bool
	only    string
	wait    time.Duration
	program string
}

// cpus are the processors there are.
var cpus = runtime.NumCPU()

// bench is what every scenario has.
type bench struct {
	*report
	brood   brood
	dir     string // of what one run writes
	program string // chaintop
	spans   spans

	patience time.Duration // left to wait for a quiet machine
}

// spans are how long things are looked at.
type spans struct {
	rounds int           // of each target, in turns
	warm   time.Duration // before anything
	steady time.Duration // of one round, open loop
	closed time.Duration // of one round, closed loop
	before time.Duration // an outage: what is compared with
	lead   time.Duration // after that, before the fault
	outage time.Duration // with the lead, to the end
	down   time.Duration // how long the fault lasts
	odd    time.Duration // a primary that is odd but well
	alone  time.Duration // good clients before and after the hostile ones
	attack time.Duration // one kind of hostile clients
}

var (
	long = spans{
		rounds: 3, warm: time.Second, steady: 4 * time.Second, closed: 2 * time.Second,
		before: 3 * time.Second, lead: time.Second, outage: 12 * time.Second, down: 5 * time.Second,
		odd: 8 * time.Second, alone: 5 * time.Second, attack: 2 * time.Second,
	}
	brief = spans{
		rounds: 1, warm: 300 * time.Millisecond, steady: time.Second, closed: 600 * time.Millisecond,
		before: 700 * time.Millisecond, lead: 200 * time.Millisecond, outage: 2 * time.Second, down: 700 * time.Millisecond,
		odd: time.Second, alone: 700 * time.Millisecond, attack: 500 * time.Millisecond,
	}
)

type scenario struct {
	name  string
	title string
	run   func(context.Context, *bench) error
}

var scenarios = []scenario{
	{"steady", "Beside others", runSteady},
	{"kill", "kill -9 of the primary", runKill},
	{"hang", "The primary hangs (SIGSTOP)", runHang},
	{"slow", "A node that is slow on a third of its calls", runSlow},
	{"writes", "Writes through a kill and a hang", runWrites},
	{"idle", "An upstream that closes idle connections", runIdle},
	{"hostile", "Hostile clients", runHostile},
}

func names() []string {
	var all []string
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

func measure(ctx context.Context, o options) (missed bool, err error) {
	var wanted []string
	if o.only != "" {
		wanted = strings.Split(o.only, ",")
		for _, name := range wanted {
			if !slices.Contains(names(), name) {
				return false, fmt.Errorf("-only %s: there are %s", name, strings.Join(names(), ", "))
			}
		}
	}
	debug.SetGCPercent(400) // this process's own work is not what is measured
	dir, err := os.MkdirTemp("", "gatewaybench")
	if err != nil {
		return false, err
	}
	b := &bench{report: &report{w: os.Stdout}, dir: dir, program: o.program, spans: long, patience: o.wait}
	defer func() {
		b.brood.end()
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if o.short {
		b.spans, b.patience = brief, min(o.wait, 5*time.Second)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers are somebody else
		return false, err
	}
	if err := b.build(ctx); err != nil {
		return false, err
	}
	b.introduce(ctx)
	for _, s := range scenarios {
		if len(wanted) > 0 && !slices.Contains(wanted, s.name) {
			continue
		}
		if err := b.play(ctx, s); err != nil {
			return false, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	b.end()
	return b.missed, nil
}

// play runs a scenario when the machine is quiet, and says how quiet it stayed.
func (b *bench) play(ctx context.Context, s scenario) error {
	b.title(s.title)
	if err := b.quiet(ctx); err != nil {
		return err
	}
	begin := b.brood.used()
	err := s.run(ctx, b)
	b.brood.end() // nobody inherits a process
	b.say("`%s` took %.0f s; others used %s of the machine meanwhile.", s.name, time.Since(begin.at).Seconds(), noise(b.brood.others(begin)))
	return err
}

// build builds chaintop, unless one was named.
func (b *bench) build(ctx context.Context) error {
	if b.program != "" {
		whole, err := filepath.Abs(b.program)
		b.program = whole
		return err
	}
	b.program = filepath.Join(b.dir, "chaintop")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/chaintop")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build chaintop, in the project's folder: %w\n%s", err, out)
	}
	return nil
}

// introduce says what was measured, where.
func (b *bench) introduce(ctx context.Context) {
	args := ""
	if len(os.Args) > 1 {
		args = " " + strings.Join(os.Args[1:], " ")
	}
	nginx := nginxVersion()
	if nginx == "" {
		nginx = "no nginx"
	}
	b.say("    go run ./internal/gatewaybench%s\n", args)
	b.say("%d CPUs, Linux %s, %s, %s, %s", runtime.NumCPU(), kernel(), runtime.Version(), nginx, chaintopVersion(ctx, b.program))
}

func kernel() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease") // without: nothing
	return strings.TrimSpace(string(text))
}

// scene starts a pair of upstreams and a chaintop over them, for one scenario.
func (b *bench) scene(ctx context.Context) (*pair, target, error) {
	dir, err := os.MkdirTemp(b.dir, "scene")
	if err != nil {
		return nil, target{}, err
	}
	up, err := startPair(&b.brood, dir)
	if err != nil {
		return nil, target{}, err
	}
	t, err := startChaintop(ctx, &b.brood, dir, b.program, up)
	return up, t, err
}
