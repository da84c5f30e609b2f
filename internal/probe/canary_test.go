package probe_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/config"

	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// canaries are the keys of one upstream, by where they stand.
var canaries = map[string]string{
	"user": "canary-us3r", "password": "canary+p4ss/word", "path": "canary-p4th-k3y", "query": "canary=qu3ry", "header": "canary h34der", "bearer": "canary.b34rer",
}

// coded are the spellings a canary must not be seen in.
func coded(s string) map[string]string {
	b64 := base64.StdEncoding.EncodeToString([]byte(s))
	return map[string]string{
		"raw": s, "path-escaped": url.PathEscape(s), "query-escaped": url.QueryEscape(s), "base64": strings.TrimRight(b64, "=")[:len(s)], "hex": hex.EncodeToString([]byte(s)),
	}
}

// seen fails the test when a canary is in text.
func seen(t *testing.T, where, text string) {
	t.Helper()
	for name, secret := range canaries {
		for how, s := range coded(secret) {
			if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
				t.Errorf("%s shows the %s, %s: %s", where, name, how, text)
			}
		}
	}
}

// echoes are the ways in which an upstream gives back what it was sent.
var echoes = map[string]func(c *rpctest.Conn, all string){
	"a refusal": func(c *rpctest.Conn, all string) { c.Answer("403 Forbidden", "", all) },
	"a page": func(c *rpctest.Conn, all string) {
		c.Answer("503 X", "", "<html><title>"+html.EscapeString(all)+"</title>")
	},
	"an error": func(c *rpctest.Conn, all string) {
		b, _ := json.Marshal(all)
		c.Answer("200 OK", "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":`+string(b)+`}}`)
	},
	"an error's data": func(c *rpctest.Conn, all string) {
		b, _ := json.Marshal(all[:min(len(all), 900)])
		c.Answer("200 OK", "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"","data":`+string(b)+`}}`)
	},
	"an error, escaped": func(c *rpctest.Conn, all string) {
		c.Answer("200 OK", "", `{"jsonrpc":"2.0","id":1,"error":"`+url.QueryEscape(all)+`"}`)
	},
	"base64": func(c *rpctest.Conn, all string) {
		c.Answer("403 X", "", base64.StdEncoding.EncodeToString([]byte(all)))
	},
	"base64, shifted": func(c *rpctest.Conn, all string) {
		c.Answer("403 X", "", base64.StdEncoding.EncodeToString([]byte("x"+all)))
	},
	"hex": func(c *rpctest.Conn, all string) { c.Answer("403 X", "", hex.EncodeToString([]byte(all))) },
	"a value": func(c *rpctest.Conn, all string) {
		b, _ := json.Marshal(all)
		c.Answer("200 OK", "", `{"jsonrpc":"2.0","id":1,"result":`+string(b)+`}`)
	},
	"no JSON": func(c *rpctest.Conn, all string) { c.Answer("200 OK", "", all) },
	"no HTTP": func(c *rpctest.Conn, all string) { c.Say(all) },
	"a status line": func(c *rpctest.Conn, all string) {
		c.Say("HTTP/1.1 abc " + strings.ReplaceAll(all, "\r\n", " ") + "\r\n\r\n")
	},
	"a reason": func(c *rpctest.Conn, all string) { c.Answer("503 "+strings.ReplaceAll(all, "\r\n", " "), "", "") },
	"a header": func(c *rpctest.Conn, all string) { c.Say("HTTP/1.1 200 OK\r\nX " + all + "\r\n\r\n") },
	"a redirect": func(c *rpctest.Conn, all string) {
		c.Say("HTTP/1.1 302 X\r\nLocation: /?" + url.QueryEscape(all) + "\r\nContent-Length: 0\r\n\r\n")
	},
	"chunks": func(c *rpctest.Conn, all string) { c.Say(chunked + all) },
	"encoding": func(c *rpctest.Conn, all string) {
		c.Answer("200 OK", "Content-Encoding: "+url.QueryEscape(all)+"\r\n", "x")
	},
	"split by escapes": func(c *rpctest.Conn, all string) {
		c.Answer("403 X", "", strings.ReplaceAll(all, "canary", "can\x1b[0mary"))
	},
	"far into a long text": func(c *rpctest.Conn, all string) {
		c.Answer("403 X", "", strings.Repeat("\u200b", 2700)+all)
	},
}

// TestNoKeyIsShown puts keys wherever a configuration can hold one, and has the
// upstream give them back in every way and the fault catalogue fail around them.
func TestNoKeyIsShown(t *testing.T) {
	for name, echo := range echoes {
		for _, auth := range []string{"url", "header"} {
			t.Run(name+", "+auth, func(t *testing.T) {
				srv, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
					for {
						req, body, ok := c.Request()
						if !ok {
							return
						}
						echo(c, sentText(req)+string(body))
						if name == "no HTTP" || name == "chunks" {
							return
						}
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				target := keyedTarget(t, srv.Addr, auth)
				defer target.Client.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				for _, method := range []string{"eth_blockNumber", "web3_clientVersion"} {
					o, err := probe.Ask(ctx, target, probe.Question{Method: method, ID: 1})
					shown(t, target, o, err)
				}
				told, err := probe.Facts(ctx, target, everything)
				seen(t, "facts", fmt.Sprintf("%+v %v", told, err))
			})
		}
	}
}

// sentText is a request as it came, with its keys in it decoded too.
func sentText(req *http.Request) string {
	var b strings.Builder
	path, _ := url.PathUnescape(req.RequestURI)
	_, basic, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	plain, _ := base64.StdEncoding.DecodeString(basic)
	fmt.Fprintf(&b, "%s %s %s\r\n%s\r\n", req.Method, req.RequestURI, path, plain)
	_ = req.Header.Write(&b)
	return b.String()
}

// keyedTarget is an upstream with a key in every place.
func keyedTarget(t *testing.T, addr, auth string) probe.Target {
	t.Helper()
	at := &url.URL{Scheme: "http", Host: addr, Path: "/v2/" + canaries["path"], RawQuery: "apikey=" + url.QueryEscape(canaries["query"])}
	o := rpc.Options{HTTP: config.DefaultHTTPClientConfig}
	o.HTTP.HTTPHeaders = &config.Headers{Headers: map[string]config.Header{"X-Key": {Secrets: []config.Secret{config.Secret(canaries["header"])}}}}
	if auth == "url" {
		at.User = url.UserPassword(canaries["user"], canaries["password"])
	} else {
		o.HTTP.Authorization = &config.Authorization{Credentials: config.Secret(canaries["bearer"])}
	}
	u, err := rpc.ParseURL("up", at.String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := rpc.NewClient(u, o)
	if err != nil {
		t.Fatal(err)
	}
	return probe.Target{Family: model.EVM, Client: c}
}

// shown looks at everything that a try gives out, in every form.
func shown(t *testing.T, target probe.Target, o model.Outcome, err error) {
	t.Helper()
	if err == nil && o.Kind == model.NoOutcome {
		t.Error("neither an outcome nor an error")
	}
	j, jsonErr := json.Marshal(o)
	if jsonErr != nil {
		t.Error(jsonErr)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("try", "url", target.Client.URL(), "outcome", o, "err", err)
	seen(t, "JSON", string(j))
	seen(t, "text", fmt.Sprintf("%v %+v %#v %v", o, o, o, err))
	seen(t, "a log", log.String())
	seen(t, "an address", fmt.Sprintf("%v %+v %#v", target.Client.URL(), target.Client.URL(), target.Client.URL()))
}

// Errors say what our side did without saying where to.
func TestErrorsShowNoKey(t *testing.T) {
	addr, err := rpctest.Closed()
	if err != nil {
		t.Fatal(err)
	}
	target := keyedTarget(t, addr, "url")
	defer target.Client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = probe.Try(ctx, target)
	if err == nil {
		t.Error("a cancelled try has an outcome")
	}
	seen(t, "an error", fmt.Sprintf("%v %+v", err, err))
	o, err := probe.Try(t.Context(), target)
	shown(t, target, o, err)
	var f *rpc.Failure
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	if _, err := target.Client.RoundTrip(req); err == nil {
		t.Error("a closed port answers")
	} else {
		seen(t, "a round trip's error", fmt.Sprintf("%v %+v %v", err, err, f))
		if strings.Contains(err.Error(), addr) {
			t.Errorf("an address in %v", err)
		}
	}
}
