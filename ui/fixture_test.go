package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"chaintop/model"
)

// at is the moment of SCREENS.md's night, and before says how long ago.
var at = time.Date(2026, 11, 30, 3, 12, 41, 0, time.UTC)

func before(d time.Duration) time.Time { return at.Add(-d) }

const (
	sec  = time.Second
	mins = time.Minute
	ms   = time.Millisecond
)

// up is an upstream that answers: its head, its age, its latency.
func up(name string, tier model.Tier, head uint64, age, took time.Duration) model.Upstream {
	u := model.Upstream{Name: name, Tier: tier}
	u.State = model.UpstreamState{
		Record: model.Record{Health: model.Healthy, Checked: before(age)}, Since: before(14 * mins),
		HeadSince: before(age), HeadRound: before(age), HighHead: head, Lag: model.Lag{Known: true},
		Last: model.Last{At: before(age), Trigger: model.TriggerCheck, Kind: model.Result, Took: took},
	}
	f := &u.State.Facts
	f.Head = said(head, age)
	f.Block = said(model.Block{Number: head, Time: before(age)}, age)
	f.ChainID = said("1", 3*mins)
	f.Syncing = said(false, age)
	f.Safe = said(head-40, age)
	f.Finalized = said(head-496, age)
	f.Peers = model.Fact[uint64]{Know: model.Unsupported, At: before(14 * mins)}
	f.Client = said("geth/v1.16.1", 14*mins)
	u.Latency = model.Latency{Samples: []time.Duration{took, took, took, 3 * took}}
	u.Asked = model.Meter{Minute: at.Truncate(mins), Now: 8, Before: 12, Full: true}
	return u
}

// down is an upstream that does not answer, and what its last check met.
func down(name string, tier model.Tier, streak int, reason model.Reason, layer model.Layer, took time.Duration) model.Upstream {
	u := up(name, tier, 7_441_902, 74*sec, 0)
	u.Latency = model.Latency{}
	u.State.Health, u.State.Streak, u.State.Lag = model.Unhealthy, streak, model.Lag{}
	u.State.Last = model.Last{
		At: before(2 * sec), Trigger: model.TriggerCheck, Kind: model.NoAnswer, Reason: reason,
		Evidence: model.Evidence{Layer: layer, Text: evidence[reason]}, Took: took,
	}
	return u
}

var evidence = map[model.Reason]string{
	model.ReasonRefused: "connect: connection refused",
	model.ReasonTimeout: "request sent, 0 bytes back",
}

// limited is an upstream under a hold that a rate limit asked for.
func limited(u model.Upstream, f model.Finding, left, asked time.Duration, run int) model.Upstream {
	u.State.Findings = model.FindingSet(f)
	u.State.Hold = model.Hold{
		Active: true, From: before(12 * sec), Until: at.Add(left), Run: run, Asked: asked, Quota: f == model.Quota,
	}
	return u
}

func with(u model.Upstream, change func(*model.UpstreamState)) model.Upstream {
	change(&u.State)
	return u
}

func said[T any](v T, age time.Duration) model.Fact[T] {
	return model.Fact[T]{Know: model.Known, Value: v, At: before(age)}
}

// chainOf is a chain whose last probe, of an age, got a result from its first
// upstream; where it serves from is Route's word.
func chainOf(key string, family model.Family, due time.Duration, ups ...model.Upstream) *model.Chain {
	name, iface, _ := strings.Cut(key, "/")
	c := &model.Chain{Name: name, Interface: iface, Family: family, Settings: model.DefaultSettings(family), Upstreams: ups}
	ago := c.Settings.HealthyInterval - due
	c.State = model.ChainState{
		Health: model.Healthy, Since: before(14*mins + 31*sec), Verdict: model.VerdictHealthy, VerdictAt: before(ago),
		Heard: model.Heard{At: before(ago), By: model.HeardProbe}, Probes: 5,
		Next: model.Next{At: at.Add(due), From: before(ago), Why: model.NextInterval},
	}
	if len(ups) > 0 {
		took := ups[0].State.Last.Took
		c.Last = &model.Probe{
			ID: 5, Trigger: model.TriggerScheduled, Started: before(ago + took), Max: 6, Made: 1, Ended: before(ago),
			Verdict: model.VerdictHealthy, Health: model.Healthy,
			Tries: []model.Try{{
				N: 1, Kind: model.Result, Started: before(ago + took), Took: took,
				Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: 200, Text: "head " + model.Height(ups[0].State.Facts.Head.Value)},
			}},
		}
		c.Checks.Tip = said(ups[len(ups)-1].State.Facts.Head.Value, 2*sec)
		c.Checks.TipBy = []int{len(ups) - 1}
	}
	c.Strip = model.Strip{Minute: at.Truncate(mins), Now: model.LevelHealthy}
	for i := model.StripMinutes - 15; i < model.StripMinutes; i++ {
		c.Strip.Cells[i] = model.LevelHealthy
	}
	return route(c)
}

func route(c *model.Chain) *model.Chain {
	i, why := model.Route(c, at, 0)
	c.Serving = model.Serving{Upstream: i, Why: why, Failover: why == model.RouteBackup, Since: before(3 * mins)}
	return c
}

// judged is c after a probe that got no result.
func judged(c *model.Chain, h model.Health, since time.Duration, p model.Probe) *model.Chain {
	c.State.Health, c.State.Since = h, before(since)
	c.State.Verdict, c.State.VerdictAt = model.Judge(p.Tries), p.Ended
	p.Verdict, p.Health = c.State.Verdict, h
	p.Max, p.Made = c.Settings.Tries, len(p.Tries)
	c.Last, c.State.Probes = &p, p.ID
	every := c.Settings.UnhealthyInterval
	if h == model.Healthy {
		every = c.Settings.HealthyInterval
	}
	c.State.Next = model.Next{At: p.Ended.Add(every), From: p.Ended, Why: model.NextInterval}
	c.Strip.Cells[model.StripMinutes-1] = model.LevelUnhealthy
	if c.State.Verdict == model.VerdictInconclusive {
		c.State.Heard = model.Heard{At: p.Ended, By: model.HeardProbe}
		c.Strip.Cells[model.StripMinutes-1] = model.LevelInconclusive
	} else {
		c.State.Heard = model.Heard{At: before(74 * sec), By: model.HeardProbe}
		c.Checks.Tip.At = c.State.Heard.At
	}
	return route(c)
}

func try(n, upstream int, kind model.OutcomeKind, reason model.Reason, took time.Duration, e model.Evidence, fs ...model.Finding) model.Try {
	return model.Try{N: n, Upstream: upstream, Kind: kind, Reason: reason, Evidence: e, Findings: model.FindingSet(fs...), Took: took}
}

func refused(n, upstream int) model.Try {
	return try(n, upstream, model.NoAnswer, model.ReasonRefused, ms, model.Evidence{Layer: model.LayerTCP, Text: evidence[model.ReasonRefused]})
}

func timedOut(n, upstream int, layer model.Layer) model.Try {
	return try(n, upstream, model.NoAnswer, model.ReasonTimeout, 5*sec, model.Evidence{Layer: layer, Text: evidence[model.ReasonTimeout]})
}

// arbitrum is cut off: six tries, no answer.
func arbitrum() *model.Chain {
	c := chainOf("arbitrum/jsonrpc", model.EVM, 9*sec,
		down("alchemy", model.Primary, 12, model.ReasonTimeout, model.LayerTCP, 5*sec),
		down("node-2", model.Primary, 12, model.ReasonTimeout, model.LayerTCP, 5*sec),
		down("quicknode", model.Backup, 11, model.ReasonTimeout, model.LayerTCP, 5*sec))
	c.Checks.Tip = said[uint64](281_904_553, 87*sec)
	p := model.Probe{ID: 209, Trigger: model.TriggerSoon, Started: before(36*sec + 200*ms), Ended: before(6 * sec)}
	for n := range 6 {
		p.Tries = append(p.Tries, timedOut(n+1, n%3, model.LayerTCP))
	}
	return judged(c, model.Unhealthy, 51*sec, p)
}

// sepolia refuses and stalls.
func sepolia() *model.Chain {
	c := chainOf("sepolia/jsonrpc", model.EVM, 7*sec,
		down("sep-a", model.Primary, 14, model.ReasonRefused, model.LayerTCP, ms),
		down("sep-b", model.Primary, 14, model.ReasonRefused, model.LayerTCP, ms),
		down("sep-bk", model.Backup, 9, model.ReasonTimeout, model.LayerHTTP, 5*sec))
	c.ExpectID = "11155111"
	p := model.Probe{ID: 413, Trigger: model.TriggerManual, Who: "oncall", Started: before(18*sec + 200*ms), Ended: before(8 * sec)}
	p.Tries = []model.Try{
		refused(1, 0), refused(2, 1), timedOut(3, 2, model.LayerHTTP),
		refused(4, 0), refused(5, 1), timedOut(6, 2, model.LayerHTTP),
	}
	return judged(c, model.Unhealthy, 59*sec, p)
}

// base is rate-limited by everyone it may ask.
func base() *model.Chain {
	c := chainOf("base/jsonrpc", model.EVM, 4*mins+48*sec,
		limited(up("llama", model.Primary, 18_220_901, 14*sec, 61*ms), model.RateLimited, 28*sec, 40*sec, 1),
		limited(up("alchemy", model.Primary, 18_220_901, 14*sec, 44*ms), model.RateLimited, 4*mins, 0, 4),
		limited(up("infura", model.Backup, 18_220_899, 16*sec, 88*ms), model.Quota, 29*mins+48*sec, 0, 1))
	c.ExpectID = "8453"
	for i := range c.Upstreams {
		c.Upstreams[i].State.Facts.ChainID = said("8453", 3*mins)
	}
	c.Upstreams[2].State.Lag.Blocks = 2
	c.Checks.Tip, c.Checks.TipBy = said[uint64](18_220_901, 14*sec), []int{0, 1}
	return judged(c, model.Healthy, 14*mins+31*sec, model.Probe{
		ID: 88, Trigger: model.TriggerManual, Who: "oncall", Started: before(12*sec + 317*ms), Ended: before(12 * sec),
		Tries: []model.Try{
			try(1, 0, model.Answer, model.ReasonRateLimit, 61*ms, model.Evidence{Layer: model.LayerHTTP, HTTP: 429, Text: "Retry-After 40"}, model.RateLimited),
			try(2, 1, model.Answer, model.ReasonRateLimit, 44*ms, model.Evidence{Layer: model.LayerHTTP, HTTP: 200, Code: 429, Text: "exceeded its compute units per second capacity"}, model.RateLimited),
			try(3, 2, model.Answer, model.ReasonRateLimit, 212*ms, model.Evidence{Layer: model.LayerHTTP, HTTP: 429, Code: -32005, Text: "daily request count exceeded, request rate limited"}, model.RateLimited, model.Quota),
		},
	})
}

// running is a chain whose probe is in the air: two tries over, the third not.
func running() *model.Chain {
	c := sepolia()
	c.State.Probes = 414
	c.Probe = &model.Probe{
		ID: 414, Trigger: model.TriggerManual, Who: "oncall", Started: before(1200 * ms), Max: 6, Made: 2,
		Tries:  []model.Try{refused(1, 0), refused(2, 1)},
		Flight: model.Flight{N: 3, Upstream: 2, Stamp: before(1100 * ms), Start: before(1100 * ms)},
	}
	return c
}

// solana's key is refused, and it never had a result.
func solana() *model.Chain {
	u := up("helius", model.Primary, 1, 0, 0)
	u.State.Facts, u.State.Findings, u.Latency = model.Facts{}, model.FindingSet(model.AccessDenied), model.Latency{}
	u.State.Health, u.State.Lag, u.State.HeadSince = model.Unknown, model.Lag{}, time.Time{}
	denied := model.Evidence{Layer: model.LayerHTTP, HTTP: 403, Text: "forbidden"}
	u.State.Last = model.Last{At: before(4 * sec), Kind: model.Answer, Reason: model.ReasonHTTPStatus, Evidence: denied, Findings: u.State.Findings}
	c := chainOf("solana/jsonrpc", "solana", 11*sec, u)
	c.Checks.Tip = model.Fact[uint64]{}
	p := model.Probe{ID: 31, Trigger: model.TriggerScheduled, Started: before(4*sec + 400*ms), Ended: before(4 * sec)}
	for n := range 6 {
		p.Tries = append(p.Tries, try(n+1, 0, model.Answer, model.ReasonHTTPStatus, 60*ms, denied, model.AccessDenied))
	}
	return judged(c, model.Unknown, 15*mins, p)
}

// night is twelve chains at three in the morning: one of each trouble.
func night() *model.Instance {
	old := func(s *model.UpstreamState) {
		s.HeadSince, s.Findings, s.Lag.Blocks = before(9*mins+12*sec), model.FindingSet(model.StaleHead), 276
	}
	neutron := chainOf("neutron/cometbft", "cometbft", 2*mins+31*sec, up("val-1", model.Primary, 15_402_118, 2*sec, 12*ms), up("val-2", model.Primary, 15_402_118, 2*sec, 14*ms))
	neutron.State.Halted = before(11*mins + 4*sec)
	for i := range neutron.Upstreams {
		neutron.Upstreams[i].State.Findings = model.FindingSet(model.StaleHead)
		neutron.Upstreams[i].State.HeadSince = neutron.State.Halted
	}
	i := &model.Instance{
		Name: "gw-7fe3", Version: "v0.4.0", Epoch: "7c1e04", Started: before(15 * mins), Policy: model.ReadyAll,
		ReadySince: before(51 * sec),
		Chains: []*model.Chain{
			chainOf("ethereum/jsonrpc", model.EVM, 4*mins+13*sec, up("alchemy", model.Primary, 21_034_112, 2*sec, 42*ms), up("infura", model.Backup, 21_034_112, 2*sec, 88*ms)),
			arbitrum(), base(), solana(), sepolia(), route(neutron),
			chainOf("gnosis/beacon", "beacon", 21*sec, with(up("teku-1", model.Primary, 9_981_886, 2*sec, 20*ms), func(s *model.UpstreamState) {
				s.Findings, s.Lag.Blocks = model.FindingSet(model.Syncing), 214
			}), up("teku-2", model.Backup, 9_982_100, 2*sec, 18*ms)),
			chainOf("polygon/jsonrpc", model.EVM, 4*mins+13*sec, with(up("bor-1", model.Primary, 64_102_733, 2*sec, 9*ms), old), up("alchemy", model.Backup, 64_103_009, 2*sec, 33*ms)),
			chainOf("bitcoin/jsonrpc", "bitcoin", 3*mins+20*sec, up("core-1", model.Primary, 925_411, 3*sec, 9*ms)),
			chainOf("cosmoshub/cometbft", "cometbft", 52*sec, up("hub-1", model.Primary, 24_118_336, 3*sec, 31*ms)),
			chainOf("optimism/jsonrpc", model.EVM, 4*mins+14*sec, with(up("op-1", model.Primary, 128_551_907, sec, 24*ms), func(s *model.UpstreamState) { s.Lag.Blocks = 1 })),
			chainOf("sui/grpc", "sui", 4*mins+2*sec, up("sui-1", model.Primary, 98_441_207, 2*sec, 27*ms)),
		},
	}
	i.Recent = happened(i)
	return i
}

// happened is what the changes of the night were, oldest first.
func happened(i *model.Instance) []model.Event {
	find := func(key string) (int, *model.Chain) { n := i.Find(key); return n, i.Chains[n] }
	arb, a := find("arbitrum/jsonrpc")
	sep, s := find("sepolia/jsonrpc")
	bas, b := find("base/jsonrpc")
	pol, p := find("polygon/jsonrpc")
	soon := a.State
	soon.Next = model.Next{At: before(81 * sec), Why: model.NextSoon}
	return []model.Event{
		{At: before(15 * mins), Chain: -1, Body: model.Started{Instance: model.Instance{Version: i.Version, Epoch: i.Epoch}}},
		{At: before(9*mins + 12*sec), Chain: pol, Body: model.ServingChanged{From: 0, Serving: p.Serving}},
		{At: before(83 * sec), Chain: arb, Body: model.ChainChanged{What: model.ChangeNext, State: soon}},
		{At: before(59 * sec), Chain: sep, Body: model.ChainChanged{What: model.ChangeHealth, From: model.Healthy, State: s.State}},
		{At: before(51 * sec), Chain: arb, Body: model.ChainChanged{What: model.ChangeHealth, From: model.Healthy, State: a.State}},
		{At: before(51 * sec), Chain: -1, Body: model.ReadyChanged{Cause: arb}},
		{At: before(19 * sec), Chain: -1, Who: "oncall", Body: model.CommandDone{ID: "x", Op: model.OpProbe, Chains: []int{sep}, Answer: "accepted", Probes: []uint64{413}}},
		{At: before(12 * sec), Chain: bas, Body: model.UpstreamChanged{Upstream: 0, What: model.ChangeHeld, State: b.Upstreams[0].State}},
		{At: before(12 * sec), Chain: bas, Body: model.UpstreamChanged{Upstream: 1, What: model.ChangeHeld, State: b.Upstreams[1].State}},
		{At: before(12 * sec), Chain: bas, Body: model.ProbeEnded{Probe: *b.Last, State: b.State}},
		{At: before(8 * sec), Chain: sep, Body: model.ProbeEnded{Probe: *s.Last, State: s.State}},
		{At: before(6 * sec), Chain: arb, Body: model.ProbeEnded{Probe: *a.Last, State: a.State}},
	}
}

// few is three chains, one of them with a probe in the air.
func few() *model.Instance {
	i := night()
	i.Chains = []*model.Chain{i.Chains[0], running(), i.Chains[8]}
	s := i.Chains[1]
	i.Recent = []model.Event{
		i.Recent[0],
		{At: before(59 * sec), Chain: 1, Body: model.ChainChanged{What: model.ChangeHealth, From: model.Healthy, State: s.State}},
		{At: before(59 * sec), Chain: -1, Body: model.ReadyChanged{Cause: 1}},
		{At: before(8 * sec), Chain: 1, Body: model.ProbeEnded{Probe: *s.Last, State: s.State}},
		{At: before(1200 * ms), Chain: -1, Who: "oncall", Body: model.CommandDone{ID: "x", Op: model.OpProbe, Chains: []int{1}, Answer: "accepted", Probes: []uint64{414}}},
		{At: before(1200 * ms), Chain: 1, Who: "oncall", Body: model.ProbeStarted{Probe: *s.Probe, Probes: 414}},
	}
	return i
}

// screen is a Model with a picture, at a size, at the moment of the night.
func screen(t testing.TB, i *model.Instance, w, h int, change ...func(*Options)) *Model {
	t.Helper()
	o := Options{Sink: &sink{}, Who: "oncall", Mode: "local", Config: "chaintop.yaml", Now: func() time.Time { return at }}
	for _, c := range change {
		c(&o)
	}
	m := New(o)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(snapshotMsg{i})
	return m
}

// press sends keys, as a terminal names them.
func press(m *Model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = m.Update(keyOf(k))
	}
	return cmd
}

func keyOf(k string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	}
	switch k {
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if c, ok := named[k]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if c, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

// seen is the frame without its colours.
func seen(m *Model) string { return ansi.Strip(m.View().Content) }
