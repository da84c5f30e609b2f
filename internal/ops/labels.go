package ops

import (
	"strconv"

	"chaintop/internal/clean"
	"chaintop/model"
)

// mostLabel bounds a label's value, in runes.
const mostLabel = 128

// labels are the names of an instance's chains and upstreams as label values:
// clean, bounded, and no two alike among siblings, since one series given twice
// makes a scrape incomplete.
type labels struct {
	chains    []string
	upstreams [][]string // by chain
}

func labelsOf(i *model.Instance) labels {
	l := labels{chains: make([]string, len(i.Chains)), upstreams: make([][]string, len(i.Chains))}
	for n, c := range i.Chains {
		l.chains[n] = label(c.Key())
		l.upstreams[n] = make([]string, len(c.Upstreams))
		for u := range c.Upstreams {
			l.upstreams[n][u] = label(c.Upstreams[u].Name)
		}
		distinct(l.upstreams[n])
	}
	distinct(l.chains)
	return l
}

func label(s string) string { return clean.Text(s, mostLabel) }

// distinct tells equal names apart by their place.
func distinct(names []string) {
	seen := make(map[string]bool, len(names))
	for n, name := range names {
		for at := n; seen[names[n]]; at++ {
			names[n] = name + "#" + strconv.Itoa(at)
		}
		seen[names[n]] = true
	}
}
