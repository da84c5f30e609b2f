package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"chaintop/feed"
	"chaintop/model"
)

// firstVerdicts bounds how long a snapshot waits for them.
const firstVerdicts = 30 * time.Second

// snapshot waits for a first verdict of each chain and prints one table.
func snapshot(ctx context.Context, out io.Writer, src feed.Source, clock func() time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, firstVerdicts)
	defer cancel()
	picture, err := until(ctx, src, allJudged)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err := writeSnapshot(out, picture, clock()); err != nil {
		return err
	}
	return worst(picture)
}

func allJudged(i *model.Instance) bool {
	for _, c := range i.Chains {
		if c.State.Verdict == model.NoVerdict {
			return false
		}
	}
	return true
}

// writeSnapshot prints the picture as one table, ASCII, heights without spaces
// so that awk can add them.
func writeSnapshot(out io.Writer, i *model.Instance, now time.Time) error {
	ready, cause := "READY", ""
	if r := model.Ready(i, i.Policy); !r.Ready {
		ready = "NOT READY"
		if r.Cause >= 0 {
			c := i.Chains[r.Cause]
			cause = fmt.Sprintf(": %s %s and counts", c.Key(), c.State.Health)
		}
	}
	if _, err := fmt.Fprintf(out, "%s %s %s %s at %s%s\n", i.Name, i.Version, ready,
		model.Age(now.Sub(i.ReadySince)), now.UTC().Format(time.RFC3339), cause); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "CHAIN\tHEALTH\tVERDICT\tWHY\tNEXT\tHEAD\tLAG\tSERVING") // Flush tells
	for _, c := range problemsFirst(i, now) {
		head, lag := "-", "-"
		if h := c.Head(); c.Fresh(h, now) {
			head = strconv.FormatUint(h.Value, 10)
		}
		if u := c.Serving.Upstream; u >= 0 && u < len(c.Upstreams) && c.Upstreams[u].State.Lag.Known {
			lag = strconv.FormatInt(c.Upstreams[u].State.Lag.Blocks, 10)
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Key(), c.State.Health, orDash(c.State.Verdict.String()),
			plainWhy(c, now), plainNext(c, now), head, lag, plainServing(c, now))
	}
	return tw.Flush()
}

// problemsFirst is the chains as a screen sorts them.
func problemsFirst(i *model.Instance, now time.Time) []*model.Chain {
	chains := slices.Clone(i.Chains)
	slices.SortStableFunc(chains, func(a, b *model.Chain) int {
		return cmp.Or(cmp.Compare(model.ClassOf(a, i.Policy, now), model.ClassOf(b, i.Policy, now)), strings.Compare(a.Key(), b.Key()))
	})
	return chains
}

func plainNext(c *model.Chain, now time.Time) string {
	if c.Probe != nil {
		return fmt.Sprintf("%d of %d", c.Probe.Flight.N, c.Probe.Max)
	}
	return model.Countdown(c.State.Next.At, now)
}

func plainServing(c *model.Chain, now time.Time) string {
	i := c.Serving.Upstream
	if i < 0 || i >= len(c.Upstreams) {
		return "none"
	}
	u := &c.Upstreams[i]
	switch c.Serving.Why {
	case model.RouteHeld:
		return fmt.Sprintf("%s (held %s)", u.Name, model.Countdown(u.State.Hold.Until, now))
	case model.RoutePinned:
		return fmt.Sprintf("%s (pinned %s)", u.Name, model.Countdown(c.State.Pin.Until, now))
	case model.RouteBackup:
		return u.Name + " (backup)"
	case model.RouteLast:
		return u.Name + " (last resort)"
	case model.RouteFit, model.RouteNone:
	}
	return u.Name
}
