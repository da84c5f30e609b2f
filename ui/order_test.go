package ui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// clocked is a screen whose time the test turns.
func clocked(t *testing.T, i *model.Instance, w, h int) (*Model, func(time.Duration)) {
	now := at
	m := screen(t, i, w, h, func(o *Options) { o.Now = func() time.Time { return now } })
	return m, func(d time.Duration) {
		for end := now.Add(d); now.Before(end); {
			now = now.Add(time.Second)
			m.Update(tickMsg{})
		}
	}
}

func rows(m *Model) []string {
	var keys []string
	for _, i := range m.order.rows {
		keys = append(keys, m.keys[i])
	}
	return keys
}

// turnTo is the event that gives a chain a health.
func turnTo(m *Model, key string, h model.Health, now time.Time) changedMsg {
	i := m.inst.Find(key)
	s := m.inst.Chains[i].State
	from := s.Health
	s.Health, s.Since = h, now
	if h == model.Unhealthy {
		s.Verdict = model.VerdictUnreachable
	}
	return changedMsg{[]model.Event{{At: now, Chain: i, Body: model.ChainChanged{What: model.ChangeHealth, From: from, State: s}}}}
}

func TestProblemsComeFirstThenNames(t *testing.T) {
	m := screen(t, night(), 80, 24)
	want := []string{
		"arbitrum/jsonrpc", "sepolia/jsonrpc", "solana/jsonrpc", "base/jsonrpc", "neutron/cometbft", "gnosis/beacon",
		"polygon/jsonrpc", "bitcoin/jsonrpc", "cosmoshub/cometbft", "ethereum/jsonrpc", "optimism/jsonrpc", "sui/grpc",
	}
	if got := rows(m); !slices.Equal(got, want) {
		t.Errorf("rows are %v, want %v", got, want)
	}
}

// Zero keys answer the page: until a row is picked the card is the worst chain's.
func TestUnpickedSelectionIsTheWorstChain(t *testing.T) {
	m := screen(t, night(), 80, 24)
	m.Update(turnTo(m, "arbitrum/jsonrpc", model.Healthy, at))
	m.Update(turnTo(m, "sui/grpc", model.Unhealthy, at))
	m.Update(turnTo(m, "sepolia/jsonrpc", model.Healthy, at))
	if got := m.keys[m.selected()]; got != "sui/grpc" || rows(m)[0] != got {
		t.Errorf("%s is selected, the top row is %s", got, rows(m)[0])
	}
}

func TestSelectionFollowsItsChain(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	press(m, "G", "up")
	if got := m.keys[m.selected()]; got != "optimism/jsonrpc" {
		t.Fatalf("%s is selected", got)
	}
	pass(11 * time.Second)
	m.Update(turnTo(m, "optimism/jsonrpc", model.Unhealthy, m.now))
	if m.order.at(m.selected()) != 1 || m.keys[m.selected()] != "optimism/jsonrpc" {
		t.Errorf("%s in row %d is selected, want optimism in row 1", m.keys[m.selected()], m.order.at(m.selected()))
	}
	// Nor does a new picture with its chains in another order lose it.
	i := night()
	slices.Reverse(i.Chains)
	m.Update(snapshotMsg{i})
	if got := m.keys[m.selected()]; got != "optimism/jsonrpc" {
		t.Errorf("after a new snapshot %s is selected", got)
	}
	// A chain that is gone cannot be.
	i = night()
	i.Chains = i.Chains[:3]
	m.Update(snapshotMsg{i})
	if got := m.selected(); got != m.order.rows[0] {
		t.Errorf("chain %d is selected, the worst is %d", got, m.order.rows[0])
	}
	// Nor does a restart of the instance, which comes in the log itself.
	press(m, "G")
	key := m.keys[m.selected()]
	anew := *night()
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.Started{Instance: anew}}}})
	if len(m.keys) != 12 || m.keys[m.selected()] != key {
		t.Errorf("after a restart %s of %d chains is selected, want %s", m.keys[m.selected()], len(m.keys), key)
	}
}

func TestRowsAreHeldForTenSecondsAfterAKey(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	was := rows(m)
	press(m, "down")
	pass(3 * time.Second)
	m.Update(turnTo(m, "sui/grpc", model.Unhealthy, m.now))
	if got := rows(m); !slices.Equal(got, was) {
		t.Fatalf("rows moved under the hand: %v", got)
	}
	if frame := seen(m); !containsAll(frame, "order held 7s", "sui/grpc         ✖ unhealthy") {
		t.Errorf("the rule does not say that the order is held, or the row is old:\n%s", frame)
	}
	pass(6 * time.Second)
	if got := rows(m); !slices.Equal(got, was) {
		t.Fatalf("rows moved after 9s: %v", got)
	}
	pass(time.Second)
	if got := rows(m); got[2] != "sui/grpc" {
		t.Errorf("10s after the key the rows are %v", got)
	}
	if containsAll(seen(m), "order held") {
		t.Error("the rule still says that the order is held")
	}
	// A wheel and a click hold it too.
	for _, msg := range []tea.Msg{
		tea.MouseWheelMsg{Button: tea.MouseWheelDown}, tea.MouseClickMsg{X: 4, Y: 6, Button: tea.MouseLeft},
	} {
		m.Update(msg)
		if m.order.holds(m.now) != orderHold {
			t.Errorf("%T does not hold the order", msg)
		}
		pass(11 * time.Second)
	}
}

// A number is no reason to move.
func TestReadingsMoveNoRow(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	pass(11 * time.Second)
	was := rows(m)
	for i, c := range m.inst.Chains {
		for u := range c.Upstreams {
			s := c.Upstreams[u].State
			s.Facts.Head.Value += 1000
			m.Update(changedMsg{[]model.Event{{At: m.now, Chain: i, Body: model.UpstreamRead{
				Checks: c.Checks, Reads: []model.UpstreamIndex{{Upstream: u, State: s, Asked: 1, Sample: time.Second}},
			}}}})
		}
	}
	if got := rows(m); !slices.Equal(got, was) {
		t.Errorf("rows were %v, are %v", was, got)
	}
}

// A hold ends by the clock, without an event: the class changes all the same.
func TestClassChangesByTheClock(t *testing.T) {
	i := few()
	i.Chains[0] = chainOf("aaa/jsonrpc", model.EVM, mins, limited(up("u", model.Primary, 1, 0, ms), model.NoPeers, 5*sec, 5*sec, 1), up("v", model.Primary, 1, 0, ms))
	m, pass := clocked(t, i, 80, 24)
	if got := m.order.class[0]; got != model.ClassInconclusive {
		t.Fatalf("class %d while held", got)
	}
	pass(5 * time.Second)
	if got := m.order.class[0]; got != model.ClassBackup {
		t.Errorf("class %d when the hold is over", got)
	}
}

func TestScroll(t *testing.T) {
	for _, r := range []struct{ top, at, rows, n, want int }{
		{0, 0, 5, 20, 0}, {0, 4, 5, 20, 0}, {0, 5, 5, 20, 1}, {3, 2, 5, 20, 2}, {18, 19, 5, 20, 15},
		{9, 1, 5, 3, 0}, {0, 0, 0, 20, 0}, {2, 0, 5, 0, 0},
	} {
		if got := scroll(r.top, r.at, r.rows, r.n); got != r.want {
			t.Errorf("scroll%v = %d", r, got)
		}
	}
}
