package ui

import (
	"fmt"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// pinBox asks which upstream a chain is to be served from, how long, and why
// (F8).
type pinBox struct {
	chain  int
	key    string // of chain
	at     int    // the chosen upstream
	lasts  int    // the chosen one of pinTimes
	field  pinFieldName
	reason textinput.Model
}

// pinFieldName is a field that left and right, or letters, go to.
type pinFieldName uint8

const (
	pinLasts pinFieldName = iota
	pinReason
	pinFields
)

// pinTimes are how long a pin may be asked to last.
var pinTimes = [...]time.Duration{5 * time.Minute, 15 * time.Minute, model.PinFor, time.Hour}

const pinUsual = 2 // of pinTimes

// pinRows is how many upstreams the box shows at once.
const pinRows = 4

// pinKey pins the selected chain, or, when it is pinned, asks to let go.
func pinKey(m *Model) tea.Cmd {
	i := m.target()
	if i < 0 || len(m.inst.Chains[i].Upstreams) == 0 {
		m.say(text, "no upstream is selected", m.now.Add(flashShort))
		return nil
	}
	m.hold()
	c := m.inst.Chains[i]
	if c.State.Pin.Holds(m.asOf) {
		return m.askUnpin(i, c)
	}
	at := max(c.Serving.Upstream, 0)
	if m.view == viewChain {
		at = m.pick.upstream
	}
	reason := newField()
	m.box = box{kind: boxPin, pin: pinBox{chain: i, key: m.keys[i], at: min(at, len(c.Upstreams)-1), lasts: pinUsual, reason: reason}}
	return nil
}

func (m *Model) askUnpin(i int, c *model.Chain) tea.Cmd {
	p, key := c.State.Pin, m.keys[i]
	name := unknownValue
	if p.Upstream >= 0 && p.Upstream < len(c.Upstreams) {
		name = c.Upstreams[p.Upstream].Name
	}
	by := ""
	if p.Who != "" {
		by = " by " + p.Who
	}
	says := []string{
		fmt.Sprintf("It is pinned to %s for another %s%s; without the pin it is routed as ever.", name, model.Countdown(p.Until, m.asOf), by),
		"$ chaintop unpin " + quoted(m.inst.Name) + " " + quoted(key),
	}
	return m.askNo("Unpin "+key+" on "+m.inst.Name+"?", says, func(m *Model) tea.Cmd {
		return m.send(model.Command{Op: model.OpUnpin, Chains: []int{i}}, "unpin "+key)
	})
}

func pinUpstreams(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p := &m.box.pin
		p.at = max(0, min(p.at+d, len(m.inst.Chains[p.chain].Upstreams)-1))
		return nil
	}
}

// pinLonger chooses another time; while a reason is typed the keys are its.
func pinLonger(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p := &m.box.pin
		if p.field == pinReason {
			return m.onField(tea.KeyPressMsg{Code: map[int]rune{-1: tea.KeyLeft, 1: tea.KeyRight}[d]})
		}
		p.lasts = max(0, min(p.lasts+d, len(pinTimes)-1))
		return nil
	}
}

func pinField(d int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		p := &m.box.pin
		p.field = pinFieldName((int(p.field) + d + int(pinFields)) % int(pinFields))
		if p.field == pinReason {
			return p.reason.Focus()
		}
		p.reason.Blur()
		return nil
	}
}

func takePin(m *Model) tea.Cmd {
	p := m.box.pin
	m.box = box{}
	name := m.inst.Chains[p.chain].Upstreams[p.at].Name
	return m.send(model.Command{
		Op: model.OpPin, Chains: []int{p.chain}, Upstream: p.at, For: pinTimes[p.lasts], Reason: typed(&p.reason),
	}, "pin "+p.key+" to "+name)
}

func (m *Model) pinLines(s scene, w int) (string, []boxLine, string) {
	p := &m.box.pin
	c := m.inst.Chains[p.chain]
	u := &c.Upstreams[p.at]
	const name, tier, health, lag, p50 = 10, 7, 11, 5, 6
	lines := []boxLine{line(span{dim, "  UPSTREAM   TIER    HEALTH        LAG    P50 FIT FOR TRAFFIC"})}
	top := scroll(0, p.at, pinRows, len(c.Upstreams))
	for i := top; i < min(top+pinRows, len(c.Upstreams)); i++ {
		k := &c.Upstreams[i]
		mark, r := "  ", text
		if i == p.at {
			mark, r = "▸ ", accent
		}
		g := s.signOf(k.State.Health.Sign())
		word := k.State.Health.String()
		title := cutMiddle(k.Name, name)
		spans := []span{
			{accent, mark}, {r, title}, {text, gapTo(width(title), name+1)},
			{text, k.Tier.String()}, {text, gapTo(width(k.Tier.String()), tier+1)},
			{g.role, g.mark + " " + word}, {text, gapTo(2+width(word), health)},
		}
		for _, v := range []struct {
			s string
			w int
		}{{lagIn(k.State.Lag, lag), lag + 1}, {s.quantile(c, i, 0.5, p50), p50 + 1}} {
			spans = append(spans, span{text, gapTo(width(v.s), v.w) + v.s})
		}
		spans = append(spans, span{text, " "})
		lines = append(lines, line(append(spans, s.fitness(c, i, w-widthOf(spans))...)...))
	}
	lines = append(lines, boxLine{rule: true})
	lines = append(lines, p.times(), labelledLine("means", span{text, p.means(s, c)}),
		labelledLine("else", span{text, "while " + u.Name + " is unfit, routing is as without a pin, and says so"}),
		fieldLine("reason", &p.reason, p.field == pinReason, "none yet · tab, then type", w),
		line(span{accent, "$ "}, span{text, "chaintop " + pinLine(m.inst.Name, p.key, u.Name, pinTimes[p.lasts])}))
	return "Pin " + p.key + " on " + m.inst.Name + " to one upstream?", lines, "esc cancel (default) · ↑↓ upstream · tab field · enter pin"
}

// times are how long it lasts, the chosen one in brackets.
func (p *pinBox) times() boxLine {
	var spans []span
	for i, d := range pinTimes {
		if i == p.lasts {
			spans = append(spans, span{accent, "[" + model.Every(d) + "]"})
			continue
		}
		spans = append(spans, span{text, " " + model.Every(d) + " "})
	}
	l := labelledLine("for", append(spans, span{dim, "  ← → · it ends by itself, or F again unpins"})...)
	if p.field == pinLasts {
		l.spans[0].role = accent
	}
	return l
}

// means is what the pin would change, of as much as is asked now.
func (p *pinBox) means(s scene, c *model.Chain) string {
	name := c.Upstreams[p.at].Name
	says := name + " first, whoever else is fit"
	if c.Serving.Upstream >= 0 && c.Serving.Upstream < len(c.Upstreams) && c.Serving.Upstream != p.at {
		says = name + " first, instead of " + c.Upstreams[c.Serving.Upstream].Name
	}
	return says + " · " + model.PerSecond(askedOf(c, s.now).PerSecond()) + " req/s"
}
