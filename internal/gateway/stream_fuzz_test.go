package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// deaf is a connection to nobody.
type deaf struct{ net.Conn }

func (deaf) Read([]byte) (int, error)         { return 0, io.EOF }
func (deaf) Write(p []byte) (int, error)      { return len(p), nil }
func (deaf) Close() error                     { return nil }
func (deaf) SetDeadline(time.Time) error      { return nil }
func (deaf) SetReadDeadline(time.Time) error  { return nil }
func (deaf) SetWriteDeadline(time.Time) error { return nil }

// hijacked is a response writer that gives it away.
type hijacked struct{ http.ResponseWriter }

func (hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return deaf{}, bufio.NewReadWriter(bufio.NewReader(deaf{}), bufio.NewWriter(deaf{})), nil
}

// offline is a session whose sockets lead nowhere, in a gateway that dials
// nobody: its upstream is unhealthy.
func offline(t testing.TB) *session {
	t.Helper()
	c := &model.Chain{Name: "x", Interface: "jsonrpc", Family: model.EVM, Upstreams: []model.Upstream{{Name: "a"}}}
	c.Upstreams[0].State.Health = model.Unhealthy
	inst := &model.Instance{Chains: []*model.Chain{c}}
	addr, err := rpc.ParseURL("a", "http://a")
	if err != nil {
		t.Fatal(err)
	}
	client, err := rpc.NewClient(addr, rpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := New(Options{Picture: func() *model.Instance { return inst }, Now: time.Now, Clients: [][]*rpc.Client{{client}}, Settings: []Settings{DefaultSettings()}})
	rt := g.routes[0]
	s := &session{g: g, rt: rt, client: offlinePipe(t), timer: time.NewTimer(time.Hour)}
	s.requests.open()
	s.subscriptions.open()
	s.activity = g.activity.enter(nil, 0, model.ClientWS, "::1", time.Now()).open(time.Now())
	return s
}

func offlinePipe(t testing.TB) *pipe {
	r := httptest.NewRequest(http.MethodGet, "http://gw/x", nil)
	for k, v := range map[string]string{"Connection": "upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		r.Header.Set(k, v)
	}
	conn, err := (&websocket.Upgrader{}).Upgrade(hijacked{httptest.NewRecorder()}, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &pipe{sock: newSocket(conn, 1<<20, nil), quit: make(chan struct{})}
}

// attach gives the session a link, as hold does with a socket.
func (s *session) attachOffline(t testing.TB) {
	s.link = &link{pipe: offlinePipe(t), client: s.rt.clients[0]}
	s.link.head.Store(100)
	s.rt.streams.attached(0, 1)
}

// sendAll sends what the session has for its upstream.
func (s *session) sendAll() {
	for s.link != nil && s.question() != nil {
		s.asks()
	}
}

// What a client and an upstream send, in a session without sockets: it does not
// panic, forgets nothing that it counts, and hands a client JSON alone.
func FuzzStreamMessages(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`, `{"jsonrpc":"2.0","id":1,"result":"0x1"}`,
		`{"method":"eth_subscription","params":{"subscription":"0x1","result":{"number":"0x65","hash":"0xa","parentHash":"0xb"}}}`)
	f.Add(`[{"id":1,"method":"eth_subscribe","params":["logs",{"topics":[]}]},{"id":1,"method":"x"}]`, `[{"id":1,"result":"0x1"},{"method":"eth_subscription","params":{"subscription":"0x1","result":{"blockHash":"0x1","blockNumber":"0x1","logIndex":"0x0","removed":true}}}]`,
		`{"id":"ct-3","result":[{"blockHash":"0x2","blockNumber":"0x41","logIndex":"0x0"}]}`)
	f.Add(`{"id":"ct-1","method":"eth_unsubscribe","params":["0x1"]}`, `{"id":"ct-1","error":{"code":-32005}}`, `{"id":null,"error":1}`)
	f.Add(`{"method":"n"}`, `{"id":"ct-2","result":{"number":"0x65","hash":"0xa","parentHash":"0xb","transactions":[]}}`, `{}`)
	f.Fuzz(func(t *testing.T, client, first, second string) {
		s := offline(t)
		defer s.timer.Stop()
		s.attachOffline(t)
		say := func(text string) {
			s.sendAll()
			if s.link != nil && !s.over {
				s.fromLink(came{b: []byte(text)})
			}
			s.sendAll()
		}
		for range 2 {
			if s.over {
				break
			}
			s.fromClient(came{b: []byte(client)})
			say(first)
			say(second)
			if s.link != nil {
				s.begin(0)
			}
			s.attachOffline(t)
			if s.move != nil {
				s.subscribeAgain()
			}
			for _, text := range []string{`{"id":"ct-1","result":"0x7"}`, first, second} {
				say(text)
			}
		}
		for _, b := range s.pending {
			if _, _, err := rpc.Frames(b, 1<<20); err != nil {
				t.Errorf("for the client: %q: %v", b, err)
			}
		}
		held := 0
		for _, list := range s.held {
			held += len(list)
		}
		waits := 0
		for _, r := range s.outbox {
			waits += len(r.frame.Raw)
		}
		if held != s.holds || waits != s.waits || s.kept < 0 || s.rawed < 0 {
			t.Errorf("%d held, counted %d; %d wait, counted %d; %d kept, %d remembered", held, s.holds, waits, s.waits, s.kept, s.rawed)
		}
	})
}
