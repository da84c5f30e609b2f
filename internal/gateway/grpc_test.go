package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/config"

	"chaintop/internal/memnet"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// message is a gRPC message on the wire.
func message(text string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))
	return append(b, text...)
}

// grpcNode is a node that speaks gRPC; what it says goes by the method.
func grpcNode(name string, calls *sync.Map) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := calls.LoadOrStore(name+r.URL.Path, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
		h := w.Header()
		h.Set("Content-Type", "application/grpc+proto")
		h.Set("X-Meta", "m")
		if r.Header.Get("Te") != "trailers" || r.Header.Get("Authorization") != "" || r.ProtoMajor != 2 {
			h.Set("Grpc-Status", "13")
			return
		}
		trailer := func(code string) {
			h.Set(http.TrailerPrefix+"Grpc-Status", code)
			h.Set(http.TrailerPrefix+"X-End", "e")
		}
		flush := func() { _ = http.NewResponseController(w).Flush() }
		switch r.URL.Path {
		case "/s.S/GetEcho", "/s.S/SendEcho":
			b, _ := io.ReadAll(r.Body)
			_, _ = w.Write(append(b, message(name)...))
			trailer("0")
		case "/s.S/Only":
			h.Set("Grpc-Status", "5")
			h.Set("Grpc-Message", "no such thing")
		case "/s.S/Unavailable":
			h.Set("Grpc-Status", "14")
		case "/s.S/GetCut", "/s.S/SendCut":
			if name == "a" {
				_, _ = io.ReadAll(r.Body)
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(message(name))
			trailer("0")
		case "/s.S/GetCutLate":
			_, _ = w.Write(message(name))
			flush()
			panic(http.ErrAbortHandler)
		case "/s.S/GetStall":
			<-r.Context().Done()
		case "/s.S/HTML":
			h.Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusForbidden)
		case "/s.S/Stream":
			flush()
			b := make([]byte, 6)
			for {
				if _, err := io.ReadFull(r.Body, b); err != nil {
					break
				}
				_, _ = w.Write(b)
				flush()
			}
			trailer("0")
		}
	})
}

// grpcRig is a gateway over two such nodes on a memory network, by h2c.
func grpcRig(t *testing.T) (gw *Gateway, client *http.Client, calls *sync.Map, stop func()) {
	net, calls := &memnet.Network{}, &sync.Map{}
	c := &model.Chain{Name: "x", Interface: "grpc", Family: model.EVM}
	var clients []*rpc.Client
	var closers []func()
	serve := func(addr string, h http.Handler) {
		l, err := net.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: h, Protocols: new(http.Protocols), ReadHeaderTimeout: time.Second}
		s.Protocols.SetUnencryptedHTTP2(true)
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Serve(l) })
		closers = append(closers, func() { _ = s.Close(); wg.Wait() })
	}
	for _, name := range []string{"none", "a", "b"} { // nobody listens at the first
		c.Upstreams = append(c.Upstreams, model.Upstream{Name: name})
		if name != "none" {
			serve(name+":80", grpcNode(name, calls))
		}
		addr, err := rpc.ParseURL(name, "http://"+name)
		if err != nil {
			t.Fatal(err)
		}
		one, err := rpc.NewClient(addr, rpc.Options{Dial: net.Dial, H2C: true})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, one)
	}
	inst := &model.Instance{Chains: []*model.Chain{c}}
	set := DefaultSettings()
	set.Timeout, set.MaxBody, set.Deny = 2*time.Second, 1000, []string{"admin.*"}
	gw = New(Options{Picture: func() *model.Instance { return inst }, Now: time.Now, Clients: [][]*rpc.Client{clients}, Settings: []Settings{set}})
	serve("gw:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asksGRPC(r) {
			t.Error("no gRPC")
		}
		v := gw.activity.enter(nil, 0, model.ClientGRPC, "::1", time.Now())
		defer v.leave()
		gw.grpc(w, r, v)
	}))
	tr := &http.Transport{DialContext: net.Dial, Protocols: new(http.Protocols), DisableCompression: true}
	tr.Protocols.SetUnencryptedHTTP2(true)
	return gw, &http.Client{Transport: tr}, calls, func() {
		tr.CloseIdleConnections()
		for _, f := range closers {
			f()
		}
		for _, one := range clients {
			one.Close()
		}
	}
}

type grpcReply struct {
	Body, Status, Message, By, End string
	Only                           bool // headers alone
}

func callGRPC(client *http.Client, method string, body io.Reader) (grpcReply, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://gw/"+method, body)
	if err != nil {
		return grpcReply{}, err
	}
	req.Header.Set("Content-Type", "application/grpc+proto")
	req.Header.Set("Te", "trailers")
	req.Header.Set("Authorization", "Bearer k")
	resp, err := client.Do(req)
	if err != nil {
		return grpcReply{}, err
	}
	b, err := io.ReadAll(resp.Body)
	r := grpcReply{Body: string(b), By: resp.Header.Get("X-Served-By"), Status: resp.Trailer.Get("Grpc-Status"), Message: resp.Trailer.Get("Grpc-Message"), End: resp.Trailer.Get("X-End")}
	if s := resp.Header.Get("Grpc-Status"); s != "" {
		r.Only, r.Status, r.Message = true, s, resp.Header.Get("Grpc-Message")
	}
	return r, errors.Join(err, resp.Body.Close())
}

// Unary calls: on to the next upstream before the first byte of an answer, never
// a write that was sent; trailers kept; what is ours to say as a status.
func TestUnaryCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gw, client, calls, stop := grpcRig(t)
		defer stop()
		say := string(message("hello"))
		for _, tt := range []struct {
			method string
			body   string
			want   grpcReply
			asked  string // how often a and b were
		}{
			{"s.S/GetEcho", say, grpcReply{Body: say + string(message("a")), Status: "0", By: "a", End: "e"}, "1 0"},
			{"s.S/Only", say, grpcReply{Status: "5", Message: "no such thing", By: "a", Only: true}, "1 0"},
			{"s.S/Unavailable", say, grpcReply{Status: "14", By: "a", Only: true}, "1 0"},
			{"s.S/GetCut", say, grpcReply{Body: string(message("b")), Status: "0", By: "b", End: "e"}, "2 1"}, // a once more on a fresh connection (F5)
			{"s.S/SendCut", say, grpcReply{Status: "14", Message: "no answer from a; it may have been executed", Only: true}, "1 0"},
			{"s.S/GetCutLate", say, grpcReply{Body: string(message("a")), Status: "14", Message: "no answer from a: it was cut", By: "a"}, "1 0"},
			{"s.S/GetStall", say, grpcReply{Status: "4", Message: "no answer from a within 2s", Only: true}, "1 0"},
			{"s.S/HTML", say, grpcReply{Status: "7", Message: "a answered HTTP 403", Only: true}, "1 0"},
			{"admin.Do/It", say, grpcReply{Status: "12", Message: "the method is denied here", Only: true}, "0 0"},
			{"s.S/GetEcho/../x", say, grpcReply{Status: "12", Message: "there is no such chain here", Only: true}, "0 0"},
			{"s.S/GetLong", string(message(strings.Repeat("x", 1001))), grpcReply{Status: "8", Message: "a message holds at most 1000 bytes here (max_body)", Only: true}, "0 0"},
		} {
			begun := time.Now()
			got, err := callGRPC(client, tt.method, strings.NewReader(tt.body))
			if err != nil {
				t.Errorf("%s: %v", tt.method, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: %s", tt.method, diff)
			}
			if took := time.Since(begun); tt.want.Status == "4" && took != 2*time.Second {
				t.Errorf("%s: took %v", tt.method, took)
			}
			var n [2]int
			for i, name := range []string{"a", "b"} {
				if p, ok := calls.Load(name + "/" + tt.method); ok {
					n[i] = int(p.(*atomic.Int32).Load())
				}
			}
			if asked := fmt.Sprintf("%d %d", n[0], n[1]); asked != tt.asked {
				t.Errorf("%s: asked %s times, want %s", tt.method, asked, tt.asked)
			}
		}
		sums, ok := gw.Sums(time.Now())
		if !ok || sums.Chains[0].Traffic.Upstreams[0].Silences == 0 || sums.Chains[0].Traffic.Upstreams[1].Results == 0 || sums.Chains[0].Traffic.Upstreams[1].Answers == 0 {
			t.Errorf("sums %+v", sums)
		}
		var missed bool
		for _, in := range gw.Take(time.Now()) {
			if l, ok := in.(model.Live); ok && l.Upstream == 0 && l.Reason == model.ReasonRefused {
				missed = true
			}
		}
		if !missed {
			t.Error("the core hears nothing of the refused dials")
		}
	})
}

// A stream of messages passes both ways as it comes.
func TestStreamingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client, _, stop := grpcRig(t)
		defer stop()
		from, to := io.Pipe()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gw/s.S/Stream", from)
		req.Header.Set("Content-Type", "application/grpc")
		var writer sync.WaitGroup
		first := make(chan struct{})
		writer.Go(func() {
			_, _ = to.Write(message("1"))
			<-first
			for _, text := range []string{"2", "3"} {
				_, _ = to.Write(message(text))
			}
			_ = to.Close()
		})
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 6)
		if _, err := io.ReadFull(resp.Body, b); err != nil || !bytes.Equal(b, message("1")) {
			t.Errorf("%q %v", b, err)
		}
		close(first)
		rest, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(rest, append(message("2"), message("3")...)) || resp.Trailer.Get("Grpc-Status") != "0" || resp.Header.Get("X-Served-By") != "a" {
			t.Errorf("%q %v %v %v", rest, err, resp.Header, resp.Trailer)
		}
		_ = resp.Body.Close()
		writer.Wait()
	})
}

// The same over TLS, where HTTP/2 is agreed on in the handshake.
func TestCallOverTLS(t *testing.T) {
	var calls sync.Map
	node := httptest.NewUnstartedServer(grpcNode("a", &calls))
	node.EnableHTTP2 = true
	node.StartTLS()
	defer node.Close()
	addr, err := rpc.ParseURL("a", node.URL)
	if err != nil {
		t.Fatal(err)
	}
	conf := config.DefaultHTTPClientConfig
	conf.TLSConfig.InsecureSkipVerify = true
	up, err := rpc.NewClient(addr, rpc.Options{HTTP: conf, H2C: true})
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	inst := &model.Instance{Chains: []*model.Chain{{Name: "x", Interface: "grpc", Family: model.EVM, Upstreams: []model.Upstream{{Name: "a"}}}}}
	gw := New(Options{Picture: func() *model.Instance { return inst }, Now: time.Now, Clients: [][]*rpc.Client{{up}}, Settings: []Settings{DefaultSettings()}})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "http://x/s.S/GetEcho", bytes.NewReader(message("q")))
	r.ProtoMajor = 2
	r.Header.Set("Content-Type", "application/grpc")
	v := gw.activity.enter(nil, 0, model.ClientGRPC, "::1", time.Now())
	defer v.leave()
	gw.grpc(w, r, v)
	if got := w.Body.String(); got != string(message("q"))+string(message("a")) {
		t.Errorf("%q %v", got, w.Result().Header)
	}
}

func TestGRPCTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{"": time.Minute, "5S": 5 * time.Second, "100m": 100 * time.Millisecond, "1H": time.Hour, "9x": time.Minute,
		"123456789S": time.Minute, "S": time.Minute, "-1S": time.Minute, "0S": 0, "99999999H": time.Minute, "10u": 10 * time.Microsecond} {
		if got := min(grpcTimeout(text, time.Minute), time.Minute); got != min(want, time.Minute) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
