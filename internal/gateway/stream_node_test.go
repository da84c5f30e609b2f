package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/memnet"
)

// blk is a block of a scripted chain, with two logs in it.
type blk struct {
	number       int
	hash, parent string
}

func (b blk) header(name string, whole bool) map[string]any {
	h := map[string]any{"number": quantityOf(uint64(b.number)), "hash": b.hash, "parentHash": b.parent, "miner": "0x0",
		"timestamp": quantityOf(uint64(time.Now().Unix()))}
	if whole {
		h["transactions"], h["uncles"], h["size"] = []string{"0x1"}, []string{}, "0x10"
	}
	return h
}

func (b blk) logs(removed bool) (all []map[string]any) {
	for i := range 2 {
		all = append(all, map[string]any{"address": "0xa", "blockHash": b.hash, "blockNumber": quantityOf(uint64(b.number)),
			"logIndex": quantityOf(uint64(i)), "removed": removed})
	}
	return all
}

// branch is blocks of one name on top of parent.
func branch(name, parent string, from, to int) (all []blk) {
	for k := from; k <= to; k++ {
		b := blk{k, fmt.Sprintf("0x%s%d", name, k), parent}
		all = append(all, b)
		parent = b.hash
	}
	return all
}

// scripted is a node that does as a test says: HTTP for the checks, and a
// websocket with subscriptions.
type scripted struct {
	t    *testing.T
	name string
	net  *memnet.Network

	mu      sync.Mutex
	moved   *sync.Cond // stopped changed
	stopped bool
	server  *http.Server
	conns   map[net.Conn]struct{}
	left    sync.WaitGroup
	chain   []blk
	socks   map[*sock]struct{}
	nextID  int
	asked   map[string]int                                 // by method, over the websocket
	reply   func(method string, id json.RawMessage) string // instead of its own; "" = its own, "-" = none
	dials   int
}

type sock struct {
	node *scripted
	mu   sync.Mutex
	ws   *websocket.Conn
	subs map[string]string // id → what
	ids  []string
}

func newScripted(t *testing.T, n *memnet.Network, name string, firstID int) *scripted {
	s := &scripted{t: t, name: name, net: n, socks: map[*sock]struct{}{}, conns: map[net.Conn]struct{}{}, nextID: firstID, asked: map[string]int{}}
	s.moved = sync.NewCond(&s.mu)
	s.chain = branch("m", "0xgenesis", 1, 100)
	s.up()
	return s
}

// up listens again.
func (s *scripted) up() {
	l, err := s.net.Listen(s.name + ":80")
	if err != nil {
		s.t.Fatal(err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, ConnState: func(c net.Conn, st http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if st == http.StateNew {
			s.conns[c] = struct{}{}
		}
	}}
	s.mu.Lock()
	s.server = server
	s.mu.Unlock()
	s.left.Go(func() { _ = server.Serve(gated{l, s}) })
}

// kill is kill -9.
func (s *scripted) kill() {
	s.mu.Lock()
	_ = s.server.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	clear(s.conns)
	s.stopped = false
	s.moved.Broadcast()
	s.mu.Unlock()
	s.left.Wait()
}

// stop is SIGSTOP, and with false SIGCONT.
func (s *scripted) stop(on bool) {
	s.mu.Lock()
	s.stopped = on
	s.moved.Broadcast()
	s.mu.Unlock()
}

// gated is a listener whose connections stand still while the node is stopped.
type gated struct {
	net.Listener
	node *scripted
}

type gatedConn struct {
	net.Conn
	node *scripted
}

func (g gated) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatedConn{c, g.node}, nil
}

func (s *scripted) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stopped {
		s.moved.Wait()
	}
}

func (c *gatedConn) Read(p []byte) (int, error) {
	c.node.pass()
	n, err := c.Conn.Read(p)
	c.node.pass()
	return n, err
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.pass()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.answerAll(body, nil))
		return
	}
	s.mu.Lock()
	s.dials++
	s.mu.Unlock()
	u := websocket.Upgrader{}
	ws, err := u.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	k := &sock{node: s, ws: ws, subs: map[string]string{}}
	s.mu.Lock()
	s.socks[k] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.socks, k)
		s.mu.Unlock()
		_ = ws.Close()
	}()
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		if out := s.answerAll(b, k); out != "" {
			k.write(out)
		}
	}
}

func (k *sock) write(text string) {
	k.node.pass()
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.ws.SetWriteDeadline(time.Now().Add(time.Minute))
	_ = k.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

type question struct {
	ID     json.RawMessage
	Method string
	Params []json.RawMessage
}

func (s *scripted) answerAll(b []byte, k *sock) string {
	if b = []byte(strings.TrimSpace(string(b))); len(b) > 0 && b[0] == '[' {
		var all []question
		_ = json.Unmarshal(b, &all)
		var out []string
		for _, q := range all {
			out = append(out, s.answer(q, k))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	var q question
	_ = json.Unmarshal(b, &q)
	return s.answer(q, k)
}

func (s *scripted) answer(q question, k *sock) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k != nil {
		s.asked[q.Method]++
		if s.reply != nil {
			if out := s.reply(q.Method, q.ID); out != "" {
				return strings.TrimPrefix(out, "-")
			}
		}
	}
	if q.ID == nil {
		return ""
	}
	out, fault := s.result(q, k)
	if fault != "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, q.ID, fault)
	}
	v, _ := json.Marshal(out)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, v)
}

func (s *scripted) result(q question, k *sock) (out any, fault string) {
	arg := func(i int) (text string) {
		if i < len(q.Params) {
			_ = json.Unmarshal(q.Params[i], &text)
		}
		return text
	}
	switch q.Method {
	case "eth_blockNumber":
		return quantityOf(uint64(s.chain[len(s.chain)-1].number)), ""
	case "eth_chainId":
		return "0x1", ""
	case "eth_syncing":
		return false, ""
	case "net_peerCount":
		return "0x10", ""
	case "x_name", "eth_sendRawTransaction":
		return s.name, ""
	case "eth_getBlockByNumber":
		if arg(0) == "latest" {
			return s.chain[len(s.chain)-1].header(s.name, true), ""
		}
		n, _ := quantity(arg(0))
		for _, b := range s.chain {
			if uint64(b.number) == n {
				return b.header(s.name, true), ""
			}
		}
		return nil, ""
	case "eth_getLogs":
		var f struct{ Address, FromBlock, ToBlock string }
		_ = json.Unmarshal(q.Params[0], &f)
		from, _ := quantity(f.FromBlock)
		to, _ := quantity(f.ToBlock)
		if f.Address != "0xa" || to-from >= 128 {
			return nil, "a bad filter"
		}
		logs := []map[string]any{}
		for _, b := range s.chain {
			if uint64(b.number) >= from && uint64(b.number) <= to {
				logs = append(logs, b.logs(false)...)
			}
		}
		return logs, ""
	case "eth_subscribe":
		if k == nil {
			return nil, "no subscriptions here"
		}
		id := quantityOf(uint64(s.nextID))
		s.nextID++
		k.subs[id] = arg(0)
		k.ids = append(k.ids, id)
		return id, ""
	case "eth_unsubscribe":
		_, has := k.subs[arg(0)]
		delete(k.subs, arg(0))
		return has, ""
	}
	return nil, "the method does not exist"
}

// grow puts blocks in the place of those from their first number on, and tells
// whoever subscribed.
func (s *scripted) grow(blocks ...blk) {
	s.mu.Lock()
	var gone []blk
	for len(s.chain) > 0 && s.chain[len(s.chain)-1].number >= blocks[0].number {
		gone = append(gone, s.chain[len(s.chain)-1])
		s.chain = s.chain[:len(s.chain)-1]
	}
	s.chain = append(s.chain, blocks...)
	type out struct {
		k    *sock
		text string
	}
	var all []out
	for k := range s.socks {
		for _, id := range k.ids {
			say := func(v any) {
				b, _ := json.Marshal(v)
				all = append(all, out{k, fmt.Sprintf(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":%q,"result":%s}}`, id, b)})
			}
			switch k.subs[id] {
			case "newHeads":
				for _, b := range blocks {
					say(b.header(s.name, false))
				}
			case "logs":
				for _, b := range gone {
					for _, l := range b.logs(true) {
						say(l)
					}
				}
				for _, b := range blocks {
					for _, l := range b.logs(false) {
						say(l)
					}
				}
			case "newPendingTransactions":
				say("0xtx" + s.name)
			}
		}
	}
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return // it computes nothing
	}
	for _, o := range all {
		o.k.write(o.text)
	}
}

// tellAll sends a message to every client.
func (s *scripted) tellAll(text string) {
	s.mu.Lock()
	var all []*sock
	for k := range s.socks {
		all = append(all, k)
	}
	s.mu.Unlock()
	for _, k := range all {
		k.write(text)
	}
}

func (s *scripted) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

func (s *scripted) answers(f func(method string, id json.RawMessage) string) {
	s.mu.Lock()
	s.reply = f
	s.mu.Unlock()
}

// closeAll closes every stream with a code.
func (s *scripted) closeAll(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.socks {
		_ = k.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	}
	_ = s.server.Close()
}
