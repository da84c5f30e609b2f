package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"chaintop/internal/demo"
)

// demoSeed makes the heights and hashes of a demo nobody gave a seed.
const demoSeed = 7

type demoFlags struct {
	screenFlags
	scenario string
	seed     int64
}

func demoCommand(s streams) *cobra.Command {
	f := demoFlags{}
	var list strings.Builder
	for _, sc := range demo.Scenarios() {
		fmt.Fprintf(&list, "  %-11s %s\n", sc.Name, sc.About)
	}
	cmd := &cobra.Command{
		Use:   "demo [--scenario NAME] [--seed N]",
		Short: "Watch simulated nodes on loopback, with scripted faults",
		Long: `demo watches simulated nodes on loopback, with real sockets and faults in fast
motion. What is shown was found out by probes, as it is for real nodes; x injects
a fault of your own and heals it.

Scenarios:
` + list.String(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.once && !f.plain && !drawable(s) {
				return usage("demo: no terminal to draw on: give --once or --plain")
			}
			return demoScreen(cmd.Context(), s, f)
		},
	}
	f.addScreen(cmd)
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "what happens (default: three nodes, of which one stalls once and one goes and comes)")
	cmd.Flags().Int64Var(&f.seed, "seed", demoSeed, "repeats a run")
	return cmd
}

// demoScreen shows a demo. Its nodes are named by a config and reached by their
// URLs, as a user's are.
func demoScreen(ctx context.Context, s streams, f demoFlags) (err error) {
	d, err := demo.Open(demo.Options{Scenario: f.scenario, Seed: f.seed})
	if err != nil {
		return usage("--scenario: %v", err)
	}
	script, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.Run(script) }) // its only end is ours
	defer func() {
		stop()
		err = errors.Join(err, d.Close())
		wg.Wait()
	}()
	w, err := watchConfig(d.Config(), nil)
	if err != nil {
		return err
	}
	defer w.Close()
	if f.listen.gateway == "" {
		f.listen.gateway = "127.0.0.1:0"
	}
	ask := func(ctx context.Context, addr string) { wg.Go(func() { d.Ask(ctx, "http://"+addr) }) }
	w.instance.Name, w.instance.Demo = "demo", true
	return show(ctx, s, w, f.screenFlags, shown{
		banner: d.Banner(), faults: d.Faults(), fault: d.Inject, demo: true, asked: ask,
	})
}
