package probe

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// quantity is a number as a node wrote it.
type quantity struct {
	text string // digits
	base int
	bent bool // legible, though not as the specification writes it
}

// readQuantity reads an EVM quantity: "0x1b4" by the specification. A prefix in
// capitals, leading zeros and a plain JSON number are legible and bent. Digits
// without a prefix are hex to some and decimal to others: no number is taken
// from them, whatever they look like.
func readQuantity(v json.RawMessage) (quantity, bool) {
	var s string
	if len(v) == 0 {
		return quantity{}, false
	}
	if v[0] != '"' {
		if _, err := strconv.ParseUint(string(v), 10, 64); err != nil {
			return quantity{}, false
		}
		return quantity{text: string(v), base: 10, bent: true}, true
	}
	if json.Unmarshal(v, &s) != nil {
		return quantity{}, false
	}
	digits, lower := strings.CutPrefix(s, "0x")
	if !lower {
		var upper bool
		if digits, upper = strings.CutPrefix(s, "0X"); !upper {
			return quantity{}, false
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return quantity{}, false
	}
	return quantity{text: digits, base: 16, bent: !lower || (len(digits) > 1 && digits[0] == '0')}, true
}

// uint64 is its value; ok is false for one that does not fit, which is never
// wrapped or cut.
func (q quantity) uint64() (n uint64, ok bool) {
	n, err := strconv.ParseUint(q.text, q.base, 64)
	return n, err == nil
}

// maxIDDigits is more than any chain id has.
const maxIDDigits = 64

// decimal is its value in decimal, however large.
func (q quantity) decimal() (string, bool) {
	if len(q.text) > maxIDDigits {
		return "", false
	}
	n, ok := new(big.Int).SetString(q.text, q.base)
	if !ok {
		return "", false
	}
	return n.String(), true
}

// readUint reads a quantity that fits 64 bits.
func readUint(v json.RawMessage) (n uint64, bent, ok bool) {
	q, ok := readQuantity(v)
	if !ok {
		return 0, false, false
	}
	n, ok = q.uint64()
	return n, q.bent, ok
}
