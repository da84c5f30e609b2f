package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// The least size a view is drawn at. Below it the summary stands alone.
const (
	leastWidth  = 60
	leastHeight = 16
)

func (m *Model) small() bool { return m.w < leastWidth || m.h < leastHeight }

// scene is what a pane is drawn from: a picture, a time, a width, a theme. The
// pen is only its tool.
type scene struct {
	inst   *model.Instance
	keys   []string // of the chains, by index
	now    time.Time
	link   link
	w      int
	zone   *time.Location
	remote remoteState
	ours   time.Time    // this screen's own clock
	awake  int          // the chain that keeps a drain awake, -1 = none
	own    *model.Chain // events are all of this one; nil = of any
	pen    *pen
}

// drawn is text already drawn, by what it was drawn from.
type drawn struct {
	pen   pen
	era   uint64 // grows when everything must be drawn anew: size, theme, link
	rows  []rowText
	head  kept[headKey]
	state kept[stateKey]
	card  kept[cardKey]
	ups   kept[upstreamsKey]
	news  kept[eventsKey]
	body  kept[bodyKey] // of Chain
	list  kept[listKey] // of Events
	whole kept[wholeKey]
	drain kept[drainKey]
	lines []string
	frame []byte
}

func (d *drawn) forget() { d.era++ }

func (d *drawn) reset(chains int) {
	d.rows = make([]rowText, chains)
	d.forget()
}

// kept is lines that stand while their key does. The key holds everything they
// are drawn from; a chain is told by its pointer, since no *model.Chain changes.
type kept[K comparable] struct {
	key   K
	lines []string
}

// of is the lines of key k: those kept, or what draw appends to none.
func (k *kept[K]) of(key K, draw func(lines []string) []string) []string {
	if k.lines == nil || k.key != key {
		k.key, k.lines = key, draw(k.lines[:0])
	}
	return k.lines
}

// View is the frame.
func (m *Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.Cursor = m.cursor()
	return v
}

// frame is exactly m.h lines of m.w cells.
func (m *Model) frame() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	s := m.scene()
	lines := m.draw.lines[:0]
	switch {
	case m.help.open:
		lines = m.helpFrame(s, lines)
	case m.small():
		lines = m.smallFrame(s, lines)
	case m.view == viewChain:
		lines = m.chainFrame(s, lines)
	case m.view == viewEvents:
		lines = m.newsFrame(s, lines)
	case m.view == viewDrain:
		lines = m.drainFrame(s, lines)
	default:
		lines = m.chainsFrame(s, lines)
	}
	if m.menu.open {
		m.overlay(s, lines)
	}
	if m.box.kind != boxNone {
		m.drawBox(s, lines)
	}
	m.draw.lines = lines
	return m.join(lines)
}

// scene is what the panes are drawn from now.
func (m *Model) scene() scene {
	return scene{
		inst: m.inst, keys: m.keys, now: m.asOf, link: m.link, remote: m.remoteState(), ours: m.now,
		w: m.w, zone: m.zone, awake: m.awake, pen: &m.draw.pen,
	}
}

// join makes the lines a frame of the window's height. Views plan their rows,
// so nothing is cut here but by a plan that is wrong.
func (m *Model) join(lines []string) string {
	b := m.draw.frame[:0]
	for y := range m.h {
		if y > 0 {
			b = append(b, '\n')
		}
		if y < len(lines) {
			b = append(b, lines[y]...)
			continue
		}
		m.draw.pen.begin(m.w, false)
		b = append(b, m.draw.pen.end()...)
	}
	m.draw.frame = b
	return string(b)
}

// top is what stands above every view: the banner, the tabs, the state.
func (m *Model) top(s scene, lines []string) []string {
	if m.o.Banner != "" {
		lines = append(lines, s.banner(m.o.Banner))
	}
	if m.remote.Insecure {
		lines = append(lines, s.banner("INSECURE  feed without TLS and token (--insecure)"))
	}
	if m.freeze.on {
		lines = append(lines, m.frozenLine(s))
	}
	lines = append(lines, m.draw.head.of(m.headKey(), func(l []string) []string {
		// The clock goes on over a picture that stands.
		on := s
		on.now = m.now
		return append(l, on.tabs(m.view, m.mode(), m.linkAt))
	})...)
	key := s.stateKey(m.draw.era)
	lines = append(lines, m.draw.state.of(key, func(l []string) []string {
		return append(l, s.state(key.sum))
	})...)
	if m.filterRows() > 0 {
		lines = append(lines, m.filterLine(s))
	}
	return lines
}

// rule is a line across, with a title at its left end and a remark at its right
// one, which gives way when there is no room.
func (s scene) rule(remark string, title ...span) string { return s.ruleOf(false, remark, title...) }

// ruleOf is the rule of a pane; one that has the arrows is marked.
func (s scene) ruleOf(focused bool, remark string, title ...span) string {
	p := s.pen
	p.begin(s.w, false)
	s.ruleMark(focused)
	wide := widthOf(title)
	p.open(s.w - 4)
	p.puts(title...)
	p.edge = p.width
	if wide > 0 {
		p.put(text, " ")
	}
	n := width(remark)
	if n > 0 && p.room() < n+4 {
		remark, n = "", 0
	}
	tail := 1
	if n > 0 {
		tail = n + 3
	}
	p.line(p.room() - tail)
	if n > 0 {
		p.put(dim, " "+remark+" ")
	}
	p.line(p.room())
	return p.end()
}

// ruleMark is the first two cells of a rule.
func (s scene) ruleMark(focused bool) {
	if focused {
		s.pen.put(accent, "▸ ")
		return
	}
	s.pen.put(dim, "─ ")
}

// line draws n cells of a rule.
func (p *pen) line(n int) {
	const long = "────────────────────────────────────────────────────────────────"
	for n > 0 {
		k := min(n, len(long)/len("─"))
		p.put(dim, long[:k*len("─")])
		n -= k
	}
}

// banner is a line that must not be overlooked.
func (s scene) banner(words string) string {
	p := s.pen
	p.begin(s.w, false)
	p.put(banner, " "+words)
	p.fill(banner)
	return p.end()
}

// plain is one line of text.
func (s scene) plain(spans ...span) string {
	s.pen.begin(s.w, false)
	s.pen.puts(spans...)
	return s.pen.end()
}

// footer is the keys of a place, or what was just said. It drops keys from the
// right; the first is how to find the others.
func (m *Model) footer(s scene) string {
	if m.flash.text != "" && m.now.Before(m.flash.until) {
		return s.plain(span{text, " "}, span{m.flash.role, m.flash.text})
	}
	at := m.place()
	gap := "  "
	if n := m.footerWidth(at, len(gap)); n > m.w {
		gap = " "
	}
	p := s.pen
	p.begin(s.w, false)
	p.put(text, " ")
	for i := range m.binds {
		b := &m.binds[i]
		if !m.inFooter(b, at) {
			continue
		}
		if p.cells > 1 {
			if p.room() < len(gap)+width(b.foot) {
				break
			}
			p.put(text, gap)
		}
		keys, word := splitFoot(b.foot)
		p.put(accent, keys)
		p.put(dim, word)
	}
	return p.end()
}
