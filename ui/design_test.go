package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"chaintop/feed"
	"chaintop/model"
)

// designs are screens of the data of testdata/design, each by the name of its
// frame.
func designs() map[string]func(*testing.T) *Model {
	return map[string]func(*testing.T) *Model{
		"chains-120x40": func(t *testing.T) *Model { return screen(t, onThePlate(), 120, 40) },
		"chains-80x24":  func(t *testing.T) *Model { return screen(t, onThePlate(), 80, 24) },
		"chains-ascii-80x24": func(t *testing.T) *Model {
			return screen(t, onThePlate(), 80, 24, func(o *Options) { o.ASCII = true })
		},
		"chain-120x40": func(t *testing.T) *Model { return chainScreen(t, limitedReplica(), "base/jsonrpc", 120, 40) },
		"chain-80x24":  func(t *testing.T) *Model { return chainScreen(t, onThePlate(), "sepolia/jsonrpc", 80, 24) },
		"events-80x24": func(t *testing.T) *Model {
			m := screen(t, echoed(), 80, 24)
			press(m, "3", "/")
			typeIn(m, "sepolia,base,gw-7fe3")
			press(m, "enter", "down", "down", "down", "down", "down")
			return m
		},
		"help-80x24": func(t *testing.T) *Model {
			m := screen(t, onThePlate(), 80, 24, func(o *Options) { o.Sink, o.Mode = nil, "viewer" })
			press(m, "?")
			return m
		},
		"first-run-demo-80x24": func(t *testing.T) *Model {
			return screen(t, firstRun(), 80, 24, func(o *Options) {
				o.Banner = "DEMO  simulated chains on loopback, faults in fast motion · seed 7"
				o.Mode, o.Demo, o.Faults = "", true, []string{"kill", "heal"}
			})
		},
		"too-small-50x12":       func(t *testing.T) *Model { return screen(t, onThePlate(), 50, 12) },
		"drain-serving-80x24":   func(t *testing.T) *Model { return drainScreen(t, busy(), 80, 24) },
		"drain-draining-80x24":  func(t *testing.T) *Model { return drainScreen(t, keptAwake(), 80, 24) },
		"drain-simulated-80x24": func(t *testing.T) *Model { return drainScreen(t, asIf(true), 80, 24) },
		"chains-draining-80x24": func(t *testing.T) *Model { return screen(t, keptAwake(), 80, 24) },
		"dialog-drain-80x16": func(t *testing.T) *Model {
			m := screen(t, busy(), 80, 16, func(o *Options) { o.Remote = live(feed.RoleOperator) })
			press(m, "D", "tab")
			typeIn(m, "node-pool upgrade, INC-4411")
			press(m, "tab")
			typeIn(m, "gw-7f")
			return m
		},
		"dialog-pin-and-leave-80x16": func(t *testing.T) *Model {
			m := chainScreen(t, busy(), "polygon/jsonrpc", 80, 16)
			press(m, "down", "F", "tab")
			typeIn(m, "bor-1 is resyncing, INC-4411")
			return m
		},
	}
}

// The frames of the design, each with ours beside it from the same data, and
// where the two differ line by line: a difference is there on purpose or not at
// all.
func TestDesign(t *testing.T) {
	for name, make := range designs() {
		ours := seen(make(t))
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, ours) })
		t.Run(name+"-differences", func(t *testing.T) {
			design, err := os.ReadFile("testdata/design/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			mine := ours
			if strings.HasPrefix(name, "dialog") {
				mine = mine[strings.Index(mine, "╭"):] // the box alone
			}
			golden.RequireEqual(t, differences(string(design), mine))
		})
	}
}

func differences(design, ours string) string {
	a, b := strings.Split(strings.TrimRight(design, "\n"), "\n"), strings.Split(ours, "\n")
	var out strings.Builder
	same := 0
	for y := range max(len(a), len(b)) {
		line := func(of []string) string {
			if y < len(of) {
				return strings.TrimRight(of[y], " ")
			}
			return ""
		}
		if x, o := line(a), line(b); x != o {
			fmt.Fprintf(&out, "%2d design %s\n   ours   %s\n", y+1, x, o)
		} else {
			same++
		}
	}
	fmt.Fprintf(&out, "%d of %d lines are the same\n", same, max(len(a), len(b)))
	return out.String()
}

// The same data in a large window, in ASCII there, and in the states that have no
// frame of their own.
func TestDesignElsewhere(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *Model{
		"chains-200x60":      func(t *testing.T) *Model { return screen(t, onThePlate(), 200, 60) },
		"chain-200x60":       func(t *testing.T) *Model { return chainScreen(t, limitedReplica(), "base/jsonrpc", 200, 60) },
		"events-200x60":      func(t *testing.T) *Model { m := screen(t, echoed(), 200, 60); press(m, "3", "down"); return m },
		"events-120x40":      func(t *testing.T) *Model { m := screen(t, echoed(), 120, 40); press(m, "3"); return m },
		"help-events-120x40": func(t *testing.T) *Model { m := screen(t, echoed(), 120, 40); press(m, "3", "?"); return m },
		"upstream-120x40": func(t *testing.T) *Model {
			m := chainScreen(t, limitedReplica(), "base/jsonrpc", 120, 40)
			press(m, "enter")
			return m
		},
		"upstream-80x24": func(t *testing.T) *Model {
			m := chainScreen(t, onThePlate(), "sepolia/jsonrpc", 80, 24)
			press(m, "enter")
			return m
		},
		"past-probe-120x40": func(t *testing.T) *Model {
			m := chainScreen(t, remembering(5), "base/jsonrpc", 120, 40)
			press(m, "tab", "[")
			return m
		},
		"frozen-80x24": func(t *testing.T) *Model { m := screen(t, onThePlate(), 80, 24); press(m, "space"); return m },
		"filter-nothing-80x24": func(t *testing.T) *Model {
			m := screen(t, onThePlate(), 80, 24)
			press(m, "/")
			typeIn(m, "health:foul")
			return m
		},
		"filter-unknown-key-80x24": func(t *testing.T) *Model {
			m := screen(t, onThePlate(), 80, 24)
			press(m, "/")
			typeIn(m, "healt:unhealthy")
			return m
		},
		"filter-80x24": func(t *testing.T) *Model {
			m := screen(t, onThePlate(), 80, 24)
			press(m, "/")
			typeIn(m, "health:healthy finding:syncing,stale_head,rate_limited")
			press(m, "enter", "s", "s", "s")
			return m
		},
		"empty-80x24": func(t *testing.T) *Model {
			return screen(t, &model.Instance{Name: "gw-7fe3", Version: "v0.4.0", Policy: model.ReadyAll, ReadySince: at}, 80, 24, func(o *Options) {
				o.Empty = "no chains in chaintop.yaml (line 3, chains: []) · chaintop config example"
			})
		},
		"first-run-120x40": func(t *testing.T) *Model {
			return screen(t, firstRun(), 120, 40, func(o *Options) { o.Demo, o.Faults = true, []string{"kill"} })
		},
		"copy-80x24":  func(t *testing.T) *Model { m := screen(t, onThePlate(), 80, 24); press(m, "y"); return m },
		"fault-80x24": func(t *testing.T) *Model { m := screen(t, firstRun(), 80, 24, withAll); press(m, "esc", "x"); return m },
	} {
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, seen(make(t))) })
		t.Run(name+"-ascii", func(t *testing.T) {
			m := make(t)
			m.o.ASCII = true
			m.retheme()
			frame := seen(m)
			if i := slices.IndexFunc([]rune(frame), func(r rune) bool { return r > 0x7e }); i >= 0 {
				t.Errorf("%q is drawn", []rune(frame)[i])
			}
			plain := make(t)
			if len([]rune(frame)) != len([]rune(seen(plain))) {
				t.Error("ASCII changes the layout")
			}
		})
	}
}

// The marks, each with its word, its ASCII sign and its role.
func TestMarks(t *testing.T) {
	roleNames := map[role]string{text: "text", dim: "dim", accent: "accent", good: "good", warn: "warn", bad: "bad", hold: "hold"}
	rows := []struct {
		sign model.Sign
		word string
	}{
		{model.SignHealthy, "healthy  READY  live"}, {model.SignUnhealthy, "unhealthy  NOT READY"}, {model.SignUnknown, "unknown"},
		{model.SignPass, "healthy (verdict)"}, {model.SignInconclusive, "inconclusive"}, {model.SignUnreachable, "unreachable"},
		{model.SignWarn, "BACKUP, a finding"}, {model.SignHalted, "halted"}, {model.SignHeld, "held"}, {model.SignCommand, "a command"},
	}
	var b strings.Builder
	for _, r := range rows {
		g := signOf(r.sign)
		fmt.Fprintf(&b, " %s     %-24s %s      %s\n", g.mark, r.word, ascii(g.mark), roleNames[g.role])
	}
	fmt.Fprintf(&b, " %s     %-24s %s      dim\n", markAway, "lost, ended", ascii(markAway))
	golden.RequireEqual(t, b.String())
}

// The plate's picture, for those who print it without a screen.
func TestPlateAsJSON(t *testing.T) {
	b, err := json.Marshal(onThePlate())
	if err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, b)
}
