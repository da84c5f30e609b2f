package ui

import (
	"context"
	"crypto/rand"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"chaintop/feed"
	"chaintop/model"
)

// Options are what a screen is made of.
type Options struct {
	Source feed.Source // what is shown
	Sink   feed.Sink   // where commands go; nil = a screen that only looks, whose keys that act are off
	Who    string      // whom commands are from
	Mode   string      // how the instance is reached, beside its version: "local"
	Banner string      // a line above every view, such as DEMO; empty = none

	Now     func() time.Time // the clock of ages and countdowns; nil = time.Now
	NoColor bool             // no colour whatever the terminal has: NO_COLOR, set to anything
	ASCII   bool             // signs of ours and of others as ASCII, cell for cell
}

// view is what the middle of the screen shows.
type view uint8

const (
	viewChains view = iota
	viewChain
)

// Model is the screen. Its fields are written by Update alone; View writes
// nothing but text already drawn.
type Model struct {
	o       Options
	ctx     context.Context // of the program: bounds what a command waits for
	session string          // makes the ids of commands this screen's own
	sent    uint64          // commands sent

	// The picture, folded from the events of the source.
	inst    *model.Instance
	keys    []string // of the chains, by index; they never change between two snapshots
	changes uint64   // grows with every batch that holds a change
	link    link
	linkAt  time.Time // since when link is what it is

	// The screen's own state.
	now    time.Time
	w, h   int
	dark   bool
	depth  colorprofile.Profile
	view   view
	help   helpState
	order  order
	pick   pick
	flash  flash
	click  click
	asking time.Time // until when a second P means it

	binds  []binding
	table  chainsPlan // where things stand in Chains
	detail chainPlan  // and in Chain
	draw   drawn
}

// New is a screen that has not seen its source yet. Run is New in a program.
func New(o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Model{
		o: o, ctx: context.Background(), session: rand.Text()[:8],
		inst: &model.Instance{}, dark: true, depth: colorprofile.TrueColor,
		pick: pick{chain: -1}, binds: bindings(o.Sink != nil),
	}
	m.now = o.Now()
	m.linkAt = m.now
	m.retheme()
	return m
}

// Init asks for the terminal's background and starts the clock.
func (m *Model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, tick(m.ctx)) }

// Update folds what happened into the screen. It does no IO.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	m.now = m.o.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, tea.BackgroundColorMsg, tea.ColorProfileMsg:
		m.onTerminal(msg)
	case snapshotMsg, changedMsg, endedMsg, lostMsg:
		m.onFeed(msg)
	case tickMsg:
		cmd = m.onTick()
	case tea.KeyPressMsg:
		cmd = m.onKey(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		cmd = m.onMouse(msg)
	case sentMsg:
		m.onSent(msg)
	default:
		return m, nil
	}
	m.arrange()
	return m, cmd
}

// onTerminal takes what the terminal says of itself.
func (m *Model) onTerminal(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.draw.forget()
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.retheme()
	case tea.ColorProfileMsg:
		m.depth = msg.Profile
		m.retheme()
	}
}

func (m *Model) retheme() {
	depth := m.depth
	if m.o.NoColor {
		depth = colorprofile.ASCII
	}
	m.draw.pen.th = newTheme(m.dark, depth, m.o.ASCII)
	m.draw.forget()
}

// arrange puts rows, selection and panes where they belong, after anything that
// happened.
func (m *Model) arrange() {
	if m.order.settle(m.inst, m.keys, m.now) && m.pick.chain < 0 {
		m.release() // another chain may be the worst now
	}
	if m.help.open {
		m.help.top = max(0, min(m.help.top, len(m.helpLines(m.w))-m.helpRows()))
	}
	m.table = planChains(m.h, len(m.inst.Chains), m.mostUpstreams(), m.o.Banner != "")
	m.pick.top = scroll(m.pick.top, m.order.at(m.selected()), m.table.rows, len(m.order.rows))
	if c := m.chain(); c != nil {
		m.pick.upstream = max(0, min(m.pick.upstream, len(c.Upstreams)-1))
		m.detail = planChain(m.h, m.w, c, m.o.Banner != "")
		m.pick.upTop = scroll(m.pick.upTop, m.pick.upstream, m.detail.upstreams, len(c.Upstreams))
	} else {
		m.detail = planChain(m.h, m.w, nil, m.o.Banner != "")
	}
}

// mostUpstreams is the most upstreams that a chain of the picture has, so that
// their pane is as high for each.
func (m *Model) mostUpstreams() int {
	most := 0
	for _, c := range m.inst.Chains {
		most = max(most, len(c.Upstreams))
	}
	return most
}
