//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// node is an upstream: an EVM node as far as probes look, which counts how often
// it was asked each id.
type node struct {
	journal *os.File // the ids of writes, so that a kill loses none

	calls atomic.Int64 // of clients
	conns atomic.Int64 // accepted
	slow  atomic.Int64 // ns, for every slowEvery-th call of clients; 0 = never

	mu    sync.Mutex
	seen  []uint8 // by id
	quiet map[net.Conn]bool
}

const slowEvery = 3

// counts is what a node tells of itself.
type counts struct {
	Calls int64 `json:"calls"` // of clients, since its start
	Conns int64 `json:"conns"` // accepted since its start
	Seen  int64 `json:"seen"`  // ids of the range it was asked
	Twice int64 `json:"twice"` // of those, more than once
}

// runNode is the role "upstream".
func runNode(args []string) error {
	set := flag.NewFlagSet("upstream", flag.ContinueOnError)
	addr := set.String("listen", "127.0.0.1:0", "")
	journal := set.String("journal", "", "")
	if err := set.Parse(args); err != nil {
		return err
	}
	f, err := os.OpenFile(*journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	n := &node{journal: f, quiet: map[net.Conn]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /counts", n.counts)
	mux.HandleFunc("POST /slow", n.slowDown)
	mux.HandleFunc("POST /close-idle", n.closeIdle)
	mux.HandleFunc("POST /", n.rpc)
	fmt.Println(l.Addr())
	return (&http.Server{Handler: mux, ConnState: n.state, ReadHeaderTimeout: time.Minute}).Serve(l)
}

func (n *node) state(c net.Conn, s http.ConnState) {
	if s == http.StateNew {
		n.conns.Add(1)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s == http.StateIdle {
		n.quiet[c] = true
	} else {
		delete(n.quiet, c)
	}
}

// closeIdle closes the connections on which nothing is asked, once in each
// period from now on.
func (n *node) closeIdle(_ http.ResponseWriter, r *http.Request) {
	every, err := time.ParseDuration(r.URL.Query().Get("every"))
	if err != nil || every <= 0 {
		panic(http.ErrAbortHandler)
	}
	go func() {
		for range time.Tick(every) {
			n.mu.Lock()
			for c := range n.quiet {
				_ = c.Close() // that is the point
			}
			n.mu.Unlock()
		}
	}()
}

func (n *node) slowDown(_ http.ResponseWriter, r *http.Request) {
	by, err := time.ParseDuration(r.URL.Query().Get("by"))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	n.slow.Store(int64(by))
}

func (n *node) counts(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64) // without: of none
	to, _ := strconv.ParseInt(r.URL.Query().Get("to"), 10, 64)
	said := counts{Calls: n.calls.Load(), Conns: n.conns.Load()}
	n.mu.Lock()
	for id := from; id < min(to, int64(len(n.seen))); id++ {
		if n.seen[id] > 0 {
			said.Seen++
		}
		if n.seen[id] > 1 {
			said.Twice++
		}
	}
	n.mu.Unlock()
	_ = json.NewEncoder(w).Encode(said) // the asker is this bench
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (n *node) rpc(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the asker is gone
	}
	var out []byte
	if len(body) > 0 && body[0] == '[' {
		var calls []rpcCall
		err = json.Unmarshal(body, &calls)
		out = append(out, '[')
		for i, c := range calls {
			if i > 0 {
				out = append(out, ',')
			}
			out = n.answer(out, c)
		}
		out = append(out, ']')
	} else {
		var c rpcCall
		err = json.Unmarshal(body, &c)
		out = n.answer(out, c)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out) // the asker may be gone
}

// answer appends the reply to one call.
func (n *node) answer(b []byte, c rpcCall) []byte {
	if c.Method == methodRead || c.Method == methodWrite {
		id, err := strconv.ParseInt(string(c.ID), 10, 64)
		if err == nil {
			n.note(id, c.Method == methodWrite)
			return appendReply(b, id)
		}
	}
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(append(b, c.ID...), ',')
	b = append(b, fact(c)...)
	return append(b, '}')
}

func (n *node) note(id int64, write bool) {
	nth := n.calls.Add(1)
	if write {
		// On disk before the answer is out: who was asked and then killed was asked.
		if _, err := fmt.Fprintf(n.journal, "%d\n", id); err != nil {
			panic(errors.Join(errors.New("the journal of writes"), err))
		}
	}
	n.mu.Lock()
	for int64(len(n.seen)) <= id {
		n.seen = append(n.seen, make([]uint8, id-int64(len(n.seen))+1)...)
	}
	if n.seen[id] < 255 {
		n.seen[id]++
	}
	n.mu.Unlock()
	if by := n.slow.Load(); by > 0 && nth%slowEvery == 0 {
		time.Sleep(time.Duration(by))
	}
}

// fact is what a node says of itself. The clock sets the height, so that two
// nodes agree.
func fact(c rpcCall) string {
	now := time.Now().Unix()
	switch c.Method {
	case "eth_blockNumber":
		return fmt.Sprintf(`"result":"0x%x"`, now)
	case "eth_getBlockByNumber":
		return fmt.Sprintf(`"result":{"number":"0x%x","hash":"0x%064x","timestamp":"0x%x"}`, now, now, now)
	case "eth_chainId":
		return `"result":"0x1"`
	case "eth_syncing":
		return `"result":false`
	case "net_peerCount":
		return `"result":"0x19"`
	case "web3_clientVersion":
		return `"result":"bench/v1"`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}
