package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"chaintop/feed"
	"chaintop/internal/config"
	"chaintop/ui"
)

// configEnv names the file in which aliases are looked up when --config is not
// given, so that an echoed command can be pasted.
const configEnv = "CHAINTOP_CONFIG"

// remoteFlags say how another instance is found.
type remoteFlags struct {
	config   string
	insecure bool
}

func (f *remoteFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "file with the aliases (instances:); default: $"+configEnv)
}

// peer is another instance: how it was asked for, and its feed.
type peer struct {
	name     string
	client   *feed.Client
	refusals chan ui.Refusal
}

// peers finds the instances that are named, by alias or by the URL of a feed.
func (f remoteFlags) peers(s streams, names []string) ([]*peer, error) {
	var all []*peer
	var file *config.Config
	for _, name := range names {
		o := feed.ClientOptions{URL: name, Name: "chaintop " + buildVersion(), Insecure: f.insecure}
		p := &peer{name: name, refusals: make(chan ui.Refusal, 16)}
		if !strings.Contains(name, "://") {
			var err error
			if file == nil {
				if file, err = f.file(s, name); err != nil {
					return nil, err
				}
			}
			if err := alias(file, name, &o); err != nil {
				return nil, err
			}
		} else {
			p.name = hostOf(name)
			if err := feedURL(name); err != nil {
				return nil, err
			}
		}
		o.Refused = func(id string, a feed.Answer) {
			select {
			case p.refusals <- ui.Refusal{ID: id, Words: fmt.Sprintf("%d %s: %s", a.Code, a.Name, a.Words)}:
			default: // the screen is behind: it has enough to say
			}
		}
		var err error
		if p.client, err = feed.NewClient(o); err != nil {
			return nil, usage("%s: %v", p.name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// file is where aliases are.
func (f remoteFlags) file(s streams, name string) (*config.Config, error) {
	path := f.config
	if path == "" {
		path = s.env(configEnv)
	}
	if path == "" {
		return nil, usage("%q is no URL (ws://… or wss://…); for an alias give --config FILE or set %s", short(name), configEnv)
	}
	c, err := config.Load(path, config.Env{})
	if err != nil {
		return nil, usageError{err.Error()}
	}
	return c, nil
}

// alias fills o from the instances of the file.
func alias(c *config.Config, name string, o *feed.ClientOptions) error {
	var known []string
	for _, i := range c.Instances() {
		if i.Alias != name {
			known = append(known, i.Alias)
			continue
		}
		o.URL = i.URL.Reveal()
		if file := i.TokenFile; file != "" {
			o.Token = func() (string, error) {
				secret, err := config.ReadToken(file)
				if err != nil {
					return "", err
				}
				return secret.Reveal(), nil
			}
		}
		return nil
	}
	if len(known) == 0 {
		return usage("%q: %s has no instances", short(name), c.File())
	}
	return usage("%q is no instance of %s; it has %s", short(name), c.File(), strings.Join(known, ", "))
}

// feedURL refuses what is no feed, with what it may be.
func feedURL(raw string) error {
	scheme, _, _ := strings.Cut(raw, "://")
	switch scheme {
	case "ws", "wss":
		return nil
	case "http", "https":
		return usage("%s: a feed is reached by ws:// or wss://, as in ws%s://%s/feed", hostOf(raw), strings.TrimPrefix(scheme, "http"), hostOf(raw))
	case "proxyd+http", "proxyd+https", "smartrouter+http", "smartrouter+https", "vixy+http", "vixy+https":
		return usage("%s: this version attaches to chaintop only", scheme+"://"+hostOf(raw))
	}
	return usage("%s: want ws:// or wss://", hostOf(raw))
}

// hostOf is the host of a URL, which is all of it that may be shown.
func hostOf(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// connectTime bounds how long a command waits for the first picture.
const connectTime = 10 * time.Second

// connected runs do with a peer that is live. A feed that refuses us, or that is
// not there in time, is told in one line.
func (p *peer) connected(ctx context.Context, s streams, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.client.Run(ctx) }) // ends with us
	defer func() {
		cancel()
		wg.Wait()
	}()
	first, stop := context.WithTimeout(ctx, connectTime)
	defer stop()
	_, _, err := p.client.Snapshot(first)
	var refused *feed.RefusedError
	switch {
	case err == nil:
		return do(ctx)
	case errors.As(err, &refused):
		tell(s.err, fmt.Sprintf("%s: %d %s", p.name, refused.Code, refused.Words))
	default:
		why := p.client.Status().Words
		if why == "" {
			why = "no answer"
		}
		tell(s.err, fmt.Sprintf("%s: not connected within %v: %s", p.name, connectTime, why))
	}
	return exitCode(exitUnreachable)
}

// keep keeps peers connected until ctx ends; wait returns when they are.
func keep(ctx context.Context, peers []*peer) (wait func()) {
	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() { _ = p.client.Run(ctx) }) // ends with ctx
	}
	return wg.Wait
}
