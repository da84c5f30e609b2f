package probe

import (
	"encoding/json"
	"testing"
)

func TestQuantity(t *testing.T) {
	const bent, unusable = "bent", "unusable"
	for v, want := range map[string]string{
		`"0x0"`:                  "0",
		`"0x12a7f3c"`:            "19562300",
		`"0xffffffffffffffff"`:   "18446744073709551615",
		`"0X12A7F3C"`:            "19562300 " + bent,
		`"0x0012"`:               "18 " + bent,
		`18`:                     "18 " + bent,
		`"0x10000000000000000"`:  unusable,
		`18446744073709551616`:   unusable,
		`-1`:                     unusable,
		`1.5`:                    unusable,
		`1e3`:                    unusable,
		`"0x"`:                   unusable,
		`""`:                     unusable,
		`"1537840"`:              unusable,
		`"12a7f3c"`:              unusable,
		`"0x-1"`:                 unusable,
		`" 0x1"`:                 unusable,
		`"0x1_0"`:                unusable,
		`null`:                   unusable,
		`true`:                   unusable,
		`{"number":"0x12a7f3c"}`: unusable,
		``:                       unusable,
	} {
		got := unusable
		if n, isBent, ok := readUint(json.RawMessage(v)); ok {
			b, _ := json.Marshal(n)
			if got = string(b); isBent {
				got += " " + bent
			}
		}
		if got != want {
			t.Errorf("%s is %s, want %s", v, got, want)
		}
	}
}

func TestChainIDOfAnySize(t *testing.T) {
	for v, want := range map[string]string{
		`"0x1"`:                 "1",
		`"0x7a69"`:              "31337",
		`"0xffffffffffffffff1"`: "295147905179352825841",
		`137`:                   "137",
	} {
		r, ok := readChainID(nil, json.RawMessage(v))
		if !ok || r.facts.ChainID.Value != want {
			t.Errorf("%s is %+v, want %s", v, r.facts.ChainID, want)
		}
	}
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = 'f'
	}
	if _, ok := readChainID(nil, json.RawMessage(`"0x`+string(long)+`"`)); ok {
		t.Error("a chain id of 100,000 digits is taken")
	}
}

func FuzzQuantity(f *testing.F) {
	for _, s := range []string{`"0x1"`, `"0X"`, `12`, `-1`, `"\u0030x1"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !json.Valid(b) {
			t.Skip()
		}
		for _, read := range []reader{readHead, readChainID, readSyncing, readPeers, readBlock} {
			if r, ok := read(nil, b); ok && r.text == "" {
				t.Fatalf("%s says nothing", b)
			}
		}
	})
}
