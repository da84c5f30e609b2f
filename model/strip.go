package model

import "time"

// Level is the state of a chain in one minute, worse is higher.
type Level uint8

// The levels of a strip.
const (
	LevelUnknown Level = iota
	LevelHealthy
	LevelInconclusive
	LevelUnhealthy
)

var levelNames = names[Level]{"unknown", "healthy", "inconclusive", "unhealthy"}

func (l Level) String() string                { return levelNames.word(l) }
func (l Level) MarshalText() ([]byte, error)  { return levelNames.marshal(l) }
func (l *Level) UnmarshalText(b []byte) error { return levelNames.unmarshal(l, b) }

// StripMinutes is the length of a strip.
const StripMinutes = 60

// Strip is a chain's last hour, a level a minute, the worst of it.
type Strip struct {
	Minute time.Time           `json:"minute,omitzero"` // of the last cell
	Cells  [StripMinutes]Level `json:"cells"`           // oldest first
	Now    Level               `json:"now"`             // what a new minute starts as
}

func level(h Health, v Verdict) Level {
	switch {
	case h == Unhealthy:
		return LevelUnhealthy
	case v == VerdictInconclusive:
		return LevelInconclusive
	case h == Healthy:
		return LevelHealthy
	}
	return LevelUnknown
}

// At is the strip as it stands at now: the minutes since the last change carry
// the level it left.
func (s Strip) At(now time.Time) Strip {
	minute := now.Truncate(time.Minute)
	if s.Minute.IsZero() {
		s.Minute = minute
		return s
	}
	n := int(minute.Sub(s.Minute) / time.Minute)
	if n <= 0 {
		return s
	}
	n = min(n, StripMinutes)
	copy(s.Cells[:], s.Cells[n:])
	for i := StripMinutes - n; i < StripMinutes; i++ {
		s.Cells[i] = s.Now
	}
	s.Minute = minute
	return s
}

func (s *Strip) note(at time.Time, h Health, v Verdict) {
	*s = s.At(at)
	s.Now = level(h, v)
	s.Cells[StripMinutes-1] = max(s.Cells[StripMinutes-1], s.Now)
}
