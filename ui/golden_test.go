package ui

import (
	"image/color"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"chaintop/model"
)

func replaced(i *model.Instance, c *model.Chain) *model.Instance {
	i.Chains[i.Find(c.Key())] = c
	return i
}

// chainScreen is the view Chain of a chain of the night.
func chainScreen(t *testing.T, i *model.Instance, key string, w, h int) *Model {
	m := screen(t, i, w, h)
	m.choose(i.Find(key))
	press(m, "enter")
	return m
}

func TestFrames(t *testing.T) {
	frames := map[string]func(*testing.T) *Model{
		"chains-80x24":  func(t *testing.T) *Model { return screen(t, night(), 80, 24) },
		"chains-120x40": func(t *testing.T) *Model { return screen(t, night(), 120, 40) },
		"chains-200x60": func(t *testing.T) *Model { return screen(t, night(), 200, 60) },
		"chains-60x16":  func(t *testing.T) *Model { return screen(t, night(), 60, 16) },
		"chains-banner-80x24": func(t *testing.T) *Model {
			return screen(t, night(), 80, 24, func(o *Options) { o.Banner = "DEMO  simulated chains on loopback · seed 7" })
		},
		"chains-ascii-80x24": func(t *testing.T) *Model {
			return screen(t, night(), 80, 24, func(o *Options) { o.ASCII = true })
		},
		"chains-viewer-80x24": func(t *testing.T) *Model {
			return screen(t, night(), 80, 24, func(o *Options) { o.Sink = nil })
		},
		"chains-waiting-80x24": func(t *testing.T) *Model {
			m := New(Options{Now: func() time.Time { return at }})
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			return m
		},
		"chains-empty-80x24": func(t *testing.T) *Model {
			return screen(t, &model.Instance{Name: "gw-7fe3", Version: "v0.4.0", Policy: model.ReadyAll, ReadySince: at}, 80, 24)
		},
		"chains-ended-80x24": func(t *testing.T) *Model {
			m := screen(t, night(), 80, 24)
			m.Update(endedMsg{})
			return m
		},
		"chains-few-80x24": func(t *testing.T) *Model {
			return screen(t, few(), 80, 24)
		},
		"chain-running-80x24": func(t *testing.T) *Model {
			return chainScreen(t, replaced(night(), running()), "sepolia/jsonrpc", 80, 24)
		},
		"chain-running-120x40": func(t *testing.T) *Model {
			return chainScreen(t, replaced(night(), running()), "sepolia/jsonrpc", 120, 40)
		},
		"chain-limited-80x24":      func(t *testing.T) *Model { return chainScreen(t, night(), "base/jsonrpc", 80, 24) },
		"chain-limited-120x40":     func(t *testing.T) *Model { return chainScreen(t, night(), "base/jsonrpc", 120, 40) },
		"chain-unreachable-80x24":  func(t *testing.T) *Model { return chainScreen(t, night(), "sepolia/jsonrpc", 80, 24) },
		"chain-unreachable-120x40": func(t *testing.T) *Model { return chainScreen(t, night(), "sepolia/jsonrpc", 120, 40) },
		"chain-backup-80x24":       func(t *testing.T) *Model { return chainScreen(t, night(), "polygon/jsonrpc", 80, 24) },
		"chain-60x16":              func(t *testing.T) *Model { return chainScreen(t, night(), "sui/grpc", 60, 16) },
		"help-80x24": func(t *testing.T) *Model {
			m := screen(t, night(), 80, 24)
			press(m, "?")
			return m
		},
		"help-chain-120x40": func(t *testing.T) *Model {
			m := chainScreen(t, night(), "sui/grpc", 120, 40)
			press(m, "?")
			return m
		},
		"help-60x16-end": func(t *testing.T) *Model {
			m := screen(t, night(), 60, 16)
			press(m, "?", "G")
			return m
		},
		"small-50x12": func(t *testing.T) *Model { return screen(t, night(), 50, 12) },
		"small-banner-50x12": func(t *testing.T) *Model {
			return screen(t, night(), 50, 12, func(o *Options) { o.Banner = "DEMO  simulated chains on loopback" })
		},
		"small-20x3": func(t *testing.T) *Model { return screen(t, night(), 20, 3) },
	}
	for name, make := range frames {
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, seen(make(t))) })
	}
}

// The same frame with its colours: a golden per theme, escapes and all.
func TestColours(t *testing.T) {
	themes := map[string]func(*Model){
		"dark":  func(*Model) {},
		"light": func(m *Model) { m.Update(tea.BackgroundColorMsg{Color: color.White}) },
		"256":   func(m *Model) { m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI256}) },
		"16":    func(m *Model) { m.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI}) },
		"none":  func(m *Model) { m.Update(tea.ColorProfileMsg{Profile: colorprofile.ASCII}) },
	}
	for name, turn := range themes {
		t.Run(name, func(t *testing.T) {
			m := screen(t, night(), 80, 24, func(o *Options) { o.Banner = "DEMO" })
			turn(m)
			golden.RequireEqual(t, m.View().Content)
		})
	}
}

// So in the other views, with what may lie over them.
func TestColoursElsewhere(t *testing.T) {
	for name, keys := range map[string][]string{
		"chain": {"2", "tab"}, "upstream": {"2", "enter"}, "events": {"3", "down"}, "menu": {"y"}, "frozen": {"space", "!"},
		"prompt": {"/", "h", "e", "a", "l", "t", ":"}, "help": {"?"},
	} {
		for theme, turn := range map[string]func(*Model){
			"dark": func(*Model) {}, "light": func(m *Model) { m.Update(tea.BackgroundColorMsg{Color: color.White}) },
			"none": func(m *Model) { m.Update(tea.ColorProfileMsg{Profile: colorprofile.ASCII}) },
		} {
			t.Run(name+"-"+theme, func(t *testing.T) {
				m := screen(t, onThePlate(), 80, 24)
				press(m, keys...)
				turn(m)
				golden.RequireEqual(t, m.View().Content)
			})
		}
	}
}

// NO_COLOR is the user's word: no terminal that has colours overrules it.
func TestNoColourStaysWithoutColour(t *testing.T) {
	none := screen(t, night(), 80, 24)
	none.Update(tea.ColorProfileMsg{Profile: colorprofile.ASCII})
	m := screen(t, night(), 80, 24, func(o *Options) { o.NoColor = true })
	m.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	m.Update(tea.BackgroundColorMsg{Color: color.White})
	if m.View().Content != none.View().Content {
		t.Error("a frame with NoColor differs from that of a terminal without colours")
	}
}

// What --ascii draws is ASCII, cell for cell.
func TestASCIIKeepsTheLayout(t *testing.T) {
	for _, open := range [][]string{nil, {"enter"}, {"?"}} {
		plain := screen(t, night(), 120, 40)
		asc := screen(t, night(), 120, 40, func(o *Options) { o.ASCII = true })
		press(plain, open...)
		press(asc, open...)
		a, p := []rune(seen(asc)), []rune(seen(plain))
		if i := slices.IndexFunc(a, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			t.Errorf("%v: %q is drawn", open, a[i])
		}
		if len(a) != len(p) {
			t.Fatalf("%v: %d cells, %d without --ascii", open, len(a), len(p))
		}
		for i := range p {
			if p[i] < utf8.RuneSelf && p[i] != a[i] {
				t.Fatalf("%v: %q became %q", open, p[i], a[i])
			}
		}
	}
}
