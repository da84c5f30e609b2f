package model

import (
	"errors"
	"fmt"
	"time"
)

// DrainMode is how an instance leaves.
type DrainMode uint8

// The modes of a drain.
const (
	DrainIdle      DrainMode = iota // serves on until nobody asks any more (D4)
	DrainImmediate                  // refuses everything at once (D3)
)

var drainModeNames = names[DrainMode]{"idle", "immediate"}

func (m DrainMode) String() string                { return drainModeNames.word(m) }
func (m DrainMode) MarshalText() ([]byte, error)  { return drainModeNames.marshal(m) }
func (m *DrainMode) UnmarshalText(b []byte) error { return drainModeNames.unmarshal(m, b) }

// DrainState is how far an instance is on its way out.
type DrainState uint8

// The states of a drain, in their order.
const (
	DrainServing DrainState = iota
	Draining                // not ready any more; requests are served (D4) or refused (D3)
	Drained                 // idle, or at its bound: listeners close, what is in flight ends, the process exits
)

var drainStateNames = names[DrainState]{"serving", "draining", "drained"}

func (s DrainState) String() string                { return drainStateNames.word(s) }
func (s DrainState) MarshalText() ([]byte, error)  { return drainStateNames.marshal(s) }
func (s *DrainState) UnmarshalText(b []byte) error { return drainStateNames.unmarshal(s, b) }

// DrainBy is what began a drain.
type DrainBy string

// By what a drain begins.
const (
	DrainBySignal  DrainBy = "signal"  // final
	DrainByCommand DrainBy = "command" // drain.stop undoes it until it is drained
)

// DrainEnd is why a drain was over.
type DrainEnd string

// Why a drain is over.
const (
	DrainEndIdle      DrainEnd = "idle"      // nobody asked for long enough (D4)
	DrainEndMax       DrainEnd = "max"       // its bound was reached (D5)
	DrainEndImmediate DrainEnd = "immediate" // it refused for as long as it is meant to (D3)
)

// DrainSettings are how an instance drains.
type DrainSettings struct {
	Mode          DrainMode     `json:"mode"`
	Idle          time.Duration `json:"idle_ns"`         // how long nobody must ask (D4)
	Max           time.Duration `json:"max_ns"`          // the longest it may take (D5); 0 = no bound
	Immediate     time.Duration `json:"immediate_ns"`    // how long mode immediate refuses before the exit (D3)
	CountMessages bool          `json:"count_messages"`  // clients' messages on streams bump the timer too (D5)
	ReadyPeriod   time.Duration `json:"ready_period_ns"` // of the probe that reads /readyz: assumed, for the forecast (D6)
	ReadyFailures int           `json:"ready_failures"`  // how many in a row take an instance out: assumed
}

// DefaultDrain is SPEC's default, and the readiness probe our docs ask for.
func DefaultDrain() DrainSettings {
	return DrainSettings{Idle: 10 * time.Second, ReadyPeriod: 2 * time.Second, ReadyFailures: 2}
}

// LetsGo is how long whoever reads /readyz is assumed to go on sending.
func (s DrainSettings) LetsGo() time.Duration { return s.ReadyPeriod * time.Duration(s.ReadyFailures) }

// Validate names the first setting that is not what it must be.
func (s DrainSettings) Validate() error {
	switch {
	case s.Mode != DrainIdle && s.Mode != DrainImmediate:
		return fmt.Errorf("drain.mode: %v", s.Mode)
	case s.Mode == DrainIdle && s.Idle <= 0:
		return fmt.Errorf("drain.idle: %v is not positive", s.Idle)
	case s.Max < 0:
		return fmt.Errorf("drain.max: %v is negative", s.Max)
	case s.Immediate < 0:
		return fmt.Errorf("drain.immediate: %v is negative", s.Immediate)
	case s.ReadyPeriod < 0 || s.ReadyFailures < 0:
		return errors.New("the assumed readiness probe is negative")
	}
	return nil
}

// Drain is the walk of an instance from ready to exit: serving → draining →
// drained; or a simulation of it, which changes nothing outside (D6).
type Drain struct {
	Settings  DrainSettings `json:"settings"`
	State     DrainState    `json:"state"`
	Simulated bool          `json:"simulated,omitempty"` // State is what would be; really the instance serves

	Since  time.Time `json:"since,omitzero"`   // when the drain or simulation began
	Who    string    `json:"who,omitempty"`    // who asked; of a signal, its name
	Reason string    `json:"reason,omitempty"` // as given with the command
	By     DrainBy   `json:"by,omitempty"`
	Final  bool      `json:"final,omitempty"` // a signal began it, or came after: nothing takes it back, one more ends it at once

	Drained time.Time `json:"drained,omitzero"` // when the state turned drained
	End     DrainEnd  `json:"end,omitempty"`    // why then
	Exited  time.Time `json:"exited,omitzero"`  // when the exit was ordered
	Code    int       `json:"code,omitempty"`   // of the exit
	Cut     Cut       `json:"cut,omitzero"`     // what the exit cut off

	OldIdle  time.Time `json:"old_idle,omitzero"` // of a simulation: when its old connections had been idle for long enough
	Forecast Forecast  `json:"forecast,omitzero"` // what the last simulation found; it outlives the simulation
	Activity Activity  `json:"activity,omitzero"` // TrafficRead: who uses the instance
}

// Cut is what was still open when listeners closed and was not waited for.
type Cut struct {
	Requests int `json:"requests"`
	Streams  int `json:"streams"` // got close 1001
}

// Forecast is what a simulated drain says of a real one (D6). It is of the
// connections older than the simulation, which a real drain would have left;
// where newer ones asked too, a real drain is assumed to get such until its
// readiness is read as lost.
type Forecast struct {
	Began    time.Time     `json:"began,omitzero"`
	At       time.Time     `json:"at,omitzero"` // when a real drain would have been drained
	End      DrainEnd      `json:"end,omitempty"`
	LetsGo   time.Duration `json:"lets_go_ns"`       // assumed: how long new clients come after /readyz turned 503
	NewComes bool          `json:"new_comes"`        // clients asked on newer connections
	Last     time.Time     `json:"last,omitzero"`    // the last request on an old connection; zero = none came
	Requests int           `json:"requests"`         // on old connections
	Clients  int           `json:"clients"`          // who sent them
	InFlight int           `json:"in_flight"`        // at At
	Streams  int           `json:"streams"`          // open then: they would get 1001
	Message  time.Time     `json:"message,omitzero"` // the last message on one of the streams
	Client   string        `json:"client,omitempty"` // whose
	Over     time.Time     `json:"over,omitzero"`    // when the simulation ended; zero = it goes on
}

// Known says whether there is a forecast.
func (f Forecast) Known() bool { return !f.At.IsZero() }

// Takes is how long a drain takes by the forecast.
func (f Forecast) Takes() time.Duration { return f.At.Sub(f.Began) }

// Real is the state without a simulation: what readiness, a gateway and a
// command's if_state go by.
func (d Drain) Real() DrainState {
	if d.Simulated {
		return DrainServing
	}
	return d.State
}

// Leaving says whether the instance is on its way out: not ready (D2), and
// answers ask their connections to go (D8).
func (d Drain) Leaving() bool { return d.Real() != DrainServing }

// Refuses says whether every request gets a 503, /healthz too (D1, D3).
func (d Drain) Refuses() bool { return d.Leaving() && d.Settings.Mode == DrainImmediate }

// IdleAt is when the drain is idle if nobody asks any more: exactly idle after
// the later of its start and the last request (D4). Zero: no drain runs, or
// not by idleness.
func (d Drain) IdleAt() time.Time {
	if d.State != Draining || d.Settings.Mode == DrainImmediate {
		return time.Time{}
	}
	return later(d.Since, d.Activity.bumped(d.Settings.CountMessages)).Add(d.Settings.Idle)
}

// OldIdleAt is the same of a simulation's second timer: of the connections that
// are older than it (D6).
func (d Drain) OldIdleAt() time.Time {
	if d.IdleAt().IsZero() {
		return time.Time{}
	}
	return later(d.Since, d.Activity.bumpedOld(d.Settings.CountMessages)).Add(d.Settings.Idle)
}

// BoundAt is when drain.max ends it (D5); zero = it has no bound.
func (d Drain) BoundAt() time.Time {
	if d.State != Draining || d.Settings.Mode == DrainImmediate || d.Settings.Max == 0 {
		return time.Time{}
	}
	return d.Since.Add(d.Settings.Max)
}

// Due is when the drain's one timer rings: the earliest thing it waits for,
// by the activity last read. Zero: it waits for nothing.
func (d Drain) Due() time.Time {
	if d.State != Draining {
		return time.Time{}
	}
	if d.Settings.Mode == DrainImmediate {
		return d.Since.Add(d.Settings.Immediate)
	}
	due := d.IdleAt()
	if d.Simulated && d.OldIdle.IsZero() {
		due = earlier(due, d.OldIdleAt())
	}
	return earlier(due, d.BoundAt())
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earlier is the earlier of two times; a zero one does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
