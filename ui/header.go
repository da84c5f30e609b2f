package ui

import (
	"strconv"
	"strings"
	"time"

	"chaintop/model"
)

// tabs are the views, in the order of their keys.
var tabs = [...]struct {
	view view
	name string
}{
	{viewChains, "1 Chains"},
	{viewChain, "2 Chain"},
	{viewEvents, "3 Events"},
	{viewDrain, "4 Drain"},
}

// wideHeader is from which width the header is not in a hurry.
const wideHeader = 100

// tabLead is what stands before the tabs.
func tabLead(w int) string {
	if w >= wideHeader {
		return " chaintop  "
	}
	return ""
}

// tabsFrom is from which width every tab has its name; below it only the one
// that is open has.
const tabsFrom = 72

// tabWord is a tab with its brackets, or the blanks in their place.
func tabWord(name string, open bool, w int) string {
	if open {
		return "[" + name + "]"
	}
	if w < tabsFrom {
		name, _, _ = strings.Cut(name, " ")
	}
	return " " + name + " "
}

// headKey is what the line of tabs is drawn from.
type headKey struct {
	era    uint64
	view   view
	second int64
	name   string
	vers   string
	remote remoteState
}

func (m *Model) headKey() headKey {
	return headKey{m.draw.era, m.view, m.now.Unix(), m.inst.Name, m.inst.Version, m.remoteState()}
}

// tabs is the first line: the views, and which instance this is, as of when.
func (s scene) tabs(at view, modes []string, linkAt time.Time) string {
	p := s.pen
	p.begin(s.w, false)
	left := width(tabLead(s.w))
	for _, t := range tabs {
		left += width(tabWord(t.name, t.view == at, s.w))
	}
	right := s.identity(modes, linkAt, s.w-left-1)
	p.put(accent, tabLead(s.w))
	for _, t := range tabs {
		r := dim
		if t.view == at {
			r = accent
		}
		p.put(r, tabWord(t.name, t.view == at, s.w))
	}
	p.blank(p.room() - widthOf(right))
	p.puts(right...)
	return p.end()
}

// identity is name, version, mode, how the source is and the clock, in at most
// w cells: mode and version give way first, then the name its middle. Of several
// words for the mode the last goes before the version.
func (s scene) identity(modes []string, linkAt time.Time, w int) []span {
	word, r := s.linkWord(linkAt)
	clock := s.timeOfDay(s.now)
	gap := " "
	if s.w >= wideHeader {
		gap, clock = "  ", clock+" "
	}
	tail := []span{{text, gap}, {r, word}, {text, gap + clock}}
	room := w - widthOf(tail)
	name := s.inst.Name
	vers, how, brief := "", "", ""
	if s.inst.Version != "" {
		vers = " " + s.inst.Version
	}
	dot := " · "
	if name == "" {
		dot = ""
	}
	if modes[0] != "" {
		how = dot + modes[0]
	}
	if len(modes) > 1 {
		brief = " · " + modes[len(modes)-1]
	}
	switch {
	case width(name)+width(vers)+width(how) <= room:
		vers += how
	case brief != "" && width(name)+width(brief) <= room:
		vers = brief
	case width(name)+width(vers) <= room:
	default:
		name, vers = cutMiddle(name, max(room, 0)), ""
	}
	return append([]span{{accent, name}, {dim, vers}}, tail...)
}

// timeOfDay is a time as a clock shows it; with Z it is UTC.
func (s scene) timeOfDay(at time.Time) string {
	if s.zone == time.UTC {
		return at.UTC().Format("15:04:05Z")
	}
	return at.In(s.zone).Format("15:04:05")
}

// linkWord says how the source is.
func (s scene) linkWord(since time.Time) (string, role) {
	if s.remote.on {
		return s.remote.word(s.ours)
	}
	switch s.link {
	case linkLive:
		return markHealthy + " live", good
	case linkWaiting:
		return markUnknown + " waiting", hold
	case linkLost:
		return markAway + " lost " + model.Age(s.now.Sub(since)), dim
	case linkEnded:
	}
	return markAway + " ended", dim
}

// summary is the line of state in numbers.
type summary struct {
	ready     model.Readiness
	since     int64 // of ready, Unix nanoseconds; 0 = not known
	cause     cause
	healthy   int
	unhealthy int
	unknown   int
	backup    int
	clients   clients
	bar       bar
}

// cause is what is believed of the chain that keeps the instance from being
// ready.
type cause struct {
	health  model.Health
	verdict model.Verdict
}

// word is the cause in a word.
func (c cause) word() string {
	if c.health == model.Unhealthy && c.verdict != model.NoVerdict {
		return c.verdict.String()
	}
	return c.health.String()
}

// stateKey is what the line of state is drawn from.
type stateKey struct {
	era    uint64
	second int64
	ours   int64 // second of this screen's clock
	sum    summary
	remote remoteState
}

func (s scene) stateKey(era uint64) stateKey {
	return stateKey{era, s.now.Unix(), s.ours.Unix(), s.summary(), s.remote}
}

func (s scene) summary() summary {
	sum := summary{ready: model.Ready(s.inst, s.inst.Policy), clients: s.clients(), bar: barOf(s.inst)}
	if !s.inst.ReadySince.IsZero() {
		sum.since = s.inst.ReadySince.UnixNano()
	}
	if c := sum.ready.Cause; c >= 0 {
		sum.cause = cause{s.inst.Chains[c].State.Health, s.inst.Chains[c].State.Verdict}
	}
	for _, c := range s.inst.Chains {
		switch c.State.Health {
		case model.Healthy:
			sum.healthy++
		case model.Unhealthy:
			sum.unhealthy++
		case model.Unknown:
			sum.unknown++
		}
		if c.Serving.Failover {
			sum.backup++
		}
	}
	return sum
}

// state is the second line: the word an eye meets first, its cause, and the
// healths in numbers.
func (s scene) state(sum summary) string {
	if s.link == linkWaiting {
		return s.waitingLine()
	}
	if s.remote.away {
		return s.awayLine(sum)
	}
	if sum.bar.on() {
		return s.drainState(sum)
	}
	word := s.stateWord(sum)
	wordWidth := widthOf(word)
	counts := s.counts(sum, 0)
	for hurry := 1; hurry <= mostHurry && wordWidth+1+widthOf(counts) > s.w; hurry++ {
		counts = s.counts(sum, hurry)
	}
	if asked := s.clientWords(sum.clients); s.w >= wideHeader && len(asked) > 0 && s.roomFor(sum, wordWidth+widthOf(counts)+2+widthOf(asked)) {
		counts = append(append(counts[:len(counts)-1], span{text, " · "}), asked...)
		counts = append(counts, span{text, " "})
	}
	p := s.pen
	p.begin(s.w, false)
	p.puts(word...)
	if room := s.w - wordWidth - widthOf(counts) - 4; room >= 8 && sum.ready.Cause >= 0 {
		p.put(text, "  ")
		p.put(text, s.cause(sum, room))
	}
	p.blank(p.room() - widthOf(counts))
	p.puts(counts...)
	return p.end()
}

// roomFor says whether beside n cells there is room for the whole cause: what is
// wrong goes before how much is asked.
func (s scene) roomFor(sum summary, n int) bool {
	if sum.ready.Cause < 0 {
		return n+2 <= s.w
	}
	return n+4+width(s.cause(sum, s.w)) <= s.w
}

// stateWord is READY or not, and since when.
func (s scene) stateWord(sum summary) []span {
	mark := span{good, " " + markHealthy + " READY"}
	if !sum.ready.Ready {
		mark = span{bad, " " + markUnhealthy + " NOT READY"}
		if sum.cause.health == model.Unknown {
			mark = span{hold, " " + markUnknown + " NOT READY"}
		}
	}
	if sum.since == 0 {
		return []span{mark}
	}
	return []span{mark, {text, " " + model.Age(s.now.Sub(s.inst.ReadySince))}}
}

// cause is the chain that keeps the instance from being ready, in at most w
// cells: how many more there are is never lost.
func (s scene) cause(sum summary, w int) string {
	more := ""
	if sum.ready.More > 0 {
		more = " +" + strconv.Itoa(sum.ready.More)
	}
	key, word := s.keys[sum.ready.Cause], " "+sum.cause.word()
	if width(key)+width(word)+width(more) <= w {
		return key + word + more
	}
	return cut(key, w-width(more)) + more
}

// mostHurry is how briefly counts can say it.
const mostHurry = 3

// counts is the healths in numbers. In a hurry it leaves out what there is none
// of, then blanks, then those that are well.
func (s scene) counts(sum summary, hurry int) []span {
	all := [...]struct {
		n     int
		word  string
		alarm role
	}{
		{sum.healthy, "healthy", text}, {sum.unhealthy, "unhealthy", bad},
		{sum.unknown, "unknown", hold}, {sum.backup, "BACKUP", warn},
	}
	spans := make([]span, 0, 2*len(all))
	for i, c := range all {
		last := i == len(all)-1
		if c.n == 0 && (hurry > 0 || last) || hurry > 2 && i == 0 {
			continue
		}
		if len(spans) > 0 {
			gap := "  "
			switch {
			case hurry > 1:
				gap = " "
			case last && s.w >= wideHeader:
				gap = " · "
			}
			spans = append(spans, span{text, gap})
		}
		r := text
		if c.n > 0 {
			r = c.alarm
		}
		spans = append(spans, span{r, strconv.Itoa(c.n) + " " + c.word})
	}
	return append(spans, span{text, " "})
}
