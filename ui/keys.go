package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// place is where a key means something: the views, and what may lie over them.
type place uint16

const (
	inChains place = 1 << iota
	inChain
	inEvents
	inDrain
	inHelp
	inSmall  // a window too small for a view
	inPrompt // the filter is being typed
	inMenu
	inUpstream // of Chain, opened
	inAsk      // a question with a few answers
	inPin      // the box that pins
	inDrainBox // the box that drains
	inSeveral  // the table of instances

	inTables = inChains | inEvents | inDrain
	inViews  = inTables | inChain | inUpstream
	inLists  = inViews | inSmall
	anywhere = inLists | inHelp
	inBoxes  = inAsk | inPin | inDrainBox

	everywhere = anywhere | inPrompt | inMenu | inBoxes
)

// group is the column of Help a key stands in.
type group uint8

const (
	groupMove group = iota
	groupLook
	groupAct
	groups
)

var groupNames = [groups]string{"MOVE", "LOOK", "ACT"}

// binding is one row of the key table: keys, what Help says of them, how the
// footer names them, where they mean something, and what they do.
type binding struct {
	key.Binding
	foot  string // in the footer; empty = only in Help
	feet  place  // whose footer it is in
	group group
	where place
	off   string               // why it does nothing here; empty = it does
	when  []limit              // what may put it off, now
	do    func(*Model) tea.Cmd // nil: it stands for rows without words, or for the mouse
}

func bind(where place, g group, show, says string, do func(*Model) tea.Cmd, keys ...string) binding {
	return binding{
		Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, says)),
		group:   g, where: where, do: do,
	}
}

// shown is the binding with its words for the footer.
func (b binding) shown(foot string) binding {
	b.foot, b.feet = foot, b.where
	return b
}

// shownIn is the binding in the footer of some of its places only.
func (b binding) shownIn(feet place, foot string) binding {
	b.foot, b.feet = foot, feet
	return b
}

// unless is the binding, off for a reason.
func (b binding) unless(off bool, reason string) binding {
	if off {
		b.off = reason
		b.SetEnabled(false)
	}
	return b
}

// Why keys are off.
const (
	offLooks = "this screen only looks"
	offReal  = "only the demo takes faults"
)

// bindings is the key table, in the order of the footer. Keys, footer, Help and
// docs/keys.md all come from it. A key that is off stays in Help, with the
// reason.
func bindings(o Options) []binding {
	return slices.Concat(overlays(), moves(), actions(o), others())
}

// moves are the keys that move through a view and between its parts.
func moves() []binding {
	return []binding{
		bind(inLists, groupLook, "?", "help", openHelp, "?").shown("? help"),
		bind(inChain|inEvents|inDrain, groupMove, "esc", "back", back, "esc").shownIn(inChain, "esc back"),
		bind(inChains|inEvents, groupMove, "↑↓ j k", "move", nil).shown("↑↓ move"),
		bind(inDrain, groupMove, "↑↓ j k", "move", nil).shown("↑↓ move").but(noRows),
		bind(inChain, groupMove, "↑↓ j k", "move in a pane", nil),
		bind(inChain, groupMove, "enter", "open upstream", openUpstream, "enter").shown("enter open"),
		bind(inChain, groupMove, "tab", "next pane", nil).shown("tab pane"),
		bind(inChain, groupMove, "", "", nextPane(1), "tab"),
		bind(inChain, groupMove, "", "", nextPane(-1), "shift+tab"),
		bind(inUpstream, groupMove, "esc", "back", closeUpstream, "esc").shown("esc back"),
		bind(inUpstream, groupMove, "↑↓ j k", "scroll", nil).shown("↑↓ scroll"),
		bind(inHelp, groupMove, "↑↓ j k", "scroll", nil).shown("↑↓ scroll"),
		bind(anywhere|inMenu, groupMove, "", "", steps(-1), "up", "k"),
		bind(anywhere|inMenu, groupMove, "", "", steps(1), "down", "j"),
		bind(inChains, groupMove, "enter", "open", open, "enter").shown("enter open"),
		bind(inEvents, groupMove, "enter", "its chain", openEvent, "enter").shown("enter chain"),
		bind(inDrain, groupMove, "enter", "its chain", openFlow, "enter").shown("enter chain").but(noRows),
		bind(inDrain, groupMove, "tab", "other table", otherTable, "tab", "shift+tab").shown("tab table").but(oneTable),
		bind(inViews, groupMove, "n N", "next problem", nil).shownIn(inChains, "n problem"),
		bind(inLists, groupMove, "", "", problems(1), "n"),
		bind(inLists, groupMove, "", "", problems(-1), "N"),
		bind(inEvents, groupMove, "[ ]", "health turned", nil).shown("[ ] transition"),
		bind(inEvents, groupMove, "", "", turnings(-1), "["),
		bind(inEvents, groupMove, "", "", turnings(1), "]"),
		bind(inChain, groupMove, "[ ]", "past probes", nil).shown("[ ] past"),
		bind(inChain, groupMove, "", "", pasts(-1), "["),
		bind(inChain, groupMove, "", "", pasts(1), "]"),
		bind(inEvents, groupMove, "G end", "follow newest", nil).shown("G follow"),
	}
}

// actions are the keys that ask an instance for something: off on a screen that
// only looks, for a token that only may, and while the feed is not live.
func actions(o Options) []binding {
	why := offLooks
	if o.ReadOnly != "" {
		why = o.ReadOnly
	}
	looks := o.Sink == nil || o.ReadOnly != ""
	all := []binding{
		bind(inLists&^inUpstream, groupAct, "p", "probe it", probeOne, "p").shownIn(inLists&^inEvents&^inDrain&^inUpstream, "p probe"),
		bind(inChains, groupMove, "4", "who keeps it awake", nil).shown("4 drain").but(stands),
		bind(inUpstream, groupAct, "p", "check it", checkOne, "p").shown("p check"),
		bind(inViews, groupAct, "P", "probe all shown", (*Model).probeAll, "P"),
		bind(inViews, groupAct, "x", "fault…", faultMenu, "x").shown("x fault").unless(len(o.Faults) == 0, offReal),
		bind(inViews, groupAct, "d", "simulate drain", simulateDrain, "d").shownIn(inChains|inDrain, "d simulate").but(simulates, alone, leaving, immediate),
		bind(inViews, groupAct, "d", "stop simulation", stopDrain, "d").shownIn(inChains|inDrain, "d stop").but(simulating),
		bind(inViews, groupAct, "D", "drain…", askDrain, "D").shownIn(inChains|inDrain, "D drain…").but(alone, leaving),
		bind(inViews, groupAct, "U", "undrain…", askUndrain, "U").shownIn(inChains|inDrain, "U undrain…").but(stays, over, final),
		bind(inChains|inChain|inUpstream, groupAct, "F", "pin, unpin…", pinKey, "F").shown("F pin…").but(noGateway),
	}
	for i, b := range all {
		if b.do != nil && b.group == groupAct {
			all[i] = b.unless(looks, why)
			all[i].when = append([]limit{isViewer, notLive}, b.when...)
		}
	}
	return all
}

// others are the keys that look closer, lead elsewhere, or leave.
func others() []binding {
	return []binding{
		bind(inChain, groupMove, "h l ← →", "other chain", nil).shown("h l chain"),
		bind(inUpstream, groupMove, "h l ← →", "other upstream", nil).shown("h l upstream"),
		bind(inUpstream, groupMove, "", "", turnUpstream(-1), "h", "left"),
		bind(inUpstream, groupMove, "", "", turnUpstream(1), "l", "right"),
		bind(inChain, groupMove, "", "", turns(-1), "h", "left"),
		bind(inChain, groupMove, "", "", turns(1), "l", "right"),
		bind(inViews, groupLook, "/", "filter", openPrompt, "/").shownIn(inTables, "/ filter"),
		bind(inTables, groupLook, "!", "problems only", onlyProblems, "!").shownIn(inChains|inEvents, "! problems"),
		bind(inChains, groupLook, "s S", "sort, reverse", nil).shown("s sort"),
		bind(inDrain, groupLook, "s S", "sort, reverse", nil).shown("s sort").but(noTraffic),
		bind(inChains|inDrain, groupLook, "", "", nextSort, "s").but(noTraffic),
		bind(inChains|inDrain, groupLook, "", "", reverseSort, "S").but(noTraffic),
		bind(inViews, groupLook, "space", "freeze, go on", toggleFreeze, "space"),
		bind(inViews, groupLook, "y", "copy…", copyMenu, "y").shown("y copy"),
		bind(anywhere, groupMove, "pgup pgdn", "page", nil),
		bind(anywhere, groupMove, "", "", pages(-1), "pgup", "ctrl+u"),
		bind(anywhere, groupMove, "", "", pages(1), "pgdown", "ctrl+d"),
		bind(inChains|inChain|inUpstream|inDrain|inHelp|inSmall, groupMove, "g G", "top, end", nil),
		bind(inEvents, groupMove, "g home", "oldest", nil),
		bind(anywhere, groupMove, "", "", ends(-1), "g", "home"),
		bind(anywhere, groupMove, "", "", ends(1), "G", "end"),
		bind(inChains, groupMove, "esc", "clear, worst", letGo, "esc"),
		bind(inViews, groupMove, "1 2 3 4", "views", nil),
		bind(inViews, groupMove, "", "", shows(viewChains), "1"),
		bind(inViews, groupMove, "", "", shows(viewChain), "2"),
		bind(inViews, groupMove, "", "", shows(viewEvents), "3"),
		bind(inViews, groupMove, "", "", shows(viewDrain), "4"),
		bind(inViews, groupMove, "wheel", "move", nil),
		bind(inChains|inDrain, groupMove, "click", "select, sort", nil),
		bind(inChain|inEvents, groupMove, "click", "select", nil),
		bind(inTables|inChain, groupMove, "click twice", "open", nil),
		bind(inViews, groupLook, "Z", "UTC or local", toggleZone, "Z"),
		bind(inViews, groupLook, "m", "mouse on/off", toggleMouse, "m"),
		bind(inLists, groupLook, "r", "reconnect now", retryNow, "r").but(isHere, connected),
		bind(anywhere, groupLook, "ctrl+l", "redraw", redraw, "ctrl+l"),
		bind(anywhere, groupLook, "ctrl+z", "suspend", suspend, "ctrl+z"),
		bind(anywhere, groupLook, "q", "quit", quit, "q").shown("q quit"),
		bind(everywhere, groupLook, "ctrl+c", "quit", quitAnyhow, "ctrl+c"),
	}
}

// overlays are the keys of what may lie over a view.
func overlays() []binding {
	return []binding{
		bind(inHelp, groupLook, "? esc", "close", closeHelp, "?", "esc").shown("? or esc close"),
		bind(inMenu, groupMove, "↑↓ j k", "move", nil).shown("↑↓ move"),
		bind(inMenu, groupAct, "enter", "take it", takeItem, "enter").shown("enter take"),
		bind(inMenu, groupMove, "esc", "leave", closeMenu, "esc").shown("esc leave"),
		bind(inAsk, groupMove, "← → h l", "choose", nil).shown("← → choose"),
		bind(inAsk, groupMove, "", "", chooses(-1), "left", "h", "shift+tab"),
		bind(inAsk, groupMove, "", "", chooses(1), "right", "l", "tab"),
		bind(inAsk, groupAct, "enter", "take it", takeAnswer, "enter").shown("enter take"),
		bind(inPin, groupMove, "↑↓", "upstream", nil).shown("↑↓ upstream"),
		bind(inPin, groupMove, "", "", pinUpstreams(-1), "up"),
		bind(inPin, groupMove, "", "", pinUpstreams(1), "down"),
		bind(inPin, groupMove, "← →", "how long", nil),
		bind(inPin, groupMove, "", "", pinLonger(-1), "left"),
		bind(inPin, groupMove, "", "", pinLonger(1), "right"),
		bind(inPin, groupMove, "tab", "how long, why", pinField(1), "tab").shown("tab field"),
		bind(inPin, groupMove, "", "", pinField(-1), "shift+tab"),
		bind(inPin, groupAct, "enter", "pin", takePin, "enter").shown("enter pin").but(notLive),
		bind(inDrainBox, groupMove, "tab", "name, reason", drainField, "tab", "shift+tab", "up", "down").shown("tab field"),
		bind(inDrainBox, groupAct, "enter", "drain", takeDrain, "enter").shown("enter drain").but(notLive, unnamed),
		bind(inBoxes, groupMove, "esc", "leave", closeBox, "esc").shown("esc leave"),
		bind(inPrompt, groupAct, "enter", "keep the filter", keepFilter, "enter").shown("enter keep"),
		bind(inPrompt, groupAct, "esc", "clear the filter", dropFilter, "esc").shown("esc clear"),
	}
}

// place is where a key falls now.
func (m *Model) place() place {
	switch {
	case m.box.kind != boxNone:
		return m.box.place()
	case m.menu.open:
		return inMenu
	case m.search.open:
		return inPrompt
	case m.help.open:
		return inHelp
	}
	return m.under()
}

// under is the view that Help is of, or lies over.
func (m *Model) under() place {
	switch {
	case m.several:
		return inSeveral
	case m.small():
		return inSmall
	case m.view == viewChain && m.pick.inside:
		return inUpstream
	case m.view == viewChain:
		return inChain
	case m.view == viewEvents:
		return inEvents
	case m.view == viewDrain:
		return inDrain
	}
	return inChains
}

func (m *Model) onKey(msg tea.KeyPressMsg) tea.Cmd {
	m.order.touched = m.now
	if m.flash.role == text {
		m.flash = flash{} // it was of the key before; what is wrong stands its time
	}
	at := m.place()
	for _, b := range m.binds {
		if b.do != nil && b.where&at != 0 && key.Matches(msg, b.Binding) && m.acts(&b) {
			return b.do(m)
		}
	}
	switch {
	case at == inPrompt:
		return m.onPrompt(msg)
	case at&inBoxes != 0:
		return m.onField(msg)
	}
	m.sayOff(msg, at)
	return nil
}

// sayOff says why a key that is off does nothing.
func (m *Model) sayOff(msg tea.KeyPressMsg, at place) {
	for i := range m.binds {
		b := &m.binds[i]
		if b.where&at == 0 || !slices.Contains(b.Keys(), msg.String()) {
			continue
		}
		if why, off := m.why(b); off && why != "" {
			m.say(text, msg.String()+" is off: "+why, m.now.Add(flashShort))
			return
		}
	}
}

// inFooter says whether the footer of a place shows the binding.
func (m *Model) inFooter(b *binding, at place) bool {
	return b.foot != "" && b.feet&at != 0 && m.acts(b)
}

// footerWidth is the cells of a whole footer with gaps that wide.
func (m *Model) footerWidth(at place, gap int) int {
	n := 0
	for i := range m.binds {
		if b := &m.binds[i]; m.inFooter(b, at) {
			n += gap + width(b.foot)
		}
	}
	return n - gap + 2
}

// splitFoot parts "↑↓ move" into its keys and its word. The word is the last.
func splitFoot(foot string) (keys, word string) {
	if i := strings.LastIndexByte(foot, ' '); i >= 0 {
		return foot[:i], foot[i:]
	}
	return foot, ""
}
