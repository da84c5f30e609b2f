package model

import (
	"fmt"
	"slices"
	"time"
)

// Traffic is what clients asked of a chain and what came of it. The counts of
// the window are of the last minute, the others since the process started.
type Traffic struct {
	Window     time.Duration `json:"window_ns,omitempty"` // a minute; less just after the start
	Requests   int           `json:"requests,omitempty"`  // that reached it in the window
	Failed     int           `json:"failed,omitempty"`    // what the client saw was an error, and not the node's own answer to its question (S4)
	Retried    int           `json:"retried,omitempty"`   // went on to another upstream
	Hedged     int           `json:"hedged,omitempty"`    // were sent to a second one as well (F11)
	P50        time.Duration `json:"p50_ns,omitempty"`    // of the window, as the client waited
	P95        time.Duration `json:"p95_ns,omitempty"`
	HedgeAfter time.Duration `json:"hedge_after_ns,omitempty"` // of the method asked most; 0 = it does not hedge

	Last    time.Time `json:"last,omitzero"`     // when the last request came
	Total   uint64    `json:"total,omitempty"`   // requests
	Errors  uint64    `json:"errors,omitempty"`  // failed ones
	Refused uint64    `json:"refused,omitempty"` // turned away as the client's own mistake: too large, denied, unreadable

	Streams int    `json:"streams,omitempty"` // websockets open now
	Moves   uint64 `json:"moves,omitempty"`   // of streams from one upstream to another
	Filled  uint64 `json:"filled,omitempty"`  // notifications filled in after a move
	Gaps    uint64 `json:"gaps,omitempty"`    // gaps that could not be filled

	Upstreams []UpstreamTraffic `json:"upstreams,omitempty"` // by upstream
}

// UpstreamTraffic is the part of one upstream: attempts, of which a request may
// make several.
type UpstreamTraffic struct {
	Requests  int           `json:"requests,omitempty"`   // attempts of the window
	NoAnswers int           `json:"no_answers,omitempty"` // of those
	P50       time.Duration `json:"p50_ns,omitempty"`
	P95       time.Duration `json:"p95_ns,omitempty"`
	Streams   int           `json:"streams,omitempty"` // whose upstream it is now

	Results   uint64 `json:"results,omitempty"` // since the start
	Answers   uint64 `json:"answers,omitempty"`
	Silences  uint64 `json:"silences,omitempty"`  // no answer
	Abandoned uint64 `json:"abandoned,omitempty"` // cancelled by the client or by us
}

// PerSecond is the requests a second over the window.
func (t Traffic) PerSecond() float64 { return rate(t.Requests, t.Window) }

func rate(n int, window time.Duration) float64 {
	if window <= 0 {
		return 0
	}
	return float64(n) / window.Seconds()
}

// StreamWords is what became of the chain's websockets: "9 streams, 3 moves, 12
// filled in, 1 gap"; empty when it had none (F12).
func (t Traffic) StreamWords() string {
	if t.Streams == 0 && t.Moves == 0 {
		return ""
	}
	words := plural(t.Streams, "stream")
	if t.Moves > 0 {
		words += fmt.Sprintf(", %s, %d filled in", plural(int(t.Moves), "move"), t.Filled)
	}
	if t.Gaps > 0 {
		words += ", " + plural(int(t.Gaps), "gap")
	}
	return words
}

// Felt is what clients felt of one trouble: from the first request that got no
// answer until none did for a while.
type Felt struct {
	Began   time.Time     `json:"began,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	Failed  int           `json:"failed"`
	Retried int           `json:"retried"`
	Hedged  int           `json:"hedged,omitempty"`
	Slowest time.Duration `json:"slowest_ns,omitempty"` // of those that were retried or hedged and got an answer
}

// Sums is what clients asked, read from the gateway once a second while there
// is any.
type Sums struct {
	At       time.Time
	Chains   []ChainSums
	Activity *Activity // who asks, of all chains; nil = not read
}

// ChainSums is the part of one chain.
type ChainSums struct {
	Chain   int       `json:"chain"`
	Heard   time.Time `json:"heard,omitzero"` // when a client last got a result (S3)
	Traffic Traffic   `json:"traffic"`
	Felt    *Felt     `json:"felt,omitempty"` // of a trouble that is over, said once
}

// sums publishes the numbers in one reading, and a change for each trouble that
// clients felt.
func (i *Instance) sums(in Sums) []Event {
	read := TrafficRead{Chains: make([]ChainSums, 0, len(in.Chains)), Activity: in.Activity}
	var felt []Event
	for _, s := range in.Chains {
		if s.Chain < 0 || s.Chain >= len(i.Chains) {
			continue
		}
		if s.Felt != nil {
			felt = append(felt, Event{At: in.At, Chain: s.Chain, Body: ClientsFelt{Felt: *s.Felt}})
			s.Felt = nil
		}
		read.Chains = append(read.Chains, s)
	}
	if len(read.Chains) == 0 && read.Activity == nil {
		return nil
	}
	return append([]Event{{At: in.At, Chain: -1, Body: read}}, felt...)
}

func (i *Instance) applyTraffic(b TrafficRead) {
	if b.Activity != nil {
		i.Drain.Activity = *b.Activity
	}
	for _, s := range b.Chains {
		if s.Chain < 0 || s.Chain >= len(i.Chains) {
			continue
		}
		c := i.Chains[s.Chain].clone()
		c.Traffic = s.Traffic
		c.Traffic.Upstreams = slices.Clip(s.Traffic.Upstreams)
		if s.Heard.After(c.State.Heard.At) {
			c.State.Heard = Heard{At: s.Heard, By: HeardClient}
		}
		i.Chains[s.Chain] = c
	}
}
