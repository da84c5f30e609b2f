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
	Source   feed.Source    // what is shown
	Sink     feed.Sink      // where commands go; nil = a screen that only looks, whose keys that act are off
	ReadOnly string         // why it only looks although it has a sink, such as "--read-only"; empty = it acts
	Who      string         // whom commands are from
	Remote   Remote         // the connection, when the instance runs elsewhere; nil = it runs here
	Refusals <-chan Refusal // commands that were refused where no event says so; nil = none is
	Mode     string         // how the instance is reached, beside its version: "local"
	Banner   string         // a line above every view, such as DEMO; empty = none
	Demo     bool           // the upstreams are simulated: a box says how to begin with one's own
	Faults   []string       // kinds of fault that the demo's upstreams take; empty = none can be asked for
	Config   string         // file the chains are of, for a command line one copies; empty = none, and none is offered
	Light    bool           // the ground to begin with, until the terminal says what it has
	Empty    string         // what a table without chains says; empty = "no chains"

	Serves    bool   // this process has listeners: leaving asks
	Interrupt func() // tells this process what a SIGTERM tells it, once a ctrl+c; nil = ctrl+c quits

	Now     func() time.Time // the clock of ages and countdowns; nil = time.Now
	NoColor bool             // no colour whatever the terminal has: NO_COLOR, set to anything
	ASCII   bool             // signs of ours and of others as ASCII, cell for cell
}

// view is what the middle of the screen shows.
type view uint8

const (
	viewChains view = iota
	viewChain
	viewEvents
	viewDrain
)

// Model is the screen. Its fields are written by Update alone; View writes
// nothing but text already drawn.
type Model struct {
	o       Options
	ctx     context.Context // of the program: bounds what a command waits for
	session string          // makes the ids of commands this screen's own
	sent    uint64          // commands sent

	several    bool // it is the ground of a table of instances
	interrupts int  // ctrl+c so far, where this process is told of each

	// The picture, folded from the events of the source.
	inst    *model.Instance
	keys    []string // of the chains, by index; they never change between two snapshots
	changes uint64   // grows with every batch that holds a change
	seen    uint64   // grows whenever it is read what clients ask
	awake   int      // the chain that keeps a drain awake, -1 = none
	leaves  bool     // it drains, really or simulated
	seq     uint64   // number of the last change of the picture
	link    link
	linkAt  time.Time   // since when link is what it is
	remote  feed.Status // of an instance elsewhere: how the connection is

	// The screen's own state.
	now     time.Time
	asOf    time.Time // of the picture: now, unless it is frozen
	zone    *time.Location
	noMouse bool // the terminal has the mouse
	started bool // the box for newcomers was put away

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
	search search
	freeze freeze
	menu   menu
	box    box
	news   news
	flow   flow

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
	if o.Empty == "" {
		o.Empty = "no chains"
	}
	m := &Model{
		o: o, ctx: context.Background(), session: rand.Text()[:8],
		inst: &model.Instance{}, dark: !o.Light, depth: colorprofile.TrueColor,
		pick: pick{chain: -1}, awake: -1, binds: bindings(o), zone: time.UTC, search: newSearch(),
	}
	m.now = o.Now()
	m.asOf = m.now
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
	m.readRemote()
	if !m.freeze.on {
		m.asOf = m.pictureNow()
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, tea.BackgroundColorMsg, tea.ColorProfileMsg:
		m.onTerminal(msg)
	case snapshotMsg, changedMsg, endedMsg, lostMsg:
		m.onFeed(msg)
	case tickMsg:
		cmd = m.onTick()
	case tea.KeyPressMsg:
		cmd = m.onKey(msg)
	case tea.PasteMsg:
		cmd = m.onPaste(msg)
	case tea.MouseClickMsg, tea.MouseWheelMsg:
		cmd = m.onMouse(msg)
	case sentMsg:
		m.onSent(msg)
	case remoteMsg: // read above
	case refusalMsg:
		m.onRefusal(msg)
	default: // nothing of ours, but the clock went on
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
	if m.away() {
		m.draw.pen.th.dimmed()
	}
	m.draw.forget()
}

// arrange puts rows, selection and panes where they belong, after anything that
// happened.
func (m *Model) arrange() {
	if m.small() {
		m.menu, m.box = menu{}, box{}
		if m.search.open {
			keepFilter(m)
		}
	}
	m.awake = awakeChain(m.inst, m.asOf)
	if is := m.drains(); m.leaves != is {
		m.leaves = is
		m.draw.forget()
	}
	row := m.order.at(m.pick.chain)
	if m.order.settle(m.inst, m.keys, m.now, m.asOf, m.filtered()) && m.pick.chain < 0 {
		m.release() // another chain may be the worst now
	}
	if m.view == viewChains && m.order.hides(m.pick.chain) && len(m.order.rows) > 0 {
		m.choose(m.order.rows[min(row, len(m.order.rows)-1)]) // the one that took its row
	}
	if m.help.open {
		m.help.top = max(0, min(m.help.top, len(m.helpLines(m.w))-m.helpRows()))
	}
	extra := m.bannerRows() + m.filterRows()
	m.table = planChains(m.h, len(m.inst.Chains), m.mostUpstreams(), extra)
	if m.starts() && !m.table.withStart() {
		m.table = planChains(m.h, len(m.inst.Chains), -1, extra)
	}
	if m.view == viewEvents {
		m.arrangeNews()
	}
	m.arrangeFlow()
	m.arrangeBox()
	m.pick.top = scroll(m.pick.top, m.order.at(m.selected()), m.table.rows, len(m.order.rows))
	if c := m.chain(); c != nil {
		m.detail = planChain(m.h, m.w, c, extra)
		m.arrangePanes(c)
	} else {
		m.detail = planChain(m.h, m.w, nil, extra)
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
