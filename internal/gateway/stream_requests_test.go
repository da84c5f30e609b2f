package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a stream answers itself, as over HTTP (F9).
func TestWhatAStreamItselfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := newStreamRig(t, func(s *Settings) { s.MaxBatch, s.MaxBody, s.Timeout = 3, 1000, 3*time.Second })
		defer stop()
		r.known()
		c := r.dial()
		defer c.close()
		for _, tt := range []struct{ name, send, want string }{
			{"denied", `{"jsonrpc":"2.0","id":"q","method":"admin_peers"}`, `{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"the method is denied here"}}`},
			{"denied, escaped", `{"jsonrpc":"2.0","id":1,"method":"\u0061dmin_peers"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method is denied here"}}`},
			{"two methods", `{"jsonrpc":"2.0","id":1,"method":"x_name","Method":"admin_peers"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC request"}}`},
			{"no id there is", `{"jsonrpc":"2.0","id":{},"method":"x_name"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not an id of JSON-RPC"}}`},
			{"unparsable", `{"id":1`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC request: not JSON"}}`},
			{"too deep", strings.Repeat("[", 100), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC request: nested too deep"}}`},
			{"a long batch", `[1,2,3,4]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32052,"message":"a batch holds at most 3 calls here (max_batch)"}}`},
			{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"x_name"},7,{"jsonrpc":"2.0","id":"q","method":"engine_x"}]`,
				`[{"jsonrpc":"2.0","id":1,"result":"a"},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC request"}},{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"the method is denied here"}}]`},
			{"the node's error", `{"jsonrpc":"2.0","id":5,"method":"y"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"the method does not exist"}}`},
		} {
			before := len(c.all())
			c.send(tt.send)
			synctest.Wait()
			if diff := cmp.Diff([]string{tt.want}, c.all()[before:]); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		if n := r.a.count("admin_peers") + r.a.count("engine_x"); n != 0 {
			t.Errorf("the node saw %d denied calls", n)
		}
		// Nobody answers within gateway.timeout.
		r.a.answers(func(string, json.RawMessage) string { return "-" })
		start := time.Now()
		if got, want := c.ask("6", "x_name", "[]"), `{"jsonrpc":"2.0","id":6,"error":{"code":-32051,"message":"no answer from a within 3s"}}`; got != want || time.Since(start) != 3*time.Second {
			t.Errorf("timeout after %v: %s", time.Since(start), got)
		}
		got := c.ask("7", "eth_sendRawTransaction", `["0x1"]`)
		if want := `{"jsonrpc":"2.0","id":7,"error":{"code":-32051,"message":"no answer from a within 3s; it may have been executed"}}`; got != want {
			t.Errorf("a write: %s", got)
		}
		c.send(`{"jsonrpc":"2.0","id":8,"method":"` + strings.Repeat("m", 1000) + `"}`)
		c.await("-32052", "max_body")
		if code := c.closeCode(); code != closeTooBig {
			t.Errorf("closed with %d", code)
		}
	})
}

// A move repeats what may be repeated and was not answered, and answers the rest
// (F10); a write is never sent twice.
func TestRequestsAcrossAMove(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		sub := c.subscribe("1", `["newHeads"]`)
		r.a.answers(func(string, json.RawMessage) string { return "-" })
		c.send(`{"jsonrpc":"2.0","id":2,"method":"x_name"}`)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"eth_sendRawTransaction","params":["0x1"]}`)
		c.send(`{"jsonrpc":"2.0","id":4,"method":"eth_getFilterChanges","params":["0x1"]}`)
		c.send(`{"jsonrpc":"2.0","id":5,"method":"eth_subscribe","params":["logs"]}`)
		c.send(`{"jsonrpc":"2.0","id":6,"method":"eth_unsubscribe","params":["` + sub + `"]}`)
		c.send(`[{"jsonrpc":"2.0","id":"7","method":"x_name"},{"jsonrpc":"2.0","id":"8","method":"eth_sendTransaction"}]`)
		synctest.Wait()
		r.a.kill()
		time.Sleep(time.Second)
		got := c.replies()[1:]
		slices.Sort(got)
		lost := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32051,"message":"no answer from a; it may have been executed"}}`
		}
		want := []string{
			`[{"jsonrpc":"2.0","id":"7","result":"b"},` + lost(`"8"`) + `]`,
			`{"jsonrpc":"2.0","id":2,"result":"b"}`, lost("3"), lost("4"),
			`{"jsonrpc":"2.0","id":5,"result":"0x2"}`, `{"jsonrpc":"2.0","id":6,"result":true}`,
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if n := r.b.count("eth_sendRawTransaction") + r.b.count("eth_sendTransaction") + r.b.count("eth_getFilterChanges"); n != 0 {
			t.Errorf("%d writes were sent again", n)
		}
		if n := r.b.count("eth_subscribe"); n != 1 {
			t.Errorf("b was asked for %d subscriptions, want the one that is not ended", n)
		}
	})
}

// Ids are the client's own business: ours never meet them, and one that is used
// twice at a time gets its own two answers. A subscription's id stays what it
// was, even where the next upstream gives it to another.
func TestStreamIDs(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		// b gives ids from 0x2: what is 0x1 and 0x2 here is 0x2 and 0x3 there.
		one, two := c.subscribe("1", `["newHeads"]`), c.subscribe("2", logsParams)
		if one != "0x1" || two != "0x2" {
			t.Fatal(one, two)
		}
		r.a.answers(func(method string, _ json.RawMessage) string {
			if method == "x_name" {
				return "-"
			}
			return ""
		})
		for i := 1; i <= 4; i++ { // ours would be these
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ct-%d","method":"x_name"}`, i))
		}
		c.send(`{"jsonrpc":"2.0","id":9,"method":"x_name"}`)
		c.send(`{"jsonrpc":"2.0","id":9.0,"method":"eth_chainId"}`)
		synctest.Wait()
		if n := r.a.count("eth_chainId"); n != 0 {
			t.Error("a second request with the id was sent before the first had its answer")
		}
		r.a.kill()
		time.Sleep(time.Second)
		r.b.grow(branch("m", "0xm100", 101, 101)...)
		time.Sleep(time.Second)
		got := c.replies()[2:]
		slices.Sort(got)
		want := []string{`{"jsonrpc":"2.0","id":"ct-1","result":"b"}`, `{"jsonrpc":"2.0","id":"ct-2","result":"b"}`, `{"jsonrpc":"2.0","id":"ct-3","result":"b"}`,
			`{"jsonrpc":"2.0","id":"ct-4","result":"b"}`, `{"jsonrpc":"2.0","id":9,"result":"b"}`, `{"jsonrpc":"2.0","id":9.0,"result":"0x1"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"0xm101"}, c.notices(one)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
		if diff := cmp.Diff([]string{"0xm101/0x0", "0xm101/0x1"}, c.notices(two)); diff != "" {
			t.Errorf("logs: %s", diff)
		}
		// 0x3 is b's name for the client's 0x2, and nothing to the client.
		if got := c.ask("10", "eth_unsubscribe", `["0x3"]`); !strings.Contains(got, "subscription not found") {
			t.Error(got)
		}
		if got := c.ask("11", "eth_unsubscribe", `["0x1"]`); !strings.Contains(got, `"result":true`) {
			t.Error(got)
		}
		r.b.grow(branch("m", "0xm101", 102, 102)...)
		time.Sleep(time.Second)
		if len(c.notices(one)) != 1 || len(c.notices(two)) != 4 {
			t.Errorf("the wrong one was ended: %q %q", c.notices(one), c.notices(two))
		}
		// b's 0x4 is new; a client that has one under that id gets another.
		if three := c.subscribe("12", `["newHeads"]`); three != "0x4" {
			t.Error(three)
		}
	})
}

// During a move 256 messages wait; with one more the session ends with 1013, as
// it does when nobody is fit for gateway.timeout. Then the close code of the
// upstream passes on, if it said one to the client.
func TestStreamsThatCannotMove(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sends int
		says  int // close code
		code  int
		after time.Duration
	}{
		{"all wait", 256, 0, closeTryAgain, 30 * time.Second},
		{"one too many", 257, 0, closeTryAgain, 0},
		{"the upstream's code", 0, 4007, 4007, 30 * time.Second},
		{"a code that is its own", 0, closeAway, closeTryAgain, 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, stop := newStreamRig(t, nil)
				defer stop()
				r.known()
				c := r.dial()
				defer c.close()
				c.subscribe("1", `["newHeads"]`)
				r.b.kill()
				if tt.says != 0 {
					r.a.closeAll(tt.says)
					synctest.Wait()
				}
				r.a.kill()
				synctest.Wait()
				start := time.Now()
				for i := range tt.sends {
					c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x_name"}`, i))
				}
				code := c.closeCode()
				if got := time.Since(start); code != tt.code || got != tt.after {
					t.Errorf("closed with %d after %v, want %d after %v", code, got, tt.code, tt.after)
				}
			})
		})
	}
}

// A stream that nobody can carry is refused before it is one.
func TestStreamRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := newStreamRig(t, nil)
		defer stop()
		r.known()
		r.a.kill()
		r.b.kill()
		_, resp, err := r.handshake(nil)
		if err == nil || resp.StatusCode != 503 {
			t.Fatalf("%v %v", resp, err)
		}
		r.b.up()
		time.Sleep(time.Minute)
		if _, resp, err := r.handshake(map[string][]string{"Origin": {"http://evil.example"}}); err == nil || resp.StatusCode != 403 {
			t.Errorf("another site's page: %v %v", resp, err)
		}
	})
}

// At the end of an instance streams get 1001, and new ones are not taken.
func TestStreamsCloseWithTheInstance(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		synctest.Wait() // the client has its answer before the stream is counted
		if n := r.gw.Streams(); n != 1 {
			t.Errorf("%d streams", n)
		}
		if n := r.gw.CloseStreams(t.Context()); n != 0 {
			t.Errorf("%d are left", n)
		}
		if code := c.closeCode(); code != closeAway {
			t.Errorf("closed with %d", code)
		}
		late := r.dial()
		defer late.close()
		if code := late.closeCode(); code != closeAway {
			t.Errorf("a new one is closed with %d", code)
		}
	})
}

// Whatever an upstream says, a client gets answers to what it asked, and notices
// it subscribed to, and nothing else.
func TestHostileUpstreamOfAStream(t *testing.T) {
	for _, tt := range []struct {
		name, say string
		moves     uint64
	}{
		{"a reply nobody asked for", `{"jsonrpc":"2.0","id":77,"result":"x"}`, 0},
		{"a reply to our next id", `{"jsonrpc":"2.0","id":"ct-1","result":"0x9"}`, 0},
		{"another's subscription", `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x99","result":{"hash":"0xbad"}}}`, 0},
		{"an id in no form", `{"jsonrpc":"2.0","id":{"a":1},"result":"x"}`, 0},
		{"torn", `{"jsonrpc":"2.0","id":1,"id":2,"result":"x"}`, 0},
		{"a request", `{"jsonrpc":"2.0","id":3,"method":"admin_do"}`, 0},
		{"replies in a list", `[{"jsonrpc":"2.0","id":77,"result":"x"},7,null,[]]`, 0},
		{"a string", `"hello"`, 1},
		{"no JSON", `hello`, 1},
		{"nothing", ``, 1},
		{"too deep", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), 1},
		{"too many in a list", "[" + strings.Repeat("1,", mostFrames) + "1]", 1},
		{"too long", `{"jsonrpc":"2.0","method":"eth_subscription","params":"` + strings.Repeat("x", streamMost) + `"}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, stop := newStreamRig(t, nil)
				defer stop()
				r.known()
				c := r.dial()
				defer c.close()
				heads := c.subscribe("1", `["newHeads"]`)
				r.a.tellAll(tt.say)
				time.Sleep(time.Second)
				if got := c.all(); len(got) != 1 {
					t.Errorf("came %.200q", got)
				}
				r.grow("m", "0xm100", 101)
				time.Sleep(time.Second)
				if diff := cmp.Diff([]string{"0xm101"}, c.notices(heads)); diff != "" {
					t.Error(diff)
				}
				if tr := r.traffic(); tr.Moves != tt.moves {
					t.Errorf("%d moves", tr.Moves)
				}
			})
		})
	}
}

// An answer too long to be carried ends its request, not the stream: another
// upstream would say the same.
func TestAnswerTooLongForAStream(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		r.a.answers(func(method string, id json.RawMessage) string {
			if method != "x_name" {
				return ""
			}
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"%s"}`, id, strings.Repeat("x", streamMost))
		})
		if got := c.ask("1", "x_name", "[]"); !strings.Contains(got, "-32052") {
			t.Errorf("%.200s", got)
		}
		if got := c.ask("2", "eth_chainId", "[]"); got != `{"jsonrpc":"2.0","id":2,"result":"0x1"}` {
			t.Errorf("%.200s", got)
		}
		if tr := r.traffic(); tr.Moves != 0 {
			t.Errorf("%d moves", tr.Moves)
		}
	})
}

// A session holds so many requests and subscriptions, and so many bytes of them.
func TestBoundsOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := newStreamRig(t, func(s *Settings) { s.MaxBody = 100_000 })
		defer stop()
		r.known()
		c := r.dial()
		defer c.close()
		for i := range mostSubs {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_subscribe","params":["newHeads"]}`, i))
			synctest.Wait()
		}
		if got := c.ask(`"more"`, "eth_subscribe", `["newHeads"]`); !strings.Contains(got, "-32052") {
			t.Error(got)
		}
		r.a.answers(func(string, json.RawMessage) string { return "-" })
		for i := range mostAsked {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x_name"}`, i))
		}
		if got := c.ask(`"m2"`, "x_name", `[]`); !strings.Contains(got, "without an answer") {
			t.Error(got)
		}
		d := r.dial()
		defer d.close()
		for i := range 4 {
			d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x_name","params":[%q]}`, i, strings.Repeat("x", 99_000)))
		}
		if got := d.ask(`"m3"`, "x_name", `["`+strings.Repeat("x", 10_000)+`"]`); !strings.Contains(got, "bytes of requests") {
			t.Error(got)
		}
	})
}

func TestIDKeyComparesValues(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1`, true}, {`1`, `1.0`, true}, {`1`, `1e0`, true}, {`1`, `"1"`, false}, {`"a"`, `"\u0061"`, true}, {`null`, `"null"`, false},
		{`"n1"`, `1`, false}, {`12345678901234567890`, `12345678901234567891`, false}, {`-0`, `0`, true},
	} {
		a, aok := idKey(json.RawMessage(tt.a))
		b, bok := idKey(json.RawMessage(tt.b))
		if !aok || !bok || (a == b) != tt.same {
			t.Errorf("%s %s: %q %q", tt.a, tt.b, a, b)
		}
	}
	for _, bad := range []string{"", "{}", "[1]", "true", `"` + strings.Repeat("x", 300) + `"`} {
		if _, ok := idKey(json.RawMessage(bad)); ok {
			t.Errorf("%s is an id", bad)
		}
	}
}
