package model

import (
	"slices"
	"time"
)

// Know says whether a fact is there. A fact nobody reported is unknown, never
// zero (V7); a method the node lacks makes it unsupported, which is no ill
// health.
type Know uint8

// The states of a fact.
const (
	Unheard Know = iota
	Known
	Unsupported
)

var knowNames = names[Know]{"unknown", "known", "unsupported"}

func (k Know) String() string                { return knowNames.word(k) }
func (k Know) MarshalText() ([]byte, error)  { return knowNames.marshal(k) }
func (k *Know) UnmarshalText(b []byte) error { return knowNames.unmarshal(k, b) }

// Fact is one thing a node said of itself. A prober leaves At zero; the fold of
// a try stamps it with the time the answer was in.
type Fact[T any] struct {
	Know  Know      `json:"know,omitempty"`
	Value T         `json:"value"`
	At    time.Time `json:"at,omitzero"` // when it was last said; the age of the fact counts from here
}

// Say is a known fact, not yet stamped.
func Say[T any](v T) Fact[T] { return Fact[T]{Know: Known, Value: v} }

// Lacks is an unsupported fact, not yet stamped.
func Lacks[T any]() Fact[T] { return Fact[T]{Know: Unsupported} }

// Known says whether there is a value.
func (f Fact[T]) Known() bool { return f.Know == Known }

func (f *Fact[T]) take(said Fact[T], now time.Time) {
	if said.Know != Unheard {
		said.At = now
		*f = said
	}
}

// Block is the header of a node's latest block.
type Block struct {
	Number uint64    `json:"number"`
	Time   time.Time `json:"time"`
}

// Facts is what a node says of itself: in an Outcome what one try brought, in
// an Upstream the newest of each.
type Facts struct {
	Head      Fact[uint64] `json:"head"`      // height of the latest block
	Block     Fact[Block]  `json:"block"`     // its header, asked less often
	ChainID   Fact[string] `json:"chain_id"`  // decimal, as configured
	Syncing   Fact[bool]   `json:"syncing"`   // what the node claims
	Peers     Fact[uint64] `json:"peers"`     //
	Safe      Fact[uint64] `json:"safe"`      // height
	Finalized Fact[uint64] `json:"finalized"` // height
	Client    Fact[string] `json:"client"`    // name and version of the node's software
}

func (f *Facts) take(said Facts, now time.Time) {
	f.Head.take(said.Head, now)
	f.Block.take(said.Block, now)
	f.ChainID.take(said.ChainID, now)
	f.Syncing.take(said.Syncing, now)
	f.Peers.take(said.Peers, now)
	f.Safe.take(said.Safe, now)
	f.Finalized.take(said.Finalized, now)
	f.Client.take(said.Client, now)
}

// Question is a fact question that rides along with a try's head question.
type Question string

// The fact questions.
const (
	AskChainID   Question = "chain_id"
	AskSyncing   Question = "syncing"
	AskBlock     Question = "block"
	AskSafe      Question = "safe"
	AskFinalized Question = "finalized"
	AskPeers     Question = "peers"
	AskClient    Question = "client"
)

// Questions is the list of fact questions of a try, in the order they are asked.
type Questions []Question

// How long a fact is good for before it is asked again. What a node lacks is
// asked again as rarely as its identity.
const (
	factsRarely = 10 * time.Minute
	factsMinute = time.Minute
	factsOften  = 30 * time.Second
	factsStale  = 15 * time.Second // the header, while the head is held to be old
)

// questions is what to ask u beside the head at now: the identity first of
// all, then every 10 minutes and after each recovery; the rest by its pace.
// Everything at first; later a few at a time, as many as the pace of the checks
// needs, so that two connections are enough. They take turns: one that is never
// answered stays due, and keeps no other from being asked.
func (u *Upstream) questions(now time.Time, checks time.Duration) Questions {
	f, recovered := &u.State.Facts, u.State.Recovered
	var qs Questions
	due := func(q Question, know Know, at time.Time, every time.Duration) {
		if know == Unsupported {
			every = factsRarely
		}
		if know == Unheard || now.Sub(at) >= every || at.Before(recovered) {
			qs = append(qs, q)
		}
	}
	header := factsMinute
	if u.State.Findings.Has(StaleHead) {
		header = factsStale
	}
	due(AskChainID, f.ChainID.Know, f.ChainID.At, factsRarely)
	due(AskSyncing, f.Syncing.Know, f.Syncing.At, factsOften)
	due(AskBlock, f.Block.Know, f.Block.At, header)
	due(AskSafe, f.Safe.Know, f.Safe.At, factsMinute)
	due(AskFinalized, f.Finalized.Know, f.Finalized.At, factsMinute)
	due(AskPeers, f.Peers.Know, f.Peers.At, factsMinute)
	due(AskClient, f.Client.Know, f.Client.At, factsRarely)
	const all = 7
	if most := max(2, int(all*checks/factsOften)); len(qs) < all && len(qs) > most {
		turn := int(uint64(now.UnixNano()/int64(checks)) % uint64(len(qs)))
		qs = slices.Concat(qs[turn:], qs[:turn])[:most]
	}
	return qs
}
