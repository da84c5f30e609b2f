package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"chaintop/internal/core"
)

func serveCommand(s streams) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Watch without a screen",
		Long: `serve watches the chains of a config file and writes one log line a probe, to
stderr or to the file the config names. It ends on SIGTERM or SIGINT.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usage("--config: serve needs a file")
			}
			return serve(cmd.Context(), s, file)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the file")
	return cmd
}

func serve(ctx context.Context, s streams, file string) error {
	w, err := watchFile(file)
	if err != nil {
		return err
	}
	defer w.Close()
	logger, closeLog, err := serveLog(s.err, w.log)
	if err != nil {
		return err
	}
	defer closeLog()
	c, err := core.New(core.Options{Instance: w.instance, Prober: w.targets, Logger: logger})
	if err != nil {
		return err
	}
	logger.Info("started", "instance", w.instance.Name, "version", w.instance.Version,
		"epoch", w.instance.Epoch, "chains", len(w.instance.Chains))
	err = c.Run(ctx)
	if errors.Is(err, context.Canceled) {
		logger.Info("stopped", "instance", w.instance.Name)
		return nil
	}
	return crash(s.err, err, err)
}
