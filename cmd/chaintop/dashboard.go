package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"chaintop/internal/core"
	"chaintop/ui"
)

// screenFlags are what a screen may be told.
type screenFlags struct {
	config string
	log    string
	once   bool
	plain  bool
	ascii  bool
	look   bool // read-only
	listen listenFlag
}

func (f *screenFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "watch the chains of this file")
	f.addScreen(cmd)
}

func (f *screenFlags) addScreen(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.once, "once", false, "print one table once every chain has a verdict, and exit as probe does")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "print a line a change instead of drawing")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	cmd.Flags().Var(&f.listen, "listen", "relay clients' requests there, or with ops= serve /readyz, /metrics and the feed")
	cmd.Flags().BoolVar(&f.look, "read-only", false, "look only: every key that acts is off")
	cmd.Flags().StringVar(&f.log, "log", "", "write log lines to this file")
}

// dashboard watches the URLs, the file or, when there is neither, the demo.
func dashboard(ctx context.Context, s streams, urls []string, f screenFlags) error {
	w, err := pick(s, urls, f)
	switch {
	case err != nil:
		return err
	case w == nil:
		return demoScreen(ctx, s, demoFlags{screenFlags: f, seed: demoSeed})
	}
	defer w.Close()
	return show(ctx, s, w, f, shown{})
}

// pick is what is to be watched; nil without an error is the demo.
func pick(s streams, urls []string, f screenFlags) (*watch, error) {
	switch {
	case f.once && f.plain:
		return nil, usage("--once: prints one table, --plain goes on: give one of them")
	case f.config != "" && len(urls) > 0:
		return nil, usage("--config: goes without URLs, %d were given", len(urls))
	case f.config != "":
		return watchFile(f.config)
	case len(urls) > 0:
		return watchURLs(urls, defaultAsked())
	case f.once:
		return nil, usage("--once: nothing to look at: give a URL or --config")
	case f.plain:
		return nil, usage("--plain: nothing to follow: give a URL or --config")
	case !drawable(s):
		return nil, usage("no terminal to draw the demo on, and nothing to watch: give a URL or --config")
	}
	return nil, nil
}

// drawable says whether the output is a terminal that can be drawn on.
func drawable(s streams) bool {
	f, ok := s.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && s.env("TERM") != "dumb"
}

// shown is what of a screen is not in what it watches.
type shown struct {
	banner string
	faults []string // kinds of faults the demo takes
	fault  func(chain, upstream int, kind string)
	demo   bool
	asked  func(ctx context.Context, gateway string) // begins to send the demo's client requests
}

// show runs a core over w and shows it: on a screen where there is a terminal,
// else as one snapshot; or as the flags say.
func show(ctx context.Context, s streams, w *watch, f screenFlags, d shown) error {
	logger, closeLog, err := screenLog(f.log, w.log)
	if err != nil {
		return err
	}
	defer closeLog()
	gate, ops, err := listeners(w.config.Listen(), f.listen, false)
	if err != nil {
		return err
	}
	i, err := newInstance(w, instanceOptions{gate: gate, ops: ops, logger: logger, fault: d.fault})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan ending, 1)
	go func() {
		code, err := i.run(ctx)
		ended <- ending{code, err}
		cancel() // a core that ends takes its screen with it
	}()
	if d.asked != nil {
		d.asked(ctx, gate.Addr().String())
	}
	serves := len(i.doors) > 0 && (!d.demo || f.listen.given)
	if serves {
		s.signals.to(i.core.Signal)
	}
	switch {
	case f.plain:
		err = follow(ctx, s.out, i.core.Log())
	case f.once || !drawable(s):
		err = snapshot(ctx, s.out, i.core.Log(), i.core.Now)
	default:
		o := screenOf(i, s, w, f, d)
		if o.Serves = serves; serves {
			o.Interrupt = func() { i.core.Signal("SIGINT") }
		}
		err = ui.Run(ctx, o)
	}
	cancel()
	end := <-ended
	if end.err == nil {
		return exitOf(end.code)
	}
	return crash(s.err, err, end.err)
}

// ending is how an instance ended.
type ending struct {
	code int
	err  error
}

func exitOf(code int) error {
	if code == 0 {
		return nil
	}
	return exitCode(code)
}

func screenOf(i *instance, s streams, w *watch, f screenFlags, d shown) ui.Options {
	look := ""
	if f.look {
		look = "--read-only"
	}
	return ui.Options{
		ReadOnly: look,
		Source:   i.core.Log(), Sink: i.core, Who: userName(), Mode: "local", Banner: d.banner, Now: i.core.Now,
		NoColor: s.env("NO_COLOR") != "", ASCII: f.ascii || poorTerminal(s),
		Demo: d.demo, Faults: d.faults, Empty: w.empty, Config: f.config, Light: lightGround(s),
	}
}

// lightGround is what the environment says of the terminal's ground: some
// terminals put their colours into COLORFGBG, and do not answer when asked.
func lightGround(s streams) bool {
	said := s.env("COLORFGBG")
	return strings.HasSuffix(said, ";7") || strings.HasSuffix(said, ";15")
}

// poorTerminal says whether the terminal cannot be trusted with more than
// ASCII: the locale is not UTF-8, or it is the Linux console.
func poorTerminal(s streams) bool {
	if s.env("TERM") == "linux" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := s.env(name); v != "" {
			return !isUTF8(v)
		}
	}
	return false
}

// crash is the error of what ended with a panic, whose stack goes out now that
// the terminal is ours again; else err.
func crash(out io.Writer, err, ended error) error {
	var screen *ui.PanicError
	var try *core.PanicError
	switch {
	case errors.As(ended, &try):
		_, _ = out.Write(try.Stack) // there is nobody left to tell
		return try
	case errors.As(err, &screen):
		_, _ = out.Write(screen.Stack) // nor here
		return screen
	}
	return err
}

// userName is who asks from this screen.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "local"
}
