package feed

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
)

func TestClientShowsWhatTheServerHas(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, h *house, c *following) {
		if st := c.Status(); st.Phase != Live || st.Role != RoleOperator || st.Instance != "gw" || st.Version != "v1" {
			t.Fatalf("%+v", st)
		}
		same(t, p, c)
		for n := range 3 {
			p.due(n)
		}
		p.land(100)
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, p, c)
		if n := h.feed.snapshots.encoded.Load(); n != 1 {
			t.Errorf("%d pictures were encoded", n)
		}
	})
}

// wait is the time until the client's log is at seq.
func (f *following) wait(t *testing.T, seq uint64) time.Duration {
	t.Helper()
	start := time.Now()
	_, at, err := f.Snapshot(t.Context())
	for err == nil && at.Seq < seq {
		_, at, err = f.After(t.Context(), at)
		if errors.Is(err, ErrGap) {
			_, at, err = f.Snapshot(t.Context())
		}
	}
	if err != nil {
		t.Fatalf("waiting for %d: %v", seq, err)
	}
	return time.Since(start)
}

func (p *plant) seq() uint64 {
	_, at, _ := p.log.Snapshot(context.Background())
	return at.Seq
}

func TestFrameIsSealedAtOnceAfterQuietThenEvery50ms(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, _ *house, c *following) {
		time.Sleep(time.Second)
		p.tick(0)
		if d := c.wait(t, p.seq()); d != 0 {
			t.Errorf("the first event came after %v", d)
		}
		time.Sleep(10 * time.Millisecond)
		p.tick(0)
		time.Sleep(10 * time.Millisecond)
		p.tick(1)
		if d := c.wait(t, p.seq()); d != 30*time.Millisecond {
			t.Errorf("the next two came after %v, want the rest of 50ms", d)
		}
		same(t, p, c)
	})
}

func TestFullFrameIsSealedBeforeItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, _ *house, c *following) {
		time.Sleep(time.Second)
		p.tick(0)
		c.wait(t, p.seq())
		for range sealEvents {
			p.tick(0)
		}
		if d := c.wait(t, p.seq()); d != 0 {
			t.Errorf("256 events came after %v", d)
		}
	})
}

func TestHeartbeatComesFiveSecondsAfterTheLastFrame(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, _ *house, c *following) {
		time.Sleep(time.Second)
		p.tick(0)
		synctest.Wait()
		at := time.Now()
		time.Sleep(heartbeat - time.Nanosecond)
		synctest.Wait()
		if got := c.Status().Heard; !got.Equal(at) {
			t.Errorf("a frame came at %v", got.Sub(at))
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := c.Status().Heard; !got.Equal(at.Add(heartbeat)) {
			t.Errorf("the heartbeat came at %v", got.Sub(at))
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if st := c.Status(); st.Phase != Live || st.Stale {
			t.Errorf("after quiet: %+v", st)
		}
	})
}

// silent takes handshakes and then says only what a test has it say.
func silent(t *testing.T, l net.Listener, each func(s *socket, n int)) (stop func()) {
	t.Helper()
	return serveSockets(t, l, func(s *socket, n int) {
		if _, err := s.read(maxHello); err != nil {
			return
		}
		each(s, n)
	})
}

func TestStaleAt15sReconnectsAt30s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		tries := make(chan time.Time, 9)
		defer silent(t, l, func(s *socket, n int) {
			tries <- time.Now()
			if n == 0 {
				sayPicture(t, s, p)
			}
			_, _ = s.read(maxClientFrame) // until it goes
		})()
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		synctest.Wait()
		start := <-tries
		if st := c.Status(); st.Phase != Live || st.Stale {
			t.Fatalf("%+v", st)
		}
		time.Sleep(staleAfter - time.Nanosecond)
		synctest.Wait()
		if c.Status().Stale {
			t.Error("stale before 15s")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if st := c.Status(); !st.Stale || st.Phase != Live || !st.Heard.Equal(start) {
			t.Errorf("at 15s: %+v", st)
		}
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if st := c.Status(); st.Phase != Reconnecting || !st.Stale || st.Code != int(CloseHeartbeat) {
			t.Errorf("at 30s: %+v", st)
		}
		if again := <-tries; again.Sub(start) != 30*time.Second+250*time.Millisecond {
			t.Errorf("it came back after %v", again.Sub(start))
		}
	})
}

func TestBackoffDoublesToItsCapAndStartsAnewAfterAStableMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		var tries []time.Time
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			tries = append(tries, time.Now())
			if len(tries) < 10 {
				return nil, errors.New("nobody there")
			}
			return l.DialContext(ctx, network, addr)
		}
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		c := follow(t, dial, opSecret, func(o *ClientOptions) { o.Rand = func() float64 { return 1 } })
		defer c.stop()
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second}
		for i := range want {
			if got := tries[i+1].Sub(tries[i]); got != want[i] {
				t.Errorf("pause %d is %v, want %v", i, got, want[i])
			}
		}
		if st := c.Status(); st.Phase != Live || st.Try != 0 {
			t.Fatalf("%+v", st)
		}
		cut := time.Now()
		h.cut()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := tries[10].Sub(cut); got != 500*time.Millisecond {
			t.Errorf("after a stable connection it came back after %v", got)
		}
	})
}

// The last event of an instance was once not sent: a remote screen of one that
// drained saw it drain for ever.
func TestTheEndIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 2)
		h := newHouse(t, l, p, nil)
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		synctest.Wait()
		time.Sleep(time.Second)
		p.tick(0) // sealed at once
		time.Sleep(time.Millisecond)
		p.tick(1) // would be sealed 50 ms later
		p.log.Close()
		h.shut(context.Background())
		synctest.Wait()
		pic, _, err := c.Snapshot(context.Background())
		if err != nil || pic.Chains[1].State.Probes != p.chain(1).State.Probes {
			t.Errorf("the client saw %d, it was %d: %v", pic.Chains[1].State.Probes, p.chain(1).State.Probes, err)
		}
	})
}

func TestByeSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 2, 2), nil)
		var crowd []*following
		for range 4 {
			crowd = append(crowd, follow(t, l.DialContext, opSecret, nil))
		}
		synctest.Wait()
		down := time.Now()
		h.shut(context.Background())
		synctest.Wait()
		seen := map[time.Duration]bool{}
		for _, c := range crowd {
			st := c.Status()
			if st.Phase != Reconnecting || st.Code != int(CloseShutdown) || st.Words != "shutdown" {
				t.Errorf("%+v", st)
			}
			seen[st.Next.Sub(down)] = true
		}
		for _, want := range []time.Duration{520, 540, 560, 580} {
			if !seen[want*time.Millisecond] {
				t.Errorf("nobody comes back after %vms: %v", int(want), seen)
			}
		}
		for _, c := range crowd {
			c.stop()
		}
	})
}

func TestRetryNowEndsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		c := follow(t, func(context.Context, string, string) (net.Conn, error) {
			tries++
			return nil, errors.New("nobody there")
		}, opSecret, nil)
		defer c.stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		was := tries
		c.RetryNow()
		synctest.Wait()
		if tries != was+1 {
			t.Errorf("%d tries, then %d", was, tries)
		}
		if st := c.Status(); st.Words != "nobody there" || st.Try != tries+1 {
			t.Errorf("%+v after %d tries", st, tries)
		}
	})
}

func TestFinalCodesAreNotTriedAgainUnasked(t *testing.T) {
	for _, code := range []CloseCode{CloseUnauthenticated, CloseForbidden, CloseVersion, CloseBadFrame, CloseTooBig} {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			tries := 0
			defer silent(t, l, func(s *socket, n int) {
				tries++
				s.goodbye(code)
				s.linger(time.Second)
			})()
			c := follow(t, l.DialContext, opSecret, nil)
			defer c.stop()
			time.Sleep(time.Hour)
			synctest.Wait()
			st := c.Status()
			if tries != 1 || st.Phase != Refused || st.Code != int(code) || st.Words != code.String() {
				t.Errorf("%v: %d tries, %+v", code, tries, st)
			}
			var refused *RefusedError
			if _, _, err := c.Snapshot(t.Context()); !errors.As(err, &refused) || refused.Code != int(code) {
				t.Errorf("%v: %v", code, err)
			}
			c.RetryNow()
			synctest.Wait()
			if tries != 2 {
				t.Errorf("asked to, it tried %d times", tries)
			}
		})
	}
}

func TestComebackCodesAreTriedAgain(t *testing.T) {
	for _, code := range []CloseCode{CloseShutdown, CloseSlow, CloseHeartbeat, CloseLimit, 1011} {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			tries := 0
			defer silent(t, l, func(s *socket, n int) {
				tries++
				s.goodbye(code)
				s.linger(time.Second)
			})()
			c := follow(t, l.DialContext, opSecret, nil)
			defer c.stop()
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if tries < 10 {
				t.Errorf("%v: %d tries in ten minutes", code, tries)
			}
		})
	}
}

// A year between the clocks once made every age of a remote screen a year, or
// nothing.
func TestClockAYearOff(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, off := range []time.Duration{year, -year} {
		synctest.Test(t, func(t *testing.T) {
			l, p := memnet.Listen(), newPlant("e1", 2, 2)
			h := newHouse(t, l, p, func(o *ServerOptions) {
				o.Tokens = nil
				o.Now = func() time.Time { return time.Now().Add(off) }
			})
			defer h.shut(context.Background())
			c := follow(t, l.DialContext, "", func(o *ClientOptions) { o.Token = nil })
			defer c.stop()
			for range 100 {
				p.tick(0)
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if st := c.Status(); st.Phase != Live || st.Stale || st.Skew != off {
				t.Errorf("%+v", st)
			}
			if got := time.Until(c.Now()); got != off {
				t.Errorf("the server's clock seems %v off", got)
			}
			same(t, p, c)
		})
	}
}

func TestKill9IsSeenAndTheRestartIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		p := newPlant("e1", 2, 2)
		h := newHouse(t, l, p, nil)
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		p.tick(0)
		time.Sleep(time.Second)
		synctest.Wait()
		h.kill()
		time.Sleep(staleAfter)
		synctest.Wait()
		if st := c.Status(); !st.Stale || st.Phase == Live {
			t.Errorf("15s after the kill: %+v", st)
		}
		same(t, p, c) // what is shown stays, as old
		l2, err := l.Relisten()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // of an outage
		again := newPlant("e2", 3, 1)
		h = newHouse(t, l2, again, nil)
		defer h.shut(context.Background())
		_, at, _ := c.Snapshot(t.Context())
		if _, _, err := c.After(t.Context(), at); !errors.Is(err, ErrGap) {
			t.Errorf("readers of the old picture get %v", err)
		}
		if pic, _, _ := c.Snapshot(t.Context()); pic.Epoch != "e2" {
			t.Errorf("it shows epoch %s", pic.Epoch)
		}
		synctest.Wait()
		if st := c.Status(); st.Phase != Live || st.Stale {
			t.Errorf("%+v", st)
		}
		same(t, again, c)
	})
}
