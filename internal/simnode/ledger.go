package simnode

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

// How far behind the head the safe and the finalized block are.
const (
	safeDepth      = 32
	finalizedDepth = 64
)

// ledger is a chain that grows with the clock. It has every block from 0 to its
// head, and needs no memory for them.
type ledger struct {
	seed  int64
	id    uint64
	start uint64
	at    time.Time // when start was the head
	pace  time.Duration
}

// head is the height at now. It never goes below 0.
func (l ledger) head(now time.Time) uint64 {
	passed := now.Sub(l.at)
	if passed < 0 {
		return minus(l.start, uint64((-passed+l.pace-1)/l.pace))
	}
	return l.start + uint64(passed/l.pace)
}

// mined is when block n was made, in seconds; never before 1970.
func (l ledger) mined(n uint64) uint64 {
	ahead := float64(n) - float64(l.start)
	if span := ahead * l.pace.Seconds(); math.Abs(span) > math.MaxInt64/float64(time.Second) {
		// Further off than a Duration reaches.
		return uint64(max(0, float64(l.at.Unix())+span))
	}
	made := l.at.Add(time.Duration(int64(n)-int64(l.start)) * l.pace)
	return uint64(max(0, made.Unix()))
}

func (l ledger) hash(n uint64) string {
	var b [24]byte
	binary.BigEndian.PutUint64(b[0:], uint64(l.seed))
	binary.BigEndian.PutUint64(b[8:], l.id)
	binary.BigEndian.PutUint64(b[16:], n)
	sum := sha256.Sum256(b[:])
	return "0x" + hex.EncodeToString(sum[:])
}

// block is what eth_getBlockByNumber answers for a block without transactions.
type block struct {
	Number       string   `json:"number"`
	Hash         string   `json:"hash"`
	ParentHash   string   `json:"parentHash"`
	Timestamp    string   `json:"timestamp"`
	Miner        string   `json:"miner"`
	GasLimit     string   `json:"gasLimit"`
	GasUsed      string   `json:"gasUsed"`
	BaseFee      string   `json:"baseFeePerGas"`
	Difficulty   string   `json:"difficulty"`
	ExtraData    string   `json:"extraData"`
	Transactions []string `json:"transactions"`
	Uncles       []string `json:"uncles"`
}

func (l ledger) block(n uint64) block {
	parent := "0x" + hex.EncodeToString(make([]byte, sha256.Size))
	if n > 0 {
		parent = l.hash(n - 1)
	}
	return block{
		Number: quantity(n), Hash: l.hash(n), ParentHash: parent, Timestamp: quantity(l.mined(n)),
		Miner: "0x" + hex.EncodeToString(make([]byte, 20)), GasLimit: quantity(36_000_000), GasUsed: quantity(0),
		BaseFee: quantity(1_000_000_000), Difficulty: quantity(0), ExtraData: "0x",
		Transactions: []string{}, Uncles: []string{},
	}
}

// quantity is a number as Ethereum's JSON-RPC writes it.
func quantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// minus is a - b, and 0 where that would be less.
func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}
