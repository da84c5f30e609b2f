package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chaintop/internal/simnode"
	"chaintop/model"
)

// F9, row by row.
func TestWhatTheGatewayItselfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := sim("a")
		r, stop := newRig(t, tune{set: func(s *Settings) { s.MaxBody, s.MaxBatch, s.Timeout = 1000, 3, time.Second }}, up{name: "a", node: a})
		defer stop()
		r.known()
		batch := strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},`, 4), ",")
		for _, tt := range []struct {
			name, method, path, body string
			status                   int
			want                     string
		}{
			{"unknown chain", "POST", "/y/jsonrpc", `{"id":1,"method":"m"}`, 404,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32053,"message":"there is no such chain here"}}`},
			{"unknown interface", "POST", "/y", `{"id":1,"method":"m"}`, 404,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32053,"message":"there is no such chain here"}}`},
			{"body too large", "POST", "/x/jsonrpc", `{"id":1,"method":"` + strings.Repeat("m", 1000) + `"}`, 413,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32052,"message":"a request holds at most 1000 bytes here (max_body)"}}`},
			{"batch too large", "POST", "/x/jsonrpc", "[" + batch + "]", 413,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32052,"message":"a batch holds at most 3 calls here (max_batch)"}}`},
			{"denied", "POST", "/x", `{"jsonrpc":"2.0","id":"q","method":"admin_peers"}`, 403,
				`{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"the method is denied here"}}`},
			{"denied under another case", "POST", "/x", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId","Method":"admin_peers"}`, 403,
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method is denied here"}}`},
			{"denied, escaped", "POST", "/x", `{"jsonrpc":"2.0","id":1,"met\u0068od":"\u0061dmin_peers"}`, 403,
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method is denied here"}}`},
			{"denied in a batch", "POST", "/x", `[{"id":1,"method":"eth_chainId"},{"id":2,"method":"engine_x"},{"method":"note"}]`, 403,
				`[{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method is denied here"}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"the method is denied here"}}]`},
			{"unparsable", "POST", "/x", `{"id":1,`, 400,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC request: not JSON"}}`},
			{"an empty batch", "POST", "/x", `[]`, 400,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC request: an empty batch"}}`},
			{"nested too deep", "POST", "/x", strings.Repeat("[", 100), 400,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC request: nested too deep"}}`},
			{"a path that climbs", "POST", "/x/jsonrpc/../../etc", `{"id":1,"method":"m"}`, 404,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32053,"message":"there is no such chain here"}}`},
		} {
			got := r.raw(tt.method, tt.path, tt.body)
			if got.status != tt.status || got.by != "" {
				t.Errorf("%s: %v", tt.name, got)
			}
			if diff := cmp.Diff(tt.want, got.body); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		r.set(a, simnode.Stall())
		got := r.call(9)
		if want := `{"jsonrpc":"2.0","id":9,"error":{"code":-32051,"message":"no answer from a within 1s"}}`; got.status != 504 || got.body != want || got.took != time.Second {
			t.Errorf("timeout: %v", got)
		}
		got = r.post(`{"jsonrpc":"2.0","id":9,"method":"eth_sendRawTransaction","params":["0x1"]}`)
		if want := `{"jsonrpc":"2.0","id":9,"error":{"code":-32051,"message":"no answer from a within 1s; it may have been executed"}}`; got.status != 504 || got.body != want {
			t.Errorf("timeout of a write: %v", got)
		}
		if err := a.Down(); err != nil {
			t.Fatal(err)
		}
		got = r.call(9)
		if want := `{"jsonrpc":"2.0","id":9,"error":{"code":-32050,"message":"no upstream is fit for x/jsonrpc: a refused"}}`; got.status != 503 || got.body != want {
			t.Errorf("nothing fit: %v", got)
		}
	})
}

// raw sends a path as it stands.
func (r *rig) raw(method, path, body string) reply {
	req := &http.Request{Method: method, URL: &url.URL{Scheme: "http", Host: "gw", Opaque: "//gw" + path},
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	resp, err := r.http.Do(req.WithContext(context.Background()))
	if err != nil {
		return reply{err: err}
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return reply{status: resp.StatusCode, by: resp.Header.Get("X-Served-By"), body: string(b), err: err}
}

func TestFind(t *testing.T) {
	chains := func(keys ...string) *Gateway {
		inst := &model.Instance{}
		var sets []Settings
		for _, k := range keys {
			name, face, _ := strings.Cut(k, "/")
			fam := model.EVM
			if face == "http" {
				fam = model.HTTP
			}
			inst.Chains = append(inst.Chains, &model.Chain{Name: name, Interface: face, Family: fam})
			sets = append(sets, DefaultSettings())
		}
		return New(Options{Picture: func() *model.Instance { return inst }, Now: time.Now, Settings: sets})
	}
	one, rest, many := chains("eth/jsonrpc"), chains("api/http"), chains("eth/jsonrpc", "eth/http", "base/jsonrpc")
	// Clients are looked up by chain; here nobody is asked.
	for _, tt := range []struct {
		gw         *Gateway
		path       string
		key, after string
	}{
		{one, "/", "eth/jsonrpc", ""},
		{one, "", "eth/jsonrpc", ""},
		{one, "/eth", "eth/jsonrpc", ""},
		{one, "/eth/", "eth/jsonrpc", ""},
		{one, "/eth/jsonrpc", "eth/jsonrpc", ""},
		{one, "/eth/jsonrpc/ext/bc/C", "eth/jsonrpc", "/ext/bc/C"},
		{one, "/eth/ext/bc/C", "eth/jsonrpc", "/ext/bc/C"},
		{one, "/etherum", "", ""},
		{rest, "/", "api/http", ""},
		{rest, "/status", "api/http", "/status"},
		{rest, "/api/status", "api/http", "/status"},
		{rest, "/api/http/blocks/a%2Fb", "", ""},
		{rest, "/api/http/blocks/a%20b", "api/http", "/blocks/a%20b"},
		{many, "/", "", ""},
		{many, "/eth", "", ""},
		{many, "/eth/http/x", "eth/http", "/x"},
		{many, "/eth/jsonrpc", "eth/jsonrpc", ""},
		{many, "/base", "base/jsonrpc", ""},
		{many, "/base/../eth/jsonrpc", "", ""},
		{many, "/base/%2e%2e/secret", "", ""},
		{many, "/base/..%2fsecret", "", ""},
	} {
		u, err := url.Parse(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		rt, after := tt.gw.find(u)
		switch {
		case rt == nil && tt.key != "":
			t.Errorf("%s: nobody's", tt.path)
		case rt != nil && (rt.key != tt.key || after.EscapedPath() != tt.after):
			t.Errorf("%s: %s %q, want %s %q", tt.path, rt.key, after.EscapedPath(), tt.key, tt.after)
		}
	}
}

func TestRepeatable(t *testing.T) {
	for method, want := range map[string]bool{
		"eth_blockNumber": true, "eth_call": true, "eth_getLogs": true, "eth_chainId": true, "net_version": true, "unknown_method": true,
		"eth_sendRawTransaction": false, "eth_sendRawTransactionSync": false, "eth_sendTransaction": false, "eth_sendUserOperation": false,
		"personal_sign": false, "miner_start": false, "eth_submitWork": false, "sendTransaction": false, "sendrawtransaction": false,
		"broadcast_tx_sync": false, "author_submitExtrinsic": false, "eth_newFilter": false, "eth_newBlockFilter": false,
		"eth_newPendingTransactionFilter": false, "eth_getFilterChanges": false, "eth_getFilterLogs": false, "eth_uninstallFilter": false,
	} {
		if got := repeatable(method); got != want {
			t.Errorf("%s: %v", method, got)
		}
	}
}

// An answer longer than is held is streamed, and a cut in it ends the client's
// answer; a cut before that is asked again (F5).
func TestLongAnswers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		size  int
		cut   int
		zip   bool
		by    string
		whole bool
	}{
		{"held", held - 100, 0, false, "a", true},
		{"streamed", 5 * held, 0, false, "a", true},
		{"zipped", 5 * held, 0, true, "a", true},
		{"held and cut", held / 2, held / 4, false, "b", true},
		{"streamed and cut", 5 * held, 3 * held, false, "a", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := []byte(`{"jsonrpc":"2.0","id":1,"result":"0x` + strings.Repeat("12345678", tt.size/8) + `"}`)
				node := sim("a")
				long := func(cut int) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
						b, _ := io.ReadAll(q.Body)
						if !strings.Contains(string(b), "eth_getLogs") {
							q.Body = io.NopCloser(bytes.NewReader(b))
							node.ServeHTTP(w, q)
							return
						}
						out := body
						if tt.zip && strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
							var z bytes.Buffer
							zw := gzip.NewWriter(&z)
							_, _ = zw.Write(body)
							_ = zw.Close()
							out = z.Bytes()
							w.Header().Set("Content-Encoding", "gzip")
						}
						w.Header().Set("Content-Type", "application/json")
						w.Header().Set("Content-Length", fmt.Sprint(len(out)))
						if cut > 0 {
							_, _ = w.Write(out[:cut])
							_ = http.NewResponseController(w).Flush()
							panic(http.ErrAbortHandler)
						}
						_, _ = w.Write(out)
					})
				}
				r, stop := newRig(t, tune{}, up{name: "a", handler: long(tt.cut)}, up{name: "b", handler: long(0), tier: model.Backup})
				defer stop()
				r.known()
				req, _ := http.NewRequest("POST", "http://gw/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{}]}`))
				if tt.zip {
					req.Header.Set("Accept-Encoding", "gzip")
				}
				resp, err := r.http.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				from := io.Reader(resp.Body)
				if resp.Header.Get("Content-Encoding") == "gzip" {
					if from, err = gzip.NewReader(resp.Body); err != nil {
						t.Fatal(err)
					}
				} else if tt.zip {
					t.Error("not zipped")
				}
				got, err := io.ReadAll(from)
				_ = resp.Body.Close()
				if (err == nil) != tt.whole || (tt.whole && !bytes.Equal(got, body)) || resp.Header.Get("X-Served-By") != tt.by {
					t.Errorf("%d bytes of %d by %s: %v", len(got), len(body), resp.Header.Get("X-Served-By"), err)
				}
			})
		})
	}
}

// The client's credentials are for nobody beyond the gateway, and where an
// upstream sends one elsewhere is not told.
func TestHeadersThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saw http.Header
		h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.Header.Get("X-Mine") != "" {
				saw = q.Header.Clone()
				w.Header().Set("Location", "http://a/v2/KEY")
				w.Header().Set("Alt-Svc", "h3")
				w.Header().Set("X-Served-By", "liar")
				w.WriteHeader(301)
				return
			}
			sim("a").ServeHTTP(w, q)
		})
		r, stop := newRig(t, tune{}, up{name: "a", handler: h})
		defer stop()
		r.known()
		req, _ := http.NewRequest("POST", "http://gw/x", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		req.Header.Set("Authorization", "Bearer client")
		req.Header.Set("Cookie", "a=b")
		req.Header.Set("X-Mine", "1")
		resp, err := r.http.Transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For"} {
			if saw.Get(name) != "" {
				t.Errorf("%s went out", name)
			}
		}
		if resp.StatusCode != 301 || resp.Header.Get("Location") != "" || resp.Header.Get("Alt-Svc") != "" || resp.Header.Get("X-Served-By") != "a" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
	})
}

func FuzzFind(f *testing.F) {
	inst := &model.Instance{Chains: []*model.Chain{{Name: "a", Interface: "jsonrpc", Family: model.EVM}, {Name: "b", Interface: "http", Family: model.HTTP}}}
	gw := New(Options{Picture: func() *model.Instance { return inst }, Now: time.Now, Settings: []Settings{{}, {}}})
	for _, s := range []string{"/a/jsonrpc/x", "/a/../b", "/b/%2e%2e/x", "/a/%00", "//a", "/b/http/a%2fb?x=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.ParseRequestURI(raw)
		if err != nil {
			return
		}
		rt, after := gw.find(u)
		if rt == nil {
			return
		}
		for s := range strings.SplitSeq(after.Path, "/") {
			if s == ".." {
				t.Errorf("%q climbs to %q", raw, after.Path)
			}
		}
	})
}
