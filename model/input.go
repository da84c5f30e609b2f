package model

import "time"

// Input is what reaches the rules. Each carries the time it happened at.
//
//sumtype:decl
type Input interface {
	When() time.Time
	input()
}

// Due says that the earliest thing a chain waits for has come.
type Due struct {
	At    time.Time
	Chain int
	Heard time.Time // when a client last got a result from the chain; zero = never (H3)
}

// TryDone is the end of a Try effect.
type TryDone struct {
	Chain    int
	Upstream int
	Probe    uint64    // 0 = a check
	N        int       // number of the try in the probe
	Stamp    time.Time // of the effect
	Started  time.Time // when its deadline began to run
	Ended    time.Time
	Outcome  Outcome // of an abandoned try: the zero Outcome
}

// FactsDone is the end of a try's fact questions. It comes after the TryDone of
// the same Stamp, when the head had a result.
type FactsDone struct {
	At       time.Time
	Chain    int
	Upstream int
	Stamp    time.Time // of the effect
	Told     Told
}

// Told is what the fact questions of a try brought. It never changes the
// outcome of the try (V1).
type Told struct {
	Facts    Facts
	Findings Findings
	Asked    int // requests sent
}

// Missed says that nobody answered a client's request to a chain, or nobody was
// fit to ask (H3). An error answer, a cache hit, an answer of our own and a
// client that hung up say nothing and are not sent; a result is looked up when
// the chain is due.
type Missed struct {
	At    time.Time
	Chain int
}

// Command is what somebody asks for. It names configured things only.
type Command struct {
	At     time.Time
	ID     string // chosen by the sender; comes back in CommandDone
	Op     Op
	Chains []int // indexes; empty = all
	Who    string

	Upstream int           // of OpCheck, OpPin and OpFault: index in the chain
	Kind     string        // of OpFault: what to inject; of OpUndrain: OnlySimulation or nothing
	For      time.Duration // of OpPin; 0 = PinFor
	Reason   string        // of OpPin, OpDrain and OpSimulate: why, for those who read it later
	Confirm  string        // of OpDrain: the instance's name, typed
	IfState  string        // of OpDrain: the drain state its sender saw; empty = whatever it is
}

// Op is what a command asks for.
type Op string

// The operations.
const (
	OpProbe Op = "probe" // probe chains now, or join a probe in flight (H4)
	OpCheck Op = "check" // check one upstream now, or join its check in flight
	OpPin   Op = "pin"   // prefer an upstream for a while (F8)
	OpUnpin Op = "unpin"
	OpFault Op = "fault" // in the demo: inject a fault into a simulated upstream, or heal it
)

func (i Due) When() time.Time       { return i.At }
func (i TryDone) When() time.Time   { return i.Ended }
func (i FactsDone) When() time.Time { return i.At }
func (i Missed) When() time.Time    { return i.At }
func (i Live) When() time.Time      { return i.At }
func (i Sums) When() time.Time      { return i.At }
func (i Command) When() time.Time   { return i.At }

func (Due) input()       {}
func (TryDone) input()   {}
func (FactsDone) input() {}
func (Missed) input()    {}
func (Live) input()      {}
func (Sums) input()      {}
func (Command) input()   {}

// Effect is what a rule asks the world to do. Try is the only one that dials.
//
//sumtype:decl
type Effect interface{ effect() }

// EffectTry is one try for a worker: the head question, then, when it has a
// result, the fact questions, together under one deadline. It ends in a TryDone
// with the same Chain, Upstream, Probe, N and Stamp as soon as the head's
// outcome is in, so that no fact delays a verdict; the facts follow in a
// FactsDone.
type EffectTry struct {
	Chain    int
	Upstream int
	Probe    uint64 // 0 = a check
	N        int
	Stamp    time.Time
	Delay    time.Duration // to wait before it starts (T3)
	Timeout  time.Duration // counted from its start
	Ask      Questions     // fact questions after the head
}

// EffectFault tells the demo what to do to one of its upstreams.
type EffectFault struct {
	Chain    int
	Upstream int
	Kind     string
}

func (EffectTry) effect()   {}
func (EffectFault) effect() {}
