package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

func TestSorts(t *testing.T) {
	m := screen(t, night(), 140, 24)
	tops := func() []string { return rows(m)[:3] }
	last := func() []string { return rows(m)[9:] }
	unknown := []string{"arbitrum/jsonrpc", "sepolia/jsonrpc", "solana/jsonrpc"}
	for _, r := range []struct {
		key, word string
		top       []string
		unknown   bool // those without a number are last
	}{
		{"s", "by name", []string{"arbitrum/jsonrpc", "base/jsonrpc", "bitcoin/jsonrpc"}, false},
		{"S", "by name reversed", []string{"sui/grpc", "solana/jsonrpc", "sepolia/jsonrpc"}, false},
		{"s", "by next", []string{"sepolia/jsonrpc", "arbitrum/jsonrpc", "solana/jsonrpc"}, false},
		{"s", "by lag", []string{"optimism/jsonrpc", "base/jsonrpc", "bitcoin/jsonrpc"}, true},
		{"S", "by lag reversed", []string{"base/jsonrpc", "bitcoin/jsonrpc", "cosmoshub/cometbft"}, true},
		{"s", "by P50", []string{"base/jsonrpc", "ethereum/jsonrpc", "polygon/jsonrpc"}, true},
		{"S", "by P50 reversed", []string{"bitcoin/jsonrpc", "neutron/cometbft", "gnosis/beacon"}, true},
		{"s", "problems first", []string{"arbitrum/jsonrpc", "sepolia/jsonrpc", "solana/jsonrpc"}, false},
	} {
		press(m, r.key)
		if got := tops(); !slices.Equal(got, r.top) {
			t.Errorf("%s: %v, want %v", r.word, got, r.top)
		}
		if got := last(); r.unknown && !slices.Equal(got, unknown) {
			t.Errorf("%s: the last are %v", r.word, got)
		}
		if !strings.Contains(seen(m), r.word+" · 12 of 12") {
			t.Errorf("the rule does not say %q", r.word)
		}
	}
}

// What one sorts by a number is put in order again, but not every second.
func TestNumbersMoveRowsRarely(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	press(m, "s", "s", "s")
	pass(11 * time.Second)
	i := m.inst.Find("sui/grpc")
	s := m.inst.Chains[i].Upstreams[0].State
	s.Lag.Blocks = 99
	m.Update(changedMsg{[]model.Event{{At: m.now, Chain: i, Body: model.UpstreamRead{Checks: m.inst.Chains[i].Checks, Reads: []model.UpstreamIndex{{State: s}}}}}})
	pass(time.Second)
	if got := rows(m)[0]; got != "sui/grpc" {
		t.Fatalf("%s is on top", got)
	}
	s.Lag.Blocks = 0
	m.Update(changedMsg{[]model.Event{{At: m.now, Chain: i, Body: model.UpstreamRead{Checks: m.inst.Chains[i].Checks, Reads: []model.UpstreamIndex{{State: s}}}}}})
	pass(time.Second)
	if got := rows(m)[0]; got != "sui/grpc" || !strings.Contains(seen(m), "by lag · order held") {
		t.Errorf("rows move every second; %s is on top:\n%s", got, seen(m))
	}
	pass(10 * time.Second)
	if got := rows(m)[0]; got != "optimism/jsonrpc" {
		t.Errorf("in the end %s is on top", got)
	}
}

func TestClickOnAHeadingSorts(t *testing.T) {
	for _, w := range []int{60, 80, 120, 160} {
		m := screen(t, night(), w, 24)
		line := strings.Split(seen(m), "\n")[headerRows]
		for word, by := range map[string]sortBy{"CHAIN": byName, "HEALTH": byProblems, "VERDICT": byProblems, "NEXT": byNext, "LAG": byLag, "P50": byP50} {
			before, _, shown := strings.Cut(line, word)
			if !shown {
				continue
			}
			m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
			m.sortRows(byProblems, true)
			m.Update(tea.MouseClickMsg{X: width(before) + 1, Y: headerRows, Button: tea.MouseLeft})
			if m.order.by != by || m.order.reverse {
				t.Errorf("at %d a click on %s sorts %s, reversed: %v", w, word, sortNames[m.order.by], m.order.reverse)
			}
			m.Update(tea.MouseClickMsg{X: width(before) + 1, Y: headerRows, Button: tea.MouseLeft})
			if m.order.by != by || !m.order.reverse {
				t.Errorf("at %d a second click on %s does not reverse", w, word)
			}
		}
	}
}
