package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// rootCommand is the command line. A parse fault is a usageError with its own
// one line; cobra prints nothing by itself but help.
func rootCommand(s streams) *cobra.Command {
	var f screenFlags
	root := &cobra.Command{
		Use:   "chaintop [URL…] [--config FILE]",
		Short: "Watch the health of RPC chains, live",
		Long: `chaintop asks RPC nodes what an on-call engineer would ask, judges the answers
and shows the verdict, its evidence and when it asks next.

With URLs, or the chains of a --config file, it watches those. With neither it
shows a demo of simulated nodes on loopback, marked DEMO. Where the output is no
terminal it prints one snapshot.

Exit codes: 0 healthy or done, 1 unreachable, 2 a fault in what was asked,
3 inconclusive. Of several chains the worst counts.`,
		Example: `  chaintop http://127.0.0.1:8545
  chaintop probe https://eth.example/v2/$KEY -o json
  chaintop`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := onlyURLs(cmd, args); err != nil {
				return err
			}
			return dashboard(cmd.Context(), s, args, f)
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagFault)
	f.add(root)
	root.AddCommand(demoCommand(s), serveCommand(s), attachCommand(s), drainCommand(s), undrainCommand(s), pinCommand(s), unpinCommand(s), probeCommand(s), waitCommand(s), configCommand(s), versionCommand(s))
	return root
}

func flagFault(cmd *cobra.Command, err error) error {
	return usage("%v (%s --help)", err, cmd.CommandPath())
}

// onlyURLs refuses an argument that is no URL: it may be a command mistyped.
func onlyURLs(cmd *cobra.Command, args []string) error {
	for i, a := range args {
		if strings.Contains(a, "://") {
			continue
		}
		near := ""
		if i == 0 {
			if names := cmd.SuggestionsFor(a); len(names) > 0 {
				near = "; did you mean " + strings.Join(names, " or ") + "?"
			}
		}
		return usage("%q is neither a command nor a URL (http://…)%s", short(a), near)
	}
	return nil
}

// short bounds an argument that is quoted back.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
