package ui

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// role is what a text is for; its colour follows from the theme.
type role uint8

// The roles of SCREENS.md section 4.
const (
	text   role = iota // the terminal's own
	dim                // labels, ages, rules
	accent             // keys, the current tab, the title: bold, no hue
	good               // healthy, READY, a result
	warn               // BACKUP, findings, halted
	bad                // unhealthy, unreachable, NOT READY
	hold               // unknown, inconclusive, held
	drain              // draining, drained, simulated
	banner             // what must not be overlooked, such as DEMO
	roles
)

// shade is one colour in the three depths a terminal may have; empty = its own.
type shade struct{ rgb, index, basic string }

// hue is a colour on a dark and on a light ground.
type hue struct{ dark, light shade }

// palette is the foreground of each role.
var palette = [roles]hue{
	dim:    {shade{"#a8a8a8", "248", ""}, shade{"#585858", "240", ""}},
	good:   {shade{"#5fd7af", "79", "2"}, shade{"#005f5f", "23", "2"}},
	warn:   {shade{"#ffd75f", "221", "3"}, shade{"#875f00", "94", "3"}},
	bad:    {shade{"#ff875f", "209", "1"}, shade{"#870000", "88", "1"}},
	hold:   {shade{"#afd7ff", "153", "6"}, shade{"#005fd7", "26", "6"}},
	drain:  {shade{"#d787ff", "177", "5"}, shade{"#5f0087", "54", "5"}},
	banner: {shade{"#000000", "16", "0"}, shade{"#ffffff", "231", "15"}},
}

// The backgrounds: of the selected row, and of a banner.
var (
	selectGround = hue{shade{"#303030", "236", ""}, shade{"#e4e4e4", "254", ""}}
	selectText   = hue{shade{"#e4e4e4", "254", ""}, shade{"#1c1c1c", "234", ""}}
	bannerGround = hue{shade{"#ffd75f", "221", "3"}, shade{"#875f00", "94", "3"}}
)

// theme is how the roles look on this terminal: an SGR sequence each, on a
// plain row and on the selected one.
type theme struct {
	plain    [roles]string
	selected [roles]string
	ascii    bool
}

// newTheme builds the theme of a terminal. Below 16 colours a state is told by
// its mark and word alone, and the selected row is reversed.
func newTheme(dark bool, depth colorprofile.Profile, ascii bool) *theme {
	th := &theme{ascii: ascii}
	for r := range roles {
		plain, selected := ansi.Style{}, ansi.Style{}.Bold()
		if r == accent || r == banner {
			plain = plain.Bold()
		}
		if fg := palette[r].at(dark, depth); fg != "" {
			plain, selected = plain.ForegroundColor(lipgloss.Color(fg)), selected.ForegroundColor(lipgloss.Color(fg))
		}
		if r == text || r == accent {
			// The row has a ground of its own, and so its own letters: the
			// terminal's may be those for another one.
			if fg := selectText.at(dark, depth); fg != "" {
				selected = selected.ForegroundColor(lipgloss.Color(fg))
			}
		}
		if r == banner {
			plain = ground(plain, bannerGround.at(dark, depth))
		}
		selected = ground(selected, selectGround.at(dark, depth))
		th.plain[r], th.selected[r] = sgr(plain), sgr(selected)
	}
	return th
}

// dimmed makes everything dim but keys, the open tab and banners: what is shown
// is old.
func (th *theme) dimmed() {
	for r := range roles {
		if r != accent && r != banner {
			th.plain[r], th.selected[r] = th.plain[dim], th.selected[dim]
		}
	}
}

// ground lays a background under a style; without one it is reversed.
func ground(s ansi.Style, bg string) ansi.Style {
	if bg == "" {
		return s.Reverse(true)
	}
	return s.BackgroundColor(lipgloss.Color(bg))
}

// sgr is the sequence that switches a style on; nothing for the terminal's own.
func sgr(s ansi.Style) string {
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// at is the hue in a terminal's depth; empty where that has no such colour.
func (h hue) at(dark bool, depth colorprofile.Profile) string {
	s := h.light
	if dark {
		s = h.dark
	}
	switch depth {
	case colorprofile.TrueColor:
		return s.rgb
	case colorprofile.ANSI256:
		return s.index
	case colorprofile.ANSI:
		return s.basic
	case colorprofile.ASCII, colorprofile.NoTTY, colorprofile.Unknown:
	}
	return ""
}
