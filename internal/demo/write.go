package demo

import (
	"fmt"
	"strings"
)

// pace is how the demo is judged: as the defaults have it, but faster, so that
// whoever looks does not wait for minutes.
const pace = `
# In fast motion: a probe is due after seconds here, where the defaults say
# minutes. What is judged, and how, is the same.
defaults:
  probe:
    timeout: 2s             # by default 5s
    healthy_interval: 20s   # by default 5m
    unhealthy_interval: 5s  # by default 15s
    soon: 3s                # by default 15s
  check:
    interval: 1s            # by default 5s
    timeout: 2s             # by default 5s
`

// write is the config file of the demo.
func (d *Demo) write() string {
	var b strings.Builder
	b.WriteString("# The demo: simulated nodes on loopback")
	if d.scenario.name != "" {
		b.WriteString(", scenario " + d.scenario.name)
	}
	fmt.Fprintf(&b, ", seed %d.\ninstance: {name: demo}\n%s\nchains:\n", d.seed, pace)
	for _, us := range d.cast {
		c := us[0].of
		fmt.Fprintf(&b, "  - name: %s\n    family: evm\n    interface: %s\n    chain_id: \"%d\"\n    max_lag: %d\n    upstreams:\n",
			c.name, interfaceName, c.id, c.maxLag)
		for i, a := range us {
			tier := "primary"
			if c.upstreams[i].backup {
				tier = "backup"
			}
			fmt.Fprintf(&b, "      - {name: %s, url: %q, tier: %s}\n", a.name, a.URL(), tier)
		}
	}
	return b.String()
}
