package demo

import (
	"math/rand/v2"
	"time"

	"chaintop/internal/simnode"
)

// chain is a simulated chain as the config names it.
type chain struct {
	name      string
	id        uint64
	height    uint64        // about where it is; the seed adds to it
	pace      time.Duration // from block to block
	maxLag    uint64        // blocks: about ten seconds of them
	upstreams []upstream
}

type upstream struct {
	name    string
	backup  bool
	latency time.Duration // the least; the seed adds to it
	client  string
}

// How much a seed adds.
const (
	mostBlocks  = 1_000_000 // to a height
	mostLatency = 40        // % to a latency
	mostStretch = 25        // % to the times of a script
)

const interfaceName = "jsonrpc" // of every chain here

// key is the chain's name everywhere else.
func (c *chain) key() string { return c.name + "/" + interfaceName }

func primary(name string, ms int, client string) upstream {
	return upstream{name: name, latency: time.Duration(ms) * time.Millisecond, client: client}
}

func backup(name string, ms int, client string) upstream {
	u := primary(name, ms, client)
	u.backup = true
	return u
}

// eight are the chains of every scenario that has a name: own nodes with a
// provider behind them, and one chain that lives by providers.
var eight = []chain{
	{"arbitrum", 42161, 281_000_000, time.Second, 10, []upstream{
		primary("nitro-1", 12, "nitro/sim"), primary("nitro-2", 14, "nitro/sim"), backup("quicknode", 38, "nitro/sim")}},
	{"base", 8453, 18_200_000, 2 * time.Second, 5, []upstream{
		primary("llama", 44, "op-geth/sim"), primary("alchemy", 36, "op-reth/sim"), backup("infura", 52, "op-geth/sim")}},
	{"bnb", 56, 44_000_000, 3 * time.Second, 4, []upstream{
		primary("bsc-1", 16, "bsc/sim"), backup("ankr", 61, "bsc/sim")}},
	{"ethereum", 1, 21_000_000, 12 * time.Second, 2, []upstream{
		primary("geth-1", 9, "geth/sim"), primary("reth-1", 8, "reth/sim"), backup("alchemy", 41, "geth/sim")}},
	{"gnosis", 100, 37_000_000, 5 * time.Second, 3, []upstream{
		primary("nethermind-1", 18, "nethermind/sim"), backup("ankr", 57, "nethermind/sim")}},
	{"linea", 59144, 13_000_000, 4 * time.Second, 3, []upstream{
		primary("besu-1", 21, "besu/sim"), primary("besu-2", 23, "besu/sim")}},
	{"optimism", 10, 128_000_000, 2 * time.Second, 5, []upstream{
		primary("op-1", 15, "op-geth/sim"), primary("op-2", 17, "op-geth/sim"), backup("alchemy", 43, "op-reth/sim")}},
	{"polygon", 137, 64_000_000, 2 * time.Second, 5, []upstream{
		primary("bor-1", 20, "bor/sim"), backup("alchemy", 33, "bor/sim")}},
}

// three are the chains of the demo nobody asked for. Each is called by what
// its one node does.
var three = []chain{
	{"quiet", 900_001, 21_000_000, 2 * time.Second, 5, []upstream{primary("node-1", 18, "sim/quiet")}},
	{"stalls", 900_002, 8_400_000, 3 * time.Second, 4, []upstream{primary("node-1", 50, "sim/stalls")}},
	{"refuses", 900_003, 310_000_000, time.Second, 10, []upstream{primary("node-1", 31, "sim/refuses")}},
}

// casting makes the nodes of the chains. Those of one chain agree on its
// blocks. The chance is taken in the order of the chains.
func casting(chains []chain, seed int64, chance *rand.Rand, now time.Time) [][]*actor {
	all := make([][]*actor, len(chains))
	for i := range chains {
		c := &chains[i]
		start := c.height + chance.Uint64N(mostBlocks)
		for _, u := range c.upstreams {
			latency := u.latency * time.Duration(100+chance.IntN(mostLatency+1)) / 100
			all[i] = append(all[i], &actor{of: c, name: u.name, Node: simnode.New(simnode.Options{
				Name: c.name + ":" + u.name, ChainID: c.id, Start: start, At: now, BlockTime: c.pace,
				Latency: latency, Client: u.client, Seed: seed,
			})})
		}
	}
	return all
}
