package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"chaintop/feed"
	"chaintop/ui"
)

func attachCommand(s streams) *cobra.Command {
	var remote remoteFlags
	var f screenFlags
	cmd := &cobra.Command{
		Use:   "attach URL|ALIAS…",
		Short: "Show running instances, by their feeds",
		Long: `attach shows a running instance as its own screen would: ws://host/feed,
wss://host/feed, or an alias of the instances in a config file. Several are a
table of instances; enter opens one. A feed that is lost is tried again, and what
is shown meanwhile says its age.

A token is read from the token_file of the alias. Without one a feed on loopback
shows everything and takes no command.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("attach: want the URL of a feed or an alias")
			}
			if f.once && f.plain {
				return usage("--once: prints one table, --plain goes on: give one of them")
			}
			peers, err := remote.peers(s, args)
			if err != nil {
				return err
			}
			return attach(cmd.Context(), s, peers, f)
		},
	}
	remote.add(cmd)
	cmd.Flags().BoolVar(&remote.insecure, "insecure", false, "send a token over ws:// to another machine")
	cmd.Flags().BoolVar(&f.once, "once", false, "print one table, and exit as probe does")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "print a line a change instead of drawing")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	cmd.Flags().BoolVar(&f.look, "read-only", false, "look only: every key that acts is off")
	return cmd
}

func attach(ctx context.Context, s streams, peers []*peer, f screenFlags) error {
	switch {
	case f.plain:
		return attachPlain(ctx, s, peers)
	case f.once || !drawable(s):
		if len(peers) > 1 {
			return usage("--once: of one instance, %d were given", len(peers))
		}
		p := peers[0]
		return p.connected(ctx, s, func(ctx context.Context) error {
			return snapshot(ctx, s.out, p.client, p.client.Now)
		})
	}
	ctx, cancel := context.WithCancel(ctx)
	wait := keep(ctx, peers)
	defer func() {
		cancel()
		wait()
	}()
	var all []ui.Named
	for _, p := range peers {
		all = append(all, ui.Named{Name: p.name, Options: p.screen(s, f)})
	}
	var err error
	if len(all) == 1 {
		err = ui.Run(ctx, all[0].Options)
	} else {
		err = ui.RunSeveral(ctx, all)
	}
	return crash(s.err, err, nil)
}

// screen is how the screen of a peer is made.
func (p *peer) screen(s streams, f screenFlags) ui.Options {
	o := ui.Options{
		Source: p.client, Sink: p.client, Remote: p.client, Refusals: p.refusals, Who: userName(), Mode: "attached", Now: p.client.Now,
		NoColor: s.env("NO_COLOR") != "", ASCII: f.ascii || poorTerminal(s), Light: lightGround(s),
	}
	if f.look {
		o.ReadOnly = "--read-only"
	}
	return o
}

// attachPlain prints the changes of all, a line each; those of one instance stay
// whole lines.
func attachPlain(ctx context.Context, s streams, peers []*peer) error {
	ctx, cancel := context.WithCancel(ctx)
	wait := keep(ctx, peers)
	defer func() {
		cancel()
		wait()
	}()
	out := &lines{out: s.out}
	var wg sync.WaitGroup
	failed := make(chan error, len(peers))
	for _, p := range peers {
		wg.Go(func() { p.tell(ctx, out) })
		wg.Go(func() { failed <- follow(ctx, out, p.client) })
	}
	var err error
	for range peers {
		if one := <-failed; one != nil && ctx.Err() == nil {
			tell(s.err, one.Error())
			err = exitCode(exitUnreachable)
		}
	}
	cancel()
	wg.Wait()
	return err
}

// tell prints how the connection is, whenever that changes.
func (p *peer) tell(ctx context.Context, out io.Writer) {
	was := ""
	for {
		st, changed := p.client.Watch()
		name := st.Instance
		if name == "" {
			name = p.name
		}
		is := "feed state=" + strings.ReplaceAll(st.Phase.String(), " ", "_")
		if st.Stale && st.Phase != feed.Ended {
			is = fmt.Sprintf("stale last=%s", stamp(st.Heard))
		}
		if st.Words != "" && st.Phase != feed.Live {
			is += " why=" + word(fmt.Sprintf("%d %s", st.Code, st.Words))
		}
		if is != was {
			_, _ = fmt.Fprintf(out, "%s %s - %s\n", stamp(p.client.Now()), word(name), is) // follow finds out that nobody reads
			was = is
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// lines is a writer that many may write lines to.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}
