package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/model"
)

func waitCommand(s streams) *cobra.Command {
	var t targetFlags
	until, timeout := "healthy", 5*time.Minute
	cmd := &cobra.Command{
		Use:   "wait URL…|--config FILE [CHAIN…] --until healthy",
		Short: "Wait until every chain is healthy",
		Long: `wait watches until every chain is healthy and exits with 0, or with 1 when
--timeout comes first, naming those that are not.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "healthy" {
				return usage("--until: %q is not healthy, the one thing to wait for in this version", short(until))
			}
			if timeout <= 0 {
				return usage("--timeout: %v is not positive", timeout)
			}
			w, err := t.watch(cmd, args, "wait")
			if err != nil {
				return err
			}
			defer w.Close()
			return wait(cmd.Context(), s, w, timeout)
		},
	}
	t.add(cmd)
	cmd.Flags().StringVar(&until, "until", until, "what to wait for: healthy")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "how long at most")
	return cmd
}

func wait(ctx context.Context, s streams, w *watch, timeout time.Duration) error {
	c, err := core.New(core.Options{Instance: w.instance, Prober: w.targets})
	if err != nil {
		return err
	}
	own, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(own)
		cancel()
	}()
	picture, err := until(own, c.Log(), allHealthy)
	cancel()
	if end := <-ended; !errors.Is(end, context.Canceled) && !errors.Is(end, context.DeadlineExceeded) {
		return crash(s.err, end, end)
	}
	switch {
	case err == nil:
		_, err := fmt.Fprintf(s.out, "healthy: %s\n", strings.Join(w.chains(), ", "))
		return err
	case ctx.Err() != nil:
		tell(s.err, "interrupted before every chain was healthy")
	default:
		tell(s.err, fmt.Sprintf("not healthy within %v: %s", timeout, strings.Join(unhealthy(picture), ", ")))
	}
	return exitCode(exitUnreachable)
}

// until follows src until the picture is so, or ctx ends; the picture is the
// newest either way.
func until(ctx context.Context, src feed.Source, is func(*model.Instance) bool) (*model.Instance, error) {
	picture, at, err := src.Snapshot(ctx)
	for err == nil && !is(picture) {
		if _, at, err = src.After(ctx, at); err == nil || errors.Is(err, feed.ErrGap) {
			picture, at, err = src.Snapshot(ctx)
		}
	}
	return picture, err
}

func allHealthy(i *model.Instance) bool { return len(unhealthy(i)) == 0 }

// unhealthy names the chains that are not healthy, with what they are.
func unhealthy(i *model.Instance) []string {
	var names []string
	for _, c := range i.Chains {
		if c.State.Health != model.Healthy {
			names = append(names, fmt.Sprintf("%s %s (%s)", c.Key(), c.State.Health, plainWhy(c, c.State.VerdictAt)))
		}
	}
	return names
}
