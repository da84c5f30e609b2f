package simnode

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// fate is what a question meets.
func fate(a asker) string {
	got, err := a.ask(a.t.Context(), "eth_chainId")
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case err != nil:
		return err.Error()
	case got.err != nil:
		return "error"
	}
	return "result"
}

func TestScriptKeepsItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a := inBubble(t, n)
		start := time.Now()
		ended := make(chan error, 1)
		go func() {
			ended <- Script{Node: n, Steps: []Step{
				{After: 10 * time.Second, Fault: Refuse()},
				{After: 5 * time.Second, Fault: ErrorAll(-32000, "x")},
				{Fault: Quiet()},
				{After: time.Second, Fault: ErrorAll(-32000, "x")},
			}}.Run(t.Context())
		}()
		for _, c := range []struct {
			at   time.Duration
			want string
		}{
			{10*time.Second - 1, "result"}, {10*time.Second + 1, "refused"}, {15*time.Second - 1, "refused"},
			{15*time.Second + 1, "result"}, {16*time.Second + 1, "error"},
		} {
			time.Sleep(time.Until(start.Add(c.at)))
			if got := fate(a); got != c.want {
				t.Errorf("at %v: %s, want %s", c.at, got, c.want)
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestScriptRepeatsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a := inBubble(t, n)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		go func() {
			for i := range 40 {
				time.Sleep(time.Until(start.Add(time.Duration(i)*time.Minute + 10*time.Second)))
				up := fate(a)
				time.Sleep(time.Until(start.Add(time.Duration(i)*time.Minute + 30*time.Second)))
				if down := fate(a); up != "result" || down != "refused" {
					t.Errorf("minute %d: %s, then %s", i, up, down)
				}
			}
		}()
		err := Script{Node: n, Repeat: true, Steps: []Step{
			{After: 20 * time.Second, Fault: Refuse()}, {After: 40 * time.Second, Fault: Quiet()},
		}}.Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("%v at %v", err, time.Since(start))
		}
	})
}

func TestScriptThatCannotRun(t *testing.T) {
	n := New(Options{Name: "n"})
	for _, c := range []struct {
		script Script
		want   string
	}{
		{Script{Node: n, Steps: []Step{{After: -1}}}, "step 1"},
		{Script{Node: n, Steps: []Step{{}}, Repeat: true}, "no time"},
		{Script{Node: n, Repeat: true}, "no time"},
		{Script{Node: n, Steps: []Step{{}, {Fault: Refuse()}}}, "step 2 of n, refuses: the node does not serve"},
	} {
		if err := c.script.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if err := (Script{Node: n}).Run(t.Context()); err != nil {
		t.Errorf("a script without steps: %v", err)
	}
}
