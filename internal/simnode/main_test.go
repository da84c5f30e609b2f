package simnode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaintop/internal/memnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asker asks one node over a network.
type asker struct {
	t      *testing.T
	url    string
	client *http.Client
}

// inBubble serves n on a network in memory until the test ends.
func inBubble(t *testing.T, n *Node) asker {
	t.Helper()
	l := memnet.Listen()
	return onListener(t, n, l, &http.Transport{DialContext: l.DialContext})
}

func onListener(t *testing.T, n *Node, l net.Listener, tr *http.Transport) asker {
	t.Helper()
	if err := n.Serve(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return asker{t: t, url: n.URL(), client: &http.Client{Transport: tr}}
}

// answered is what came back for one question.
type answered struct {
	code   int
	header http.Header
	body   string
	result json.RawMessage
	err    *failure
	took   time.Duration
}

// ask asks for a method; an error when nothing whole came back.
func (a asker) ask(ctx context.Context, method string, params ...any) (answered, error) {
	a.t.Helper()
	p, err := json.Marshal(append([]any{}, params...))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, p))
}

func (a asker) post(ctx context.Context, body string) (answered, error) {
	a.t.Helper()
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader([]byte(body)))
	if err != nil {
		a.t.Fatal(err)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return answered{took: time.Since(start)}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answered{}, err
	}
	got := answered{code: res.StatusCode, header: res.Header, body: string(b), took: time.Since(start)}
	var r struct {
		Result json.RawMessage
		Error  *failure
	}
	if json.Unmarshal(b, &r) == nil {
		got.result, got.err = r.Result, r.Error
	}
	return got, nil
}

// must is ask where something whole has to come back.
func (a asker) must(method string, params ...any) answered {
	a.t.Helper()
	got, err := a.ask(a.t.Context(), method, params...)
	if err != nil {
		a.t.Fatalf("%s: %v", method, err)
	}
	return got
}

// head is the height the node says.
func (a asker) head() uint64 {
	a.t.Helper()
	return number(a.t, a.must("eth_blockNumber").result)
}

func number(t *testing.T, raw json.RawMessage) uint64 {
	t.Helper()
	var n uint64
	if _, err := fmt.Sscanf(string(raw), `"0x%x"`, &n); err != nil {
		t.Fatalf("%s is no quantity: %v", raw, err)
	}
	return n
}

func set(t *testing.T, n *Node, f Fault) {
	t.Helper()
	if err := n.Set(f); err != nil {
		t.Fatal(err)
	}
}

func (g answered) blockNumber(t *testing.T) json.RawMessage {
	t.Helper()
	var b struct{ Number json.RawMessage }
	if err := json.Unmarshal(g.result, &b); err != nil {
		t.Fatal(err)
	}
	return b.Number
}

// arrived waits, on real sockets, until a question has got to the node.
func arrived(t *testing.T, n *Node, method string) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for limit := time.Now().Add(10 * time.Second); n.Requests()[method] == 0; <-look.C {
		if time.Now().After(limit) {
			t.Fatalf("%s never arrived", method)
		}
	}
}

// shut closes what a test is done with, closed already or not.
func shut(c io.Closer) { c.Close() }
