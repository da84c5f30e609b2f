package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"chaintop/model"
)

// Bounds of the listener.
const (
	mostConns   = 10_000
	headerTime  = 5 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
	writeTime   = 30 * time.Second // of one write: a client that reads slowly, and not one that stopped
)

// patient is a ResponseWriter each of whose writes has a deadline of its own: a
// long answer may take as long as its client goes on reading.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newPatient(w http.ResponseWriter) *patient {
	return &patient{ResponseWriter: w, control: http.NewResponseController(w)}
}

func (p *patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTime)) // where there is none, so be it
	return p.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Server is a server of clients' requests; health answers /healthz and /readyz
// there, which never count as a use of the gateway (D5).
func (g *Gateway) Server(health http.Handler) *http.Server {
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
			health.ServeHTTP(newPatient(w), r)
			return
		}
		g.ServeHTTP(w, r)
	})
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true) // gRPC
	return &http.Server{
		Handler: counted(mux), Protocols: protocols, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return withGuest(g.activity.connContext(ctx, c), c)
		},
		ConnState: g.activity.connState, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(g.o.Logger.Handler(), slog.LevelDebug),
	}
}

// Activity is who uses the gateway; since is the start of a drain.
func (g *Gateway) Activity(now, since time.Time) model.Activity {
	return g.activity.snapshot(now, since)
}

// Quiet waits until no request is in flight, or ctx ends; it returns how many
// there are then.
func (g *Gateway) Quiet(ctx context.Context) int { return g.flights.wait(ctx) }

// flights counts the requests in flight.
type flights struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (f *flights) begin() {
	f.mu.Lock()
	f.n++
	f.mu.Unlock()
}

func (f *flights) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 && f.none != nil {
		close(f.none)
		f.none = nil
	}
}

func (f *flights) wait(ctx context.Context) int {
	f.mu.Lock()
	if f.n == 0 {
		f.mu.Unlock()
		return 0
	}
	if f.none == nil {
		f.none = make(chan struct{})
	}
	none := f.none
	f.mu.Unlock()
	select {
	case <-none:
		return 0
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
