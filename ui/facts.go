package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"chaintop/model"
)

// fact is one thing a node said of itself, in words, and when.
type fact struct {
	name  string
	value string
	at    time.Time // zero: it was never said
}

// factCount is how many facts the pane shows.
const factCount = 9

// factColumns is how many facts stand side by side.
func factColumns(w int) int { return max(1, min(3, w/33)) }

// factRows is how many lines the facts take.
func factRows(w int) int {
	n := factColumns(w)
	return (factCount + n - 1) / n
}

// facts appends the rule and n lines of the facts of an upstream, each with its
// age.
func (s scene) facts(lines []string, c *model.Chain, upstream, n int, focused bool) []string {
	if upstream < 0 || upstream >= len(c.Upstreams) {
		return s.pad(lines, n+1)
	}
	u := &c.Upstreams[upstream]
	lines = append(lines, s.ruleOf(focused, s.tip(c), span{text, "FACTS of "}, span{accent, u.Name}, span{text, ", each with its age"}))
	all := s.factsOf(c, u)
	cols := factColumns(s.w)
	rows := factRows(s.w)
	cell := min((s.w-1)/cols, 48)
	for k := range n {
		p := s.pen
		p.begin(s.w, false)
		p.blank(1)
		for col := range cols {
			if i := col*rows + k; k < rows && i < len(all) {
				s.fact(all[i], cell)
			}
		}
		lines = append(lines, p.end())
	}
	return lines
}

// fact draws one in w cells, the last two blank.
func (s scene) fact(f fact, w int) {
	const name, age, gap = 10, 7, 2
	p := s.pen
	p.left(dim, f.name, name)
	p.right(text, cut(f.value, w-name-age-gap), w-name-age-gap)
	old := ""
	if !f.at.IsZero() {
		old = model.Age(s.now.Sub(f.at))
	}
	p.right(dim, old, age)
	p.blank(gap)
}

// factsOf are the facts of u in the order they are read: column by column.
func (s scene) factsOf(c *model.Chain, u *model.Upstream) [factCount]fact {
	f := &u.State.Facts
	height := func(n uint64) string { return model.Height(n) }
	return [factCount]fact{
		factOf("head", f.Head, height),
		factOf("head time", f.Block, func(b model.Block) string { return s.clock(b.Time) }),
		factOf("chain id", f.ChainID, func(id string) string {
			switch c.ExpectID {
			case "":
				return id
			case id:
				return id + " " + markPass
			}
			return id + " " + markUnhealthy + " want " + c.ExpectID
		}),
		factOf("safe", f.Safe, height),
		factOf("finalized", f.Finalized, height),
		s.lagFact(c, u),
		factOf("syncing", f.Syncing, strconv.FormatBool),
		factOf("peers", f.Peers, height),
		factOf("version", f.Client, func(v string) string { return v }),
	}
}

// factOf is a fact in words.
func factOf[T any](name string, f model.Fact[T], words func(T) string) fact {
	switch f.Know {
	case model.Known:
		return fact{name, words(f.Value), f.At}
	case model.Unsupported:
		return fact{name, "unsupported", f.At}
	case model.Unheard:
	}
	return fact{name: name, value: unknownValue}
}

// lagFact is the distance to the tip, beside how much of it is allowed.
func (s scene) lagFact(c *model.Chain, u *model.Upstream) fact {
	if !u.State.Lag.Known {
		return fact{name: "lag", value: unknownValue}
	}
	return fact{"lag", fmt.Sprintf("%s of max %d", lagIn(u.State.Lag, 12), c.Settings.MaxLag), u.State.HeadRound}
}

// clock is a time of day, or the day once that is another.
func (s scene) clock(at time.Time) string {
	if d := s.now.Sub(at); d >= 24*time.Hour || d <= -24*time.Hour {
		return at.In(s.zone).Format("06-01-02 15:04")
	}
	return s.timeOfDay(at)
}

// tip is the height that lags are counted from, and whose heads set it.
func (s scene) tip(c *model.Chain) string {
	if !c.Checks.Tip.Known() {
		return ""
	}
	var by []string
	for _, i := range c.Checks.TipBy {
		if i >= 0 && i < len(c.Upstreams) {
			by = append(by, c.Upstreams[i].Name)
		}
	}
	out := "tip " + model.Height(c.Checks.Tip.Value)
	if len(by) > 0 {
		out += " set by " + strings.Join(by, ", ")
	}
	return out
}
