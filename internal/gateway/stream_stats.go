package gateway

import (
	"context"
	"sync"

	"chaintop/internal/rpc"
	"chaintop/model"
)

// streamStats are the open streams of a chain and what became of them.
type streamStats struct {
	sockets []*rpc.Client // by upstream, where its websocket has an address of its own; nil = the ordinary one

	mu      sync.Mutex // held for a few assignments
	open    map[*session]struct{}
	closing bool
	none    chan struct{} // closed when the last one ends; nil while nobody waits
	on      []int         // how many, by upstream
	moves   uint64
	filled  uint64
	gaps    uint64
	fresh   bool // there is something Sums has not told
}

// begin adds a session; false: this chain takes none any more.
func (s *streamStats) begin(of *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if s.open == nil {
		s.open = map[*session]struct{}{}
	}
	s.open[of] = struct{}{}
	s.fresh = true
	return true
}

func (s *streamStats) end(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, of)
	s.fresh = true
	if len(s.open) == 0 && s.none != nil {
		close(s.none)
		s.none = nil
	}
}

// attached counts a stream to an upstream, or with -1 from it.
func (s *streamStats) attached(upstream, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more := upstream + 1 - len(s.on); more > 0 {
		s.on = append(s.on, make([]int, more)...)
	}
	s.on[upstream] += n
	s.fresh = true
}

// moved counts a move that is over.
func (s *streamStats) moved(filled, gaps int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves++
	s.filled += uint64(filled)
	s.gaps += uint64(gaps)
	s.fresh = true
}

// gap counts a notification that could not be handed on.
func (s *streamStats) gap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gaps++
	s.fresh = true
}

// sums puts the streams into the traffic of the chain. It says whether there is
// anything in it that was not told.
func (s *streamStats) sums(t *model.Traffic, upstreams int) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Upstreams == nil {
		t.Upstreams = make([]model.UpstreamTraffic, upstreams)
	}
	t.Streams, t.Moves, t.Filled, t.Gaps = len(s.open), s.moves, s.filled, s.gaps
	for i, n := range s.on[:min(len(s.on), upstreams)] {
		t.Upstreams[i].Streams = n
	}
	news, s.fresh = s.fresh, false
	return news
}

// sessions are those that are open now.
func (s *streamStats) sessions() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*session, 0, len(s.open))
	for one := range s.open {
		all = append(all, one)
	}
	return all
}

// shut takes no more sessions, ends the open ones with code, and waits for them
// until ctx ends. It returns how many are left then.
func (s *streamStats) shut(ctx context.Context, code int) int {
	s.mu.Lock()
	s.closing = true
	if len(s.open) == 0 {
		s.mu.Unlock()
		return 0
	}
	if s.none == nil {
		s.none = make(chan struct{})
	}
	none := s.none
	s.mu.Unlock()
	for _, one := range s.sessions() {
		one.leave(code)
	}
	select {
	case <-none:
		return 0
	case <-ctx.Done():
	}
	return len(s.sessions())
}

// client is the one by which upstream i's websocket is reached.
func (r *route) socketClient(i int) *rpc.Client {
	if i < len(r.streams.sockets) && r.streams.sockets[i] != nil {
		return r.streams.sockets[i]
	}
	return r.clients[i]
}

// Streams is how many websockets are open, of all chains.
func (g *Gateway) Streams() (n int) {
	for _, rt := range g.routes {
		rt.streams.mu.Lock()
		n += len(rt.streams.open)
		rt.streams.mu.Unlock()
	}
	return n
}

// closeStreams ends every websocket with code (1001 when the instance goes) and
// takes no more. It waits for their goodbyes until ctx ends, and returns how many
// had not ended then.
func (g *Gateway) closeStreams(ctx context.Context, code int) int {
	left := make([]int, len(g.routes))
	var all sync.WaitGroup
	for i, rt := range g.routes {
		all.Go(func() { left[i] = rt.streams.shut(ctx, code) })
	}
	all.Wait()
	n := 0
	for _, one := range left {
		n += one
	}
	return n
}

// CloseStreams ends every websocket with 1001, for an instance that goes (D3 to
// D5), and takes no more. It waits for their goodbyes until ctx ends, and
// returns how many had not ended then.
func (g *Gateway) CloseStreams(ctx context.Context) int { return g.closeStreams(ctx, closeAway) }
