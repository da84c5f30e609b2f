package model

import "time"

// Live is what clients' requests said of one upstream that a rule acts on (F5,
// F6), read from the gateway's slot when there is news. A result that changes
// nothing is no news.
type Live struct {
	At       time.Time
	Chain    int
	Upstream int

	// Run is how many requests in a row got no answer, with no byte from it in
	// between; 0 = no news of that. Reason is why the last of them got none.
	Run    int
	Reason Reason

	// Limit is the newest answer that was a rate limit, and LimitBegan when its
	// request was sent; nil = none.
	Limit      *Outcome
	LimitBegan time.Time

	// Gateway says that it answered with a gateway's status.
	Gateway bool

	// Result is when the request was sent whose result came while a rate limit
	// counted against the upstream; zero = none.
	Result time.Time
}

// Suspect says that an upstream is unfit because of clients' requests (F5). It
// is in memory only.
type Suspect struct {
	Active bool      `json:"active"`
	Since  time.Time `json:"since,omitzero"`  // only a check that starts later ends it
	Until  time.Time `json:"until,omitzero"`  // end of the pause after the check that passed; zero = none passed yet
	Ended  time.Time `json:"ended,omitzero"`  // of the last time
	Again  int       `json:"again,omitempty"` // times in a row that it came back within a minute
	Missed int       `json:"missed,omitempty"`
	Reason Reason    `json:"reason,omitempty"` // why the last of those requests got no answer
}

// Pauses of F5.
const (
	suspectAgain = time.Minute // becoming suspect again within it
	suspectFirst = time.Second
	suspectMost  = 30 * time.Second
)

// pause is how long it stays suspect after the check that passed.
func (s Suspect) pause() time.Duration {
	switch {
	case s.Again == 0:
		return 0
	case s.Again > 5:
		return suspectMost
	}
	return suspectFirst << (s.Again - 1)
}

// live acts on what clients' requests said of an upstream: no answers have it
// checked at once and make it suspect, a rate limit holds it off.
func (d *decider) live(in Live) {
	u := d.c.upstream(in.Upstream)
	if u == nil {
		return
	}
	was := u.State
	is := was
	if in.Limit != nil && (!was.Hold.Active || in.LimitBegan.After(was.Hold.From)) {
		is.Findings |= in.Limit.Findings
		is.Hold = d.c.hold(in.Upstream, was.Hold, *in.Limit, d.now)
	}
	if in.Result.After(was.Hold.From) && was.Hold.Run > 0 && in.Limit == nil {
		is.Hold = Hold{}
		is.Findings = is.Findings.Without(RateLimited).Without(Quota)
	}
	if in.Run >= d.c.Settings.Fall && !is.Suspect.Active {
		again := 0
		if !was.Suspect.Ended.IsZero() && d.now.Sub(was.Suspect.Ended) <= suspectAgain {
			again = was.Suspect.Again + 1
		}
		is.Suspect = Suspect{Active: true, Since: d.now, Again: again, Missed: in.Run, Reason: in.Reason}
	}
	d.turned(in.Upstream, &was, &is)
	if in.Run > 0 || in.Gateway {
		d.check(TriggerClient, in.Upstream, "")
	}
}

// clear is what a check that ended at now means to a suspect: a pass that
// started later ends it, after its pause; again says that the check began too
// early to tell and another has to.
func (s *Suspect) clear(started, now time.Time, passed OutcomeKind) (again bool) {
	switch {
	case !s.Active:
	case passed != Result:
		s.Until = time.Time{}
	case started.Before(s.Since):
		return true
	case s.pause() == 0:
		s.Active, s.Ended = false, now
	case s.Until.IsZero():
		s.Until = now.Add(s.pause())
	}
	return false
}

// over ends a suspicion whose pause is over.
func (s *Suspect) over(now time.Time) bool {
	if !s.Active || s.Until.IsZero() || now.Before(s.Until) {
		return false
	}
	s.Active, s.Ended, s.Until = false, now, time.Time{}
	return true
}
