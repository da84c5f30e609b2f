package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// The header says what clients ask only where a gateway runs, and never lets the
// cause of NOT READY go for it.
func TestHeaderSaysWhatClientsAsk(t *testing.T) {
	ready := func(change func(*model.Instance)) string {
		i := busy()
		i.Policy = "ethereum/jsonrpc"
		change(i)
		return strings.Split(seen(screen(t, i, 120, 40)), "\n")[1]
	}
	quiet := func(i *model.Instance, ago time.Duration) {
		for n, c := range i.Chains {
			k := *c
			if k.Traffic.Total > 0 {
				k.Traffic.Last = before(ago)
			}
			i.Chains[n] = &k
		}
	}
	for _, r := range []struct {
		name   string
		change func(*model.Instance)
		want   string
		never  string
	}{
		{"busy", func(*model.Instance) {}, "2 BACKUP · 212 req/s  702 failed/min", "none"},
		{"quiet for a while", func(i *model.Instance) { quiet(i, 47*sec) }, "2 BACKUP · 0 req/s, none for 47s", "failed"},
		{"quiet for long", func(i *model.Instance) { quiet(i, 2*time.Hour) }, "0 req/s, none for 2h00m", "failed"},
		{"no gateway", func(i *model.Instance) { i.Gateway = false }, "2 BACKUP", "req/s"},
		{"nobody ever", func(i *model.Instance) {
			for n, c := range i.Chains {
				k := *c
				k.Traffic = model.Traffic{}
				i.Chains[n] = &k
			}
		}, "2 BACKUP · 0 req/s", "none"},
	} {
		if got := ready(r.change); !strings.Contains(got, r.want) || strings.Contains(got, r.never) {
			t.Errorf("%s: %q", r.name, got)
		}
	}
	all := busy()
	all.Policy = model.ReadyAll
	if got := strings.Split(seen(screen(t, all, 110, 40)), "\n")[1]; !strings.Contains(got, "sepolia/jsonrpc unreachable +1") {
		t.Errorf("the cause gave way: %q", got)
	}
}

// A minute after the last request its numbers are nobody's any more.
func TestOldTrafficIsNone(t *testing.T) {
	c := asked(night().Chains[0], 600, 5, 3, 1, 2, 42*ms, 99*ms, 59*sec)
	if got := askedOf(c, at); got.Requests != 600 || got.Failed != 5 {
		t.Errorf("within the minute: %+v", got)
	}
	got := askedOf(c, at.Add(time.Second))
	if got.Requests != 0 || got.Failed != 0 || got.P50 != 0 || got.Total != c.Traffic.Total || got.Streams != 2 {
		t.Errorf("a minute after: %+v", got)
	}
	if d, ok := latencyOf(c, at); !ok || d != 42*ms {
		t.Errorf("clients waited %v, %v", d, ok)
	}
	c.Traffic.P50 = 77 * ms
	if d, _ := latencyOf(c, at); d != 77*ms {
		t.Errorf("with clients P50 is %v", d)
	}
	if d, _ := latencyOf(c, at.Add(time.Second)); d != 42*ms {
		t.Errorf("without clients P50 is %v, want that of the checks", d)
	}
}

// The table is sorted, sums itself up, and is searched and opened like others.
func TestTrafficTable(t *testing.T) {
	m := drainScreen(t, busy(), 80, 24)
	first := func() string { return m.keys[m.flow.rows[0]] }
	for _, r := range []struct{ key, top, word string }{
		{"s", "arbitrum/jsonrpc", "by name"}, {"s", "base/jsonrpc", "by failed"}, {"s", "ethereum/jsonrpc", "by retried"},
		{"s", "base/jsonrpc", "by P50"}, {"S", "bitcoin/jsonrpc", "by P50 reversed"}, {"s", "base/jsonrpc", "by P95"}, {"s", "base/jsonrpc", "by streams"},
		{"s", "ethereum/jsonrpc", "busiest first"},
	} {
		if press(m, r.key); first() != r.top || !strings.Contains(seen(m), r.word) {
			t.Errorf("%s: %s is on top\n%s", r.word, first(), seen(m))
		}
	}
	m.Update(tea.MouseClickMsg{X: 26, Y: 3, Button: tea.MouseLeft})
	if first() != "base/jsonrpc" || !strings.Contains(seen(m), "by failed") {
		t.Errorf("a click on FAILED puts %s on top", first())
	}
	m.Update(tea.MouseClickMsg{X: 20, Y: 3, Button: tea.MouseLeft})
	if m.Update(tea.MouseClickMsg{X: 9, Y: 5, Button: tea.MouseLeft}); m.keys[m.selected()] != "base/jsonrpc" {
		t.Errorf("a click on the second row selects %s", m.keys[m.selected()])
	}
	if m.Update(tea.MouseClickMsg{X: 9, Y: 19, Button: tea.MouseLeft}); !strings.Contains(seen(m), "▸10.4.2.31") {
		t.Errorf("a click on the second client:\n%s", seen(m))
	}
	press(m, "tab", "enter")
	if m.view != viewChain || m.keys[m.selected()] != "base/jsonrpc" {
		t.Errorf("enter opens %s", m.keys[m.selected()])
	}
	press(m, "4", "/")
	typeIn(m, "polygon")
	press(m, "enter")
	if frame := seen(m); !containsAll(frame, "▸polygon/jsonrpc", " all shown           21") || strings.Contains(frame, "more ") && strings.Contains(frame, "11 more") {
		t.Errorf("the filter:\n%s", frame)
	}
	m = drainScreen(t, night(), 80, 24)
	if !strings.Contains(seen(m), "this instance runs no gateway: it sees no client") {
		t.Errorf("without a gateway:\n%s", seen(m))
	}
}

// What keeps a drain awake is named on every view; until a row is picked the card
// of Chains is the drain's.
func TestDrainIsOnEveryView(t *testing.T) {
	m := screen(t, keptAwake(), 80, 24)
	for _, k := range []string{"1", "2", "3", "4"} {
		press(m, k)
		if line := strings.Split(seen(m), "\n")[1]; !containsAll(line, "▼ DRAINING 2m39s", "▰▱▱▱▱▱ 1.8s of 10s") {
			t.Errorf("view %s: %q", k, line)
		}
	}
	m = screen(t, keptAwake(), 80, 24)
	if frame := seen(m); !containsAll(frame, "drain of gw-5d77", "the client 10.83.2.9", "▸ethereum/jsonrpc", "▲1.8s") {
		t.Errorf("Chains:\n%s", frame)
	}
	press(m, "up")
	if frame := seen(m); strings.Contains(frame, "drain of gw-5d77") || !strings.Contains(frame, "─ cosmoshub/cometbft ─") {
		t.Errorf("a row is picked, and the card stays the drain's:\n%s", frame)
	}
	press(m, "esc")
	if !strings.Contains(seen(m), "drain of gw-5d77") {
		t.Error("esc does not give the card back")
	}
	// A client's row opens its chain, and stays with the client.
	press(m, "4", "down", "down")
	if !strings.Contains(seen(m), "▸10.83.2.12") {
		t.Errorf("the selection:\n%s", seen(m))
	}
	a := m.inst.Drain.Activity
	a.Clients = append([]model.Client{a.Clients[2]}, a.Clients[:2]...)
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.TrafficRead{Activity: &a}}}})
	if !strings.Contains(seen(m), "▸10.83.2.12") {
		t.Errorf("the selection does not follow:\n%s", seen(m))
	}
	press(m, "enter")
	if m.view != viewChain || m.keys[m.selected()] != "ethereum/jsonrpc" {
		t.Errorf("enter opens %v", m.selected())
	}
}

// The bar is the time gone, and full only when it is over.
func TestIdleBar(t *testing.T) {
	for _, r := range []struct {
		gone time.Duration
		want string
	}{{0, "▱▱▱▱▱▱"}, {1600 * ms, "▱▱▱▱▱▱"}, {1700 * ms, "▰▱▱▱▱▱"}, {9999 * ms, "▰▰▰▰▰▱"}, {10 * sec, "▰▰▰▰▰▰"}, {-sec, "▱▱▱▱▱▱"}, {time.Hour, "▰▰▰▰▰▰"}} {
		if got := idleBar(r.gone, 10*sec, 6).text; got != r.want {
			t.Errorf("%v: %s, want %s", r.gone, got, r.want)
		}
	}
}

func TestSuspectIsSaid(t *testing.T) {
	i := busy()
	n := i.Find("ethereum/jsonrpc")
	c := *i.Chains[n]
	c.Upstreams = append([]model.Upstream(nil), c.Upstreams...)
	c.Upstreams[0].State.Suspect = model.Suspect{Active: true, Since: before(9 * sec), Missed: 3, Reason: model.ReasonRefused}
	i.Chains[n] = route(&c)
	m := chainScreen(t, i, "ethereum/jsonrpc", 120, 40)
	if !containsAll(seen(m), "▲ no: suspect refused×3", "infura BACKUP") {
		t.Errorf("Chain:\n%s", seen(m))
	}
	press(m, "enter")
	if !containsAll(seen(m), "SUSPECT", "for 9s: 3 requests in a row got no answer, the last: refused", "CLIENTS") {
		t.Errorf("the upstream:\n%s", seen(m))
	}
}

// Within one second another client may be the one that keeps it awake: the card
// and the mark in IDLE follow at once.
func TestAwakeFollowsAtOnce(t *testing.T) {
	m := screen(t, keptAwake(), 80, 24)
	m.View()
	a := m.inst.Drain.Activity
	a.Last, a.Client, a.Kind, a.Chain = before(300*ms), "10.9.9.9", model.ClientWS, m.inst.Find("sui/grpc")
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.TrafficRead{Activity: &a}}}})
	if frame := seen(m); !containsAll(frame, "10.9.9.9", "sui/grpc keeps it awake", "▲2m42s sui-1", "0.3s of 10s") || strings.Contains(frame, "▲1.8s") {
		t.Errorf("the screen stays with the client before:\n%s", frame)
	}
	// Also while a row is picked that is neither.
	press(m, "home")
	m.View()
	a.Chain = m.inst.Find("bitcoin/jsonrpc")
	m.Update(changedMsg{[]model.Event{{At: at, Chain: -1, Body: model.TrafficRead{Activity: &a}}}})
	if frame := seen(m); !strings.Contains(frame, "▲2m39s core-1") || strings.Contains(frame, "▲2m42s") {
		t.Errorf("the mark stays with the chain before:\n%s", frame)
	}
}
