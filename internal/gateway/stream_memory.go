package gateway

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"chaintop/internal/rpc"
)

// How much of what was delivered a session remembers, so as not to deliver it
// again: the last blocks of a subscription, and logs of all of them together.
const (
	rememberHeads = 256
	rememberLogs  = 64 << 10 // of a session
	rememberLeast = 64       // of a subscription, however many there are
	rememberMost  = 8192     // of a subscription
	rememberBytes = 1 << 20  // of logs as they came, to take them back; of a session
)

// memory is what a subscription has delivered, oldest first.
type memory struct {
	all   map[string]*memo
	order []*memo
	lost  uint64 // the highest block of what was forgotten
}

// memo is one block, or one log of a block.
type memo struct {
	key    string
	number uint64 // of the block
	again  bool   // an upstream that is new to it may send it once more, to be dropped
	raw    json.RawMessage
	gone   bool
}

// newest is what was delivered last, nil when nothing was.
func (m *memory) newest() *memo {
	for i := len(m.order) - 1; i >= 0; i-- {
		if !m.order[i].gone {
			return m.order[i]
		}
	}
	return nil
}

// lowest is the lowest block among them.
func (m *memory) lowest() (number uint64, ok bool) {
	for _, one := range m.order {
		if !one.gone && (!ok || one.number < number) {
			number, ok = one.number, true
		}
	}
	return number, ok
}

// twice says that key is one that an upstream sends again after a move, and is
// to be dropped; once.
func (m *memory) twice(key string) bool {
	one := m.all[key]
	if one == nil || !one.again {
		return false
	}
	one.again = false
	return true
}

// keep remembers a delivery; again as in memo. It returns the bytes by which it
// grew.
func (m *memory) keep(key string, number uint64, again bool, raw json.RawMessage, most int) (grew int) {
	if m.all == nil {
		m.all = map[string]*memo{}
	}
	grew = -m.forget(key)
	one := &memo{key: strings.Clone(key), number: number, again: again, raw: slices.Clone(raw)}
	m.all[one.key] = one
	m.order = append(m.order, one)
	grew += len(raw)
	for len(m.order) > most {
		old := m.order[0]
		m.order[0] = nil
		m.order = m.order[1:]
		if !old.gone {
			m.lost = max(m.lost, old.number)
			grew -= len(old.raw)
			delete(m.all, old.key)
		}
	}
	return grew
}

// forget forgets a delivery, and returns the bytes that frees.
func (m *memory) forget(key string) int {
	one := m.all[key]
	if one == nil {
		return 0
	}
	freed := len(one.raw)
	one.gone, one.raw = true, nil
	delete(m.all, key)
	return freed
}

// moved says that another upstream sends from now on: it may send anything again.
func (m *memory) moved() {
	for _, one := range m.order {
		one.again = !one.gone
	}
}

// head is a block as newHeads has it.
type head struct {
	Number     string `json:"number"`
	Hash       string `json:"hash"`
	ParentHash string `json:"parentHash"`
	number     uint64
}

func headOf(b json.RawMessage) (h head, ok bool) {
	if json.Unmarshal(b, &h) != nil || h.Hash == "" || len(h.Hash) > 128 {
		return h, false
	}
	h.number, ok = quantity(h.Number)
	return h, ok
}

// event is a log as a node sends it.
type event struct {
	BlockHash   string `json:"blockHash"`
	BlockNumber string `json:"blockNumber"`
	LogIndex    string `json:"logIndex"`
	Removed     bool   `json:"removed"`
	number      uint64
}

func eventOf(b json.RawMessage) (e event, ok bool) {
	if json.Unmarshal(b, &e) != nil || e.BlockHash == "" || len(e.BlockHash)+len(e.LogIndex) > 192 {
		return e, false
	}
	e.number, ok = quantity(e.BlockNumber)
	return e, ok
}

// key is the log's block and its place in it: a log that was taken back is
// another notification than the log.
func (e event) key(removed bool) string {
	if removed {
		return e.BlockHash + "/" + e.LogIndex + "/removed"
	}
	return e.BlockHash + "/" + e.LogIndex
}

// quantity is a number as Ethereum writes it.
func quantity(s string) (uint64, bool) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && n < 1<<62
}

func quantityOf(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// blockOnly are the members of a block that a header does not have.
var blockOnly = []string{"transactions", "uncles", "size", "totalDifficulty", "withdrawals"}

// headerOf is a block in the shape of a header.
func headerOf(block json.RawMessage) json.RawMessage {
	return rebuilt(block, func(name string, value json.RawMessage) json.RawMessage {
		if slices.Contains(blockOnly, name) {
			return nil
		}
		return value
	})
}

// takenBack is a log as a node sends it when its block is no longer the chain's.
func takenBack(log json.RawMessage) json.RawMessage {
	found := false
	out := rebuilt(log, func(name string, value json.RawMessage) json.RawMessage {
		if name != "removed" {
			return value
		}
		found = true
		return json.RawMessage("true")
	})
	if found {
		return out
	}
	return append(out[:len(out)-1:len(out)-1], `,"removed":true}`...)
}

// rebuilt is a JSON object with what keep makes of its members; nil leaves one
// out.
func rebuilt(b json.RawMessage, keep func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	out := make([]byte, 0, len(b))
	sep := byte('{')
	rpc.Members(b, func(name string, value json.RawMessage) {
		v := keep(name, value)
		if v == nil {
			return
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return // a string cannot fail
		}
		out = append(append(out, sep), quoted...)
		out = append(append(out, ':'), v...)
		sep = ','
	})
	if sep == '{' {
		out = append(out, sep)
	}
	return append(out, '}')
}
