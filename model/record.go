package model

import "time"

// Record is what checks believe of an upstream. It moves only by Advance.
type Record struct {
	Health  Health    `json:"health"`
	Streak  int       `json:"streak,omitempty"` // failed checks in a row (U2)
	Errors  int       `json:"errors,omitempty"` // checks in a row that only got an error answer (U1)
	Checked time.Time `json:"checked,omitzero"` // start of the last check that counted
	Failed  time.Time `json:"failed,omitzero"`  // when the last failure was in (U9)
}

// CheckEnd is what one check brought to a record.
type CheckEnd struct {
	Started time.Time // the check's stamp, taken once when it starts
	Ended   time.Time
	Pass    OutcomeKind // Result passes, Answer holds, NoAnswer fails
}

// Advance is the record after a check (U1, U2, U9). A check that started
// before the newest one counted, or before the last failure was in, was
// overtaken: it changes nothing.
func Advance(r Record, c CheckEnd, fall int) Record {
	if !c.Started.After(r.Checked) || c.Started.Before(r.Failed) {
		return r
	}
	switch c.Pass {
	case NoOutcome:
		return r
	case Result:
		r.Health, r.Streak, r.Errors = Healthy, 0, 0
	case Answer:
		r.Errors++
	case NoAnswer:
		r.Streak, r.Errors, r.Failed = r.Streak+1, 0, c.Ended
		if r.Streak >= fall {
			r.Health = Unhealthy
		}
	}
	r.Checked = c.Started
	return r
}

// passes is what an outcome means to a check of a family (U1): for HTTP any
// status below 500 is somebody there, for the RPC families an error answer
// holds.
func (f Family) passes(o Outcome) OutcomeKind {
	if f == HTTP && o.Kind == Answer {
		if o.Evidence.HTTP < 500 {
			return Result
		}
		return NoAnswer
	}
	return o.Kind
}
