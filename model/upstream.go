package model

import (
	"slices"
	"time"
)

// Upstream is one endpoint of a chain. It has a name, and no address: model has
// no type that can hold a URL (X1).
type Upstream struct {
	Name  string        `json:"name"`
	Tier  Tier          `json:"tier"`
	State UpstreamState `json:"state"`

	// Kept by the fold, from the tries in the events.
	Latency Latency `json:"latency"`
	Asked   Meter   `json:"asked"`
}

// UpstreamState is all that is believed of an upstream. UpstreamChanged and
// UpstreamRead carry it whole.
type UpstreamState struct {
	Record
	Since     time.Time `json:"since,omitzero"`     // of Health
	Recovered time.Time `json:"recovered,omitzero"` // when it last turned healthy

	Findings Findings `json:"findings,omitempty"`
	Told     Findings `json:"told,omitempty"` // those of Findings that the last fact questions brought
	Hold     Hold     `json:"hold,omitzero"`
	Suspect  Suspect  `json:"suspect,omitzero"`

	// Kept where failback_after is set (F3).
	Out  bool      `json:"out,omitempty"` // it was not fit
	Back time.Time `json:"back,omitzero"` // when it was fit again

	Facts     Facts     `json:"facts"`
	HeadSince time.Time `json:"head_since,omitzero"` // when this height was new: first seen here, corrected by the header
	Answered  time.Time `json:"answered,omitzero"`   // stamp of the newest try that said a head
	HeadRound time.Time `json:"head_round,omitzero"` // stamp of the newest check that said one
	RoundHead uint64    `json:"round_head"`          // and which
	HighHead  uint64    `json:"high_head,omitempty"` // the highest it said, until a regression is accepted
	Regressed time.Time `json:"regressed,omitzero"`  // when it fell below HighHead
	Lag       Lag       `json:"lag,omitzero"`

	Last Last `json:"last,omitzero"`
}

// Hold is the pause a rate limit asked for (F6).
type Hold struct {
	Active bool          `json:"active"`
	From   time.Time     `json:"from,omitzero"`
	Until  time.Time     `json:"until,omitzero"`
	Run    int           `json:"run,omitempty"`      // limits in a row since the last result
	Asked  time.Duration `json:"asked_ns,omitempty"` // its Retry-After; 0 = it gave none
	Quota  bool          `json:"quota,omitempty"`
}

// Held says whether the pause is on at now.
func (h Hold) Held(now time.Time) bool { return h.Active && now.Before(h.Until) }

// Lag is the distance to the corroborated tip of one round (F7), in blocks or
// slots; negative when ahead of it.
type Lag struct {
	Known  bool  `json:"known"`
	Blocks int64 `json:"blocks"`
}

// Last is the newest check of an upstream and what came of it.
type Last struct {
	At       time.Time     `json:"at,omitzero"` // when the outcome was in
	Trigger  Trigger       `json:"trigger,omitempty"`
	Kind     OutcomeKind   `json:"kind"`
	Reason   Reason        `json:"reason,omitempty"`
	Evidence Evidence      `json:"evidence"`
	Findings Findings      `json:"findings,omitempty"` // what this outcome said, not what is believed
	Took     time.Duration `json:"took_ns"`
}

// Word is the reason as the screens name it.
func (l Last) Word() string { return reasonWord(l.Reason, l.Evidence, l.Findings) }

// latencySamples bounds the window of an upstream's latencies.
const latencySamples = 64

// Latency is the last latencies of an upstream's results, oldest overwritten.
type Latency struct {
	Samples []time.Duration `json:"samples_ns,omitempty"`
	Next    int             `json:"next"`
}

func (l *Latency) add(d time.Duration) {
	if len(l.Samples) < latencySamples {
		l.Samples = append(slices.Clip(l.Samples), d)
	} else {
		l.Samples = slices.Clone(l.Samples)
		l.Samples[l.Next] = d
	}
	l.Next = (l.Next + 1) % latencySamples
}

// Quantile is the q-th quantile (0…1) of the window; ok is false while it is
// empty.
func (l Latency) Quantile(q float64) (d time.Duration, ok bool) {
	if len(l.Samples) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(l.Samples))
	return sorted[int(q*float64(len(sorted)-1)+0.5)], true
}

// Meter counts requests a minute.
type Meter struct {
	Minute time.Time `json:"minute,omitzero"` // the minute Now counts
	Now    int       `json:"now"`
	Before int       `json:"before"` // of the minute before it
	Full   bool      `json:"full"`   // Before is of a whole minute
}

func (m *Meter) add(at time.Time, n int) {
	minute := at.Truncate(time.Minute)
	switch {
	case m.Minute.IsZero():
		*m = Meter{Minute: minute, Now: n}
	case minute.Equal(m.Minute):
		m.Now += n
	case minute.Equal(m.Minute.Add(time.Minute)):
		*m = Meter{Minute: minute, Now: n, Before: m.Now, Full: true}
	default:
		*m = Meter{Minute: minute, Now: n, Full: true}
	}
}

// PerMinute is the requests of the last whole minute; ok is false until there
// is one.
func (m Meter) PerMinute(now time.Time) (n int, ok bool) {
	switch minute := now.Truncate(time.Minute); {
	case minute.Equal(m.Minute):
		return m.Before, m.Full
	case minute.Equal(m.Minute.Add(time.Minute)):
		return m.Now, true
	}
	return 0, !m.Minute.IsZero()
}
