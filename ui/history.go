package ui

import (
	"strings"

	"chaintop/model"
)

// levels are the cells of a strip: taller is worse.
var levels = [...]sign{
	model.LevelUnknown:      {"·", dim},
	model.LevelHealthy:      {"▁", dim},
	model.LevelInconclusive: {"▄", hold},
	model.LevelUnhealthy:    {"▇", bad},
}

// stripLegend says what the cells are.
const stripLegend = "· unknown ▁ healthy ▄ inconclusive ▇ unhealthy"

// lastHour is the last hour of a chain in one line, a cell a minute; less of it
// where the line is short.
func (s scene) lastHour(c *model.Chain) string {
	p := s.pen
	p.begin(s.w, false)
	if c == nil {
		return p.end()
	}
	p.put(dim, " last 60m ")
	n := min(model.StripMinutes, p.room())
	s.strip(c, n)
	if p.room() >= 2+width(stripLegend) {
		p.put(dim, "  "+stripLegend)
	}
	return p.end()
}

// strip draws the last n minutes of a chain.
func (s scene) strip(c *model.Chain, n int) {
	now := c.Strip.At(s.now)
	cells := now.Cells[len(now.Cells)-n:]
	for len(cells) > 0 {
		same := 1
		for same < len(cells) && cells[same] == cells[0] {
			same++
		}
		g := levels[model.LevelUnknown]
		if int(cells[0]) < len(levels) {
			g = levels[cells[0]]
		}
		s.pen.put(g.role, strings.Repeat(g.mark, same))
		cells = cells[same:]
	}
}

// uptime is how far back the instance remembers.
func (s scene) uptime() string {
	if s.inst.Started.IsZero() {
		return ""
	}
	return "up " + model.Age(s.now.Sub(s.inst.Started)) + ", not durable"
}

// historyRule is the strip within a rule, for a window with few rows.
func (s scene) historyRule(c *model.Chain, focused bool) string {
	p := s.pen
	p.begin(s.w, false)
	s.ruleMark(focused)
	p.put(text, "HISTORY 60m")
	p.put(dim, " ")
	n := min(model.StripMinutes, p.room()-2)
	if n > 0 && c != nil {
		s.strip(c, n)
		p.put(dim, " ")
	}
	p.line(p.room())
	return p.end()
}
