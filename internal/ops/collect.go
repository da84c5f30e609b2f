package ops

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaintop/model"
)

// collector reads the picture when it is scraped, so that what is no longer true
// is no longer there.
type collector struct {
	picture func() *model.Instance
	now     func() time.Time
	counts  *counts
}

// Describe names every metric there may be.
func (*collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range families {
		ch <- f.desc
	}
}

// Collect gives one scrape.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := scrape{out: ch, now: c.now()}
	s.put(eventGaps, float64(c.counts.lost()))
	i := c.picture()
	if i == nil {
		return
	}
	s.instance(i)
	s.drain(i)
	names := labelsOf(i)
	for n, chain := range i.Chains {
		counted := c.counts.chain(n)
		s.chain(i, chain, names.chains[n])
		s.probes(counted, names.chains[n])
		s.upstreams(chain, counted, names.chains[n], names.upstreams[n])
		if i.Gateway {
			s.traffic(chain, names.chains[n], names.upstreams[n])
		}
	}
}

// scrape is one in the making.
type scrape struct {
	out chan<- prometheus.Metric
	now time.Time
}

// put panics when the labels are not those of the family: that is a bug here,
// which any scrape in a test shows.
func (s scrape) put(f *family, v float64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
}

func (s scrape) flag(f *family, on bool, labels ...string) { s.put(f, one(on), labels...) }

// time leaves out a moment that never came.
func (s scrape) time(f *family, at time.Time, labels ...string) {
	if !at.IsZero() {
		s.put(f, float64(at.UnixMilli())/1000, labels...)
	}
}

func one(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

func (s scrape) instance(i *model.Instance) {
	s.put(instanceInfo, 1, label(i.Name), label(i.Version), policyWord(i.Policy))
	s.flag(ready, model.Ready(i, i.Policy).Ready)
	s.time(readySince, i.ReadySince)
}

// policyWord is a policy as a label: of a list only that it is one.
func policyWord(p model.Policy) string {
	if strings.Contains(string(p), "/") {
		return "list"
	}
	return label(string(p))
}

var drainStates = []model.DrainState{model.DrainServing, model.Draining, model.Drained}

func (s scrape) drain(i *model.Instance) {
	d := i.Drain
	for _, state := range drainStates {
		s.flag(drainState, d.Real() == state, state.String())
	}
	s.flag(drainSimulated, d.Simulated)
	if d.State != model.DrainServing {
		s.time(drainSince, d.Since)
	}
	if at := d.IdleAt(); !at.IsZero() {
		s.put(drainIdle, max(s.now.Sub(at)+d.Settings.Idle, 0).Seconds())
	}
	if !d.Activity.At.IsZero() {
		s.put(drainInFlight, float64(d.Activity.InFlight))
		s.put(drainStreams, float64(d.Activity.Streams))
		s.time(lastRequest, d.Activity.Last)
	}
}
