package model

import (
	"slices"
	"time"
)

// Family is the protocol a chain's nodes speak.
type Family string

// The families.
const (
	EVM  Family = "evm"  // Ethereum's JSON-RPC, over HTTP or a websocket
	HTTP Family = "http" // only whether somebody is there (V1)
)

// Settings are the paces and limits of one chain. Durations must be positive
// unless 0 is given a meaning.
type Settings struct {
	Tries             int           `json:"tries"`                 // of a probe (T1)
	Timeout           time.Duration `json:"timeout_ns"`            // of a try
	HealthyInterval   time.Duration `json:"healthy_interval_ns"`   // H2
	UnhealthyInterval time.Duration `json:"unhealthy_interval_ns"` // H2, also while unknown
	Soon              time.Duration `json:"soon_ns"`               // H3, H7
	MaxDefer          time.Duration `json:"max_defer_ns"`          // H3; 0 = no bound
	Recovers          Recovers      `json:"inconclusive_recovers"` // H1
	Jitter            float64       `json:"jitter"`                // share of an interval, both ways (H2)

	CheckInterval time.Duration `json:"check_interval_ns"`
	CheckTimeout  time.Duration `json:"check_timeout_ns"`
	Fall          int           `json:"fall"` // U2

	MaxLag uint64 `json:"max_lag"` // blocks or slots (F7)

	FailbackAfter time.Duration `json:"failback_after_ns,omitempty"` // how long a primary has to be fit again before it is preferred (F3)
}

// DefaultSettings are SPEC's defaults for a family.
func DefaultSettings(Family) Settings {
	return Settings{
		Tries: 6, Timeout: 5 * time.Second,
		HealthyInterval: 5 * time.Minute, UnhealthyInterval: 15 * time.Second, Soon: 15 * time.Second,
		Jitter:        0.1,
		CheckInterval: 5 * time.Second, CheckTimeout: 5 * time.Second, Fall: 3,
		MaxLag: 5,
	}
}

// Chain is what is judged. The first fields never change while the process
// lives; each of the others is assigned by the events that name it.
type Chain struct {
	Name      string   `json:"name"`
	Interface string   `json:"interface"`
	Family    Family   `json:"family"`
	ExpectID  string   `json:"expect_id,omitempty"` // configured chain id, decimal; empty = any
	Seed      uint64   `json:"seed"`                // of the jitter
	Settings  Settings `json:"settings"`

	State     ChainState `json:"state"`            // ChainChanged, ProbeEnded
	Probe     *Probe     `json:"probe,omitempty"`  // the one in flight: ProbeStarted, TryEnded, ProbeEnded
	Checks    Checks     `json:"checks"`           // UpstreamRead
	Serving   Serving    `json:"serving"`          // ServingChanged
	Upstreams []Upstream `json:"upstreams"`        // UpstreamChanged, UpstreamRead
	Traffic   Traffic    `json:"traffic,omitzero"` // TrafficRead
	Felt      Felt       `json:"felt,omitzero"`    // ClientsFelt: the last trouble that clients felt

	// Kept by the fold, from the events.
	Last    *Probe  `json:"last,omitempty"`    // the last probe that ended
	History []Probe `json:"history,omitempty"` // at most historyRows, failures kept longer
	Strip   Strip   `json:"strip"`             // the last 60 minutes, by the minute
}

// Key is name/interface, the chain's name everywhere.
func (c *Chain) Key() string { return c.Name + "/" + c.Interface }

// ChainState is what is believed of a chain and when it is asked next.
type ChainState struct {
	Health    Health    `json:"health"`
	Since     time.Time `json:"since,omitzero"` // of Health
	Verdict   Verdict   `json:"verdict"`
	VerdictAt time.Time `json:"verdict_at,omitzero"`
	Heard     Heard     `json:"heard,omitzero"`
	Probes    uint64    `json:"probes"` // number of the last probe started
	Next      Next      `json:"next"`
	Hurried   time.Time `json:"hurried,omitzero"` // when checks last moved the schedule (H7)
	Missed    time.Time `json:"missed,omitzero"`  // a relay's no answer during the probe in flight (H3)
	Halted    time.Time `json:"halted,omitzero"`  // since when every head is old (F7); zero = not
	Pin       Pin       `json:"pin,omitzero"`
}

// Heard is when anything usable last came from a chain (S3).
type Heard struct {
	At time.Time `json:"at,omitzero"`
	By HeardBy   `json:"by,omitempty"`
}

// HeardBy is whose question was answered.
type HeardBy string

// By whom a chain is heard.
const (
	HeardProbe  HeardBy = "probe"
	HeardClient HeardBy = "client"
)

// Next is when the next probe is due, and why then (H6).
type Next struct {
	At   time.Time `json:"at,omitzero"`
	From time.Time `json:"from,omitzero"` // when the wait began
	Why  NextWhy   `json:"why,omitempty"`
}

// NextWhy is the reason for a probe's due time. The set is closed.
type NextWhy string

// Why a probe is due when it is.
const (
	NextFirst     NextWhy = "first"      // the first one, within a second of the start
	NextInterval  NextWhy = "interval"   // one interval after the end of the last (H2)
	NextHeard     NextWhy = "heard"      // a client's result put it off (H3)
	NextSoon      NextWhy = "soon"       // a client got no answer from any upstream (H3)
	NextHeld      NextWhy = "held"       // every upstream is held; the first hold to end (F6)
	NextPassed    NextWhy = "passed"     // a check passed while the chain is not healthy (H7)
	NextAllFailed NextWhy = "all_failed" // its last upstream turned unhealthy (H7)
)

// Trigger is what started a probe or a check.
type Trigger string

// The triggers.
const (
	TriggerScheduled Trigger = "scheduled" // its interval, or its first time
	TriggerSoon      Trigger = "soon"      // a client got no answer (H3)
	TriggerCheck     Trigger = "check"     // of a check on its round; of a probe: checks moved it (H7)
	TriggerTry       Trigger = "try"       // of a check: a probe's try got no answer (H7)
	TriggerClient    Trigger = "client"    // of a check: a client's request got no answer (F5)
	TriggerManual    Trigger = "manual"    // somebody asked
)

// Probe is up to N tries over a chain's upstreams, one after another (T1).
type Probe struct {
	ID      uint64    `json:"id"` // counts a chain's probes from 1
	Trigger Trigger   `json:"trigger"`
	Who     string    `json:"who,omitempty"`
	Started time.Time `json:"started"`
	Max     int       `json:"max"`             // tries it may make
	Made    int       `json:"made"`            // tries begun and over, abandoned ones too
	Tries   []Try     `json:"tries"`           // those that had an outcome
	Flight  Flight    `json:"flight,omitzero"` // the try in the air; of a probe that ended: zero

	Ended   time.Time `json:"ended,omitzero"`
	Verdict Verdict   `json:"verdict,omitempty"`
	Health  Health    `json:"health,omitempty"` // of the chain, after it (H5)
}

// Flight is the try in the air.
type Flight struct {
	N        int       `json:"n"`        // counts from 1
	Upstream int       `json:"upstream"` // index; -1 when there is none to ask
	Stamp    time.Time `json:"stamp"`    // when it was sent off
	Start    time.Time `json:"start"`    // when it begins: later than Stamp where starting over waits (T3)
}

// Try is one try of a probe and what came of it (T4).
type Try struct {
	N        int           `json:"n"`
	Upstream int           `json:"upstream"` // index; -1 when there was none to ask
	Kind     OutcomeKind   `json:"kind"`
	Reason   Reason        `json:"reason,omitempty"`
	Evidence Evidence      `json:"evidence"`
	Findings Findings      `json:"findings,omitempty"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took_ns"`
}

// Word is the reason as the screens name it.
func (t Try) Word() string { return reasonWord(t.Reason, t.Evidence, t.Findings) }

// Checks is the round of a chain's checks.
type Checks struct {
	Due       time.Time     `json:"due"`            // of the next round
	Round     time.Time     `json:"round,omitzero"` // start of the newest
	Flying    []Check       `json:"flying,omitempty"`
	Tip       Fact[uint64]  `json:"tip"`                     // corroborated, of one round (F7)
	TipBy     []int         `json:"tip_by,omitempty"`        // upstreams whose heads set or support it
	BlockTime time.Duration `json:"block_time_ns,omitempty"` // measured from headers; 0 = unknown
}

// Check is one check in flight. An upstream never has two.
type Check struct {
	Upstream int       `json:"upstream"`
	Stamp    time.Time `json:"stamp"` // taken when it starts (U3)
	Trigger  Trigger   `json:"trigger"`
	Who      string    `json:"who,omitempty"` // who asked for it
}

// Flies says whether a check of upstream u is in flight.
func (k Checks) Flies(u int) bool {
	return slices.ContainsFunc(k.Flying, func(c Check) bool { return c.Upstream == u })
}

// Serving is where a client's request would go now (F1), kept so that it can be
// seen. Routing never reads it (F2).
type Serving struct {
	Upstream int       `json:"upstream"` // index; -1 = none
	Why      RouteWhy  `json:"why"`
	Failover bool      `json:"failover"` // a backup serves because no primary is fit
	Since    time.Time `json:"since,omitzero"`
}
