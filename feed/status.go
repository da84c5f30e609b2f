package feed

import (
	"fmt"
	"time"
)

// Phase is where a client is with its connection.
type Phase uint8

// The phases.
const (
	Connecting   Phase = iota // a try is under way, or the first picture is on its way
	Live                      // the picture is followed
	Reconnecting              // the connection was lost; the next try is at Status.Next
	Refused                   // the server will not have us: only RetryNow tries again
	Ended                     // Run has returned
)

var phaseNames = [...]string{"connecting", "live", "reconnecting", "refused", "ended"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

// Status is how a client's connection is. Times are of our own clock.
type Status struct {
	Phase Phase
	Since time.Time // of Phase
	Try   int       // of Connecting and Reconnecting: which try, from 1
	Next  time.Time // of Reconnecting: when it begins

	// Stale says that the picture is old: no frame came for three heartbeats
	// (G2). Heard is when the last one came; zero = never.
	Stale bool
	Heard time.Time

	// Why the last connection ended, or was refused: a close code, or the HTTP
	// status of the handshake; 0 = the network. Words are clean.
	Code  int
	Words string

	// Of the welcome.
	Instance string
	Version  string
	Role     Role
	Insecure bool // the server has neither TLS nor tokens, because somebody insists

	Skew    time.Duration // the server's clock minus ours
	Skipped uint64        // events of kinds or values this version does not know
}

// RefusedError says that the server will not have us, and that trying again is
// of no use.
type RefusedError struct {
	Code  int // a close code, or the HTTP status of the handshake
	Words string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the feed refused us: %d %s", e.Code, e.Words)
}

// Watch is the status and a channel that is closed when it changes. Heard, Skew
// and Skipped move without that.
func (c *Client) Watch() (Status, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.status, c.changed
}

// Status is how the connection is.
func (c *Client) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// set changes the status and says so.
func (c *Client) set(change func(*Status)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.status)
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// phase enters a phase.
func (c *Client) phase(p Phase, change func(*Status)) {
	now := c.o.Now()
	c.set(func(s *Status) {
		if s.Phase != p {
			s.Phase, s.Since = p, now
		}
		s.Next = time.Time{}
		if change != nil {
			change(s)
		}
	})
}

// heard notes that a frame came: the picture is fresh for as long again.
func (c *Client) heard() {
	now := c.o.Now()
	c.mu.Lock()
	was := c.status.Stale
	c.status.Heard = now
	c.mu.Unlock()
	c.stale.Reset(staleAfter)
	if was {
		c.set(func(s *Status) { s.Stale = false })
	}
}
