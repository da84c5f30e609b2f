package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// The methods of an EVM node that are asked here.
const (
	methodHead    = "eth_blockNumber"
	methodChainID = "eth_chainId"
	methodSyncing = "eth_syncing"
	methodBlock   = "eth_getBlockByNumber"
	methodPeers   = "net_peerCount"
	methodClient  = "web3_clientVersion"
)

// smallAnswer bounds, in bytes, an answer whose value is one word.
const smallAnswer = 16 << 10

// clientRunes bounds a node's name for itself.
const clientRunes = 64

// reading is what one value says.
type reading struct {
	facts model.Facts
	bent  bool   // legible, though not as the specification writes it
	text  string // for the evidence
}

// reader reads a method's value; ok is false for one that is of no use.
type reader func(c *rpc.Client, v json.RawMessage) (r reading, ok bool)

// readerOf is the reader of a method's value. A method nobody reads is content
// with any value: a null receipt is an answer.
func readerOf(method string, params json.RawMessage) reader {
	switch method {
	case methodHead:
		return readHead
	case methodChainID:
		return readChainID
	case methodSyncing:
		return readSyncing
	case methodBlock:
		switch tagOf(params) {
		case "safe":
			return readTagged(func(f *model.Facts) *model.Fact[uint64] { return &f.Safe })
		case "finalized":
			return readTagged(func(f *model.Facts) *model.Fact[uint64] { return &f.Finalized })
		case "latest":
			return readBlock
		}
	case methodPeers:
		return readPeers
	case methodClient:
		return readClient
	}
	return func(*rpc.Client, json.RawMessage) (reading, bool) { return reading{}, true }
}

func tagOf(params json.RawMessage) string {
	var list []any
	if json.Unmarshal(params, &list) != nil || len(list) == 0 {
		return ""
	}
	tag, _ := list[0].(string)
	return tag
}

func readHead(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	n, bent, ok := readUint(v)
	if !ok {
		return reading{}, false
	}
	r.facts.Head, r.bent, r.text = model.Say(n), bent, "head "+strconv.FormatUint(n, 10)
	return r, true
}

func readChainID(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	q, ok := readQuantity(v)
	if !ok {
		return reading{}, false
	}
	id, ok := q.decimal()
	if !ok {
		return reading{}, false
	}
	r.facts.ChainID, r.bent, r.text = model.Say(id), q.bent, "chain id "+id
	return r, true
}

// readSyncing reads false, true, or an object of progress, whatever is in it.
// The words "false" and "true" in quotes are an answer whose meaning is not
// guessed: what the node claims stays unknown.
func readSyncing(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	switch s := string(v); {
	case s == "false":
		r.facts.Syncing, r.text = model.Say(false), "not syncing"
	case s == "true", len(v) > 0 && v[0] == '{':
		r.facts.Syncing, r.text = model.Say(true), "syncing"
	case s == `"false"`, s == `"true"`:
		r.bent, r.text = true, "syncing "+s+", a string"
	default:
		return reading{}, false
	}
	return r, true
}

func readPeers(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	n, bent, ok := readUint(v)
	if !ok {
		return reading{}, false
	}
	r.facts.Peers, r.bent, r.text = model.Say(n), bent, fmt.Sprintf("%d peers", n)
	return r, true
}

func readClient(c *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	var s string
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return reading{}, false
	}
	if s = c.Text(s, clientRunes); s == "" {
		return reading{}, false
	}
	r.facts.Client, r.text = model.Say(s), s
	return r, true
}

// header is of a block what is read of it.
type header struct {
	Number    json.RawMessage `json:"number"`
	Timestamp json.RawMessage `json:"timestamp"`
}

// latestTime is later than any chain will say: year 5138.
const latestTime = 1e11

// readBlock reads the latest block: its number is the head, and with its time
// it is the header.
func readBlock(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
	h, n, bent, ok := readNumbered(v)
	if !ok {
		return reading{}, false
	}
	r.facts.Head, r.bent, r.text = model.Say(n), bent, "head "+strconv.FormatUint(n, 10)
	at, bent, ok := readUint(h.Timestamp)
	if !ok || at > latestTime {
		r.bent = true
		return r, true
	}
	r.bent = r.bent || bent
	r.facts.Block = model.Say(model.Block{Number: n, Time: time.Unix(int64(at), 0).UTC()})
	return r, true
}

// readNumbered is a header that has a number.
func readNumbered(v json.RawMessage) (h header, n uint64, bent, ok bool) {
	if h, ok = readHeader(v); !ok {
		return h, 0, false, false
	}
	n, bent, ok = readUint(h.Number)
	return h, n, bent, ok
}

func readTagged(fact func(*model.Facts) *model.Fact[uint64]) reader {
	return func(_ *rpc.Client, v json.RawMessage) (r reading, ok bool) {
		_, n, bent, ok := readNumbered(v)
		if !ok {
			return reading{}, false
		}
		*fact(&r.facts), r.bent, r.text = model.Say(n), bent, "block "+strconv.FormatUint(n, 10)
		return r, true
	}
}

func readHeader(v json.RawMessage) (header, bool) {
	var h header
	if v = bytes.TrimSpace(v); len(v) == 0 || v[0] != '{' || json.Unmarshal(v, &h) != nil {
		return header{}, false
	}
	return h, true
}

// add takes what another reading says over what is not known yet.
func (r *reading) add(o reading) {
	merge(&r.facts, o.facts)
	r.bent = r.bent || o.bent
	if r.text == "" {
		r.text = o.text
	}
}

func merge(f *model.Facts, o model.Facts) {
	prefer(&f.Head, o.Head)
	prefer(&f.Block, o.Block)
	prefer(&f.ChainID, o.ChainID)
	prefer(&f.Syncing, o.Syncing)
	prefer(&f.Peers, o.Peers)
	prefer(&f.Safe, o.Safe)
	prefer(&f.Finalized, o.Finalized)
	prefer(&f.Client, o.Client)
}

func prefer[T any](have *model.Fact[T], other model.Fact[T]) {
	if have.Know == model.Unheard {
		*have = other
	}
}

// lacking is the fact a question asks for, said to be unsupported.
func lacking(q model.Question) (f model.Facts) {
	switch q {
	case model.AskChainID:
		f.ChainID = model.Lacks[string]()
	case model.AskSyncing:
		f.Syncing = model.Lacks[bool]()
	case model.AskBlock:
		f.Block = model.Lacks[model.Block]()
	case model.AskSafe:
		f.Safe = model.Lacks[uint64]()
	case model.AskFinalized:
		f.Finalized = model.Lacks[uint64]()
	case model.AskPeers:
		f.Peers = model.Lacks[uint64]()
	case model.AskClient:
		f.Client = model.Lacks[string]()
	}
	return f
}
