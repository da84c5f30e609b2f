package ops

import (
	"github.com/prometheus/client_golang/prometheus"

	"chaintop/model"
)

var outcomes = []model.OutcomeKind{model.Result, model.Answer, model.NoAnswer}

// tries gives the counts of one upstream.
func (s scrape) tries(n *upstreamCounts, chain, name string) {
	for by, asker := range askers {
		for _, kind := range outcomes {
			s.put(upstreamTries, float64(n.tries[by][kind]), chain, name, asker, kind.String())
		}
	}
	for i, r := range answers {
		s.reason(n.reasons[i], chain, name, model.Answer, r)
	}
	for i, r := range silent {
		s.reason(n.reasons[len(answers)+i], chain, name, model.NoAnswer, r)
	}
	s.put(upstreamProbing, float64(n.asked), chain, name)
	s.latency(n, chain, name)
}

// reason leaves out one that was not met.
func (s scrape) reason(n uint64, chain, name string, kind model.OutcomeKind, r model.Reason) {
	if n > 0 {
		s.put(upstreamReasons, float64(n), chain, name, kind.String(), string(r))
	}
}

func (s scrape) latency(n *upstreamCounts, chain, name string) {
	buckets := make(map[float64]uint64, len(latencies))
	sum := uint64(0)
	for i, bound := range latencies {
		sum += n.latency[i]
		buckets[bound.Seconds()] = sum
	}
	sum += n.latency[len(latencies)]
	s.out <- prometheus.MustNewConstHistogram(upstreamLatency.desc, sum, n.took.Seconds(), buckets, chain, name)
}
