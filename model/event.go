package model

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event says what became of one thing: it carries the value after, with why and
// who, so that the fold assigns and never judges (E1).
type Event struct {
	At    time.Time
	Chain int    // index in Instance.Chains; -1 = the instance
	Who   string // who asked for it; empty when nobody did
	Body  Body
}

// Body is one of the closed set of events below.
//
//sumtype:decl
type Body interface{ kind() EventKind }

// EventKind is the name of an event on the feed.
type EventKind string

// Changes: something happened. The last 256 are part of the picture.
type (
	// Started is the first event of an instance: the picture it starts from.
	Started struct {
		Instance Instance `json:"instance"`
	}
	// ProbeStarted assigns the chain's probe in flight.
	ProbeStarted struct {
		Probe  Probe  `json:"probe"`
		Probes uint64 `json:"probes"` // ChainState.Probes after it
	}
	// TryEnded adds a try to the probe in flight and says what flies now.
	TryEnded struct {
		Probe  uint64 `json:"probe"` // its id
		Try    Try    `json:"try"`
		Made   int    `json:"made"`
		Flight Flight `json:"flight,omitzero"` // zero: the probe is about to end
		Asked  int    `json:"asked"`           // requests sent
	}
	// ProbeEnded ends the probe in flight.
	ProbeEnded struct {
		Probe Probe      `json:"probe"`
		State ChainState `json:"state"`
	}
	// ChainChanged assigns what is believed of a chain.
	ChainChanged struct {
		What  Change     `json:"what"`
		From  Health     `json:"from"`
		State ChainState `json:"state"`
	}
	// UpstreamChanged assigns what is believed of an upstream.
	UpstreamChanged struct {
		Upstream int           `json:"upstream"`
		What     Change        `json:"what"`
		From     Health        `json:"from"`
		Gained   Findings      `json:"gained,omitempty"`
		Lost     Findings      `json:"lost,omitempty"`
		State    UpstreamState `json:"state"`
	}
	// ServingChanged assigns where a request would go.
	ServingChanged struct {
		From    int     `json:"from"` // upstream index before, -1 = none
		Serving Serving `json:"serving"`
	}
	// ReadyChanged says that the instance's readiness turned, and by what.
	ReadyChanged struct {
		Ready    bool `json:"ready"`
		Cause    int  `json:"cause"`              // index of the chain that turned it; -1 = the drain
		Draining bool `json:"draining,omitempty"` // it is out because it drains
	}
	// ClientsFelt says what clients felt of a trouble that is over.
	ClientsFelt struct {
		Felt Felt `json:"felt"`
	}
	// CommandDone answers a command.
	CommandDone struct {
		ID     string   `json:"id"`
		Op     Op       `json:"op"`
		Chains []int    `json:"chains,omitempty"` // as asked; empty = all
		Code   int      `json:"code"`             // 202 accepted; else why it was refused, a code of the feed protocol
		Answer string   `json:"answer"`           // accepted, joined or refused, in words
		Probes []uint64 `json:"probes,omitempty"` // by Chains; of all chains, in order, when empty
		Joined int      `json:"joined"`           // how many were in flight already (H4)

		Upstream int           `json:"upstream,omitempty"` // of a check, a pin or a fault
		Kind     string        `json:"kind,omitempty"`     // of a fault; of an OpUndrain: OnlySimulation or nothing
		For      time.Duration `json:"for_ns,omitempty"`   // of a pin
		Reason   string        `json:"reason,omitempty"`   // as given
	}
)

// Readings: a number moved. Not kept.
type (
	// UpstreamRead assigns the state of some upstreams, and the chain's checks.
	UpstreamRead struct {
		Checks Checks          `json:"checks"`
		Reads  []UpstreamIndex `json:"reads,omitempty"`
	}
	// TrafficRead assigns what clients asked of the chains that had traffic, and
	// who they are.
	TrafficRead struct {
		Chains   []ChainSums `json:"chains,omitempty"`
		Activity *Activity   `json:"activity,omitempty"` // who asks, of all chains; nil = as it was
	}
)

// UpstreamIndex is the state of the upstream at an index, and what its last
// question cost.
type UpstreamIndex struct {
	Upstream int           `json:"upstream"`
	State    UpstreamState `json:"state"`
	Asked    int           `json:"asked,omitempty"`     // requests sent since the event before
	Sample   time.Duration `json:"sample_ns,omitempty"` // latency of a new result; 0 = none
}

// Skipped is an event of a kind this version does not know (E3).
type Skipped struct {
	Kind EventKind `json:"-"`
}

// Change is what changed about a chain or an upstream. The set is closed.
type Change string

// The changes.
const (
	ChangeHealth   Change = "health"   // from one health to another
	ChangeNext     Change = "next"     // the next probe's due time was moved
	ChangeHeard    Change = "heard"    // a client's result put the probe off
	ChangeHalted   Change = "halted"   // every head is old
	ChangeMoving   Change = "moving"   // a halted chain moves again
	ChangeFindings Change = "findings" // findings came or went
	ChangeHeld     Change = "held"     // a rate limit asked for a pause
	ChangeReleased Change = "released" // the pause is over
	ChangeChecked  Change = "checked"  // a check asked for by hand ended (U5)
	ChangeSuspect  Change = "suspect"  // clients' requests got no answer from it (F5)
	ChangeTrusted  Change = "trusted"  // a later check passed
	ChangePinned   Change = "pinned"   // somebody prefers an upstream for a while (F8)
	ChangeUnpinned Change = "unpinned" // no longer
)

func (Started) kind() EventKind         { return "started" }
func (ProbeStarted) kind() EventKind    { return "probe_started" }
func (TryEnded) kind() EventKind        { return "try_ended" }
func (ProbeEnded) kind() EventKind      { return "probe_ended" }
func (ChainChanged) kind() EventKind    { return "chain_changed" }
func (UpstreamChanged) kind() EventKind { return "upstream_changed" }
func (ServingChanged) kind() EventKind  { return "serving_changed" }
func (ReadyChanged) kind() EventKind    { return "ready_changed" }
func (ClientsFelt) kind() EventKind     { return "clients_felt" }
func (CommandDone) kind() EventKind     { return "command_done" }
func (TrafficRead) kind() EventKind     { return "traffic_read" }
func (UpstreamRead) kind() EventKind    { return "upstream_read" }
func (s Skipped) kind() EventKind       { return s.Kind }

// Kind is the event's name on the feed.
func (e Event) Kind() EventKind { return e.Body.kind() }

// Reading says whether a number moved, rather than that something happened.
func (e Event) Reading() bool {
	switch e.Body.(type) {
	case UpstreamRead, TrafficRead, Skipped:
		return true
	case Started, ProbeStarted, TryEnded, ProbeEnded, ChainChanged, UpstreamChanged, ServingChanged, ReadyChanged, DrainChanged, ClientsFelt, CommandDone:
	}
	return false
}

type eventJSON struct {
	At    time.Time       `json:"at"`
	Kind  EventKind       `json:"kind"`
	Chain int             `json:"chain"`
	Who   string          `json:"who,omitempty"`
	Body  json.RawMessage `json:"body"`
}

// MarshalJSON writes the event as the feed and a recording carry it.
func (e Event) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Kind(), err)
	}
	return json.Marshal(eventJSON{At: e.At, Kind: e.Kind(), Chain: e.Chain, Who: e.Who, Body: body})
}

// UnmarshalJSON reads one. A kind it does not know becomes Skipped.
func (e *Event) UnmarshalJSON(b []byte) error {
	var raw eventJSON
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	body, err := decodeBody(raw.Kind, raw.Body)
	if err != nil {
		return fmt.Errorf("event %s: %w", raw.Kind, err)
	}
	*e = Event{At: raw.At, Chain: raw.Chain, Who: raw.Who, Body: body}
	return nil
}

func decodeBody(kind EventKind, b []byte) (Body, error) {
	switch kind {
	case "started":
		return as[Started](b)
	case "probe_started":
		return as[ProbeStarted](b)
	case "try_ended":
		return as[TryEnded](b)
	case "probe_ended":
		return as[ProbeEnded](b)
	case "chain_changed":
		return as[ChainChanged](b)
	case "upstream_changed":
		return as[UpstreamChanged](b)
	case "serving_changed":
		return as[ServingChanged](b)
	case "ready_changed":
		return as[ReadyChanged](b)
	case "drain_changed":
		return as[DrainChanged](b)
	case "clients_felt":
		return as[ClientsFelt](b)
	case "traffic_read":
		return as[TrafficRead](b)
	case "command_done":
		return as[CommandDone](b)
	case "upstream_read":
		return as[UpstreamRead](b)
	}
	return Skipped{Kind: kind}, nil
}

func as[B Body](b []byte) (Body, error) {
	var body B
	err := json.Unmarshal(b, &body)
	return body, err
}
