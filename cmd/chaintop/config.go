package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"chaintop/internal/config"
)

func configCommand(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check a config file, or print an example",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("config: what? check or example")
			}
			return usage("config: %q is not check or example", short(args[0]))
		},
	}
	cmd.AddCommand(checkCommand(s), &cobra.Command{
		Use:   "example",
		Short: "Print a config with every field and its default",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(config.Example())
			return err
		},
	})
	return cmd
}

func checkCommand(s streams) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Name everything that is wrong in a config file",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1 || (len(args) == 1 && file != ""):
				return usage("config check: takes one file")
			case len(args) == 1:
				file = args[0]
			case file == "":
				return usage("config check: no file given")
			}
			w, err := watchFile(file)
			if err != nil {
				return err
			}
			defer w.Close()
			upstreams := 0
			for _, c := range w.instance.Chains {
				upstreams += len(c.Upstreams)
			}
			for _, warning := range w.config.Warnings() {
				tell(s.err, "warning: "+warning)
			}
			if err := w.config.FeedAllowed(false); err != nil {
				tell(s.err, "serve refuses this without --insecure: "+err.Error())
			}
			_, err = fmt.Fprintf(s.out, "%s: ok: %d chains, %d upstreams\n", file, len(w.instance.Chains), upstreams)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the file")
	return cmd
}

// noArgs refuses arguments in one line.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: takes no argument, %q was given", cmd.Name(), short(args[0]))
	}
	return nil
}
