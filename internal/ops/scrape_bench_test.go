package ops

import (
	"fmt"
	"testing"
	"time"

	"chaintop/model"
)

// BenchmarkScrape is one scrape of 1,000 chains with four upstreams each.
func BenchmarkScrape(b *testing.B) {
	var chains []*model.Chain
	for n := range 1000 {
		chains = append(chains, chainOn(fmt.Sprintf("chain%d", n), primaries("a", "b", "c", "d")...))
	}
	pic := model.Begin(model.Instance{Name: "gw", Epoch: "e1", Policy: model.ReadyAll, Gateway: true, Chains: chains}, epoch0)
	s := New(Options{Picture: func() *model.Instance { return &pic }, Now: func() time.Time { return epoch0 }})
	s.counts.fold([]model.Event{{Chain: -1, Body: model.Started{Instance: pic}}})
	b.ReportAllocs()
	for b.Loop() {
		if w := ask(s, "GET", "/metrics"); w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}
