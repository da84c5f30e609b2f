package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// evm answers as a healthy node.
func evm(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || json.Unmarshal(body, &q) != nil {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	result := map[string]string{
		"eth_blockNumber": `"0x140f440"`, "eth_chainId": `"0x1"`, "eth_syncing": "false", "net_peerCount": `"0x8"`,
		"web3_clientVersion": `"node/v1"`, "eth_getBlockByNumber": fmt.Sprintf(`{"number":"0x140f440","timestamp":"0x%x"}`, time.Now().Unix()),
	}[q.Method]
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}

// v8 is the table every release must reproduce against live sockets.
var v8 = []struct {
	name    string
	verdict string
	reason  string                                   // of the first try
	serve   func(http.ResponseWriter, *http.Request) // nil: below HTTP
}{
	{"result", "healthy", "", evm},
	{"error body with 200", "inconclusive", "node_error", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"header not found"}}`)
	}},
	{"503 with HTML", "inconclusive", "http_status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<html><body>Service Unavailable</body></html>")
	}},
	{"403", "inconclusive", "http_status", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "forbidden", http.StatusForbidden) }},
	{"429", "inconclusive", "rate_limit", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "slow down", http.StatusTooManyRequests) }},
	{"dropped", "unreachable", "", nil},
	{"closed port", "unreachable", "refused", nil},
	{"silence", "unreachable", "timeout", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
}

// v8URL opens the socket of a row.
func v8URL(t *testing.T, i int) string {
	t.Helper()
	row := v8[i]
	if row.serve != nil {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Read first: a server that does not look at the body does not see its client leave.
			body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16)) // a half body is the row's own matter
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			row.serve(w, r)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	if row.name == "closed port" {
		return deadPort(t)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close() // that is the row
		}
	}()
	return "http://" + l.Addr().String()
}

// probed runs the built program and reads its report.
func probed(t *testing.T, args ...string) (reportJSON, int) {
	t.Helper()
	cmd := exec.Command(built(t), append([]string{"probe", "-o", "json", "--timeout", "500ms", "--tries", "2"}, args...)...)
	out, err := cmd.Output()
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var report reportJSON
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return report, code
}

func TestV8Binary(t *testing.T) {
	codes := map[string]int{"healthy": 0, "unreachable": 1, "inconclusive": 3}
	var urls []string
	for i, row := range v8 {
		urls = append(urls, v8URL(t, i))
		t.Run(row.name, func(t *testing.T) {
			report, code := probed(t, urls[i])
			got := report.Chains[0]
			if got.Verdict != row.verdict || code != codes[row.verdict] {
				t.Errorf("verdict %s, exit code %d; want %s, %d", got.Verdict, code, row.verdict, codes[row.verdict])
			}
			if r := got.Tries[0].Reason; row.reason != "" && r != row.reason {
				t.Errorf("reason %s, want %s", r, row.reason)
			}
		})
	}
	t.Run("together", func(t *testing.T) {
		report, code := probed(t, urls...)
		for i, row := range v8 {
			if got := report.Chains[i].Verdict; got != row.verdict {
				t.Errorf("%s: %s, want %s", row.name, got, row.verdict)
			}
		}
		if code != 1 {
			t.Errorf("exit code %d, want the worst, 1", code)
		}
	})
	t.Run("the worst but one", func(t *testing.T) {
		if _, code := probed(t, urls[:5]...); code != 3 {
			t.Errorf("exit code %d, want 3", code)
		}
	})
}
