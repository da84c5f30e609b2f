package simnode

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// view is what a node says of itself in one answer: its chain through its
// fault.
type view struct {
	*Node
	id   uint64
	head uint64
	sync *progress // nil = in sync
	err  *failure  // the answer to everything
}

// progress is a node that catches up.
type progress struct {
	Starting string `json:"startingBlock"`
	Current  string `json:"currentBlock"`
	Highest  string `json:"highestBlock"`
}

// see is the node at now, with fault f since then.
func (n *Node) see(f Fault, since, now time.Time) view {
	v := view{Node: n, id: n.opts.ChainID, head: n.chain.head(now)}
	switch f.kind {
	case errorAll:
		v.err = &failure{f.code, f.text}
	case syncing:
		v.head = f.current
		v.sync = &progress{quantity(0), quantity(f.current), quantity(f.highest)}
	case catchUp:
		v.catchUp(f, since, now)
	case wrongChain:
		v.id = f.id
	case halt:
		v.head = n.chain.head(since)
	case lag:
		if f.code < 0 {
			v.head += uint64(-f.code)
		} else {
			v.head = minus(v.head, uint64(f.code))
		}
	case quiet, stall, refuse, rateLimit, status, drop, reset:
	}
	return v
}

// catchUp is the node on its way from f.current blocks behind to the head.
func (v *view) catchUp(f Fault, since, now time.Time) {
	left := f.wait - now.Sub(since)
	if left <= 0 {
		return
	}
	highest := v.head
	v.head = minus(highest, uint64(math.Ceil(float64(f.current)*float64(left)/float64(f.wait))))
	began := minus(v.chain.head(since), f.current)
	v.sync = &progress{quantity(began), quantity(v.head), quantity(highest)}
}

// methods are what a node has.
var methods = map[string]func(v view, params json.RawMessage) (any, *failure){
	"eth_blockNumber":      func(v view, _ json.RawMessage) (any, *failure) { return quantity(v.head), nil },
	"eth_chainId":          func(v view, _ json.RawMessage) (any, *failure) { return quantity(v.id), nil },
	"eth_getBlockByNumber": view.blockByNumber,
	"eth_syncing":          view.syncing,
	"net_peerCount":        view.peers,
	"net_version":          func(v view, _ json.RawMessage) (any, *failure) { return strconv.FormatUint(v.id, 10), nil },
	"web3_clientVersion":   func(v view, _ json.RawMessage) (any, *failure) { return v.opts.Client, nil },
}

func (v view) answer(c call) (any, *failure) {
	if v.err != nil {
		return nil, v.err
	}
	if c.Method == "" {
		return nil, errInvalid
	}
	method := methods[c.Method]
	if method == nil || slices.Contains(v.opts.Lacks, c.Method) {
		return nil, &failure{-32601, "the method " + c.Method + " is not available"}
	}
	return method(v, c.Params)
}

func (v view) syncing(json.RawMessage) (any, *failure) {
	if v.sync == nil {
		return false, nil
	}
	return v.sync, nil
}

func (v view) peers(json.RawMessage) (any, *failure) {
	return quantity(uint64(max(0, v.opts.Peers))), nil
}

// blockByNumber answers a block; null for one that does not exist yet.
func (v view) blockByNumber(params json.RawMessage) (any, *failure) {
	var args []any
	if json.Unmarshal(params, &args) != nil || len(args) == 0 {
		return nil, errParams
	}
	tag, ok := args[0].(string)
	if !ok {
		return nil, errParams
	}
	n, ok := v.height(tag)
	if !ok {
		return nil, errParams
	}
	if n > v.head {
		return null, nil
	}
	return v.chain.block(n), nil
}

// height is the number a block tag stands for.
func (v view) height(tag string) (uint64, bool) {
	switch tag {
	case "latest", "pending":
		return v.head, true
	case "safe":
		return minus(v.head, safeDepth), true
	case "finalized":
		return minus(v.head, finalizedDepth), true
	case "earliest":
		return 0, true
	}
	digits, ok := strings.CutPrefix(tag, "0x")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}
