package core

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClockFollowsASleepAndNoStepBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name      string
			step      time.Duration // of the wall clock against the running one
			wantAhead time.Duration // of our clock against the wall
		}{
			{"in step", 0, 0},
			{"corrected a little", time.Second, -time.Second},
			{"slept an hour", time.Hour, 0},
			{"set back an hour", -time.Hour, time.Hour},
		} {
			c := newClock()
			c.wall = c.wall.Add(-tt.step)
			before := c.now()
			time.Sleep(10 * time.Second)
			if got := time.Until(c.now()); got != tt.wantAhead {
				t.Errorf("%s: %v ahead of the wall, want %v", tt.name, got, tt.wantAhead)
			}
			if got := c.now().Sub(before); got != 10*time.Second {
				t.Errorf("%s: 10s took %v", tt.name, got)
			}
		}
	})
}
