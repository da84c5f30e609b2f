package model

import (
	"slices"
	"time"
)

// RecentChanges bounds the changes that are part of the picture.
const RecentChanges = 256

// Instance is the picture of one running chaintop core: the fold of its events.
type Instance struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Epoch   string    `json:"epoch"` // changes at every start of the process
	Started time.Time `json:"started,omitzero"`
	Policy  Policy    `json:"policy"`            // who counts for readiness
	Demo    bool      `json:"demo,omitempty"`    // its upstreams are simulated and take faults
	Gateway bool      `json:"gateway,omitempty"` // it routes clients' requests

	// Chains is in config order. A *Chain never changes once it is here; the
	// slice belongs to whoever folds.
	Chains []*Chain `json:"chains"`

	Drain Drain `json:"drain"` // DrainChanged; its Activity: TrafficRead

	ReadySince time.Time `json:"ready_since,omitzero"` // since when readiness is what it is
	Recent     []Event   `json:"recent,omitempty"`     // the last changes, oldest first
}

// Clone is a picture that stays as it is while i is folded on.
func (i *Instance) Clone() *Instance {
	c := *i
	c.Chains = slices.Clone(i.Chains)
	c.Recent = slices.Clip(i.Recent) // so that an append of either is its own
	return &c
}

// Find is the index of the chain with that key, or -1.
func (i *Instance) Find(key string) int {
	return slices.IndexFunc(i.Chains, func(c *Chain) bool { return c.Key() == key })
}

// Due is the earliest thing the chain waits for: its next probe, its next
// round of checks, the end of a hold, of a suspicion's pause, of a pin. It is zero when it waits for answers only.
func (c *Chain) Due() time.Time {
	due := c.Checks.Due
	if c.Probe == nil && (due.IsZero() || c.State.Next.At.Before(due)) {
		due = c.State.Next.At
	}
	first := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for i := range c.Upstreams {
		s := &c.Upstreams[i].State
		if s.Hold.Active {
			first(s.Hold.Until)
		}
		if s.Suspect.Active && !s.Suspect.Until.IsZero() {
			first(s.Suspect.Until)
		}
		if !s.Back.IsZero() {
			first(s.Back.Add(c.Settings.FailbackAfter))
		}
	}
	if c.State.Pin.On {
		first(c.State.Pin.Until)
	}
	return due
}
