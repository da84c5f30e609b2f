package ui

import (
	"time"

	"chaintop/model"
)

// The pictures behind the frames of testdata/design, as far as the model can say
// them.

// onThePlate is the night of the Chains frames.
func onThePlate() *model.Instance {
	i := night()
	set := func(c *model.Chain) { i.Chains[i.Find(c.Key())] = c }
	set(arbitrumOnThePlate())
	set(baseOnThePlate())
	sep := i.Chains[i.Find("sepolia/jsonrpc")]
	for n := range sep.Upstreams {
		u := &sep.Upstreams[n]
		u.State.Facts.ChainID = said("11155111", 3*mins)
		u.Asked.Before = 18
	}
	last := &sep.Upstreams[2]
	last.State.Facts.Head, last.State.HeadSince, last.Asked.Before = said[uint64](7_441_901, 81*sec), before(81*sec), 15
	neutron := *i.Chains[i.Find("neutron/cometbft")]
	val := neutron.Upstreams[1]
	for _, name := range []string{"val-3", "val-4"} {
		val.Name = name
		neutron.Upstreams = append(neutron.Upstreams[:len(neutron.Upstreams):len(neutron.Upstreams)], val)
	}
	set(route(&neutron))
	i.Recent = plateEvents(i)
	return i
}

func arbitrumOnThePlate() *model.Chain {
	c := arbitrum()
	for n, head := range []uint64{281_904_553, 281_904_551, 281_904_548} {
		u := &c.Upstreams[n]
		u.State.Facts.Head = said(head, 87*sec)
		u.State.HeadSince = before(87 * sec)
		u.Asked.Before = 15
	}
	c.Upstreams[1].State.HeadSince = before(88 * sec)
	c.State.Heard.At = before(87 * sec)
	c.Checks.Tip = said[uint64](281_904_553, 87*sec)
	return c
}

// baseOnThePlate is rate-limited by two, 17 s ago.
func baseOnThePlate() *model.Chain {
	c := base()
	for n, left := range []time.Duration{23 * sec, 3*mins + 55*sec} {
		h := &c.Upstreams[n].State.Hold
		h.Until, h.From = at.Add(left), before(17*sec)
	}
	c.Upstreams = c.Upstreams[:2]
	limited := model.Evidence{Layer: model.LayerHTTP, HTTP: 429}
	judged(c, model.Healthy, 14*mins+31*sec, model.Probe{
		ID: 88, Trigger: model.TriggerScheduled, Started: before(17*sec + 300*ms), Ended: before(17 * sec),
		Tries: []model.Try{
			try(1, 0, model.Answer, model.ReasonRateLimit, 61*ms, limited, model.RateLimited),
			try(2, 1, model.Answer, model.ReasonRateLimit, 44*ms, limited, model.RateLimited),
			try(3, 1, model.Answer, model.ReasonRateLimit, 44*ms, limited, model.RateLimited),
		},
	})
	return c
}

func plateEvents(i *model.Instance) []model.Event {
	all := happened(i)
	neu := i.Find("neutron/cometbft")
	halted := model.Event{At: before(10*mins + 34*sec), Chain: neu, Body: model.ChainChanged{What: model.ChangeHalted, State: i.Chains[neu].State}}
	for n := range all {
		if all[n].At.Equal(before(12 * sec)) {
			all[n].At = before(17 * sec)
		}
	}
	return append([]model.Event{all[0], halted}, all[1:]...)
}

// limitedReplica is gw-7f9c, whose base is rate-limited by everyone.
func limitedReplica() *model.Instance {
	i := night()
	i.Name, i.ReadySince, i.Started = "gw-7f9c", before(14*mins+2*sec), before(14*mins+57*sec)
	arb := chainOf("arbitrum/jsonrpc", model.EVM, 3*mins, up("alchemy", model.Primary, 281_904_553, sec, 40*ms))
	i.Chains[i.Find("arbitrum/jsonrpc")] = arb
	b := i.Find("base/jsonrpc")
	c := i.Chains[b]
	held := func(u int, ago, left time.Duration, run int) model.Event {
		s := c.Upstreams[u].State
		s.Hold.From, s.Hold.Until, s.Hold.Run = before(ago), before(ago).Add(left), run
		return model.Event{At: before(ago), Chain: b, Body: model.UpstreamChanged{Upstream: u, What: model.ChangeHeld, State: s}}
	}
	healthy := c.State
	healthy.Health = model.Healthy
	i.Recent = []model.Event{
		{At: before(14*mins + 57*sec), Chain: -1, Body: model.Started{Instance: model.Instance{Version: i.Version, Epoch: i.Epoch}}},
		{At: before(14*mins + 39*sec), Chain: b, Body: model.UpstreamChanged{Upstream: 2, What: model.ChangeHealth, From: model.Unknown, State: c.Upstreams[2].State}},
		{At: before(14*mins + 31*sec), Chain: b, Body: model.ChainChanged{What: model.ChangeHealth, From: model.Unknown, State: healthy}},
		held(1, 5*mins+29*sec, 31*sec, 1), held(1, 4*mins+51*sec, 63*sec, 2), held(1, 3*mins+31*sec, 126*sec, 3),
		{At: before(13 * sec), Chain: -1, Who: "oncall", Body: model.CommandDone{ID: "x", Op: model.OpProbe, Chains: []int{b}, Answer: "accepted", Probes: []uint64{88}}},
		held(0, 12*sec, 40*sec, 1), held(1, 12*sec, 252*sec, 4), held(2, 12*sec, 30*mins, 1),
		{At: before(12 * sec), Chain: b, Body: model.ProbeEnded{Probe: *c.Last, State: c.State}},
	}
	return i
}

// echoed is what the Events frame shows, but for what an instance cannot say:
// gaps of a feed, and a drain.
func echoed() *model.Instance {
	i := onThePlate()
	sep, bas, arb := i.Find("sepolia/jsonrpc"), i.Find("base/jsonrpc"), i.Find("arbitrum/jsonrpc")
	s, b := i.Chains[sep], i.Chains[bas]
	older := func(c *model.Chain, id uint64, trigger model.Trigger, at time.Time) model.ProbeEnded {
		p := *c.Last
		p.ID, p.Trigger, p.Who = id, trigger, ""
		p.Started, p.Ended = at.Add(p.Started.Sub(p.Ended)), at
		st := c.State
		st.Next.At = at.Add(c.State.Next.At.Sub(c.Last.Ended))
		return model.ProbeEnded{Probe: p, State: st}
	}
	held := func(ago, left time.Duration, u, run int) model.Event {
		st := b.Upstreams[u].State
		st.Hold.From, st.Hold.Until, st.Hold.Run = before(ago), before(ago).Add(left), run
		return model.Event{At: before(ago), Chain: bas, Body: model.UpstreamChanged{Upstream: u, What: model.ChangeHeld, State: st}}
	}
	turned := func(ago time.Duration, n int, from model.Health) model.Event {
		st := i.Chains[n].State
		if from == model.Unknown {
			st.Health = model.Healthy
		}
		return model.Event{At: before(ago), Chain: n, Body: model.ChainChanged{What: model.ChangeHealth, From: from, State: st}}
	}
	soon := s.State
	soon.Next = model.Next{At: before(69 * sec), Why: model.NextSoon}
	i.Recent = []model.Event{
		{At: before(14*mins + 57*sec), Chain: -1, Body: model.Started{Instance: model.Instance{Version: i.Version, Epoch: i.Epoch}}},
		turned(14*mins+37*sec, sep, model.Unknown), turned(14*mins+31*sec, bas, model.Unknown),
		{At: before(5*mins + 29*sec), Chain: bas, Body: older(b, 87, model.TriggerScheduled, before(5*mins+29*sec))},
		held(3*mins+31*sec, 126*sec, 1, 3),
		{At: before(70 * sec), Chain: sep, Body: model.ChainChanged{What: model.ChangeNext, State: soon}},
		turned(59*sec, sep, model.Healthy),
		{At: before(51 * sec), Chain: -1, Body: model.ReadyChanged{Cause: arb}},
		{At: before(34 * sec), Chain: sep, Body: older(s, 412, model.TriggerScheduled, before(34*sec))},
		{At: before(30 * sec), Chain: -1, Who: "guest", Body: model.CommandDone{ID: "y", Op: model.OpProbe, Chains: []int{sep}, Answer: "refused: this token is a viewer, probe needs operator"}},
		{At: before(19 * sec), Chain: -1, Who: "oncall", Body: model.CommandDone{ID: "x", Op: model.OpProbe, Chains: []int{sep}, Answer: "accepted", Probes: []uint64{413}}},
		held(17*sec, 40*sec, 0, 1), held(17*sec, 252*sec, 1, 4),
		{At: before(17 * sec), Chain: bas, Body: model.ProbeEnded{Probe: *b.Last, State: b.State}},
		{At: before(8 * sec), Chain: sep, Body: model.ProbeEnded{Probe: *s.Last, State: s.State}},
	}
	return i
}

// firstRun is the demo, 42 s old.
func firstRun() *model.Instance {
	well := func(key string, family model.Family, due time.Duration, node string) *model.Chain {
		return chainOf(key, family, due, up(node, model.Primary, 1_000_000, sec, 2*ms))
	}
	bad := chainOf("base/jsonrpc", model.EVM, 4*sec, down("base-1", model.Primary, 9, model.ReasonRefused, model.LayerTCP, ms))
	var tries []model.Try
	for n := range 6 {
		tries = append(tries, refused(n+1, 0))
	}
	judged(bad, model.Unhealthy, 4*sec, model.Probe{ID: 4, Trigger: model.TriggerScheduled, Started: before(2*sec + 300*ms), Ended: before(2 * sec), Tries: tries})
	bad.State.Next.At = at.Add(4 * sec)
	eth := chainOf("ethereum/jsonrpc", model.EVM, 12*sec, limited(up("llama", model.Primary, 1_000_000, sec, 2*ms), model.RateLimited, 29*sec, 40*sec, 1))
	limit := model.Evidence{Layer: model.LayerHTTP, HTTP: 429, Text: "Retry-After 40"}
	judged(eth, model.Healthy, 40*sec, model.Probe{ID: 4, Trigger: model.TriggerScheduled, Started: before(11 * sec), Ended: before(11 * sec), Tries: []model.Try{
		try(1, 0, model.Answer, model.ReasonRateLimit, ms, limit, model.RateLimited),
		try(2, 0, model.Answer, model.ReasonRateLimit, ms, limit, model.RateLimited),
		try(3, 0, model.Answer, model.ReasonRateLimit, ms, limit, model.RateLimited),
	}})
	eth.State.Next.At = at.Add(12 * sec)
	gno := chainOf("gnosis/beacon", "beacon", 8*sec, with(up("teku-1", model.Primary, 999_786, sec, 2*ms), func(s *model.UpstreamState) {
		s.Findings, s.Lag.Blocks = model.FindingSet(model.Syncing), 214
	}), up("teku-2", model.Backup, 1_000_000, sec, 2*ms))
	i := &model.Instance{
		Name: "demo", Epoch: "1", Started: before(42 * sec), Policy: model.ReadyAll, ReadySince: before(4 * sec), Demo: true,
		Chains: []*model.Chain{
			bad, eth, gno, well("bitcoin/jsonrpc", "bitcoin", 9*sec, "core-1"), well("cosmos/cometbft", "cometbft", 3*sec, "hub-1"),
			well("near/jsonrpc", "near", 11*sec, "near-1"), well("solana/jsonrpc", "solana", 5*sec, "sol-1"), well("starknet/jsonrpc", "starknet", 7*sec, "juno-1"),
		},
	}
	i.Recent = []model.Event{
		{At: before(30 * sec), Chain: 2, Body: model.ServingChanged{From: 0, Serving: gno.Serving}},
		{At: before(11 * sec), Chain: 1, Body: model.UpstreamChanged{What: model.ChangeHeld, State: eth.Upstreams[0].State}},
		{At: before(4 * sec), Chain: 0, Body: model.ChainChanged{What: model.ChangeHealth, From: model.Healthy, State: bad.State}},
		{At: before(2 * sec), Chain: 0, Body: model.ProbeEnded{Probe: *bad.Last, State: bad.State}},
	}
	return i
}
