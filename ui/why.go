package ui

import (
	"strconv"
	"strings"
	"time"

	"chaintop/model"
)

// whyCell is the verdict of the last probe and why, or what is not as meant
// although it got a result; in w cells.
func (s scene) whyCell(c *model.Chain, w int) {
	p := s.pen
	p.open(w)
	s.verdict(c)
	why := model.WhyOf(c, s.now)
	s.reasons(why)
	s.notAsMeant(c, why)
	p.shut()
}

// verdict is the verdict's mark and word, or that there is none yet.
func (s scene) verdict(c *model.Chain) {
	g := signOf(c.State.Verdict.Sign())
	word := c.State.Verdict.String()
	if c.State.Verdict == model.NoVerdict {
		word = "first probe"
	}
	s.pen.put(g.role, g.mark)
	s.pen.put(g.role, " ")
	s.pen.put(g.role, word)
}

// reasons are what the tries of the last probe brought instead of a result.
func (s scene) reasons(why model.Why) {
	if len(why.Reasons) > 0 && s.pen.room() > 1 {
		s.pen.put(text, " ")
		s.pen.put(text, reasonsIn(why.Reasons, s.pen.room()))
	}
}

// reasonsIn is the reasons by count in at most w cells; what does not fit is
// counted.
func reasonsIn(all []model.ReasonCount, w int) string {
	out := ""
	for i, r := range all {
		next := r.Word + "×" + strconv.Itoa(r.N)
		if i > 0 {
			next = out + " " + next
		}
		rest := ""
		if i < len(all)-1 {
			rest = " +" + strconv.Itoa(len(all)-1-i)
		}
		switch fits := width(next)+len(rest) <= w; {
		case fits:
			out = next
		case i > 0:
			return out + " +" + strconv.Itoa(len(all)-i)
		default:
			rest = strings.TrimPrefix(rest, " ")
			return cut(next, max(w-len(rest), 0)) + rest
		}
	}
	return out
}

// notAsMeant says what is not as meant of a chain, or of one upstream, whose
// name then stands before it where there is another. A chain nobody reaches has said enough, and one
// that answers with errors only has its reasons where the name would stand.
func (s scene) notAsMeant(c *model.Chain, why model.Why) {
	if why.Word == "" || c.State.Verdict == model.VerdictUnreachable {
		return
	}
	const least = 3 // cells of a name
	g := signOf(why.Sign)
	name, word := "", " "+why.Word
	room := s.pen.room() - width(" "+g.mark) - width(word)
	if i := why.Upstream; i >= 0 && i < len(c.Upstreams) && len(c.Upstreams) > 1 && c.Upstreams[i].Name != c.Name && c.State.Verdict == model.VerdictHealthy {
		if n := width(c.Upstreams[i].Name); room > min(n, least) {
			name = " " + cutMiddle(c.Upstreams[i].Name, room-1)
		}
	}
	if room < 0 {
		return
	}
	s.pen.put(g.role, " "+g.mark)
	s.pen.put(text, name)
	s.pen.put(text, word)
	if why.Detail != "" && s.pen.room() > width(why.Detail) {
		s.pen.put(text, " ")
		s.pen.put(text, why.Detail)
	}
}

// roughly is a countdown in its greatest unit, rounded up: 12m 2h 3d.
func roughly(at, now time.Time) string {
	d := at.Sub(now)
	for _, unit := range [...]struct {
		is   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= unit.is {
			return strconv.FormatInt(int64((d+unit.is-1)/unit.is), 10) + unit.name
		}
	}
	return model.Countdown(at, now)
}

// servingCell is where a client's request would go, in w cells.
func (s scene) servingCell(c *model.Chain, w int) {
	p := s.pen
	p.open(w)
	p.puts(s.serving(c, w)...)
	p.shut()
}

// serving is the upstream that serves and why that one, in at most w cells: the
// name gives way, BACKUP and held do not.
func (s scene) serving(c *model.Chain, w int) []span {
	u := servingUpstream(c)
	if u == nil {
		return []span{{bad, "none → 503"}}
	}
	switch {
	case c.Serving.Why == model.RouteHeld:
		word, left := " held", ""
		if u.State.Hold.Held(s.now) && !s.remote.away {
			left = " " + model.Countdown(u.State.Hold.Until, s.now)
		}
		if width(u.Name)+width(word)+width(left) > w {
			left = ""
		}
		return []span{{text, cutMiddle(u.Name, w-width(word)-width(left))}, {hold, word}, {text, left}}
	case c.Serving.Why == model.RoutePinned:
		const word = " PINNED"
		left := ""
		for _, l := range []string{" " + model.Countdown(c.State.Pin.Until, s.now), " " + roughly(c.State.Pin.Until, s.now)} {
			if left = l; !s.remote.away && width(u.Name)+len(word)+len(l) <= w {
				break
			}
			left = ""
		}
		return []span{{text, cutMiddle(u.Name, w-len(word)-len(left))}, {warn, word}, {text, left}}
	case c.Serving.Failover:
		const word = " BACKUP"
		return []span{{text, cutMiddle(u.Name, w-len(word))}, {warn, word}}
	}
	return []span{{text, cutMiddle(u.Name, w)}}
}
