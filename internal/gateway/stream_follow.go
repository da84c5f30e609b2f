package gateway

import (
	"context"
	"errors"

	"chaintop/feed"
	"chaintop/model"
)

// Follow tells the streams of a chain when what is believed of its upstreams
// changes, until ctx or the log ends. It is one goroutine for all sessions: one
// that woke at every published picture would cost chains × sessions. Without it
// a stream moves only when its upstream's socket is lost.
func (g *Gateway) Follow(ctx context.Context, log feed.Source) error {
	_, at, err := log.Snapshot(ctx)
	if err != nil {
		return err
	}
	for {
		g.pokeAll(nil)
		for err == nil {
			var events []model.Event
			if events, at, err = log.After(ctx, at); err == nil {
				g.pokeAll(touched(events))
			}
		}
		switch {
		case errors.Is(err, feed.ErrClosed):
			return nil
		case !errors.Is(err, feed.ErrGap):
			return err
		}
		if _, at, err = log.Snapshot(ctx); err != nil {
			return err
		}
	}
}

// touched are the chains where an upstream may have become fit or unfit.
func touched(events []model.Event) map[int]bool {
	chains := map[int]bool{}
	for _, e := range events {
		switch e.Body.(type) {
		case model.ServingChanged, model.UpstreamChanged, model.ChainChanged:
			chains[e.Chain] = true
		case model.Started, model.ProbeStarted, model.TryEnded, model.ProbeEnded, model.ReadyChanged, model.DrainChanged,
			model.ClientsFelt, model.CommandDone, model.UpstreamRead, model.TrafficRead, model.Skipped:
		}
	}
	return chains
}

// pokeAll wakes the sessions of chains; nil = of all.
func (g *Gateway) pokeAll(chains map[int]bool) {
	for _, rt := range g.routes {
		if chains != nil && !chains[rt.n] {
			continue
		}
		for _, s := range rt.streams.sessions() {
			s.poke()
		}
	}
}
