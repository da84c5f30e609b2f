package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"sync"

	"golang.org/x/term"

	"chaintop/internal/core"
	"chaintop/internal/simnode"
	"chaintop/model"
	"chaintop/ui"
)

// demoSeed makes the demo's heights and hashes.
const demoSeed = 7

// dashboard watches the URLs, or the demo's nodes when there are none: on a
// screen where there is a terminal, else as one snapshot.
func dashboard(ctx context.Context, s streams, urls []string) error {
	targets, err := targetsOf(urls)
	if err != nil {
		return err
	}
	screen := drawable(s)
	if len(targets) > 0 {
		return show(ctx, s, instanceName(), "", targets, screen)
	}
	if !screen {
		return usage("no terminal to draw the demo on, and no URL given (chaintop URL…)")
	}
	return demo(ctx, s)
}

// drawable says whether the output is a terminal that can be drawn on.
func drawable(s streams) bool {
	f, ok := s.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && s.env("TERM") != "dumb"
}

// demo shows simulated nodes on loopback. They are reached by their URLs, as a
// user's are.
func demo(ctx context.Context, s streams) (err error) {
	nodes, err := simnode.OpenDemo(demoSeed)
	if err != nil {
		return err
	}
	script, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = nodes.Run(script) }) // its only end is ours
	defer func() {
		stop()
		wg.Wait()
		err = errors.Join(err, nodes.Close())
	}()
	var targets []target
	for _, n := range nodes.Nodes {
		t, err := targetOf(n.Name(), n.URL())
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	return show(ctx, s, "demo", "DEMO  simulated chains on loopback, nothing outside is asked", targets, true)
}

// show runs a core over the targets and shows it.
func show(ctx context.Context, s streams, name, banner string, targets []target, screen bool) error {
	w, err := wire(name, targets, model.DefaultSettings(model.EVM), "")
	if err != nil {
		return err
	}
	defer w.Close()
	c, err := core.New(core.Options{Instance: w.instance, Prober: w.prober})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(ctx)
		cancel() // a core that ends takes its screen with it
	}()
	if screen {
		err = ui.Run(ctx, ui.Options{
			Source: c.Log(), Sink: c, Who: userName(), Mode: "local", Banner: banner, Now: c.Now,
			NoColor: s.env("NO_COLOR") != "",
		})
	} else {
		err = snapshot(ctx, s.out, c.Log(), c.Now)
	}
	cancel()
	return crash(s.err, err, <-ended)
}

// crash is the error of what ended with a panic, whose stack goes out now that
// the terminal is ours again; else err.
func crash(out io.Writer, err, ended error) error {
	var screen *ui.PanicError
	var try *core.PanicError
	switch {
	case errors.As(ended, &try):
		fmt.Fprintf(out, "%s\n", try.Stack)
		return try
	case errors.As(err, &screen):
		fmt.Fprintf(out, "%s\n", screen.Stack)
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
