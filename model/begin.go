package model

import "time"

// Begin is the picture an instance starts from at now: what is configured, the
// first probe of each chain spread over the next second (H2), the rounds of
// checks spread over the interval after that second by a hash of instance and
// chain (U1). It serves; an instance without drain settings gets the defaults.
func Begin(i Instance, now time.Time) Instance {
	i.Started, i.ReadySince = now, now
	i.Drain = Drain{Settings: i.Drain.Settings}
	if i.Drain.Settings == (DrainSettings{}) {
		i.Drain.Settings = DefaultDrain()
	}
	chains := make([]*Chain, len(i.Chains))
	for n, def := range i.Chains {
		c := def.clone()
		h := hash(i.Name, c.Key())
		if c.Seed == 0 {
			c.Seed = h
		}
		c.State = ChainState{Since: now, Next: Next{
			At:   now.Add(time.Second * time.Duration(n) / time.Duration(len(i.Chains))),
			From: now, Why: NextFirst,
		}}
		if len(c.Upstreams) > 0 {
			c.Checks = Checks{Due: now.Add(time.Second + time.Duration(h%uint64(c.Settings.CheckInterval)))}
		}
		for u := range c.Upstreams {
			c.Upstreams[u].State = UpstreamState{Since: now}
		}
		c.Serving = c.routed(now)
		c.Serving.Since = now
		c.Strip.note(now, Unknown, NoVerdict)
		chains[n] = c
	}
	i.Chains = chains
	return i
}
