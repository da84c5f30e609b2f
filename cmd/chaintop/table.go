package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"chaintop/model"
)

// writeTable prints a probe of each chain: a line a chain, then the tries of
// those that got no result, with their evidence.
func writeTable(out io.Writer, picture *model.Instance) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "CHAIN\tVERDICT\tWHY\tHEAD\tCHAIN ID\tTRIES\tTOOK") // Flush tells
	for _, c := range picture.Chains {
		head, id := "-", "-"
		if len(c.Upstreams) > 0 {
			f := c.Upstreams[answered(c)].State.Facts
			if f.Head.Known() {
				head = strconv.FormatUint(f.Head.Value, 10)
			}
			if f.ChainID.Known() {
				id = f.ChainID.Value
			}
		}
		tries, took := 0, time.Duration(0)
		if c.Last != nil {
			tries, took = len(c.Last.Tries), c.Last.Ended.Sub(c.Last.Started)
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", c.Key(), orDash(c.State.Verdict.String()),
			plainWhy(c, c.State.VerdictAt), head, id, tries, model.Took(took))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var tries strings.Builder
	for n, c := range picture.Chains {
		if c.State.Verdict != model.VerdictHealthy && c.Last != nil {
			writeTries(&tries, picture, n)
		}
	}
	_, err := io.WriteString(out, tries.String())
	return err
}

func writeTries(out *strings.Builder, picture *model.Instance, n int) {
	c := picture.Chains[n]
	d := model.Fleet{Now: c.Last.Ended, Instances: []*model.Instance{picture}}.Chain(0, n)
	fmt.Fprintf(out, "\n%s %s\n", c.Key(), c.State.Verdict)
	for _, l := range []struct{ label, text string }{{"why", d.Why.Long}, {"whose", d.Whose.Long}} {
		fmt.Fprintf(out, "  %-6s %s\n", l.label, l.text)
	}
	for _, t := range c.Last.Tries {
		name := "-"
		if t.Upstream >= 0 {
			name = c.Upstreams[t.Upstream].Name
		}
		line := fmt.Sprintf("  %d  %s  %s  %s  at %s  %s  %s", t.N, name, t.Kind, t.Word(), orDash(string(t.Evidence.Layer)), model.Took(t.Took), t.Evidence)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// plainWhy is the WHY column in plain text, without signs.
func plainWhy(c *model.Chain, now time.Time) string {
	w := model.WhyOf(c, now)
	var parts []string
	for _, r := range w.Reasons {
		parts = append(parts, fmt.Sprintf("%s x%d", r.Word, r.N))
	}
	text := strings.Join(parts, ", ")
	if w.Word != "" {
		word := strings.TrimSpace(w.Word + " " + w.Detail)
		if w.Upstream >= 0 && len(c.Upstreams) > 1 {
			word = c.Upstreams[w.Upstream].Name + " " + word
		}
		text = strings.TrimSpace(text + " " + word)
	}
	return orDash(text)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
