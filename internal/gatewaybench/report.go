//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// report is what is printed: markdown, as it comes.
type report struct {
	w      io.Writer
	bars   []bar
	missed bool // a hard bar
}

// bar is what was to be reached, and what was.
type bar struct {
	what, measured, want string
	ok, hard             bool
}

func (r *report) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.w, format+"\n", args...) // whoever reads it may be gone
}

// table prints rows of cells under a head.
func (r *report) table(head []string, rows [][]string) {
	line := func(cells []string) { r.say("| %s |", strings.Join(cells, " | ")) }
	line(head)
	line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	for _, row := range rows {
		line(row)
	}
	r.say("")
}

func (r *report) title(text string) { r.say("\n### %s\n", text) }

// soft notes a bar that moves with the machine.
func (r *report) soft(what, measured, want string, ok bool) {
	r.bars = append(r.bars, bar{what, measured, want, ok, false})
}

// hard notes a bar whose miss is a fault of the gateway.
func (r *report) hard(what, measured, want string, ok bool) {
	r.bars = append(r.bars, bar{what, measured, want, ok, true})
	r.missed = r.missed || !ok
}

func (r *report) end() {
	r.title("Bars")
	var rows [][]string
	for _, b := range r.bars {
		word := "ok"
		switch {
		case !b.ok && b.hard:
			word = "**MISSED**"
		case !b.ok:
			word = "missed"
		}
		kind := ""
		if b.hard {
			kind = "hard"
		}
		rows = append(rows, []string{b.what, b.measured, b.want, kind, word})
	}
	r.table([]string{"what", "measured", "bar", "", ""}, rows)
}

// ms is a duration as the tables show it.
func ms(d time.Duration) string {
	n := float64(d) / float64(time.Millisecond)
	switch {
	case n >= 100:
		return fmt.Sprintf("%.0f ms", n)
	case n >= 10:
		return fmt.Sprintf("%.1f ms", n)
	}
	return fmt.Sprintf("%.2f ms", n)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
