package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"chaintop/feed"
	"chaintop/model"
)

// follow prints a line a change until the source or ctx ends. A line is time,
// instance, chain or -, kind and key=value…; new keys come at the end; values
// are quoted when they hold a space.
func follow(ctx context.Context, out io.Writer, src feed.Source) error {
	picture, at, err := src.Snapshot(ctx)
	if err != nil {
		return err
	}
	picture = picture.Clone()
	for _, e := range picture.Recent {
		if err := printLine(out, picture, e); err != nil {
			return err
		}
	}
	for {
		events, next, err := src.After(ctx, at)
		switch {
		case errors.Is(err, feed.ErrGap):
			if picture, next, err = src.Snapshot(ctx); err != nil {
				return err
			}
			picture = picture.Clone()
			if _, err := fmt.Fprintf(out, "%s %s - gap\n", stamp(time.Now()), word(picture.Name)); err != nil {
				return err
			}
		case errors.Is(err, feed.ErrClosed), errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
		at = next
		for _, e := range events {
			picture.Apply(e)
			if err := printLine(out, picture, e); err != nil {
				return err
			}
		}
	}
}

func printLine(out io.Writer, i *model.Instance, e model.Event) error {
	kind, pairs := plainWords(i, e)
	if kind == "" {
		return nil
	}
	chain := "-"
	if e.Chain >= 0 && e.Chain < len(i.Chains) {
		chain = i.Chains[e.Chain].Key()
	}
	_, err := fmt.Fprintf(out, "%s %s %s %s%s\n", stamp(e.At), word(i.Name), chain, kind, pairs)
	return err
}

// kv is the pairs of a line.
type kv string

func (p *kv) add(key string, value any) {
	text := fmt.Sprint(value)
	*p += kv(" " + key + "=" + word(text))
}

// word is a value on a plain line: ASCII, quoted when it must be.
func word(s string) string {
	s = plainSigns.Replace(s)
	if s == "" || strings.ContainsAny(s, " \"=\\") {
		return strconv.QuoteToASCII(s)
	}
	return strings.Trim(strconv.QuoteToASCII(s), `"`)
}

// plainSigns are the signs of sentences in ASCII.
var plainSigns = strings.NewReplacer("×", "x", " ·", ",", "→", "->", "—", "-", "… ", "... ", "●", "+", "✖", "x", "◌", "?", "▲", "!", "■", "#")

// plainWords is the kind of a change and its pairs; no kind for what has no line.
func plainWords(i *model.Instance, e model.Event) (kind string, p kv) {
	switch b := e.Body.(type) {
	case model.Started:
		p.add("version", b.Instance.Version)
		p.add("epoch", b.Instance.Epoch)
		p.add("chains", len(i.Chains))
		return "started", p
	case model.ReadyChanged:
		from, to := "not_ready", "ready"
		if !b.Ready {
			from, to = to, from
		}
		p.add("from", from)
		p.add("to", to)
		if b.Cause >= 0 && b.Cause < len(i.Chains) {
			p.add("why", i.Chains[b.Cause].Key()+" "+i.Chains[b.Cause].State.Health.String())
		}
		return "ready", p
	case model.CommandDone:
		l, _ := model.Describe(i, e)
		p.add("who", e.Who)
		p.add("op", b.Op)
		p.add("answer", l.Detail)
		return "command", p
	case model.DrainChanged:
		l, _ := model.Describe(i, e)
		p.add("what", b.What)
		p.add("state", b.Drain.State)
		p.add("simulated", b.Drain.Simulated)
		p.add("who", b.Drain.Who)
		p.add("why", l.Detail)
		return "drain", p
	case model.ProbeStarted, model.TryEnded, model.ProbeEnded, model.ChainChanged, model.UpstreamChanged, model.ServingChanged,
		model.ClientsFelt, model.UpstreamRead, model.TrafficRead, model.Skipped:
	}
	if e.Chain < 0 || e.Chain >= len(i.Chains) {
		return "", ""
	}
	return plainChain(i, e, i.Chains[e.Chain])
}

func plainChain(i *model.Instance, e model.Event, c *model.Chain) (kind string, p kv) {
	switch b := e.Body.(type) {
	case model.ProbeEnded:
		d := model.Fleet{Now: e.At, Instances: []*model.Instance{i}}.Chain(0, e.Chain)
		p.add("id", b.Probe.ID)
		p.add("verdict", b.Probe.Verdict)
		p.add("health", b.Probe.Health)
		p.add("tries", len(b.Probe.Tries))
		p.add("took", model.Took(b.Probe.Ended.Sub(b.Probe.Started)))
		p.add("trigger", b.Probe.Trigger)
		p.add("next", model.Countdown(b.State.Next.At, e.At))
		p.add("why", plainWhy(c, e.At))
		p.add("whose", strings.TrimPrefix(d.Whose.ID, "whose."))
		return "probe", p
	case model.ChainChanged:
		if b.What == model.ChangeHealth {
			p.add("from", b.From)
			p.add("to", b.State.Health)
			p.add("why", plainWhy(c, e.At))
			return "health", p
		}
	case model.UpstreamChanged:
		return plainUpstream(i, e, c, b)
	case model.ServingChanged:
		name := "none"
		if u := b.Serving.Upstream; u >= 0 && u < len(c.Upstreams) {
			name = c.Upstreams[u].Name
		}
		p.add("upstream", name)
		p.add("why", b.Serving.Why)
		return "serving", p
	case model.ClientsFelt:
		p.add("failed", b.Felt.Failed)
		p.add("retried", b.Felt.Retried)
		p.add("hedged", b.Felt.Hedged)
		p.add("slowest", model.Took(b.Felt.Slowest))
		return "clients_felt", p
	case model.Started, model.ReadyChanged, model.DrainChanged, model.CommandDone, model.ProbeStarted, model.TryEnded, model.UpstreamRead,
		model.TrafficRead, model.Skipped:
	}
	l, ok := model.Describe(i, e)
	if !ok {
		return "", ""
	}
	if b, is := e.Body.(model.ChainChanged); is {
		if b.What == model.ChangeNext || b.What == model.ChangeHeard {
			p.add("in", model.Countdown(b.State.Next.At, e.At))
		}
		p.add("why", l.Detail)
		return string(b.What), p
	}
	return "", ""
}

func plainUpstream(i *model.Instance, e model.Event, c *model.Chain, b model.UpstreamChanged) (kind string, p kv) {
	if b.Upstream < 0 || b.Upstream >= len(c.Upstreams) {
		return "", ""
	}
	p.add("upstream", c.Upstreams[b.Upstream].Name)
	if b.What == model.ChangeHealth {
		p.add("from", b.From)
		p.add("to", b.State.Health)
		return "upstream", p
	}
	l, _ := model.Describe(i, e)
	if b.What == model.ChangeSuspect || b.What == model.ChangeTrusted {
		p.add("why", l.Detail)
		return string(b.What), p
	}
	if h := b.State.Hold; b.What == model.ChangeHeld {
		p.add("for", model.Countdown(h.Until, h.From))
		p.add("why", l.Detail)
	}
	p.add("findings", strings.Join(b.State.Findings.Words(), ","))
	return string(b.What), p
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
