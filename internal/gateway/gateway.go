package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// Settings are the limits of one chain's requests.
type Settings struct {
	Timeout    time.Duration // of a request, all its attempts together
	HedgeAuto  bool          // hedge_after by what the method takes (F11)
	HedgeAfter time.Duration // when not HedgeAuto; 0 = never
	MaxBody    int64         // bytes of a request
	MaxBatch   int           // calls in one
	Deny       []string      // methods, each with a * at its end at most
}

// Options are what a gateway is made of.
type Options struct {
	// Picture is the newest published picture; it is asked once a step of a
	// request. Its chains are those of Clients, in order.
	Picture  func() *model.Instance
	Now      func() time.Time // the core's clock
	Clients  [][]*rpc.Client  // by chain and upstream
	Sockets  [][]*rpc.Client  // the same for websockets, where an upstream has another address for them; nil: it has not
	Settings []Settings       // by chain
	Logger   *slog.Logger     // nil: none
}

// Gateway is the http.Handler of clients' requests and the core's Relay.
type Gateway struct {
	o      Options
	routes []*route
	names  map[string][]*route // by chain name
	proxy  *httputil.ReverseProxy

	activity *activity
	flights  flights

	news  chan struct{}
	stirs atomic.Bool // requests came since the sums were read
	mu    sync.Mutex  // held for a few assignments
	told  told        // under mu
}

// route is one chain as requests see it.
type route struct {
	n        int
	key      string
	name     string
	face     string // interface
	rpc      bool   // JSON-RPC; else REST
	set      Settings
	deny     patterns
	clients  []*rpc.Client
	stats    stats
	slots    []slot
	methods  methods
	hedging  budget
	upstream []string // names
	streams  streamStats
}

// New is a gateway over the chains of the picture. Nothing is dialed.
func New(o Options) *Gateway {
	g := &Gateway{o: o, names: map[string][]*route{}, news: make(chan struct{}, 1)}
	g.activity = newActivity(o.Now)
	if g.o.Logger == nil {
		g.o.Logger = slog.New(slog.DiscardHandler)
	}
	for n, c := range o.Picture().Chains {
		r := &route{
			n: n, key: c.Key(), name: c.Name, face: c.Interface, rpc: c.Family != model.HTTP,
			set: o.Settings[n], deny: newPatterns(o.Settings[n].Deny), slots: make([]slot, len(c.Upstreams)),
		}
		if n < len(o.Clients) {
			r.clients = o.Clients[n]
		}
		if n < len(o.Sockets) {
			r.streams.sockets = o.Sockets[n]
		}
		for _, u := range c.Upstreams {
			r.upstream = append(r.upstream, u.Name)
		}
		r.stats.open(len(c.Upstreams))
		g.routes = append(g.routes, r)
		g.names[c.Name] = append(g.names[c.Name], r)
	}
	g.proxy = &httputil.ReverseProxy{
		Rewrite: g.rewrite, Transport: carrier{g}, ErrorHandler: g.failed, BufferPool: &copyBuffers,
		ErrorLog: slog.NewLogLogger(g.o.Logger.Handler(), slog.LevelDebug),
	}
	return g
}

// copyBuffers are the buffers in which long answers pass.
var copyBuffers bufferPool

type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) Get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 32<<10)
}

func (p *bufferPool) Put(b []byte) { p.pool.Put(&b) }

type callKey struct{}

// ServeHTTP takes a client's request to its chain. What it counts as a use of
// the gateway it counts first, before anything may refuse the request (D5).
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := g.o.Now()
	rt, rest, kind := g.asked(r)
	chain := -1
	if rt != nil {
		chain = rt.n
	}
	visit := g.activity.enter(connOf(r.Context()), chain, kind, clientOf(r.RemoteAddr), began)
	closed := g.door(w)
	if kind == model.ClientWS && closed == nil {
		g.stream(w, r, rt, rest, visit) // it is no request in flight, and the visit ends with it
		return
	}
	g.flights.begin()
	defer g.flights.end()
	defer visit.leave()
	if kind == model.ClientGRPC && closed == nil {
		g.grpc(w, r, visit)
		return
	}
	if rt == nil {
		no := refusal{status: http.StatusNotFound, code: -32053, text: "there is no such chain here"}
		if closed != nil {
			no = *closed
		}
		refuse(w, r, nil, no)
		return
	}
	c := &call{route: rt, path: rest, began: began, start: time.Now()}
	rt.stats.asked(began)
	rt.hedging.request(c.start)
	g.busy()
	no := g.read(w, r, c)
	if closed != nil {
		no = closed // it is read all the same: the answer has its id
	}
	if no != nil {
		rt.stats.refused()
		refuse(w, r, c, *no)
		return
	}
	visit.method(c.method)
	g.proxy.ServeHTTP(newPatient(w), r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
}

// asked is the chain a request is for, the upstream's part of its address, and
// how it asks.
func (g *Gateway) asked(r *http.Request) (*route, *url.URL, model.ClientKind) {
	if asksGRPC(r) {
		rt, rest := g.findGRPC(r)
		return rt, rest, model.ClientGRPC
	}
	rt, rest := g.find(r.URL)
	if rt != nil && rt.rpc && upgrading(r) {
		return rt, rest, model.ClientWS
	}
	return rt, rest, model.ClientHTTP
}

// door is why every request is refused, if it is (D3). While the instance
// leaves, answers ask their connections to close (D8).
func (g *Gateway) door(w http.ResponseWriter) *refusal {
	drain := &g.o.Picture().Drain
	if drain.Leaving() {
		w.Header().Set("Connection", "close")
	}
	if !drain.Refuses() {
		return nil
	}
	return &refusal{status: http.StatusServiceUnavailable, code: -32054, text: "this instance is draining"}
}

// rewrite makes the request that goes out: the client's credentials are for
// nobody beyond this gateway.
func (g *Gateway) rewrite(p *httputil.ProxyRequest) {
	c, _ := p.In.Context().Value(callKey{}).(*call)
	p.Out.URL = c.path
	h := p.Out.Header
	for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
		h.Del(name)
	}
	if c.judged {
		h.Set("Content-Type", "application/json") // it was read as such; some nodes refuse another word for it
	}
	h.Set("Accept-Encoding", acceptable(p.In.Header.Get("Accept-Encoding")))
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "chaintop")
	}
}

// carrier is the proxy's transport: a request's whole journey.
type carrier struct{ g *Gateway }

func (t carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	c, ok := r.Context().Value(callKey{}).(*call)
	if !ok {
		return nil, errors.New("no call")
	}
	return t.g.carry(r, c)
}

// failed writes what a journey without an answer ends in.
func (g *Gateway) failed(w http.ResponseWriter, r *http.Request, err error) {
	c, _ := r.Context().Value(callKey{}).(*call)
	var no refusal
	if !errors.As(err, &no) {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler) // the client went away: nobody reads an answer
		}
		g.o.Logger.Error("a request failed on our side", "chain", c.route.key, "err", err)
		no = refusal{status: http.StatusInternalServerError, code: -32603, text: "internal error"}
	}
	refuse(w, r, c, no)
}
