package feed

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// step is one thing that happens to a feed.
type step struct {
	what string
	n    int
}

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		rapid.SampledFrom([]string{"due", "land", "tick", "burst", "busy", "busy", "fat", "wait", "long wait", "cut", "kill", "shutdown", "slow", "fast", "command"}).Draw(t, "what"),
		rapid.IntRange(1, 60).Draw(t, "n"),
	}
})

// Whatever becomes of the connection and of the server, a client that has had a
// quiet moment has the server's picture, and its readers saw every event once
// and in order, or a gap.
func TestFoldIsTheServersWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(steps, 1, 24).Draw(rt, "script")
		small := rapid.Bool().Draw(rt, "small ring")
		var fault string
		synctest.Test(t, func(t *testing.T) { fault = play(t, script, small) })
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// stage is what a script moves.
type stage struct {
	t     *testing.T
	l     *memnet.Listener
	p     *plant
	h     *house
	small bool
	start int
	lag   lag
}

func play(t *testing.T, script []step, small bool) (fault string) {
	s := &stage{t: t, l: memnet.Listen(), small: small}
	first := s.l
	s.serve()
	c := follow(t, func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := first.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &slowConn{conn, &s.lag}, nil
	}, opSecret, nil)
	ctx, cancel := context.WithCancel(context.Background())
	faults := make(chan string, 1)
	var reader sync.WaitGroup
	reader.Go(func() { faults <- audit(ctx, c) })
	for _, st := range script {
		s.do(st)
	}
	s.lag.set(0)
	time.Sleep(backoffMost + reconnectAfter)
	synctest.Wait()
	if d := diff(c.picture(), s.p.picture()); d != "" {
		fault = fmt.Sprintf("after quiet, %+v: %s", c.Status(), d)
	}
	cancel()
	reader.Wait()
	if f := <-faults; f != "" && fault == "" {
		fault = f
	}
	c.stop()
	s.h.shut(context.Background())
	return fault
}

func (s *stage) serve() {
	s.start++
	s.p = newPlant(fmt.Sprint("e", s.start), 3, 2)
	s.h = newHouse(s.t, s.l, s.p, nil)
	if s.small {
		s.h.feed.sealer.ring.shrink(64 << 10)
	}
}

func (s *stage) do(st step) {
	chain := st.n % 3
	switch st.what {
	case "due":
		s.p.due(chain)
	case "land":
		s.p.land(uint64(st.n))
	case "tick":
		s.p.tick(chain)
	case "burst":
		for range st.n * 10 {
			s.p.tick(chain)
		}
	case "busy": // with cuts at any moment between two seals
		for i := range st.n * 3 {
			s.p.tick(chain)
			if i%37 == st.n%37 {
				s.h.cut()
			}
			time.Sleep(7 * time.Millisecond)
		}
	case "fat":
		for range st.n {
			s.p.fat(10 << 10)
			time.Sleep(20 * time.Millisecond)
		}
	case "wait":
		time.Sleep(time.Duration(st.n) * 10 * time.Millisecond)
	case "long wait":
		time.Sleep(time.Duration(st.n) * time.Second)
	case "cut":
		s.h.cut()
	case "kill", "shutdown":
		if st.what == "kill" {
			s.h.kill()
		} else {
			s.h.shut(context.Background())
		}
		l, err := s.l.Relisten()
		if err != nil {
			s.t.Fatal(err)
		}
		s.l = l.(*memnet.Listener)
		s.serve()
	case "slow":
		s.lag.set(time.Duration(st.n) * 20 * time.Millisecond)
	case "fast":
		s.lag.set(0)
	case "command":
		_ = s.p.Send(context.Background(), model.Command{ID: "x", Op: model.OpProbe, Chains: []int{chain}})
	}
}

// audit reads a client as a screen does, and says what a reader must not see:
// what it folded itself is not what the client publishes.
func audit(ctx context.Context, c *following) string {
	for reads := 0; ; {
		pic, at, err := c.Snapshot(ctx)
		if err != nil {
			return ""
		}
		mine := pic.Clone()
		for {
			events, next, err := c.After(ctx, at)
			if err != nil {
				break
			}
			if next.Seq != at.Seq+uint64(len(events)) || next.Epoch != at.Epoch {
				return fmt.Sprintf("%d events lead from %v to %v", len(events), at, next)
			}
			mine.Apply(events...)
			at = next
			if reads++; reads%8 != 0 {
				continue // comparing costs more than all the rest
			}
			if pic, now, _ := c.Snapshot(ctx); now == at {
				if d := diff(pictureText(mine), pictureText(pic)); d != "" {
					return "a reader's fold is another: " + d
				}
			}
		}
		if ctx.Err() != nil {
			return ""
		}
	}
}

// lag is how long each read of a slow connection takes.
type lag struct {
	mu sync.Mutex
	d  time.Duration
}

func (l *lag) set(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.d = d
}

func (l *lag) get() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.d
}

type slowConn struct {
	net.Conn
	lag *lag
}

func (c *slowConn) Read(b []byte) (int, error) {
	if d := c.lag.get(); d > 0 {
		time.Sleep(d)
	}
	return c.Conn.Read(b)
}
