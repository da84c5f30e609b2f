package model

import (
	"errors"
	"fmt"
	"time"
)

// MostUpstreams bounds a chain's upstreams: Tried has a bit for each.
const MostUpstreams = 64

// Validate names what of a chain's definition no rule can work with (U8).
func (c *Chain) Validate() error {
	if c.Name == "" || c.Interface == "" {
		return errors.New("name and interface must not be empty")
	}
	if len(c.Upstreams) > MostUpstreams {
		return fmt.Errorf("upstreams: %d are more than %d", len(c.Upstreams), MostUpstreams)
	}
	return c.Settings.Validate()
}

// Validate names the first setting that is not what it must be.
func (s Settings) Validate() error {
	for _, f := range []struct {
		name string
		d    time.Duration
	}{
		{"probe.timeout", s.Timeout}, {"probe.healthy_interval", s.HealthyInterval},
		{"probe.unhealthy_interval", s.UnhealthyInterval}, {"probe.soon", s.Soon},
		{"check.interval", s.CheckInterval}, {"check.timeout", s.CheckTimeout},
	} {
		if f.d <= 0 {
			return fmt.Errorf("%s: %v is not positive", f.name, f.d)
		}
	}
	switch {
	case s.Tries < 1:
		return fmt.Errorf("probe.tries: %d is not positive", s.Tries)
	case s.Fall < 1:
		return fmt.Errorf("check.fall: %d is not positive", s.Fall)
	case s.MaxDefer < 0:
		return fmt.Errorf("probe.max_defer: %v is negative", s.MaxDefer)
	case s.Jitter < 0 || s.Jitter >= 1:
		return fmt.Errorf("probe jitter: %v is not a share below 1", s.Jitter)
	}
	return nil
}
