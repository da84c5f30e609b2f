package ops

import (
	"testing"
	"time"

	"chaintop/model"
)

// rich is a picture in which everything there is a number for has happened:
//
//	0 ethereum  alchemy pinned, infura behind, spare limited, cold erroring; clients ask
//	1 arbitrum  unreachable
//	2 base      inconclusive: its key is refused
//	3 gnosis    on its backup
//	4 linea     nothing is known yet
//
// and an idle drain runs.
func rich(t *testing.T) *rig {
	r := newRig(t, model.ReadyAll, model.DrainSettings{},
		chainOn("ethereum", primaries("alchemy", "infura", "spare", "cold")...),
		chainOn("arbitrum", primaries("one", "two")...),
		chainOn("base", primaries("only")...),
		chainOn("gnosis", model.Upstream{Name: "mine"}, model.Upstream{Name: "hired", Tier: model.Backup}),
		chainOn("linea", primaries("l")...),
	)
	r.probe(0, head(100))
	for range 3 {
		r.round(0, head(100), head(90), head(101), answered(500))
	}
	r.in(model.Command{At: r.now, Op: model.OpPin, Chains: []int{0}, Upstream: 0, Who: "ann"})
	r.round(0, head(101), head(90), limited(time.Minute), answered(500))
	r.probe(1, times(6, silence(model.ReasonRefused))...)
	r.drop()
	r.probe(2, times(6, answered(403, model.AccessDenied))...)
	r.probe(3, silence(model.ReasonTimeout), head(7))
	r.answer(r.take(3, false), silence(model.ReasonTimeout), time.Millisecond) // the check that the silence asked for
	for range 3 {
		r.round(3, silence(model.ReasonTimeout), head(7))
	}
	r.in(model.Signal{At: r.now, Name: "SIGTERM"})
	began := r.now
	r.now = r.now.Add(3 * time.Second)
	r.in(model.Sums{
		At: r.now,
		Chains: []model.ChainSums{{Chain: 0, Heard: r.now, Traffic: model.Traffic{
			Total: 50, Errors: 4, Refused: 2, Streams: 3, Moves: 5, Filled: 60, Gaps: 1,
			Upstreams: []model.UpstreamTraffic{{Results: 40, Answers: 3, Silences: 7, Abandoned: 1}, {}, {Results: 2}, {}},
		}}},
		Activity: &model.Activity{At: r.now, Since: began, Last: r.now, InFlight: 6, Streams: 3},
	})
	r.now = r.now.Add(2 * time.Second)
	return r
}
