package feed

import (
	"context"
	"time"
)

// enter counts a viewer in; the error says why there is no place for it. The
// first one wakes what works for viewers only.
func (s *Server) enter(v *viewer) *byeData {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return &byeData{Code: CloseShutdown, After: comeBackFirst}
	case len(s.viewers) >= maxViewers, v.who.name != "" && s.perName[v.who.name] >= maxPerToken:
		return &byeData{Code: CloseLimit, After: heartbeat}
	}
	if len(s.viewers) == 0 {
		ctx, cancel := context.WithCancel(s.ctx)
		s.asleep = cancel
		s.wake(ctx)
	}
	s.viewers[v] = struct{}{}
	s.perName[v.who.name]++
	s.inside.Add(1)
	return nil
}

func (s *Server) leave(v *viewer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.viewers, v)
	if s.perName[v.who.name]--; s.perName[v.who.name] == 0 {
		delete(s.perName, v.who.name)
	}
	if len(s.viewers) == 0 {
		s.asleep()
		s.snapshots.forget()
	}
	s.inside.Done()
}

// wake starts the sealer and the look at tokens, until ctx ends. The caller
// holds the lock.
func (s *Server) wake(ctx context.Context) {
	before := s.sealer.done
	done := make(chan struct{})
	s.sealer.done = done
	s.sealer.begin()
	s.awake.Go(func() {
		defer close(done)
		if before != nil {
			<-before // there is one at a time
		}
		s.sealer.run(ctx)
	})
	if s.o.Tokens != nil {
		s.awake.Go(func() { s.watchTokens(ctx) })
	}
}

// watchTokens ends the connections whose token is no longer good.
func (s *Server) watchTokens(ctx context.Context) {
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		tokens, now := s.o.Tokens(), s.o.Now()
		s.mu.Lock()
		for v := range s.viewers {
			if who, ok := find(tokens, v.who.digest, now); !ok || who != v.who {
				v.bye(CloseUnauthenticated, 0)
			}
		}
		s.mu.Unlock()
		timer.Reset(heartbeat)
	}
}

// still is the identity of a viewer as its token stands now.
func (s *Server) still(v *viewer) (identity, bool) {
	if s.o.Tokens == nil {
		return v.who, true
	}
	return find(s.o.Tokens(), v.who.digest, s.o.Now())
}
