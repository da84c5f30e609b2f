package ui

import (
	"time"

	"chaintop/model"
)

// asked gives a chain the traffic of a minute.
func asked(c *model.Chain, requests, failed, retried, hedged, streams int, p50, p95, ago time.Duration) *model.Chain {
	k := *c
	k.Traffic = model.Traffic{
		Window: mins, Requests: requests, Failed: failed, Retried: retried, Hedged: hedged, P50: p50, P95: p95,
		Last: before(ago), Total: uint64(requests) * 14, Errors: uint64(failed) * 3, Streams: streams,
		Upstreams: make([]model.UpstreamTraffic, len(c.Upstreams)),
	}
	if u := c.Serving.Upstream; u >= 0 {
		k.Traffic.Upstreams[u] = model.UpstreamTraffic{
			Requests: requests, NoAnswers: retried, P50: p50, P95: p95, Streams: streams,
			Results: uint64(requests) * 12, Answers: uint64(failed) * 3, Silences: uint64(retried), Abandoned: 4,
		}
	}
	return &k
}

// busy is gw-7f9c of plate 5: it serves 212 requests a second.
func busy() *model.Instance {
	i := limitedReplica()
	i.Gateway, i.Policy = true, "ethereum/jsonrpc,base/jsonrpc,polygon/jsonrpc"
	i.Drain.Settings = model.DefaultDrain()
	set := func(key string, requests, failed, retried, hedged, streams int, p50, p95 time.Duration) {
		n := i.Find(key)
		i.Chains[n] = asked(i.Chains[n], requests, failed, retried, hedged, streams, p50, p95, 0)
	}
	set("ethereum/jsonrpc", 118*60, 0, 2, 1, 5, 42*ms, 118*ms)
	set("base/jsonrpc", 61*60, 702, 0, 0, 9, 61*ms, 182*ms)
	set("polygon/jsonrpc", 21*60, 0, 0, 0, 0, 33*ms, 90*ms)
	set("optimism/jsonrpc", 9*60, 0, 0, 0, 0, 24*ms, 71*ms)
	set("gnosis/beacon", 2*60, 0, 0, 0, 0, 18*ms, 64*ms)
	set("bitcoin/jsonrpc", 60, 0, 0, 0, 0, 9*ms, 12*ms)
	eth := i.Find("ethereum/jsonrpc")
	i.Drain.Activity = model.Activity{
		At: at, Last: at, Method: "eth_call", Kind: model.ClientHTTP, Chain: eth, Client: "10.4.2.17", OldChain: -1,
		Message: before(18 * sec), MessageClient: "10.83.4.7", InFlight: 6, Streams: 14, Oldest: before(14*mins + 2*sec),
		NewConn: before(sec), Quiet: 100 * ms, Window: mins,
		Clients: []model.Client{
			{Addr: "10.4.2.17", Kind: model.ClientHTTP, Method: "eth_call", Chain: eth, Every: 8 * ms, Count: 118 * 60, Last: at, Since: before(12 * mins), Conns: 41},
			{Addr: "10.4.2.31", Kind: model.ClientHTTP, Method: "eth_getLogs", Chain: i.Find("base/jsonrpc"), Every: 14 * ms, Count: 71 * 60, Last: at, Since: before(9 * sec), Conns: 22},
			{Addr: "10.4.2.44", Kind: model.ClientHTTP, Method: "eth_call", Chain: i.Find("polygon/jsonrpc"), Every: 50 * ms, Count: 20 * 60, Last: at, Since: before(2 * mins), Conns: 9},
		},
		Others: model.Others{Clients: 5, Count: 180, Last: at},
	}
	return i
}

// keptAwake is gw-5d77 of plate 5: one client keeps its drain from its end.
func keptAwake() *model.Instance {
	i := night()
	i.Name, i.Version, i.Gateway = "gw-5d77", "v0.3.2", true
	well := chainOf("arbitrum/jsonrpc", model.EVM, 2*mins+35*sec, up("alchemy", model.Primary, 281_904_553, 2*sec, 40*ms))
	i.Chains[i.Find("arbitrum/jsonrpc")] = well
	for n, c := range i.Chains {
		i.Chains[n] = asked(c, 0, 0, 0, 0, 0, 0, 0, 2*mins+time.Duration(31+n)*sec)
	}
	eth := i.Find("ethereum/jsonrpc")
	i.Chains[eth] = asked(i.Chains[eth], 30, 0, 0, 0, 2, 61*ms, 92*ms, 1800*ms)
	i.Chains[i.Find("solana/jsonrpc")].Traffic = model.Traffic{}
	since := before(2*mins + 39*sec)
	d := &i.Drain
	d.Settings = model.DefaultDrain()
	d.State, d.Since, d.Who, d.By, d.Final = model.Draining, since, "SIGTERM", model.DrainBySignal, true
	i.ReadySince = since
	d.Activity = model.Activity{
		At: at, Since: since, Last: before(1800 * ms), Method: "eth_blockNumber", Kind: model.ClientHTTP, Chain: eth, Client: "10.83.2.9",
		OldChain: -1, Message: before(41 * mins), MessageClient: "10.83.2.12", Streams: 2, Oldest: before(58 * mins),
		NewConn: before(2*mins + 35*sec), Requests: 79, Quiet: 2 * sec,
		Clients: []model.Client{
			{Addr: "10.83.2.9", Kind: model.ClientHTTP, Method: "eth_blockNumber", Chain: eth, Every: 2 * sec, Count: 79, Last: before(1800 * ms), Since: before(2*time.Hour + 14*mins), Conns: 1, Old: true},
			{Addr: "10.4.2.17", Kind: model.ClientHTTP, Method: "eth_call", Chain: eth, Count: 361, Last: before(2*mins + 31*sec), Closed: before(2*mins + 31*sec)},
			{Addr: "10.83.2.12", Kind: model.ClientWS, Method: "eth_subscribe", Chain: eth, Last: before(41 * mins), Since: before(58 * mins), Conns: 2, Streams: 2, Old: true},
		},
		Others: model.Others{Clients: 3, Count: 12, Last: before(2*mins + 33*sec)},
	}
	drained := *d
	drained.Activity = model.Activity{}
	i.Recent = append(i.Recent[:1:1],
		model.Event{At: since, Chain: -1, Body: model.DrainChanged{What: model.DrainStarted, From: model.DrainServing, Drain: drained}},
		model.Event{At: since, Chain: -1, Body: model.ReadyChanged{Cause: -1, Draining: true}})
	return i
}

// asIf is gw-7f9c while a drain of it is simulated: its old connections were quiet
// for long enough.
func asIf(known bool) *model.Instance {
	i := busy()
	d := &i.Drain
	d.State, d.Simulated, d.Since, d.Who, d.By = model.Draining, true, before(47*sec), "oncall", model.DrainByCommand
	a := &d.Activity
	a.Since, a.Window, a.Requests, a.OldRequests, a.OldClients = d.Since, 0, 10021, 31, 2
	a.OldLast, a.OldMethod, a.OldKind, a.OldClient, a.OldChain = before(7100*ms), "eth_call", model.ClientHTTP, "10.4.2.17", a.Chain
	old := &a.Clients[0]
	old.Old, old.OldCount, old.OldLast, old.Every, old.Conns = true, 29, before(7100*ms), 1300*ms, 1
	gone := &a.Clients[1]
	gone.OldCount, gone.OldLast, gone.Every = 2, before(38*sec), 0
	gone.Since, gone.Closed, gone.Conns = time.Time{}, before(38*sec), 0
	if known {
		a.OldLast = before(12 * sec)
		old.OldLast = a.OldLast
		d.OldIdle = before(2 * sec)
		d.Forecast = model.Forecast{
			Began: d.Since, At: d.OldIdle, End: model.DrainEndIdle, LetsGo: d.Settings.LetsGo(), NewComes: true, Last: a.OldLast,
			Requests: 31, Clients: 2, InFlight: 6, Streams: 14, Message: a.Message, Client: a.MessageClient,
		}
	}
	i.Recent = append(i.Recent,
		model.Event{At: d.Since, Chain: -1, Who: "oncall", Body: model.DrainChanged{What: model.DrainSimulated, Drain: *d}},
		model.Event{At: d.Since, Chain: -1, Who: "oncall", Body: model.CommandDone{ID: "z", Op: model.OpSimulate, Code: 202, Answer: "accepted"}})
	return i
}
