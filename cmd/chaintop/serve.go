package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"
)

func serveCommand(s streams) *cobra.Command {
	file, insecure := "", false
	cmd := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Watch and relay without a screen",
		Long: `serve watches the chains of a config file and relays clients' requests to them.
It listens on listen.gateway (requests, /healthz, /readyz) and listen.ops
(/healthz, /readyz, /metrics, /feed), and writes one log line a probe, to stderr
or to the file the config names.

On SIGTERM or SIGINT it drains: /readyz turns 503, requests are served until
nobody asked for drain.idle, then it ends with 0. A second signal ends it at
once, with 1.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usage("--config: serve needs a file")
			}
			return serve(cmd.Context(), s, file, insecure)
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the file")
	cmd.Flags().BoolVar(&insecure, "insecure", false, "serve the feed beyond loopback without a token or TLS, and say so on every screen")
	return cmd
}

func serve(ctx context.Context, s streams, file string, insecure bool) error {
	w, err := watchFile(file)
	if err != nil {
		return err
	}
	defer w.Close()
	gate, ops, err := listeners(w.config.Listen(), listenFlag{}, true)
	if err != nil {
		return err
	}
	logger, closeLog, err := serveLog(s.err, w.log)
	if err != nil {
		return err
	}
	defer closeLog()
	i, err := newInstance(w, instanceOptions{gate: gate, ops: ops, insecure: insecure, logger: logger})
	if err != nil {
		return err
	}
	i.announce(w, logger)
	s.signals.to(i.core.Signal)
	code, err := i.run(ctx)
	switch {
	case err == nil && code == 0, errors.Is(err, context.Canceled):
		logger.Info("stopped", "instance", w.instance.Name)
		return nil
	case err == nil:
		logger.Warn("stopped", "instance", w.instance.Name, "exit", code)
		return exitCode(code)
	}
	return crash(s.err, err, err)
}

// announce writes what runs and where it listens.
func (i *instance) announce(w *watch, logger *slog.Logger) {
	args := []any{
		"instance", w.instance.Name, "version", w.instance.Version, "epoch", w.instance.Epoch, "chains", len(w.instance.Chains),
	}
	for _, d := range i.doors {
		args = append(args, d.name, d.listener.Addr().String())
	}
	logger.Info("started", append(args, "feed", i.feed != nil)...)
	for _, warning := range w.config.Warnings() {
		logger.Warn(warning)
	}
}
