package model

import "time"

// Sign is the mark a word is shown with; never a mark without its word.
type Sign uint8

// The signs. Their glyphs and colours are the screen's.
const (
	SignNone         Sign = iota
	SignHealthy           // healthy, READY
	SignUnhealthy         // unhealthy, NOT READY
	SignUnknown           // unknown
	SignPass              // verdict healthy
	SignInconclusive      // verdict inconclusive
	SignUnreachable       // verdict unreachable
	SignWarn              // BACKUP, a finding
	SignHalted            // every head is old
	SignHeld              // a rate limit's pause
	SignCommand           // somebody asked
)

// Line is one event in words, for an events pane and for plain output.
type Line struct {
	At      time.Time
	Subject string // chain, chain/upstream, instance or who
	Sign    Sign
	What    string // one or two words
	Detail  string
}

// Describe is the change e in words, as it reads in the picture i. Readings
// have no line.
func Describe(i *Instance, e Event) (Line, bool) { return Line{}, false }

// ReasonCount is how often a reason stands in a probe's tries.
type ReasonCount struct {
	Word string
	N    int
}

// Reasons counts the reasons of the tries that got no result, most frequent
// first, then in order of appearance.
func Reasons(tries []Try) []ReasonCount { return nil }

// Why is what stands beside a chain's verdict in a table: the reasons of its
// last probe, or what is not as meant although it gets results.
type Why struct {
	Reasons  []ReasonCount // empty when the last probe got a result at once
	Halted   time.Duration // age of the halt; 0 = not halted
	Upstream int           // whose Finding it is; -1 = no finding
	Finding  Finding
	Detail   string // of the finding: "9m12s", "lag 214"; may be empty
}

// WhyOf is the Why of c at now.
func WhyOf(c *Chain, now time.Time) Why { return Why{Upstream: -1} }

// Class is how much attention a chain needs; lower sorts first.
type Class uint8

// The classes of "problems first".
const (
	ClassUnhealthyCounts Class = iota // unhealthy, and counts for readiness
	ClassUnhealthy
	ClassUnknown
	ClassInconclusive // inconclusive, or an upstream is held
	ClassHalted
	ClassBackup // on a backup, or a finding
	ClassHealthy
)

// ClassOf is the class of c at now under a readiness policy.
func ClassOf(c *Chain, p Policy, now time.Time) Class { return ClassHealthy }
