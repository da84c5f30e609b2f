package demo

import (
	"fmt"
	"slices"
	"time"

	"chaintop/internal/simnode"
)

// scenario is chains and what becomes of their nodes.
type scenario struct {
	name, about string
	chains      []chain
	begin       []cue         // stands when the demo opens
	round       []cue         // played over and over, in the order of its times
	length      time.Duration // of a round; it begins after the last cue
	stayer      bool          // a client keeps its connection when the instance drains
}

// cue is what one node turns to. Times are before the stretch of the seed.
type cue struct {
	at   time.Duration // into the round
	node string        // chain:upstream
	what change
}

// change is a fault that a node turns to. An identity is asked of a node that
// comes back, and its head may fall there and nowhere else; so some take one
// that went away and came back.
type change struct {
	fault simnode.Fault
	comes bool // the node is down for a while before it
	goes  bool // the node is down for a while before the next
}

// downtime is how long that is: longer than the checks that make a node
// unhealthy at the demo's pace.
const downtime = 5 * time.Second

func to(f simnode.Fault) change     { return change{fault: f} }
func reborn(f simnode.Fault) change { return change{fault: f, comes: true, goes: true} }

func after(seconds float64, node string, what change) cue {
	return cue{time.Duration(seconds * float64(time.Second)), node, what}
}

// usedUp is a provider whose plan is used up, in the words of one.
func usedUp() simnode.Fault {
	return simnode.Status(429, `{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"daily request count exceeded"}}`)
}

var (
	well    = to(simnode.Quiet())
	refuses = to(simnode.Refuse())
	still   = to(simnode.Halt())
)

// scenarios are all of them; the first has no name.
var scenarios = []scenario{
	{
		chains: three,
		begin:  []cue{after(0, "stalls:node-1", to(simnode.StallFirst()))},
		round: []cue{
			after(20, "refuses:node-1", refuses),
			after(60, "refuses:node-1", well),
		},
		length: time.Minute,
	},
	{name: "quiet", about: "nothing happens", chains: eight},
	{
		name: "stall", about: "a primary takes requests and never answers; its backup serves", chains: eight,
		round: []cue{
			after(10, "polygon:bor-1", to(simnode.Stall())),
			after(45, "polygon:bor-1", well),
			after(55, "arbitrum:nitro-1", to(simnode.StallFirst())),
		},
		length: 75 * time.Second,
	},
	{
		name: "ratelimit", about: "429 with Retry-After, without it, and a quota that is used up", chains: eight,
		round: []cue{
			after(8, "base:llama", to(simnode.RateLimit(0, 12*time.Second))),
			after(16, "base:alchemy", to(simnode.RateLimit(0, 0))),
			after(24, "base:infura", to(usedUp())),
			after(30, "ethereum:alchemy", to(simnode.RateLimit(2, 5*time.Second))),
			after(60, "base:llama", well),
			after(70, "base:alchemy", well),
			after(75, "base:infura", well),
		},
		length: 2 * time.Minute,
	},
	{
		name: "syncing", about: "a primary catches up while its backup serves, and takes over again", chains: eight,
		begin: []cue{after(0, "gnosis:nethermind-1", reborn(simnode.CatchUp(1_200, 45*time.Second)))},
		round: []cue{
			after(100, "gnosis:nethermind-1", reborn(simnode.CatchUp(2_400, time.Minute))),
		},
		length: 190 * time.Second,
	},
	{
		name: "wrongchain", about: "an upstream comes back as a node of another chain", chains: eight,
		round: []cue{
			after(10, "linea:besu-1", reborn(simnode.WrongChain(59141))),
			after(70, "linea:besu-1", well),
		},
		length: 100 * time.Second,
	},
	{
		name: "roguetip", about: "a head far ahead of the others; nobody is thrown out for it", chains: eight,
		round: []cue{
			after(10, "optimism:op-2", change{fault: simnode.LagBy(-9_812), goes: true}),
			after(60, "optimism:op-2", well),
		},
		length: 90 * time.Second,
	},
	{
		name: "halt", about: "every head of a chain stands still; there is nothing to fail over to", chains: eight,
		round: []cue{
			after(20, "arbitrum:nitro-1", still),
			after(20, "arbitrum:nitro-2", still),
			after(20, "arbitrum:quicknode", still),
			after(200, "arbitrum:nitro-1", well),
			after(200, "arbitrum:nitro-2", well),
			after(200, "arbitrum:quicknode", well),
		},
		length: 260 * time.Second,
	},
	{
		name: "outage", about: "every upstream of a chain refuses, then recovers; another chain loses its primary", chains: eight,
		round: []cue{
			after(10, "base:llama", refuses),
			after(10.5, "base:alchemy", refuses),
			after(11, "base:infura", refuses),
			after(20, "polygon:bor-1", refuses),
			after(55, "base:infura", well),
			after(57, "base:llama", well),
			after(58, "base:alchemy", well),
			after(80, "polygon:bor-1", well),
		},
		length: 2 * time.Minute,
	},
	{
		name: "drain", about: "a client with a keep-alive connection keeps a drain from ending: d simulates one, D begins one", chains: eight,
		stayer: true,
	},
}

// Scenario is a demo that can be asked for by its name.
type Scenario struct {
	Name  string
	About string // in half a sentence
}

// Scenarios are all that have a name.
func Scenarios() []Scenario {
	var all []Scenario
	for _, s := range scenarios {
		if s.name != "" {
			all = append(all, Scenario{s.name, s.about})
		}
	}
	return all
}

func scenarioOf(name string) (scenario, error) {
	if i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name }); i >= 0 {
		return scenarios[i], nil
	}
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return scenario{}, unknown("scenario", name, names)
}

// rehearse finds the nodes of the script, gives it the times of the seed, and
// sets what stands at the beginning.
func (d *Demo) rehearse() error {
	for _, c := range d.scenario.begin {
		a, err := d.played(c.node)
		if err != nil {
			return err
		}
		if err := a.Set(c.what.fault); err != nil {
			return fmt.Errorf("%s: %w", c.node, err)
		}
		a.stands = c.what
	}
	for _, c := range d.scenario.round {
		a, err := d.played(c.node)
		if err != nil {
			return err
		}
		d.script = append(d.script, step{d.stretched(c.at), a, c.what})
	}
	return nil
}

// played is the actor of a script.
func (d *Demo) played(key string) (*actor, error) {
	for _, us := range d.cast {
		for _, a := range us {
			if a.key() == key {
				return a, nil
			}
		}
	}
	return nil, fmt.Errorf("scenario %s: no node is called %s", d.scenario.name, key)
}

// stretched is a time of a script as the seed has it.
func (d *Demo) stretched(t time.Duration) time.Duration {
	return time.Duration(float64(t) * d.stretch).Round(100 * time.Millisecond)
}
