package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// Named is one of several instances, each with a screen of its own.
type Named struct {
	Name    string // by which it was asked for; the instance may call itself something else
	Options Options
}

// Several is a table of instances, and the screens that one enters from it. It
// only holds them: what an instance is, its own screen knows.
type Several struct {
	names   []string
	screens []*Model
	base    *Model // size, theme and keys of the table
	inside  int    // the screen that is open; -1 = the table
	at      int    // the selected instance
	top     int    // first row shown
	rows    int    // shown
	click   click
}

// toScreen is a message for one of the screens.
type toScreen struct {
	i   int
	msg tea.Msg
}

// NewSeveral is the table of all, none of which has been heard of yet. There must
// be at least one.
func NewSeveral(all []Named) *Several {
	s := &Several{inside: -1}
	for _, n := range all {
		s.names = append(s.names, n.Name)
		s.screens = append(s.screens, New(n.Options))
	}
	o := all[0].Options
	s.base = New(Options{Now: o.Now, NoColor: o.NoColor, ASCII: o.ASCII, Light: o.Light})
	s.base.several, s.base.binds = true, severalBindings(s)
	return s
}

// severalBindings is the key table of the table of instances.
func severalBindings(s *Several) []binding {
	moves := func(d int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd {
			if m.help.open {
				m.step(d)
				return nil
			}
			s.move(d)
			return nil
		}
	}
	return []binding{
		bind(inHelp, groupLook, "? esc", "close", closeHelp, "?", "esc").shown("? or esc close"),
		bind(inSeveral, groupLook, "?", "help", openHelp, "?").shown("? help"),
		bind(inSeveral|inHelp, groupMove, "↑↓ j k", "move", nil).shown("↑↓ move"),
		bind(inSeveral|inHelp, groupMove, "", "", moves(-1), "up", "k"),
		bind(inSeveral|inHelp, groupMove, "", "", moves(1), "down", "j"),
		bind(inSeveral, groupMove, "enter", "open, esc back", func(*Model) tea.Cmd { return s.enter() }, "enter").shown("enter open"),
		bind(inSeveral, groupMove, "n N", "next problem", nil).shown("n problem"),
		bind(inSeveral, groupMove, "", "", func(*Model) tea.Cmd { return s.problem(1) }, "n"),
		bind(inSeveral, groupMove, "", "", func(*Model) tea.Cmd { return s.problem(-1) }, "N"),
		bind(inSeveral|inHelp, groupMove, "g G", "top, end", nil),
		bind(inSeveral|inHelp, groupMove, "", "", moves(-farAway), "g", "home"),
		bind(inSeveral|inHelp, groupMove, "", "", moves(farAway), "G", "end"),
		bind(inSeveral, groupMove, "click twice", "open", nil),
		bind(inSeveral, groupLook, "r", "reconnect those away", func(*Model) tea.Cmd { return s.retry() }, "r").shown("r reconnect"),
		bind(inSeveral, groupLook, "ctrl+l", "redraw", redraw, "ctrl+l"),
		bind(inSeveral, groupLook, "ctrl+z", "suspend", suspend, "ctrl+z"),
		bind(inSeveral|inHelp, groupLook, "q", "quit", func(*Model) tea.Cmd { return tea.Quit }, "q").shown("q quit"),
		bind(inSeveral|inHelp, groupLook, "ctrl+c", "quit", func(*Model) tea.Cmd { return tea.Quit }, "ctrl+c"),
	}
}

// Init asks for the terminal's background and starts the clock of all screens.
func (s *Several) Init() tea.Cmd { return s.base.Init() }

// Update gives a message to the screen it is for: what the terminal says to all,
// what somebody does to the one that is open.
func (s *Several) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case toScreen:
		return s, s.give(msg.i, msg.msg)
	case tickMsg:
		for _, m := range s.screens {
			m.Update(msg)
		}
		_, cmd := s.base.Update(msg)
		return s, cmd
	case tea.WindowSizeMsg, tea.BackgroundColorMsg, tea.ColorProfileMsg:
		for _, m := range s.screens {
			m.Update(msg)
		}
		s.base.Update(msg)
		s.arrange()
		return s, nil
	}
	if s.inside >= 0 {
		if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "esc" && s.screens[s.inside].atHome() {
			s.inside = -1
			return s, nil
		}
		return s, s.give(s.inside, msg)
	}
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		s.base.now = s.base.o.Now()
		cmd = s.base.onKey(msg)
	case tea.MouseClickMsg:
		cmd = s.onClick(msg)
	case tea.MouseWheelMsg:
		s.move(map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button])
	}
	s.arrange()
	return s, cmd
}

// give hands a message to screen i, and what it answers back to it.
func (s *Several) give(i int, msg tea.Msg) tea.Cmd {
	if i < 0 || i >= len(s.screens) {
		return nil
	}
	_, cmd := s.screens[i].Update(msg)
	return s.backTo(i, cmd)
}

func (s *Several) backTo(i int, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case sentMsg:
			return toScreen{i, msg}
		case tea.BatchMsg:
			all := make(tea.BatchMsg, len(msg))
			for k, c := range msg {
				all[k] = s.backTo(i, c)
			}
			return all
		default:
			return msg
		}
	}
}

// atHome says that esc has nothing to close here: it leads out.
func (m *Model) atHome() bool {
	return m.place() == inSmall ||
		m.place() == inChains && !m.now.Before(m.asking) && m.filterRows() == 0 && !m.starts() && m.pick.chain < 0
}

func (s *Several) enter() tea.Cmd {
	s.inside = s.at
	return nil
}

func (s *Several) move(d int) { s.at = max(0, min(s.at+d, len(s.screens)-1)) }

// problem selects the next instance that is not well, around the ends.
func (s *Several) problem(d int) tea.Cmd {
	n := len(s.screens)
	for k := 1; k < n; k++ {
		if i := ((s.at+k*d)%n + n) % n; !s.screens[i].well() {
			s.at = i
			return nil
		}
	}
	s.base.say(text, "no other instance needs attention", s.base.now.Add(flashShort))
	return nil
}

// well says that an instance is heard, is ready and has no chain that needs
// attention.
func (m *Model) well() bool {
	if m.link != linkLive || m.away() || !model.Ready(m.inst, m.inst.Policy).Ready || m.drains() {
		return false
	}
	for _, c := range m.order.class {
		if c != model.ClassHealthy {
			return false
		}
	}
	return true
}

func (s *Several) retry() tea.Cmd {
	n := 0
	for _, m := range s.screens {
		if m.o.Remote != nil && !connected.holds(m) {
			m.o.Remote.RetryNow()
			n++
		}
	}
	says := "every instance is connected"
	if n > 0 {
		says = "trying " + countOf(n, "instance") + " again now"
	}
	s.base.say(text, says, s.base.now.Add(flashShort))
	return nil
}

func (s *Several) onClick(msg tea.MouseClickMsg) tea.Cmd {
	row := msg.Y - headerRows - 1
	if msg.Button != tea.MouseLeft || row < 0 || row >= s.rows || s.top+row >= len(s.screens) || s.base.help.open {
		return nil
	}
	s.at = s.top + row
	s.base.now = s.base.o.Now()
	s.base.click, s.click = s.click, s.base.click
	twice := s.base.twice(s.at)
	s.click, s.base.click = s.base.click, click{}
	if twice {
		return s.enter()
	}
	return nil
}

func (s *Several) arrange() {
	s.rows = max(1, min(len(s.screens), s.base.h-headerRows-1-1-cardRows-1))
	s.top = scroll(s.top, s.at, s.rows, len(s.screens))
	if s.base.help.open {
		s.base.help.top = max(0, min(s.base.help.top, len(s.base.helpLines(s.base.w))-s.helpRows()))
	}
}

func (s *Several) helpRows() int { return max(1, s.base.h-headerRows-3) }

// RunSeveral is Run for several instances: a table of them, and the screen of the
// one that is entered. Each is followed for as long as the program runs.
func RunSeveral(ctx context.Context, all []Named, opts ...tea.ProgramOption) error {
	if len(all) == 0 {
		return nil
	}
	s := NewSeveral(all)
	return run(ctx, all[0].Options.NoColor, s, func(ctx context.Context, g *guard, p *tea.Program, running <-chan struct{}) {
		for i, n := range all {
			s.screens[i].ctx = ctx
			send := func(msg tea.Msg) { p.Send(toScreen{i, msg}) }
			watch(ctx, g, p, running, n.Options, send)
		}
		s.base.ctx = ctx
	}, opts...)
}
