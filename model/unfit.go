package model

import (
	"fmt"
	"strings"
	"time"
)

// mostUnfit bounds the upstreams that NoneFit names.
const mostUnfit = 8

// NoneFit says why a request to c could go nowhere, by upstream: what the
// request itself met there, by its words, else why it was not asked (F9). No
// height is in it that nobody reported.
func NoneFit(c *Chain, now time.Time, met map[int]string) string {
	if len(c.Upstreams) == 0 {
		return "no upstream is fit for " + c.Key() + ": it has none"
	}
	var parts []string
	for i := range c.Upstreams {
		if len(parts) == mostUnfit {
			parts = append(parts, fmt.Sprintf("and %d more", len(c.Upstreams)-i))
			break
		}
		word := met[i]
		if word == "" {
			word = c.unfitWord(i, now)
		}
		parts = append(parts, c.Upstreams[i].Name+" "+word)
	}
	return "no upstream is fit for " + c.Key() + ": " + strings.Join(parts, ", ")
}

// unfitWord is why upstream i is not fit, in a word or two.
func (c *Chain) unfitWord(i int, now time.Time) string {
	s := &c.Upstreams[i].State
	switch c.Fitness(i, now) {
	case UnfitHealth:
		if w := s.Last.Word(); w != "" {
			return w
		}
		return s.Health.String()
	case UnfitFinding:
		f, _ := s.Findings.Worst()
		if s.Lag.Known && s.Lag.Blocks > 0 {
			return fmt.Sprintf("%s (%d behind)", f, s.Lag.Blocks)
		}
		return f.String()
	case UnfitSuspect:
		return "suspect (" + string(s.Suspect.Reason) + ")"
	case UnfitHeld:
		return "held " + Countdown(s.Hold.Until, now)
	case UnfitLastResort:
		f, _ := s.Findings.Worst()
		return f.String()
	case Fit:
	}
	return "asked already"
}
