package ui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/feed"
	"chaintop/model"
)

// Remote is the connection to an instance that runs elsewhere; a feed.Client is
// one. Its methods do no IO and do not wait.
type Remote interface {
	// Watch is how the connection is, and a channel that is closed when that
	// changes.
	Watch() (feed.Status, <-chan struct{})
	// RetryNow ends the pause before the next try.
	RetryNow()
	// Now is the time on the instance's clock, as near as it is known.
	Now() time.Time
}

// Refusal is a command that was refused where no event says so: by its token, by
// a limit, or because the connection was lost.
type Refusal struct {
	ID    string // of the command
	Words string
}

// What the watchers of a remote instance send.
type (
	remoteMsg  struct{} // the connection is in another state
	refusalMsg Refusal
)

// watchRemote tells the screen whenever the connection changes.
func watchRemote(ctx context.Context, r Remote, send func(tea.Msg)) {
	for ctx.Err() == nil {
		_, changed := r.Watch()
		send(remoteMsg{})
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// tellRefusals hands the screen what was refused.
func tellRefusals(ctx context.Context, refused <-chan Refusal, send func(tea.Msg)) {
	for {
		select {
		case <-ctx.Done():
			return
		case r, ok := <-refused:
			if !ok {
				return
			}
			send(refusalMsg(r))
		}
	}
}

// readRemote takes over how the connection is.
func (m *Model) readRemote() {
	if m.o.Remote == nil {
		return
	}
	was := m.away()
	m.remote, _ = m.o.Remote.Watch()
	if m.away() != was {
		m.retheme() // dim, or no longer
	}
}

// away says whether the picture is too old to be shown as if it were fresh (G2).
func (m *Model) away() bool {
	return m.o.Remote != nil && m.remote.Stale && m.link == linkLive
}

// pictureNow is what ages and countdowns of the picture are counted to: the
// instance's own clock, and, once nothing is heard, the moment of the last word.
func (m *Model) pictureNow() time.Time {
	switch {
	case m.o.Remote == nil:
		return m.now
	case m.away():
		return m.remote.Heard.Add(m.remote.Skew)
	}
	return m.o.Remote.Now()
}

// mode is how the instance is reached, the longer way of saying it first.
func (m *Model) mode() []string {
	if m.o.Remote == nil {
		return []string{m.o.Mode}
	}
	role := string(m.remote.Role)
	if role == "" {
		return []string{"attached"}
	}
	if m.remote.Role == feed.RoleViewer {
		return []string{"attached · " + role, role} // what one may not do is said first
	}
	return []string{"attached · " + role}
}

// through is how a command gets there, where that is not at once.
func (m *Model) through() string {
	if m.o.Remote == nil {
		return ""
	}
	return " over the feed"
}

func (m *Model) onRefusal(r refusalMsg) {
	if m.mine(r.ID) {
		m.say(bad, markUnhealthy+" refused: "+r.Words, m.now.Add(flashLong))
	}
}

func retryNow(m *Model) tea.Cmd {
	m.o.Remote.RetryNow()
	m.say(text, "trying again now", m.now.Add(flashShort))
	return nil
}

// Why keys are off on a remote instance.
var (
	isViewer = limit{"this token is a viewer", func(m *Model) bool {
		return m.o.Remote != nil && m.remote.Role != "" && m.remote.Role != feed.RoleOperator
	}}
	notLive = limit{"the feed is not live", func(m *Model) bool {
		return m.o.Remote != nil && (m.remote.Phase != feed.Live || m.remote.Stale)
	}}
	isHere    = limit{"", func(m *Model) bool { return m.o.Remote == nil }}
	connected = limit{"the feed is live", func(m *Model) bool { return m.o.Remote != nil && m.remote.Phase == feed.Live }}
)

// remoteState is how the connection is, as it is drawn.
type remoteState struct {
	on    bool
	away  bool
	phase feed.Phase
	stale bool
	role  feed.Role
	try   int
	code  int
	words string
	heard int64 // Unix nanoseconds, as both times here
	next  int64
	since int64
}

func (m *Model) remoteState() remoteState {
	if m.o.Remote == nil {
		return remoteState{}
	}
	s := m.remote
	r := remoteState{
		on: true, away: m.away(), phase: s.Phase, stale: s.Stale, role: s.Role, try: s.Try, code: s.Code, words: s.Words,
		since: s.Since.UnixNano(),
	}
	if !s.Heard.IsZero() {
		r.heard = s.Heard.UnixNano()
	}
	if !s.Next.IsZero() {
		r.next = s.Next.UnixNano()
	}
	return r
}

// word is how the connection is, in the header. now is this screen's clock.
func (r remoteState) word(now time.Time) (string, role) {
	switch {
	case r.stale && r.heard != 0:
		return markAway + " stale " + model.Age(now.Sub(time.Unix(0, r.heard))), dim
	case r.phase == feed.Live:
		return markHealthy + " live", good
	case r.phase == feed.Refused:
		return markUnhealthy + " refused", bad
	case r.phase == feed.Reconnecting && r.heard != 0:
		return markAway + " lost " + model.Age(now.Sub(time.Unix(0, r.since))), dim
	case r.phase == feed.Ended:
		return markAway + " ended", dim
	}
	return markUnknown + " connecting", hold
}

// doing is what becomes of the connection, and why it was lost, the most telling
// first.
func (r remoteState) doing(now time.Time) []string {
	why := r.words
	if r.code != 0 && why != "" {
		why = fmt.Sprintf("%d %s", r.code, why)
	}
	switch r.phase {
	case feed.Reconnecting:
		out := []string{fmt.Sprintf("reconnecting in %s, try %d", model.Countdown(time.Unix(0, r.next), now), r.try), "r now"}
		return append(out, why)
	case feed.Connecting:
		return []string{fmt.Sprintf("connecting, try %d", r.try), why}
	case feed.Refused:
		return []string{"refused: " + orDash(why), "r tries again"}
	case feed.Ended:
		return []string{"ended"}
	case feed.Live:
	}
	return []string{"connected, and nothing comes"}
}

// awayLine is the second line while nothing is heard: what was believed, and how
// long ago.
func (s scene) awayLine(sum summary) string {
	word := "READY"
	switch {
	case sum.bar.on() && !sum.bar.simulated:
		word = "DRAINING"
		if sum.bar.state == model.Drained {
			word = "DRAINED"
		}
	case !sum.ready.Ready:
		word = "NOT READY"
	}
	left := []span{{accent, " " + markAway + " " + model.Age(s.ours.Sub(time.Unix(0, s.remote.heard))) + " AGO: " + word}}
	if c := sum.ready.Cause; c >= 0 && !sum.ready.Ready {
		left = append(left, span{dim, " " + s.keys[c]})
	}
	right := s.join(s.remote.doing(s.ours), s.w-widthOf(left[:1])-3)
	if widthOf(left)+width(right)+3 > s.w {
		left = left[:1]
	}
	p := s.pen
	p.begin(s.w, false)
	p.puts(left...)
	p.blank(p.room() - width(right) - 1)
	p.put(accent, right)
	return p.end()
}

// join is the first of the parts, and those after it that fit into w cells.
func (s scene) join(parts []string, w int) string {
	out := cut(parts[0], max(w, 1))
	for _, part := range parts[1:] {
		if part != "" && width(out)+3+width(part) <= w {
			out += " · " + part
		}
	}
	return out
}

// waitingLine is the second line while there is no picture yet.
func (s scene) waitingLine() string {
	if !s.remote.on {
		return s.plain(span{text, " "}, span{hold, markUnknown + " waiting for the first picture"})
	}
	r, mark := hold, markUnknown
	if s.remote.phase == feed.Refused {
		r, mark = bad, markUnhealthy
	}
	says := s.remote.doing(s.ours)
	if s.remote.phase == feed.Live {
		says = []string{"connected, waiting for the first picture"}
	}
	return s.plain(span{text, " "}, span{r, mark + " "}, span{text, s.join(says, s.w-4)})
}
