package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chaintop/model"
)

// fits says what is wrong with a frame: it must have the window's height, and
// each line its width.
func fits(frame string, w, h int) error {
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		return fmt.Errorf("%d lines in a window of %d", len(lines), h)
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			return fmt.Errorf("line %d has %d cells in a window of %d: %q", y, n, w, ansi.Strip(l))
		}
	}
	return nil
}

// views are the keys that lead to each view from Chains.
var views = map[string][]string{"chains": nil, "chain": {"enter"}, "events": {"3"}, "drain": {"4"}, "help": {"?"}}

// states are the keys that lead to whatever may lie over a view, or beside it.
var states = map[string][]string{
	"chains": nil, "chain": {"enter"}, "events": {"3"}, "help": {"?"},
	"prompt": {"/", "h", "e"}, "no value": {"/", "l", "a", "g", ":"}, "nothing": {"/", "z", "z", "z", "enter"},
	"problems": {"!"}, "frozen": {"space"}, "frozen, filtered, copy": {"space", "!", "/", "b", "enter", "y"},
	"fault": {"x", "down"}, "fault in chain": {"2", "x"}, "sorted": {"s", "s", "s", "S"}, "local": {"Z"},
	"events filtered": {"3", "/", "b", "a", "s", "e"}, "no event": {"3", "/", "z", "z", "enter"},
	"events, copy": {"3", "down", "y", "down"}, "events, oldest": {"3", "g"}, "help of events": {"3", "?", "G"},
	"frozen chain": {"2", "space", "!", "down"},
	"upstream":     {"2", "enter"}, "upstream, end": {"2", "down", "enter", "G"}, "upstream, copy": {"2", "enter", "/", "a", "enter", "y"},
	"probe pane": {"2", "tab", "up", "up"}, "facts pane": {"2", "tab", "tab", "down"}, "history pane": {"2", "shift+tab", "down", "down"},
	"past probe": {"2", "[", "["},
	"drain":      {"4"}, "drain, clients": {"4", "tab", "down"}, "help of drain": {"4", "?", "G"}, "drain, copy": {"4", "y"},
	"drain box": {"D"}, "drain box, reason": {"4", "D", "g", "tab", "w", "h", "y"}, "pin box": {"F", "tab", "w"}, "pin in chain": {"2", "F", "down"},
	"undrain": {"U", "right"}, "leave": {"q", "right"},
}

func withAll(o *Options) {
	o.Serves, o.Interrupt = true, func() {}
	o.Banner, o.Demo, o.Faults = "DEMO", true, []string{"kill", "stall", "limit", "heal"}
}

// In every state, at every size and after any resize, a frame fits.
func TestEverySizeOfEveryState(t *testing.T) {
	for name, keys := range states {
		t.Run(name, func(t *testing.T) {
			for w := 60; w <= 200; w += 20 {
				for h := 16; h <= 60; h += 11 {
					m := screen(t, []func() *model.Instance{night, busy, byCommand, func() *model.Instance { return asIf(true) }}[(w/20+h)%4](), w, h, withAll)
					press(m, keys...)
					for _, size := range [][2]int{{w, h}, {w + 7, h + 1}, {w - 9, h - 3}, {33, 9}, {w, h}} {
						m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
						if err := fits(m.View().Content, size[0], size[1]); err != nil {
							t.Fatalf("%d×%d, then %v: %v", w, h, size, err)
						}
						if c := m.View().Cursor; c != nil && (c.X < 0 || c.X >= size[0] || c.Y < 0 || c.Y >= size[1]) {
							t.Fatalf("%v: the cursor is at %d, %d", size, c.X, c.Y)
						}
					}
				}
			}
		})
	}
}

func TestEverySize(t *testing.T) {
	step := 1
	if testing.Short() || raceEnabled {
		step = 7
	}
	for name, keys := range views {
		t.Run(name, func(t *testing.T) {
			m := screen(t, replaced(night(), running()), 80, 24, func(o *Options) { o.Banner = "DEMO" })
			press(m, "n")
			press(m, keys...)
			for w := 1; w <= 200; w += step {
				for h := 1; h <= 60; h += step {
					m.Update(tea.WindowSizeMsg{Width: w, Height: h})
					if err := fits(m.View().Content, w, h); err != nil {
						t.Fatalf("%d×%d: %v", w, h, err)
					}
				}
			}
		})
	}
}

// Pictures at the edges: nothing in them, too much in them, indexes that lead
// nowhere. None may bring a frame down.
func TestOddPictures(t *testing.T) {
	wild := chainOf("wild/jsonrpc", model.EVM, 0, up("a", model.Primary, 0, 0, 0))
	wild.Serving.Upstream, wild.Checks.TipBy = 9, []int{-1, 7}
	wild.Last.Tries[0].Upstream = 44
	wild.Upstreams[0].State.Lag = model.Lag{Known: true, Blocks: -1 << 62}
	wild.Upstreams[0].State.Facts.Head = said[uint64](1<<64-1, 0)
	wild.State.Health, wild.State.Verdict = 99, 99
	for i := range wild.Strip.Cells {
		wild.Strip.Cells[i] = 77
	}
	flying := chainOf("flying/jsonrpc", model.EVM, 0, up("a", model.Primary, 1, 0, 0))
	flying.Probe = &model.Probe{}
	many := chainOf("many/jsonrpc", model.EVM, 0)
	for i := range 90 {
		many.Upstreams = append(many.Upstreams, up(fmt.Sprint("up-", i), model.Primary, 1, 0, 0))
	}
	odd := busy()
	odd.Drain.State, odd.Drain.Activity.Chain, odd.Drain.Activity.OldChain, odd.Drain.Activity.Quiet = 9, 99, -7, -1
	odd.Drain.Activity.Clients[0] = model.Client{Addr: "10.4.2.17", Kind: model.ClientHTTP, Chain: 77, Count: -1, Conns: -1}
	for n := range odd.Chains {
		odd.Chains[n].Traffic.Upstreams, odd.Chains[n].Traffic.Requests = nil, -5
	}
	pictures := map[string]*model.Instance{
		"odd drain": odd, "busy": busy(), "kept awake": keptAwake(), "simulated": asIf(true), "simulated, early": asIf(false), "by command": byCommand(),
		"nothing":   {},
		"zero":      {Chains: []*model.Chain{{}}},
		"no one":    {Chains: []*model.Chain{chainOf("x/y", model.EVM, 0)}},
		"wild":      {Chains: []*model.Chain{wild}},
		"in flight": {Chains: []*model.Chain{flying}},
		"many":      {Chains: []*model.Chain{many}},
	}
	for name, i := range pictures {
		t.Run(name, func(t *testing.T) {
			for _, keys := range states {
				for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 16}, {200, 60}, {33, 7}} {
					m := screen(t, i.Clone(), size[0], size[1], withAll)
					press(m, keys...)
					press(m, "down", "pgdown", "end", "up", "n", "N", "h", "l", "home")
					if err := fits(m.View().Content, size[0], size[1]); err != nil {
						t.Errorf("%v at %v: %v", keys, size, err)
					}
				}
			}
		})
	}
}

// A remote instance, or a node through it, may say anything. Nothing of it
// reaches the terminal but letters in cells (S7, X2).
func TestHostilePictureIsHarmless(t *testing.T) {
	evil := "\x1b]52;c;aGFoYQ==\x07\x1b[2J\x1b[31m\u009b31m\x9b1m\u202e\u2066\u200b\ufeff\x1bP1$r\x1b\\\x1b_apc\x1b\\\r\n\t\a\b\x7f⚠\ufe0f👩\u200d🚀h\u0301\u0301\u0301\x1b]0;never ended"
	i := poisoned(evil)
	ours := regexp.MustCompile(`\x1b\[[0-9;]*m`) // colours, of which evil has one: it must be gone too
	for _, o := range []func(*Options){func(*Options) {}, func(o *Options) { o.ASCII = true }, func(o *Options) { o.NoColor = true }} {
		for _, keys := range states {
			for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {60, 16}, {50, 12}} {
				m := screen(t, i.Clone(), size[0], size[1], withAll, o, func(o *Options) {
					o.Banner, o.Mode, o.Empty, o.Faults = evil, evil, evil, []string{evil, "kill"}
				})
				press(m, keys...)
				m.Update(tea.PasteMsg{Content: evil})
				m.View()
				m.say(bad, evil, at.Add(sec))
				frame := m.View().Content
				if err := fits(frame, size[0], size[1]); err != nil {
					t.Errorf("%v at %v: %v", keys, size, err)
				}
				if strings.Contains(frame, "\x1b[31m") {
					t.Errorf("%v at %v: a colour of theirs is drawn", keys, size)
				}
				left := strings.ReplaceAll(ours.ReplaceAllString(frame, ""), "\n", "")
				if k := strings.IndexFunc(left, harmful); k >= 0 {
					t.Errorf("%v at %v: %q is drawn", keys, size, left[k:min(k+12, len(left))])
				}
			}
		}
	}
}

// poisoned is a picture with s wherever it may hold text.
func poisoned(s string) *model.Instance {
	i := asIf(true)
	i.Name, i.Version, i.Epoch = s, s, s
	i.Drain.Who, i.Drain.Reason, i.Drain.Forecast.Client = s, s, s
	a := &i.Drain.Activity
	a.Method, a.Kind, a.Client, a.OldMethod, a.OldKind, a.OldClient, a.MessageClient = s, model.ClientKind(s), s, s, model.ClientKind(s), s, s
	for n := range a.Clients {
		a.Clients[n].Addr, a.Clients[n].Method, a.Clients[n].Kind = s, s, model.ClientKind(s)
	}
	for n, c := range i.Chains {
		p := *c
		p.Name, p.Interface, p.Family, p.ExpectID = s, s, model.Family(s), s
		for u := range p.Upstreams {
			up := &p.Upstreams[u]
			up.Name = s
			up.State.Facts.Client, up.State.Facts.ChainID = said(s, 0), said(s, 0)
			up.State.Last.Evidence = model.Evidence{Layer: model.Layer(s), Text: s}
			up.State.Last.Reason = model.Reason(s)
		}
		last := *p.Last
		last.Who, last.Trigger = s, model.Trigger(s)
		last.Tries = nil
		for _, t := range p.Last.Tries {
			t.Evidence.Text, t.Evidence.Layer, t.Reason = s, model.Layer(s), model.Reason(s)
			last.Tries = append(last.Tries, t)
		}
		p.Last, p.State.Next.Why, p.State.Heard.By = &last, model.NextWhy(s), model.HeardBy(s)
		if n == 1 {
			p.Probe = &model.Probe{ID: 9, Who: s, Trigger: model.Trigger(s), Max: 6, Tries: last.Tries, Flight: model.Flight{N: 2, Start: at}}
		}
		i.Chains[n] = &p
	}
	for n := range i.Recent {
		i.Recent[n].Who = s
		if b, ok := i.Recent[n].Body.(model.CommandDone); ok {
			b.Op, b.Answer = model.Op(s), s
			i.Recent[n].Body = b
		}
		if b, ok := i.Recent[n].Body.(model.ProbeEnded); ok {
			b.Probe = *i.Chains[i.Recent[n].Chain].Last
			i.Recent[n].Body = b
		}
		if b, ok := i.Recent[n].Body.(model.UpstreamChanged); ok {
			b.State = i.Chains[i.Recent[n].Chain].Upstreams[b.Upstream].State
			i.Recent[n].Body = b
		}
	}
	return i
}

// A screen too small for a table once said that all was well: it read the
// table's own order, and that was by name.
func TestTooSmallShowsTheWorstWhateverTheTableShows(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "s", "s", "S", "/", "s", "u", "i", "enter")
	m.Update(tea.WindowSizeMsg{Width: 50, Height: 8})
	frame := seen(m)
	if !containsAll(frame, "✖ arbitrum/jsonrpc", "need attention") {
		t.Errorf("the small screen:\n%s", frame)
	}
}
