package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/model"
)

// goal is what wait waits for of an instance.
type goal struct {
	reached func(*model.Instance) bool
	missing func(*model.Instance) string // what is not so yet
}

var goals = map[string]goal{
	"healthy": {
		func(i *model.Instance) bool { return len(unhealthy(i)) == 0 },
		func(i *model.Instance) string { return strings.Join(unhealthy(i), ", ") },
	},
	"ready": {func(i *model.Instance) bool { return model.Ready(i, i.Policy).Ready }, notReady},
	"drained": {
		func(i *model.Instance) bool { return i.Drain.Real() == model.Drained },
		func(i *model.Instance) string { return i.Name + " " + i.Drain.Real().String() },
	},
}

func waitCommand(s streams) *cobra.Command {
	var t targetFlags
	var remote remoteFlags
	var feeds []string
	until, timeout := "healthy", 5*time.Minute
	cmd := &cobra.Command{
		Use:   "wait URL…|--config FILE [CHAIN…]|--feed URL… --until healthy|ready|drained",
		Short: "Wait until chains are healthy, or instances ready or drained",
		Long: `wait watches until every chain is healthy, the instance is ready as /readyz has
it, or, with --feed, a running instance is healthy, ready or drained; it exits
with 0, or with 1 when --timeout comes first, naming what is missing. A feed that
is cut off is waited for: being gone is not being drained.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, ok := goals[until]
			switch {
			case !ok:
				return usage("--until: %q is neither healthy, ready nor drained", short(until))
			case timeout <= 0:
				return usage("--timeout: %v is not positive", timeout)
			case len(feeds) > 0 && len(args) > 0:
				return usage("--feed: goes without URLs and chains, %d were given", len(args))
			case until == "drained" && len(feeds) == 0:
				return usage("--until drained: of a running instance: give --feed")
			}
			if len(feeds) > 0 {
				remote.config = t.config
				peers, err := remote.peers(s, feeds)
				if err != nil {
					return err
				}
				return waitFor(cmd.Context(), s, peers, until, timeout)
			}
			w, err := t.watch(cmd, args, "wait")
			if err != nil {
				return err
			}
			defer w.Close()
			return wait(cmd.Context(), s, w, g, until, timeout)
		},
	}
	t.add(cmd)
	cmd.Flags().StringArrayVar(&feeds, "feed", nil, "feed of a running instance, by URL or alias; may be repeated")
	cmd.Flags().StringVar(&until, "until", until, "what to wait for: healthy, ready or drained")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "how long at most")
	return cmd
}

func wait(ctx context.Context, s streams, w *watch, g goal, word string, timeout time.Duration) error {
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
	picture, err := until(own, c.Log(), g.reached)
	cancel()
	if end := <-ended; !errors.Is(end, context.Canceled) && !errors.Is(end, context.DeadlineExceeded) {
		return crash(s.err, end, end)
	}
	switch {
	case err == nil:
		_, err := fmt.Fprintf(s.out, "%s: %s\n", word, strings.Join(w.chains(), ", "))
		return err
	case ctx.Err() != nil:
		tell(s.err, fmt.Sprintf("interrupted before every chain was %s", word))
	default:
		tell(s.err, fmt.Sprintf("not %s within %v: %s", word, timeout, g.missing(picture)))
	}
	return exitCode(exitUnreachable)
}

// waitFor waits for all of the peers; each is told when it is there.
func waitFor(ctx context.Context, s streams, peers []*peer, word string, timeout time.Duration) error {
	own, cancel := context.WithTimeout(ctx, timeout)
	closed := keep(own, peers)
	defer func() {
		cancel()
		closed()
	}()
	out := &lines{out: s.out}
	missing := make([]string, len(peers))
	var wg sync.WaitGroup
	for n, p := range peers {
		wg.Go(func() { missing[n] = p.waitFor(own, out, word) })
	}
	wg.Wait()
	var all []string
	for _, m := range missing {
		if m != "" {
			all = append(all, m)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case ctx.Err() != nil:
		tell(s.err, fmt.Sprintf("interrupted before every instance was %s", word))
	default:
		tell(s.err, fmt.Sprintf("not %s within %v: %s", word, timeout, strings.Join(all, "; ")))
	}
	return exitCode(exitUnreachable)
}

// waitFor returns what is missing when the time is up, empty when it is there.
func (p *peer) waitFor(ctx context.Context, out *lines, word string) string {
	g := goals[word]
	pic, err := until(ctx, p.client, func(i *model.Instance) bool { return g.reached(i) && !p.client.Status().Stale })
	var refused *feed.RefusedError
	switch {
	case err == nil:
		if _, err := fmt.Fprintf(out, "%s: %s\n", word, pic.Name); err != nil {
			return err.Error()
		}
		return ""
	case errors.As(err, &refused):
		return fmt.Sprintf("%s: %d %s", p.name, refused.Code, refused.Words)
	case pic == nil:
		st := p.client.Status()
		if st.Words != "" {
			return fmt.Sprintf("%s: not connected: %s", p.name, st.Words)
		}
		return p.name + ": not connected"
	case p.client.Status().Phase != feed.Live:
		return fmt.Sprintf("%s: cut off, last seen %s", pic.Name, g.missing(pic))
	}
	return g.missing(pic)
}

// until follows src until the picture is so, or ctx ends; the picture is the
// newest either way, nil when there never was one.
func until(ctx context.Context, src feed.Source, is func(*model.Instance) bool) (*model.Instance, error) {
	picture, at, err := src.Snapshot(ctx)
	for err == nil && !is(picture) {
		if _, at, err = src.After(ctx, at); err == nil || errors.Is(err, feed.ErrGap) {
			picture, at, err = src.Snapshot(ctx)
		}
	}
	if picture == nil {
		picture, _, _ = src.Snapshot(ctx) // the newest there is, if any
	}
	return picture, err
}

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

// notReady is why an instance is not ready.
func notReady(i *model.Instance) string {
	r := model.Ready(i, i.Policy)
	switch {
	case r.Draining:
		return i.Name + " " + i.Drain.Real().String()
	case r.Cause < 0:
		return i.Name
	}
	c := i.Chains[r.Cause]
	text := fmt.Sprintf("%s: %s %s (%s)", i.Name, c.Key(), c.State.Health, plainWhy(c, c.State.VerdictAt))
	if r.More > 0 {
		text += fmt.Sprintf(" and %d more", r.More)
	}
	return text
}
