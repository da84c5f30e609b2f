package ui

import (
	"fmt"

	"chaintop/model"
)

// crowd is n chains with k upstreams each, one in fifty of them in trouble.
func crowd(n, k int) *model.Instance {
	i := &model.Instance{Name: "gw-7fe3", Version: "v0.4.0", Epoch: "7c1e04", Started: before(15 * mins), Policy: model.ReadyAll, ReadySince: before(mins)}
	for c := range n {
		var ups []model.Upstream
		for u := range k {
			tier := model.Primary
			if u == k-1 {
				tier = model.Backup
			}
			ups = append(ups, up(fmt.Sprintf("node-%d", u), tier, 21_034_112, 2*sec, 42*ms))
		}
		chain := chainOf(fmt.Sprintf("chain-%04d/jsonrpc", c), model.EVM, 4*mins, ups...)
		if c%50 == 0 {
			var tries []model.Try
			for t := range 6 {
				tries = append(tries, refused(t+1, t%k))
			}
			judged(chain, model.Unhealthy, mins, model.Probe{ID: 9, Started: before(12 * sec), Ended: before(6 * sec), Tries: tries})
		}
		i.Chains = append(i.Chains, chain)
		i.Recent = append(i.Recent, model.Event{At: before(sec), Chain: c, Body: model.ProbeEnded{Probe: *chain.Last, State: chain.State}})
	}
	i.Recent = i.Recent[max(0, len(i.Recent)-model.RecentChanges):]
	return i
}
