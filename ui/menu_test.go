package ui

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chaintop/model"
)

// copied is what an item of the copy menu sends.
func copied(t *testing.T, m *Model, word string) string {
	t.Helper()
	press(m, "y")
	for i, it := range m.menu.items {
		if it.word == word {
			m.menu.at = i
			cmd := press(m, "enter")
			if !strings.Contains(seen(m), "sent to clipboard: "+word) {
				t.Errorf("%s is not flashed:\n%s", word, seen(m))
			}
			return fmt.Sprint(reflect.ValueOf(cmd()))
		}
	}
	t.Fatalf("no %q in the menu:\n%s", word, seen(m))
	return ""
}

func TestCopy(t *testing.T) {
	m := screen(t, night(), 80, 24)
	m.choose(m.inst.Find("ethereum/jsonrpc"))
	if got := copied(t, m, "name"); got != "ethereum/jsonrpc" {
		t.Errorf("name: %q", got)
	}
	if got := copied(t, m, "card"); !containsAll(got, "WHY   alchemy answered in 42ms: HTTP 200 · head 21034112", "\nDO    nothing") {
		t.Errorf("card: %q", got)
	}
	if got := copied(t, m, "evidence"); !strings.Contains(got, "1 alchemy result at rpc 42ms HTTP 200") {
		t.Errorf("evidence: %q", got)
	}
	var row map[string]any
	if err := json.Unmarshal([]byte(copied(t, m, "row as JSON")), &row); err != nil || row["head"] != 21034112.0 || row["serving"] != "alchemy" {
		t.Errorf("row: %v, %v", row, err)
	}
	if got := copied(t, m, "command"); got != "chaintop probe --config chaintop.yaml ethereum/jsonrpc" {
		t.Errorf("command: %q", got)
	}
	press(m, "enter")
	if got := copied(t, m, "name"); got != "ethereum/jsonrpc:alchemy" {
		t.Errorf("name in Chain: %q", got)
	}
	press(m, "3", "down")
	if got := copied(t, m, "line"); !containsAll(got, "2026-11-30T03:12:33Z  sepolia/jsonrpc  unreachable") {
		t.Errorf("line: %q", got)
	}
	var e model.Event
	if err := json.Unmarshal([]byte(copied(t, m, "event as JSON")), &e); err != nil || e.Kind() != "probe_ended" {
		t.Errorf("event: %v, %v", e, err)
	}
	if press(m, "y", "esc"); m.menu.open {
		t.Error("esc leaves the menu open")
	}
}

// Names go into a command line as one word, whatever is in them.
func TestCommandIsQuoted(t *testing.T) {
	for name, want := range map[string]string{"a/b": "a/b", "": "''", "a b": "'a b'", "x;rm": "'x;rm'", "it's": `'it'\''s'`} {
		if got := commandFor("chaintop.yaml", name); got != "chaintop probe --config chaintop.yaml "+want {
			t.Errorf("%q: %s", name, got)
		}
	}
}

// Nothing of a hostile picture leaves by the clipboard but letters and lines.
func TestHostileCopy(t *testing.T) {
	const evil = "\x1b]52;c;aGFoYQ==\x07\x1b[2J\u009b31m\u202e\u200bx\x1b]0;never ended"
	for _, view := range []string{"1", "2", "3"} {
		m := screen(t, poisoned(evil), 120, 40)
		press(m, view, "y")
		for _, it := range m.menu.items {
			got := fmt.Sprint(reflect.ValueOf(it.do(m)()))
			if k := strings.IndexFunc(strings.ReplaceAll(got, "\n", ""), harmful); k >= 0 {
				t.Errorf("view %s, %s: %q is copied", view, it.word, got)
			}
		}
	}
}

func TestFaultMenu(t *testing.T) {
	s := &sink{}
	m := screen(t, night(), 80, 24, func(o *Options) { o.Sink, o.Faults = s, []string{"kill", "stall", "own"} })
	m.choose(m.inst.Find("gnosis/beacon"))
	press(m, "x")
	if frame := seen(m); !containsAll(frame, "Fault at gnosis/beacon:teku-2", "▸ kill", "it refuses connections", "  own") {
		t.Fatalf("the menu:\n%s", frame)
	}
	press(m, "down", "enter")()
	press(m, "enter")
	press(m, "x", "enter")()
	want := []model.Command{
		{At: at, Op: model.OpFault, Chains: []int{m.selected()}, Upstream: 1, Kind: "stall", Who: "oncall"},
		{At: at, Op: model.OpFault, Chains: []int{m.selected()}, Upstream: 0, Kind: "kill", Who: "oncall"},
	}
	if diff := cmp.Diff(want, s.sent, cmpopts.IgnoreFields(model.Command{}, "ID")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	m = screen(t, night(), 80, 24)
	if press(m, "x"); m.menu.open {
		t.Error("x opens a menu without faults")
	}
	press(m, "?")
	if !strings.Contains(seen(m), "x is off: "+offReal) {
		t.Errorf("Help does not say why x is off:\n%s", seen(m))
	}
}

func TestStartHere(t *testing.T) {
	m := screen(t, night(), 80, 24, func(o *Options) { o.Demo, o.Faults = true, []string{"kill"} })
	if frame := seen(m); !containsAll(frame, "─ START HERE", "chaintop --config chaintop.yaml", "x inject a fault") || strings.Contains(frame, "\n WHY ") {
		t.Errorf("no box:\n%s", frame)
	}
	big := screen(t, firstRun(), 120, 40, func(o *Options) { o.Demo = true })
	if frame := seen(big); !containsAll(frame, "─ START HERE", "\n WHY ", "\n UPSTREAM", "─ EVENTS") {
		t.Errorf("a large window has no room for card and box:\n%s", frame)
	}
	press(m, "esc")
	if frame := seen(m); strings.Contains(frame, "START HERE") || !strings.Contains(frame, "\n WHY ") {
		t.Errorf("esc leaves the box:\n%s", frame)
	}
}

func TestZone(t *testing.T) {
	was := time.Local
	defer func() { time.Local = was }()
	time.Local = time.FixedZone("CET", 3600)
	m := screen(t, night(), 80, 24)
	press(m, "Z")
	if frame := seen(m); !containsAll(frame, "live 04:12:41", "04:12:35 arbitrum", "times are local: CET +01:00") || strings.Contains(frame, "41Z") {
		t.Errorf("times are not local:\n%s", frame)
	}
	press(m, "Z")
	if !strings.Contains(seen(m), "03:12:41Z") {
		t.Error("Z again is not UTC")
	}
}

func TestMouseOff(t *testing.T) {
	m := screen(t, night(), 80, 24)
	if press(m, "m"); m.View().MouseMode != tea.MouseModeNone {
		t.Error("m leaves the mouse on")
	}
	if press(m, "m"); m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("m again leaves it off")
	}
}

// One upstream is no news: its name stays out of WHY.
func TestWhyLeavesOutTheOnlyUpstream(t *testing.T) {
	one := chainOf("lone/jsonrpc", model.EVM, mins, with(up("lone-node", model.Primary, 5, sec, ms), func(s *model.UpstreamState) { s.Findings = model.FindingSet(model.NoPeers) }))
	two := chainOf("pair/jsonrpc", model.EVM, mins, with(up("pair", model.Primary, 5, sec, ms), func(s *model.UpstreamState) { s.Findings = model.FindingSet(model.NoPeers) }), up("b", model.Backup, 5, sec, ms))
	m := screen(t, &model.Instance{Policy: model.ReadyAll, Chains: []*model.Chain{one, two}}, 80, 24)
	frame := seen(m)
	if !containsAll(frame, "✓ healthy ▲ no_peers") || strings.Contains(frame, "▲ lone-node") || strings.Contains(frame, "▲ pair no_peers") {
		t.Errorf("the name is noise:\n%s", frame)
	}
}

func TestPasteIsText(t *testing.T) {
	m := screen(t, night(), 80, 24)
	if _, cmd := m.Update(tea.PasteMsg{Content: "qp"}); cmd != nil || m.search.open {
		t.Error("a paste without a prompt acts")
	}
	press(m, "/")
	m.Update(tea.PasteMsg{Content: "base\n\x1b[31m"})
	if !strings.HasPrefix(m.search.input.Value(), "base") || len(rows(m)) == 12 {
		t.Errorf("a paste makes the prompt %q", m.search.input.Value())
	}
	if err := fits(m.View().Content, 80, 24); err != nil {
		t.Error(err)
	}
}

func TestEmptyTableSaysWhy(t *testing.T) {
	none := &model.Instance{Name: "gw", Policy: model.ReadyAll}
	if !strings.Contains(seen(screen(t, none.Clone(), 80, 24)), " no chains ") {
		t.Error("an empty table says nothing")
	}
	m := screen(t, none, 80, 24, func(o *Options) { o.Empty = "no chains in chaintop.yaml (line 3, chains: [])" })
	if !strings.Contains(seen(m), "no chains in chaintop.yaml (line 3") {
		t.Error("an empty table does not say what it was told to")
	}
}

// The file of --config goes into the copied command; without one there is none
// to copy, for an address is nobody's to show.
func TestNoFileNoCommand(t *testing.T) {
	m := screen(t, night(), 80, 24, func(o *Options) { o.Config = "" })
	press(m, "y")
	if frame := seen(m); !strings.Contains(frame, "row as JSON") || strings.Contains(frame, "command") {
		t.Errorf("the menu:\n%s", frame)
	}
}
