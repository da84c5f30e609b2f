package feed

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Limits of a server.
const (
	maxViewers      = 1024
	maxPerToken     = 64
	handshakesEvery = 50 // a second; a full house may come back at once
	strangersEvery  = 50 // a second, of those whose token is not known
	framesEvery     = 50 // a second and connection, of any kind
	framesBurst     = 200
	commandsEvery   = 5 // a second and token
	commandsBurst   = 10
)

// ServerOptions is what a server is made of.
type ServerOptions struct {
	Log  *Log // what it serves
	Sink Sink // where commands go; nil: none is taken

	// Tokens is who may come in. It is asked at every handshake and every
	// command, and within a heartbeat for those who are in, so that files can
	// be read again; it must be quick and safe to call at once. Nil: the feed
	// has no tokens, and everybody is a viewer.
	Tokens  func() []Token
	Origins []string // of pages that may ask: scheme://host[:port]
	Hosts   []string // names, beside the loopback's, under which a feed without tokens may be asked

	Loopback bool // it listens where only this machine reaches it
	TLS      bool // it listens with TLS
	Insecure bool // without TLS and tokens elsewhere, because somebody insists; viewers are told

	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: none
}

// Server serves the log of one instance at GET /feed (E3). It owns a goroutine
// that seals frames while anybody looks, and two for each viewer.
//
// Law: nobody who looks delays another or the one who appends; a viewer is sent
// contiguous events or a new snapshot, never a gap.
type Server struct {
	o          ServerOptions
	sealer     *sealer
	snapshots  *snapshots
	desk       *desk
	handshakes *bucket
	strangers  *bucket

	ctx    context.Context // of everything it started
	cancel context.CancelFunc

	mu      sync.Mutex // held for a few lines, never across IO
	viewers map[*viewer]struct{}
	perName map[string]int
	closing bool
	asleep  context.CancelFunc // ends the goroutines that work while anybody looks
	awake   sync.WaitGroup     // those goroutines, and acts
	inside  sync.WaitGroup     // handlers of viewers
}

// NewServer is a server that serves at once. It refuses what must not be served
// (E5), by the name of the field.
func NewServer(o ServerOptions) (*Server, error) {
	if o.Log == nil {
		return nil, errors.New("feed: no log to serve")
	}
	if !o.Loopback && !o.Insecure {
		switch {
		case o.Tokens == nil:
			return nil, errors.New("feed.tokens: a feed that others than this machine reach needs a token (or --insecure)")
		case !o.TLS:
			return nil, errors.New("feed.tls: a feed that others than this machine reach needs cert_file and key_file (or --insecure)")
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		o:          o,
		sealer:     newSealer(o.Log, o.Now, o.Logger),
		snapshots:  &snapshots{log: o.Log, now: o.Now},
		handshakes: newBucket(handshakesEvery, maxViewers),
		strangers:  newBucket(strangersEvery, 2*strangersEvery),
		viewers:    map[*viewer]struct{}{},
		perName:    map[string]int{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.desk = newDesk(s)
	return s, nil
}

// ServeHTTP takes a handshake and, if it is let in, serves the viewer until it
// leaves.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, refused := s.admit(r)
	if refused != nil {
		s.o.Logger.Debug("feed: turned away", "code", refused.status, "why", refused.answer.Words)
		refuseHTTP(w, refused.status, refused.answer, refused.after)
		return
	}
	sock, err := upgrade(w, r)
	if err != nil {
		return // the library answered
	}
	v := newViewer(s, sock, who)
	if err := s.enter(v); err != nil {
		v.turnAway(err)
		return
	}
	defer s.leave(v)
	v.serve()
}

// Viewers is how many are connected.
func (s *Server) Viewers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.viewers)
}

// Shutdown tells everybody that the instance stops and when to come back, each
// another moment, and waits until they are gone or ctx ends; then it ends what
// is left. Nobody is let in meanwhile.
//
// A log that was closed before is sent to its end.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	looking := len(s.viewers) > 0
	s.mu.Unlock()
	if looking && s.o.Log.isClosed() {
		select {
		case <-s.sealer.ended:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	spread := newSpread(len(s.viewers))
	for v := range s.viewers {
		v.bye(CloseShutdown, spread.next())
	}
	s.mu.Unlock()

	gone := make(chan struct{})
	go func() {
		s.inside.Wait()
		close(gone)
	}()
	var err error
	select {
	case <-gone:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.cancel()
	<-gone
	s.awake.Wait()
	return err
}

// spread gives those who leave together different moments to come back.
type spread struct {
	step time.Duration
	at   time.Duration
}

// The first comes back soon; a thousand do so over five seconds.
const (
	comeBackFirst = 500 * time.Millisecond
	comeBackStep  = 20 * time.Millisecond
	comeBackOver  = 5 * time.Second
)

func newSpread(n int) *spread {
	return &spread{step: min(comeBackStep, comeBackOver/time.Duration(max(n, 1))), at: comeBackFirst}
}

func (s *spread) next() time.Duration {
	s.at += s.step
	return s.at
}
