package main

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaintop/internal/core"
	"chaintop/model"
)

// Bounds of what a command line may ask for.
const (
	mostTries   = 100
	mostTimeout = 10 * time.Minute
)

// targetFlags say what a command asks: URLs, or chains of a file.
type targetFlags struct {
	config  string
	family  string
	chainID string
	tries   int
	timeout time.Duration // of one try; 0 = the default
}

// families are those a URL may be asked as.
var families = []model.Family{model.EVM, model.HTTP}

func (t *targetFlags) add(cmd *cobra.Command) {
	def := model.DefaultSettings(model.EVM)
	cmd.Flags().StringVar(&t.config, "config", "", "the chains of this file, or those of it that are named")
	cmd.Flags().StringVar(&t.family, "family", string(model.EVM), "what the nodes at URLs speak: evm, or http for whether somebody is there")
	cmd.Flags().StringVar(&t.chainID, "chain-id", "", "chain id the nodes at URLs must have, decimal or 0x hex")
	cmd.Flags().IntVar(&t.tries, "tries", def.Tries, "tries before the verdict")
}

// watch is what the arguments name.
func (t *targetFlags) watch(cmd *cobra.Command, args []string, name string) (*watch, error) {
	a, err := t.asked()
	if err != nil {
		return nil, err
	}
	var w *watch
	switch {
	case t.config == "" && len(args) == 0:
		return nil, usage("%s: no URL given, and no --config", name)
	case t.config == "":
		if err := onlyURLs(cmd, args); err != nil {
			return nil, err
		}
		return watchURLs(args, a)
	}
	for _, flag := range []string{"chain-id", "family"} {
		if cmd.Flags().Changed(flag) {
			return nil, usage("--%s: goes with URLs; a config says it of each chain", flag)
		}
	}
	if w, err = watchFile(t.config); err != nil {
		return nil, err
	}
	if len(w.instance.Chains) == 0 {
		return nil, usage("%s: %s", name, w.empty)
	}
	for _, c := range w.instance.Chains {
		if cmd.Flags().Changed("tries") {
			c.Settings.Tries = t.tries
		}
		if t.timeout > 0 && cmd.Flags().Changed("timeout") {
			c.Settings.Timeout = t.timeout
		}
	}
	if err := w.only(args); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// asked checks the flags and says what URLs are watched as.
func (t *targetFlags) asked() (asked, error) {
	a := defaultAsked()
	a.family = model.Family(t.family)
	if !slices.Contains(families, a.family) {
		return a, usage("--family: %q is neither evm nor http", short(t.family))
	}
	if t.tries < 1 || t.tries > mostTries {
		return a, usage("--tries: %d is not between 1 and %d", t.tries, mostTries)
	}
	a.settings.Tries = t.tries
	if t.timeout > 0 {
		a.settings.Timeout = t.timeout
	}
	if t.chainID != "" {
		id, ok := parseChainID(t.chainID)
		if !ok {
			return a, usage("--chain-id: %q is no chain id: want a decimal number or 0x hex", short(t.chainID))
		}
		a.chainID = id
	}
	return a, nil
}

// parseChainID is a chain id in decimal, as facts say it.
func parseChainID(s string) (string, bool) {
	digits, base := s, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		digits, base = hex, 16
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.Sign() < 0 || n.BitLen() > 256 || strings.ContainsAny(digits, "+-_") {
		return "", false
	}
	return n.String(), true
}

func probeCommand(s streams) *cobra.Command {
	var t targetFlags
	output, on := "table", ""
	cmd := &cobra.Command{
		Use:   "probe URL…|--config FILE [CHAIN…]|--on INSTANCE CHAIN[:UPSTREAM]",
		Short: "Probe once and say what came of it",
		Long: `probe makes one probe of each URL, or of each chain of a config file, all at the
same time, prints verdicts and evidence, and exits: 0 healthy, 1 unreachable,
3 inconclusive; of several the worst. Nothing is ever written to a node.

With --on a running instance probes the chain, or checks the upstream, and its end
is waited for.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case output != "table" && output != "json":
				return usage("--output: %q is neither table nor json", short(output))
			case t.timeout <= 0 || t.timeout > mostTimeout:
				return usage("--timeout: %v is not between 0 and %v", t.timeout, mostTimeout)
			}
			if on != "" {
				for _, flag := range []string{"chain-id", "family", "tries", "timeout", "output"} {
					if cmd.Flags().Changed(flag) {
						return usage("--%s: goes without --on: the instance probes as it is configured", flag)
					}
				}
				return probeOn(cmd.Context(), s, remoteFlags{config: t.config}, on, args)
			}
			w, err := t.watch(cmd, args, "probe")
			if err != nil {
				return err
			}
			defer w.Close()
			return probeOnce(cmd.Context(), s, w, output)
		},
	}
	t.add(cmd)
	cmd.Flags().StringVar(&on, "on", "", "ask this running instance, by URL or alias, for a CHAIN or CHAIN:UPSTREAM")
	cmd.Flags().StringVarP(&output, "output", "o", output, "table or json")
	cmd.Flags().DurationVar(&t.timeout, "timeout", model.DefaultSettings(model.EVM).Timeout, "deadline of one try")
	return cmd
}

func probeOnce(ctx context.Context, s streams, w *watch, output string) error {
	picture, err := core.Once(ctx, w.instance, w.targets)
	if err != nil && !errors.Is(err, context.Canceled) {
		return crash(s.err, err, err)
	}
	if werr := writeProbe(s.out, picture, output, time.Now()); werr != nil {
		return werr
	}
	if err != nil {
		tell(s.err, "interrupted before every probe had ended")
		return exitCode(exitUnreachable)
	}
	return worst(picture)
}

func writeProbe(out io.Writer, picture *model.Instance, format string, now time.Time) error {
	if format == "json" {
		return writeJSON(out, picture, now)
	}
	return writeTable(out, picture)
}

// worst is the exit code of a picture: of several chains the worst verdict
// counts; findings do not change it.
func worst(picture *model.Instance) error {
	code := exitHealthy
	for _, c := range picture.Chains {
		switch c.State.Verdict {
		case model.VerdictUnreachable, model.NoVerdict:
			code = exitUnreachable
		case model.VerdictInconclusive:
			if code == exitHealthy {
				code = exitInconclusive
			}
		case model.VerdictHealthy:
		}
	}
	if code == exitHealthy {
		return nil
	}
	return exitCode(code)
}
