package main

import (
	"context"
	"errors"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chaintop/internal/core"
	"chaintop/model"
)

// probeFlags are what `probe` may be told.
type probeFlags struct {
	output  string
	timeout time.Duration
	tries   int
	chainID string
}

// Bounds of a probe asked for on the command line.
const (
	mostTries   = 100
	mostTimeout = 10 * time.Minute
)

func probeCommand(s streams) *cobra.Command {
	def := model.DefaultSettings(model.EVM)
	f := probeFlags{}
	cmd := &cobra.Command{
		Use:   "probe URL…",
		Short: "Probe each URL once and say what came of it",
		Long: `probe makes one probe of each URL, all at the same time, prints verdicts and
evidence, and exits: 0 healthy, 1 unreachable, 3 inconclusive; of several the
worst. Nothing is ever written to a node.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("probe: no URL given")
			}
			if err := onlyURLs(cmd, args); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			return probeURLs(cmd.Context(), s, args, f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "table", "table or json")
	cmd.Flags().DurationVar(&f.timeout, "timeout", def.Timeout, "deadline of one try")
	cmd.Flags().IntVar(&f.tries, "tries", def.Tries, "tries before the verdict")
	cmd.Flags().StringVar(&f.chainID, "chain-id", "", "chain id each node must have, decimal or 0x hex")
	cmd.SetFlagErrorFunc(flagFault)
	return cmd
}

func (f *probeFlags) check() error {
	switch {
	case f.output != "table" && f.output != "json":
		return usage("--output: %q is neither table nor json", short(f.output))
	case f.timeout <= 0 || f.timeout > mostTimeout:
		return usage("--timeout: %v is not between 0 and %v", f.timeout, mostTimeout)
	case f.tries < 1 || f.tries > mostTries:
		return usage("--tries: %d is not between 1 and %d", f.tries, mostTries)
	}
	if f.chainID == "" {
		return nil
	}
	id, ok := parseChainID(f.chainID)
	if !ok {
		return usage("--chain-id: %q is no chain id: want a decimal number or 0x hex", short(f.chainID))
	}
	f.chainID = id
	return nil
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

func probeURLs(ctx context.Context, s streams, urls []string, f probeFlags) error {
	targets, err := targetsOf(urls)
	if err != nil {
		return err
	}
	set := model.DefaultSettings(model.EVM)
	set.Timeout, set.Tries = f.timeout, f.tries
	w, err := wire(instanceName(), targets, set, f.chainID)
	if err != nil {
		return err
	}
	defer w.Close()
	picture, err := core.Once(ctx, w.instance, w.prober)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if werr := writeProbe(s.out, picture, f.output, time.Now()); werr != nil {
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
