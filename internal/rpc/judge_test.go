package rpc

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaintop/model"
)

func answeredWith(status int, body string, header ...string) Exchange {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return Exchange{Status: status, Header: h, Body: []byte(body), Asked: true, Took: time.Millisecond}
}

// ids are ids of requests as they are sent.
func ids(ns ...int64) (all []json.RawMessage) {
	for _, n := range ns {
		all = append(all, strconv.AppendInt(nil, n, 10))
	}
	return all
}

func rpcError(code, message string) string {
	return `{"jsonrpc":"2.0","id":7,"error":{"code":` + code + `,"message":"` + message + `"}}`
}

// says is an outcome in brief: kind, reason and findings.
func says(j Judgement) string {
	s := j.Kind.String()
	if j.Reason != "" {
		s += " " + string(j.Reason)
	}
	if f := j.Findings.Words(); len(f) > 0 {
		s += " " + strings.Join(f, ",")
	}
	return s
}

func TestJudgeOneRequest(t *testing.T) {
	c := newClient(t, "https://rpc.node.example/key", Options{})
	for _, r := range []struct {
		name string
		x    Exchange
		want string
	}{
		{"result", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":"0x1"}`), "result"},
		{"result of null", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":null}`), "result"},
		{"id in quotes", answeredWith(200, `{"jsonrpc":"2.0","id":"7","result":"0x1"}`), "result noncompliant"},
		{"id as a float", answeredWith(200, `{"jsonrpc":"2.0","id":7.0,"result":"0x1"}`), "result noncompliant"},
		{"no id", answeredWith(200, `{"jsonrpc":"2.0","result":"0x1"}`), "result noncompliant"},
		{"version 1", answeredWith(200, `{"id":7,"result":"0x1","error":null}`), "result noncompliant"},
		{"another id", answeredWith(200, `{"jsonrpc":"2.0","id":8,"result":"0x1"}`), "no_answer id_mismatch"},
		{"another id in quotes", answeredWith(200, `{"jsonrpc":"2.0","id":"seven","result":"0x1"}`), "no_answer id_mismatch"},
		{"error under another id", answeredWith(200, `{"jsonrpc":"2.0","id":8,"error":{"code":-32000,"message":"x"}}`), "answer node_error"},
		{"error of a foreign shape", answeredWith(200, `{"jsonrpc":"2.0","id":7,"error":[1]}`), "answer node_error"},
		{"error without a name", answeredWith(200, `{"error":{"code":-32000,"message":"x"}}`), "answer node_error"},
		{"a bare error word", answeredWith(200, `{"error":"something"}`), "no_answer not_protocol"},
		{"a bare limit", answeredWith(200, `{"error":"rate limit exceeded"}`), "answer rate_limit rate_limited"},
		{"neither result nor error", answeredWith(200, `{"jsonrpc":"2.0","id":7}`), "answer unusable_result"},
		{"result twice", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":"0x1","result":"0x2"}`), "answer unusable_result"},
		{"the same result twice", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":"0x1","result":"0x1"}`), "result"},
		{"error after null error", answeredWith(200, `{"jsonrpc":"2.0","id":7,"error":null,"error":{"code":1,"message":"x"}}`), "answer node_error"},
		{"names in capitals", answeredWith(200, `{"jsonrpc":"2.0","id":7,"Result":"0x1"}`), "answer unusable_result"},
		{"a notification", answeredWith(200, `{"jsonrpc":"2.0","method":"eth_subscription","params":{}}`), "no_answer not_protocol"},
		{"a list of others", answeredWith(200, `[{"jsonrpc":"2.0","id":8,"result":"0x1"},{"jsonrpc":"2.0","id":9,"result":"0x1"}]`), "no_answer id_mismatch"},
		{"ours in a list", answeredWith(200, `[{"jsonrpc":"2.0","id":8,"result":"0x1"},{"jsonrpc":"2.0","id":7,"result":"0x1"}]`), "result noncompliant"},
		{"depth 33", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":`+strings.Repeat("[", 32)+strings.Repeat("]", 32)+`}`), "no_answer malformed"},
		{"depth 32", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":`+strings.Repeat("[", 31)+strings.Repeat("]", 31)+`}`), "result"},
		{"depth 10,000", answeredWith(200, strings.Repeat(`{"a":`, 10_000)), "no_answer malformed"},
		{"brackets in a string", answeredWith(200, `{"jsonrpc":"2.0","id":7,"result":"`+strings.Repeat("[", 100)+`"}`), "result"},
		{"lone surrogates", answeredWith(200, `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"\ud800"}}`), "answer node_error"},
		{"a number too large", answeredWith(200, `{"jsonrpc":"2.0","id":7,"error":{"code":1e400,"message":"x"}}`), "answer node_error"},
		{"white space only", answeredWith(200, " \n"), "no_answer empty"},
		{"status 204", answeredWith(204, ""), "no_answer empty"},
		{"status 304", answeredWith(304, ""), "answer http_status misconfigured"},
		{"status 999", answeredWith(999, "x"), "answer http_status"},
		{"status 099", answeredWith(99, "x"), "no_answer malformed"},
		{"405", answeredWith(405, ""), "answer http_status misconfigured"},
		{"404 of a node", answeredWith(404, rpcError("-32601", "Method not found")), "answer node_error"},
		{"403 of one method", answeredWith(403, rpcError("-32601", "rpc method is not whitelisted")), "answer http_status"},
		{"403 with a quota", answeredWith(403, "Monthly limit reached"), "answer rate_limit quota"},
		{"429 with a quota", answeredWith(429, rpcError("-32005", "daily request count exceeded, request rate limited")), "answer rate_limit quota"},
		{"429 per second", answeredWith(429, rpcError("-32005", "upgrade your plan: 25 requests per second")), "answer rate_limit rate_limited"},
		{"a node's own 503", answeredWith(503, "Work queue depth exceeded"), "answer http_status"},
		{"an edge's 403", answeredWith(403, "<html><title>Sorry</title>", "Server", "cloudflare"), "answer http_status gateway,access_denied"},
		{"a node's 403 behind an edge", answeredWith(403, "invalid key", "Server", "cloudflare"), "answer http_status access_denied"},
	} {
		if got := says(c.Judge(r.x, ids(7)...)); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

// A client's request has an id of its own choice, or none.
func TestJudgeByAnyID(t *testing.T) {
	c := newClient(t, "http://h/", Options{})
	for _, r := range []struct{ asked, replied, want string }{
		{`"a-1"`, `"a-1"`, "result"},
		{`"a-1"`, `"a-2"`, "no_answer id_mismatch"},
		{`"7"`, `7`, "result noncompliant"},
		{`7`, `"7"`, "result noncompliant"},
		{`0`, `0`, "result"},
		{`0`, `1`, "no_answer id_mismatch"},
		{`null`, `null`, "result"},
		{`1.0`, `1`, "result noncompliant"},
		{``, `-1`, "result"},
		{``, `""`, "result"},
	} {
		var id []json.RawMessage
		if r.asked != "" {
			id = append(id, json.RawMessage(r.asked))
		}
		if got := says(c.Judge(answeredWith(200, `{"jsonrpc":"2.0","id":`+r.replied+`,"result":1}`), id...)); got != r.want {
			t.Errorf("asked %s, replied %s: %s, want %s", r.asked, r.replied, got, r.want)
		}
	}
}

func TestJudgeRedirect(t *testing.T) {
	c := newClient(t, "https://rpc.node.example:8545/key", Options{})
	const answer, none = "answer http_status misconfigured", "no_answer own_side"
	for location, want := range map[string]string{
		"":                                  answer,
		"/other":                            answer,
		"http://rpc.node.example/":          answer,
		"https://RPC.node.example.:9/":      answer,
		"//rpc.node.example/x":              answer,
		"https://eu.rpc.node.example/":      answer,
		"https://node.example/":             answer,
		"https://example/":                  none,
		"https://login.node.example/":       none,
		"https://evilrpc.node.example/":     none,
		"https://rpc.node.example.evil.io/": none,
		"http://169.254.169.254/latest":     none,
		"file:///etc/passwd":                none,
		"http://%zz/":                       none,
	} {
		x := answeredWith(302, "<html>")
		if location != "" {
			x.Header.Set("Location", location)
		}
		if got := says(c.Judge(x, ids(1)...)); got != want {
			t.Errorf("Location %q: %s, want %s", location, got, want)
		}
	}
}

func TestJudgeBatch(t *testing.T) {
	c := newClient(t, "http://h/", Options{})
	one, two := `{"jsonrpc":"2.0","id":1,"result":"0x1"}`, `{"jsonrpc":"2.0","id":2,"result":"0x2"}`
	bad := `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`
	for _, r := range []struct {
		name, body, want string
		results          string
	}{
		{"in order", "[" + one + "," + two + "]", "result", `"0x1" "0x2"`},
		{"reordered", "[" + two + "," + one + "]", "result", `"0x1" "0x2"`},
		{"partly failed", "[" + one + "," + bad + "]", "result", `"0x1" -`},
		{"short", "[" + two + "]", "result", `- "0x2"`},
		{"failed", "[" + bad + "]", "answer node_error", "- -"},
		{"failed as a whole", bad, "answer node_error", "- -"},
		{"one reply, no list", one, "no_answer malformed", ""},
		{"others' ids", `[{"jsonrpc":"2.0","id":8,"result":"0x1"}]`, "no_answer id_mismatch", "- -"},
		{"without ids", `[{"jsonrpc":"2.0","result":"0x1"},{"jsonrpc":"2.0","result":"0x2"}]`, "no_answer id_mismatch", "- -"},
		{"error without id", `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch"}}]`, "answer node_error", "- -"},
		{"empty", "[]", "no_answer malformed", ""},
		{"no objects", "[1,2]", "no_answer malformed", ""},
	} {
		j := c.Judge(answeredWith(200, r.body), ids(1, 2)...)
		var results []string
		for _, s := range j.Said {
			if s.Result == nil {
				s.Result = []byte("-")
			}
			results = append(results, string(s.Result))
		}
		if got := says(j); got != r.want || strings.Join(results, " ") != r.results {
			t.Errorf("%s: %s %v, want %s %s", r.name, got, results, r.want, r.results)
		}
	}
}

func TestEvidenceIsTheUpstreamsOwnWords(t *testing.T) {
	c := newClient(t, keyed, Options{})
	for _, r := range []struct {
		x    Exchange
		want string
	}{
		{answeredWith(429, "", "Retry-After", "40"), "HTTP 429 · Retry-After 40"},
		{answeredWith(429, "slow\x1b[31m down", "Retry-After", "40"), "HTTP 429 · Retry-After 40, slow down"},
		{answeredWith(200, rpcError("429", "exceeded its compute units per second capacity")), `HTTP 200 · 429 "exceeded its compute units per second capacity"`},
		{answeredWith(503, "<HTML><head><title>503 Service\nUnavailable &amp; gone</title>"), "HTTP 503 · a web page: 503 Service Unavailable & gone"},
		{answeredWith(403, "no access for us3rname, key k3y-in-the-path"), "HTTP 403 · no access for ***, key ***"},
		{answeredWith(200, `{"jsonrpc":"2.0","id":7,"error":{}}`), "HTTP 200 · an error without words"},
		{answeredWith(200, "<html>"), "HTTP 200 · not JSON-RPC: a web page"},
		{answeredWith(500, ""), "HTTP 500"},
	} {
		if got := c.Judge(r.x, ids(7)...).Evidence.String(); got != r.want {
			t.Errorf("%s, want %s", got, r.want)
		}
	}
	long := c.Judge(answeredWith(500, strings.Repeat("ж", 500)), ids(7)...).Evidence.Text
	if n := len([]rune(long)); n != model.EvidenceRunes {
		t.Errorf("%d runes of evidence, want %d", n, model.EvidenceRunes)
	}
}

func TestLimits(t *testing.T) {
	for _, r := range []struct {
		s    said
		want limit
	}{
		{said{code: -32005, words: "limit exceeded"}, rateLimit},
		{said{code: -32005, words: ""}, rateLimit},
		{said{code: -32005, words: "query returned more than 10000 results"}, noLimit},
		{said{code: -32005, words: "block range limit exceeded"}, noLimit},
		{said{code: -32005, words: "log response size exceeded"}, noLimit},
		{said{code: -32005, words: "too many subscriptions"}, noLimit},
		{said{code: -32007, words: "25/second request limit reached"}, rateLimit},
		{said{code: -32007, words: "slot 124 was skipped, or missing due to ledger jump"}, noLimit},
		{said{code: -32016, words: "over rate limit"}, rateLimit},
		{said{code: 429, words: "anything"}, rateLimit},
		{said{code: -32000, words: "too many requests for this block range"}, rateLimit},
		{said{code: -32000, words: "gas limit exceeded"}, noLimit},
		{said{code: -32000, words: "stack limit reached 1024 (1023)"}, noLimit},
		{said{code: -32000, words: "the node reached its limits, try again later"}, noLimit},
		{said{code: -32602, words: "limited to a 10,000 range"}, noLimit},
		{said{status: 429}, rateLimit},
		{said{status: 402}, quotaUsed},
		{said{words: "daily credits used up"}, quotaUsed},
		{said{words: "api key quota used"}, quotaUsed},
		{said{words: "monthly capacity limit exceeded"}, quotaUsed},
		{said{words: "monthly plan: 5 requests per second"}, rateLimit},
		{said{words: "execution reverted"}, noLimit},
	} {
		if got := r.s.limit(); got != r.want {
			t.Errorf("%+v: %d, want %d", r.s, got, r.want)
		}
	}
}

func TestMethodsANodeLacks(t *testing.T) {
	for _, r := range []struct {
		code    int64
		message string
		want    bool
	}{
		{-32601, "Method not found", true},
		{-32601, "", true},
		{-32601, "the method net_peerCount does not exist/is not available", true},
		{-32600, "net is disabled on this node", true},
		{-32600, "Invalid Request", false},
		{-32004, "Method txpool_status is not supported", true},
		{-32004, "Missing or invalid parameters", false},
		{-32700, "The method txpool_status does not exist/is not available", true},
		{-32700, "parse error", false},
		{-32603, "method not supported", true},
		{-32000, "header not found", false},
		{-32000, "unsupported method: net_peerCount", true},
		{-32005, "method not available: rate limit", false},
		{1, "method not found", false},
	} {
		e := &Error{Code: r.code, Message: r.message}
		if got := e.Lacks(); got != r.want {
			t.Errorf("%d %q: %v", r.code, r.message, got)
		}
	}
	if (*Error)(nil).Lacks() {
		t.Error("no error lacks a method")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	const date = "Mon, 30 Nov 2026 12:00:00 GMT" // the answer's own clock is wrong
	for _, r := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"40", "", 40 * time.Second},
		{" 1.5 ", "", 1500 * time.Millisecond},
		{"0", "", time.Second},
		{"-5", "", time.Second},
		{"3600", "", 30 * time.Minute},
		{"99999999", "", 30 * time.Minute},
		{"9999999999999999999999", "", 30 * time.Minute},
		{"1e400", "", 30 * time.Minute},
		{"NaN", "", time.Second},
		{"soon", "", 0},
		{"Mon, 30 Nov 2026 12:01:00 GMT", date, time.Minute},
		{"Mon, 30 Nov 2026 11:00:00 GMT", date, time.Second},
		{"Tue, 01 Dec 2026 12:00:00 GMT", date, 30 * time.Minute},
		{"Mon, 30 Nov 2026 03:00:10 GMT", "", 10 * time.Second},
		{"Mon, 30 Nov 2026 03:00:10 GMT", "yesterday", 10 * time.Second},
	} {
		h := http.Header{}
		h.Set("Retry-After", r.after)
		if r.date != "" {
			h.Set("Date", r.date)
		}
		if got := retryAfter(h, now); got != r.want {
			t.Errorf("%q against %q: %v, want %v", r.after, r.date, got, r.want)
		}
	}
}

// Whatever bytes come, there is one outcome, and its evidence is short and shows
// no key.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{
		headReply, "[" + headReply + "]", `{"error":{"code":-32005,"message":"rate limit"}}`, "\xef\xbb\xbf{}", `{"jsonrpc":"2.0","id":7,"result":{"a":[1,2,{"b":"\"}"}]}}`,
		`{"a":1,"a":2}`, "[]", "[[]]", `"x"`, "<html>", "{", `{"id":}`, "null", `{"error":{"code":"1","data":"k3y-in-the-path"}}`,
	} {
		f.Add([]byte(s), 200)
		f.Add([]byte(s), 503)
	}
	u, err := ParseURL("alchemy", keyed)
	if err != nil {
		f.Fatal(err)
	}
	c, err := NewClient(u, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		for _, sent := range [][]json.RawMessage{nil, ids(7), ids(1, 2)} {
			j := c.Judge(Exchange{Status: status, Header: http.Header{}, Body: body}, sent...)
			if j.Kind == model.NoOutcome || (j.Kind == model.Result) != (j.Reason == "") {
				t.Fatalf("%s %q", j.Kind, j.Reason)
			}
			if status >= 400 && status != 407 && status != 511 && j.Kind != model.Answer {
				t.Fatalf("status %d is %s", status, j.Kind)
			}
			leaks(t, "evidence", j.Evidence.String())
			if n := len([]rune(j.Evidence.Text)); n > model.EvidenceRunes {
				t.Fatalf("%d runes of evidence", n)
			}
			for _, said := range j.Said {
				if said.Result != nil && len(said.Result) > len(body) {
					t.Fatalf("a result longer than its body")
				}
			}
		}
	})
}
