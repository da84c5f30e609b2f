package model

// Verdict is what a probe concludes (V6). The zero value: no probe has ended
// with an outcome yet.
type Verdict uint8

// The verdicts of V6.
const (
	NoVerdict           Verdict = iota
	VerdictHealthy              // any try got a result
	VerdictInconclusive         // no result, but an error answer
	VerdictUnreachable          // nobody answered
)

var verdictNames = names[Verdict]{"", "healthy", "inconclusive", "unreachable"}

func (v Verdict) String() string                { return verdictNames.word(v) }
func (v Verdict) MarshalText() ([]byte, error)  { return verdictNames.marshal(v) }
func (v *Verdict) UnmarshalText(b []byte) error { return verdictNames.unmarshal(v, b) }

// Judge is the verdict over the outcomes of a probe's tries, and nothing else (V6).
func Judge(tries []Try) Verdict {
	verdict := NoVerdict
	for _, t := range tries {
		switch t.Kind {
		case Result:
			return VerdictHealthy
		case Answer:
			verdict = VerdictInconclusive
		case NoAnswer:
			if verdict == NoVerdict {
				verdict = VerdictUnreachable
			}
		case NoOutcome:
		}
	}
	return verdict
}

// Health is what we believe of a chain or an upstream.
type Health uint8

// The healths. Unknown is the zero value: nothing is believed yet.
const (
	Unknown Health = iota
	Healthy
	Unhealthy
)

var healthNames = names[Health]{"unknown", "healthy", "unhealthy"}

func (h Health) String() string                { return healthNames.word(h) }
func (h Health) MarshalText() ([]byte, error)  { return healthNames.marshal(h) }
func (h *Health) UnmarshalText(b []byte) error { return healthNames.unmarshal(h, b) }

// Recovers says which healths an inconclusive verdict turns into healthy (H1).
type Recovers uint8

// The values of inconclusive_recovers.
const (
	RecoversNone    Recovers = iota // an error answer keeps the health there was
	RecoversUnknown                 // … but unknown becomes healthy
	RecoversAll                     // … and unhealthy too
)

var recoversNames = names[Recovers]{"none", "unknown", "all"}

func (r Recovers) String() string                { return recoversNames.word(r) }
func (r Recovers) MarshalText() ([]byte, error)  { return recoversNames.marshal(r) }
func (r *Recovers) UnmarshalText(b []byte) error { return recoversNames.unmarshal(r, b) }

// After is the chain's health after a probe with verdict v (H1). An
// unreachable chain is unhealthy at once: fall is for upstreams.
func (h Health) After(v Verdict, r Recovers) Health {
	switch v {
	case VerdictHealthy:
		return Healthy
	case VerdictUnreachable:
		return Unhealthy
	case VerdictInconclusive:
		if (h == Unknown && r != RecoversNone) || (h == Unhealthy && r == RecoversAll) {
			return Healthy
		}
	case NoVerdict:
	}
	return h
}

// Tier says whether an upstream is asked first or only when no primary is fit.
type Tier uint8

// The tiers.
const (
	Primary Tier = iota
	Backup
)

var tierNames = names[Tier]{"primary", "backup"}

func (t Tier) String() string                { return tierNames.word(t) }
func (t Tier) MarshalText() ([]byte, error)  { return tierNames.marshal(t) }
func (t *Tier) UnmarshalText(b []byte) error { return tierNames.unmarshal(t, b) }
