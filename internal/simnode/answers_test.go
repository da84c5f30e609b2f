package simnode

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// say is what a node answers to a request body.
func say(n *Node, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	n.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	return w
}

func TestAnswers(t *testing.T) {
	n := New(Options{ChainID: 10, Start: 100, Client: "sim/1", Lacks: []string{"net_version"}})
	for _, c := range []struct{ name, ask, want string }{
		{"head", `{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`, `{"jsonrpc":"2.0","id":1,"result":"0x64"}`},
		{"chain id", `{"jsonrpc":"2.0","id":"a","method":"eth_chainId"}`, `{"jsonrpc":"2.0","id":"a","result":"0xa"}`},
		{"in sync", `{"jsonrpc":"2.0","id":null,"method":"eth_syncing"}`, `{"jsonrpc":"2.0","id":null,"result":false}`},
		{"peers", `{"jsonrpc":"2.0","id":1.5,"method":"net_peerCount"}`, `{"jsonrpc":"2.0","id":1.5,"result":"0x8"}`},
		{"client", `{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion"}`, `{"jsonrpc":"2.0","id":1,"result":"sim/1"}`},
		{"a method it lacks", `{"jsonrpc":"2.0","id":1,"method":"net_version"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method net_version is not available"}}`},
		{"a method nobody has", `{"jsonrpc":"2.0","id":1,"method":"eth_\"x"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method eth_\"x is not available"}}`},
		{"no block yet", `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x65",false]}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"a bad block", `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["newest",false]}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid argument"}}`},
		{"no block", `{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber"}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid argument"}}`},
		{"a batch, one a notification", `[{"id":1,"method":"eth_chainId"},{"method":"eth_chainId"},{"id":2,"method":"eth_blockNumber"}]`,
			`[{"jsonrpc":"2.0","id":1,"result":"0xa"},{"jsonrpc":"2.0","id":2,"result":"0x64"}]`},
		{"no JSON", `{"id":1`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`},
		{"nothing", ``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`},
		{"an empty batch", `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`},
		{"a number", `7`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`},
		{"null", `null`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`},
		{"no method", `{"id":4}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"invalid request"}}`},
	} {
		w := say(n, c.ask)
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != c.want {
			t.Errorf("%s: %d %s\nwant 200 %s", c.name, w.Code, got, c.want)
		}
	}
}

func TestNoQuestion(t *testing.T) {
	n := New(Options{})
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete} {
		w := httptest.NewRecorder()
		n.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("%s: %d %q", method, w.Code, w.Body)
		}
	}
	if w := say(n, `{"method":"eth_chainId"}`); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("a notification: %d %q", w.Code, w.Body)
	}
	if w := say(n, strings.Repeat(" ", maxBody+1)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("an endless request: %d", w.Code)
	}
	say(n, `[{"id":1,"method":"eth_chainId"},{"id":2,"method":"eth_nothing"}]`)
	want := map[string]int{"GET": 1, "HEAD": 1, "other": 3, "eth_chainId": 2}
	if diff := cmp.Diff(want, n.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// blockOf asks for a block and reads what a prober would.
func blockOf(t *testing.T, n *Node, tag string) block {
	t.Helper()
	var r struct{ Result block }
	w := say(n, `{"id":1,"method":"eth_getBlockByNumber","params":["`+tag+`",false]}`)
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return r.Result
}

func TestBlocksFollowTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n := New(Options{Start: 1000, BlockTime: 12 * time.Second})
		for _, c := range []struct {
			after time.Duration
			tag   string
			want  uint64
		}{
			{0, "latest", 1000},
			{12*time.Second - 1, "latest", 1000},
			{12 * time.Second, "latest", 1001},
			{time.Minute, "pending", 1005},
			{time.Minute, "safe", 1005 - 32},
			{time.Minute, "finalized", 1005 - 64},
			{time.Minute, "earliest", 0},
			{time.Minute, "0x3ea", 1002},
		} {
			time.Sleep(time.Until(start.Add(c.after)))
			b := blockOf(t, n, c.tag)
			mined := max(0, start.Add(time.Duration(int64(c.want)-1000)*12*time.Second).Unix())
			if b.Number != quantity(c.want) || b.Timestamp != quantity(uint64(mined)) {
				t.Errorf("%s at %v: block %s of %s, want %s of %s", c.tag, c.after, b.Number, b.Timestamp, quantity(c.want), quantity(uint64(mined)))
			}
			if diff := cmp.Diff(b, blockOf(t, n, b.Number)); diff != "" {
				t.Errorf("%s by its number is another block:\n%s", c.tag, diff)
			}
			if c.want > 0 {
				if parent := blockOf(t, n, quantity(c.want-1)); parent.Hash != b.ParentHash {
					t.Errorf("%s: parent %s, and that block is %s", c.tag, b.ParentHash, parent.Hash)
				}
			}
		}
	})
}

func TestNodesOfOneChainAgree(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	make := func(seed int64, id uint64) *Node { return New(Options{ChainID: id, Start: 7, At: at, Seed: seed}) }
	one := blockOf(t, make(1, 5), "latest")
	if two := blockOf(t, make(1, 5), one.Number); two.Hash != one.Hash || two.Timestamp != one.Timestamp {
		t.Errorf("%+v and %+v", one, two)
	}
	for _, other := range []*Node{make(2, 5), make(1, 6)} {
		if b := blockOf(t, other, one.Number); b.Hash == one.Hash {
			t.Errorf("another chain has the same block %s", b.Hash)
		}
	}
}

func TestLedgerAtItsEdges(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	l := ledger{start: 10, at: at, pace: 10 * time.Second}
	for _, c := range []struct {
		after time.Duration
		want  uint64
	}{{-time.Second, 9}, {-10 * time.Second, 9}, {-11 * time.Second, 8}, {-time.Hour, 0}} {
		if got := l.head(at.Add(c.after)); got != c.want {
			t.Errorf("head %v from the start: %d, want %d", c.after, got, c.want)
		}
	}
	l.start = 1 << 60
	if got := l.mined(0); got != 0 {
		t.Errorf("block 0 of an old chain was mined at %d", got)
	}
	l.start = 0
	if got := l.mined(1 << 40); got != 1_000_000+10<<40 {
		t.Errorf("a far block was mined at %d", got)
	}
}
