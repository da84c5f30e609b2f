package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaintop/feed"
	"chaintop/model"
)

// act gives one command to a running instance and prints what became of it.
// args are the instance and what names says.
type act struct {
	remote remoteFlags
	reason string
}

// give sends a command made from the instance's picture.
func (a *act) give(ctx context.Context, s streams, instance string, make func(*model.Instance) (model.Command, error)) error {
	peers, err := a.remote.peers(s, []string{instance})
	if err != nil {
		return err
	}
	p := peers[0]
	return p.connected(ctx, s, func(ctx context.Context) error {
		pic, _, err := p.client.Snapshot(ctx)
		if err != nil {
			return err
		}
		cmd, err := make(pic)
		if err != nil {
			return err
		}
		cmd.Reason = a.reason
		answer, err := p.client.Do(ctx, cmd)
		if err != nil {
			tell(s.err, fmt.Sprintf("%s: %s: no answer: %v", p.name, cmd.Op, err))
			return exitCode(exitUnreachable)
		}
		return told(s, pic.Name, cmd, answer)
	})
}

// told prints an answer; a refusal goes to stderr and is exit code 1.
func told(s streams, instance string, cmd model.Command, a feed.Answer) error {
	if a.Code != feed.CodeOK && a.Code != feed.CodeAccepted {
		tell(s.err, fmt.Sprintf("%s: %s: %d %s: %s", instance, cmd.Op, a.Code, a.Name, a.Words))
		return exitCode(exitUnreachable)
	}
	if _, err := fmt.Fprintf(s.out, "%s: %s: %s\n", instance, cmd.Op, a.Words); err != nil {
		return err
	}
	code := exitHealthy
	for _, e := range a.Ended {
		what, is := e.Chain, e.Verdict.String()
		if e.Upstream != "" {
			what, is = e.Chain+":"+e.Upstream, e.Outcome.String()
		}
		why := ""
		if e.Why != "" {
			why = ": " + e.Why
		}
		if _, err := fmt.Fprintf(s.out, "%s %s, health %s%s\n", what, is, e.Health, why); err != nil {
			return err
		}
		switch {
		case e.Verdict == model.VerdictUnreachable || e.Outcome == model.NoAnswer:
			code = exitUnreachable
		case (e.Verdict == model.VerdictInconclusive || e.Outcome == model.Answer) && code == exitHealthy:
			code = exitInconclusive
		}
	}
	return exitOf(code)
}

// chainOf is the chain a command names, by name/interface or by a name only one
// has.
func chainOf(i *model.Instance, name string) (int, error) {
	found := -1
	for n, c := range i.Chains {
		switch {
		case c.Key() == name:
			return n, nil
		case c.Name == name && found >= 0:
			return -1, usage("%s: chain %q: more than one has that name; say %s or %s", i.Name, short(name), i.Chains[found].Key(), c.Key())
		case c.Name == name:
			found = n
		}
	}
	if found < 0 {
		return -1, usage("%s has no chain %q", i.Name, short(name))
	}
	return found, nil
}

func upstreamOf(i *model.Instance, chain int, name string) (int, error) {
	var known []string
	for u := range i.Chains[chain].Upstreams {
		if i.Chains[chain].Upstreams[u].Name == name {
			return u, nil
		}
		known = append(known, i.Chains[chain].Upstreams[u].Name)
	}
	return -1, usage("%s: %s has no upstream %q; it has %s", i.Name, i.Chains[chain].Key(), short(name), strings.Join(known, ", "))
}

func drainCommand(s streams) *cobra.Command {
	var a act
	var confirm string
	simulate := ""
	cmd := &cobra.Command{
		Use:   "drain INSTANCE --confirm NAME",
		Short: "Drain a running instance, or simulate it",
		Long: `drain begins an idle drain of a running instance, by the alias or the URL of its
feed: it is not ready any more, serves on until nobody asked for drain.idle, and
ends. --confirm is the name of the instance, whole.

--simulate runs the same clock on the same traffic and changes nothing outside;
--simulate=off ends it.`,
		Args: exactly(1, "an instance"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch simulate {
			case "on":
				return a.give(cmd.Context(), s, args[0], fixed(model.Command{Op: model.OpSimulate}))
			case "off":
				return a.give(cmd.Context(), s, args[0], fixed(model.Command{Op: model.OpUndrain, Kind: model.OnlySimulation}))
			case "":
			default:
				return usage("--simulate: %q is neither on nor off", short(simulate))
			}
			if confirm == "" {
				return usage("--confirm: give the name of the instance, to drain it for real; or --simulate")
			}
			return a.give(cmd.Context(), s, args[0], fixed(model.Command{Op: model.OpDrain, Confirm: confirm, IfState: model.DrainServing.String()}))
		},
	}
	a.remote.add(cmd)
	cmd.Flags().StringVar(&confirm, "confirm", "", "the name of the instance")
	cmd.Flags().StringVar(&a.reason, "reason", "", "why, for those who read it later")
	cmd.Flags().StringVar(&simulate, "simulate", "", "change nothing outside; off ends a simulation")
	cmd.Flags().Lookup("simulate").NoOptDefVal = "on"
	return cmd
}

func fixed(c model.Command) func(*model.Instance) (model.Command, error) {
	return func(*model.Instance) (model.Command, error) { return c, nil }
}

func undrainCommand(s streams) *cobra.Command {
	var a act
	cmd := &cobra.Command{
		Use:   "undrain INSTANCE",
		Short: "Take back a drain that a command began",
		Args:  exactly(1, "an instance"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.give(cmd.Context(), s, args[0], fixed(model.Command{Op: model.OpUndrain}))
		},
	}
	a.remote.add(cmd)
	return cmd
}

func pinCommand(s streams) *cobra.Command {
	var a act
	lasts := model.PinFor
	cmd := &cobra.Command{
		Use:   "pin INSTANCE CHAIN UPSTREAM --for 30m",
		Short: "Prefer one upstream of a chain for a while, while it is fit",
		Args:  exactly(3, "an instance, a chain and an upstream"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lasts <= 0 || lasts > model.PinMost {
				return usage("--for: %v is not between 0 and %v", lasts, model.PinMost)
			}
			return a.give(cmd.Context(), s, args[0], func(i *model.Instance) (model.Command, error) {
				n, err := chainOf(i, args[1])
				if err != nil {
					return model.Command{}, err
				}
				u, err := upstreamOf(i, n, args[2])
				return model.Command{Op: model.OpPin, Chains: []int{n}, Upstream: u, For: lasts}, err
			})
		},
	}
	a.remote.add(cmd)
	cmd.Flags().DurationVar(&lasts, "for", lasts, "how long; it ends by itself")
	return cmd
}

func unpinCommand(s streams) *cobra.Command {
	var a act
	cmd := &cobra.Command{
		Use:   "unpin INSTANCE CHAIN",
		Short: "End a pin",
		Args:  exactly(2, "an instance and a chain"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.give(cmd.Context(), s, args[0], func(i *model.Instance) (model.Command, error) {
				n, err := chainOf(i, args[1])
				return model.Command{Op: model.OpUnpin, Chains: []int{n}}, err
			})
		},
	}
	a.remote.add(cmd)
	return cmd
}

// mostBudget is the longest the answer to a command is waited for.
const mostBudget = 30 * time.Second

// probeOn asks a running instance for a probe of a chain, or a check of an
// upstream, and waits for its end.
func probeOn(ctx context.Context, s streams, remote remoteFlags, instance string, targets []string) error {
	if len(targets) != 1 {
		return usage("--on: want one CHAIN or CHAIN:UPSTREAM, %d were given", len(targets))
	}
	ctx, cancel := context.WithTimeout(ctx, mostBudget)
	defer cancel()
	a := act{remote: remote}
	return a.give(ctx, s, instance, func(i *model.Instance) (model.Command, error) {
		chain, upstream, one := strings.Cut(targets[0], ":")
		n, err := chainOf(i, chain)
		if err != nil || !one {
			return model.Command{Op: model.OpProbe, Chains: []int{n}}, err
		}
		u, err := upstreamOf(i, n, upstream)
		return model.Command{Op: model.OpCheck, Chains: []int{n}, Upstream: u}, err
	})
}

// exactly wants n arguments, which are what.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%s: want %s, %d arguments were given", cmd.Name(), what, len(args))
		}
		return nil
	}
}
