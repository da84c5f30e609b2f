package memnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pairOf is a dialed and an accepted end.
func pairOf(t *testing.T, n *Network) (near, far *Conn) {
	t.Helper()
	l, err := n.Listen("node:1")
	if err != nil {
		t.Fatal(err)
	}
	defer shut(l)
	c, err := n.Dial(t.Context(), "tcp", "node:1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Conn), a.(*Conn)
}

func TestWriteDoesNotWaitForReader(t *testing.T) {
	near, far := pairOf(t, new(Network))
	defer shut(far)
	want := bytes.Repeat([]byte("chain"), 1000)
	for part := range slices.Chunk(want, 700) {
		if n, err := near.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes of %d after the writer closed: %v", len(got), len(want), err)
	}
}

func TestFullDirectionHoldsTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pairOf(t, &Network{Buffer: 4})
		defer shut(near)
		defer shut(far)
		start := time.Now()
		time.AfterFunc(3*time.Second, func() { take(t, far, 2) })
		if n, err := near.Write([]byte("sixsix")); n != 6 || err != nil {
			t.Fatal(n, err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the write took %v, want until the read at 3s", took)
		}
		ok(t, near.SetWriteDeadline(start.Add(10*time.Second)))
		n, err := near.Write([]byte("more"))
		if took := time.Since(start); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || took != 10*time.Second {
			t.Errorf("a write to a full direction: %d, %v at %v; want 0 and its deadline at 10s", n, err, took)
		}
	})
}

func TestReadDeadlineIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pairOf(t, new(Network))
		defer shut(near)
		defer shut(far)
		start := time.Now()
		ok(t, near.SetDeadline(start.Add(time.Hour)))
		time.AfterFunc(time.Second, func() { ok(t, near.SetReadDeadline(start.Add(2*time.Second))) })
		_, err := near.Read(make([]byte, 1))
		var ne net.Error
		if !errors.As(err, &ne) || !ne.Timeout() || time.Since(start) != 2*time.Second {
			t.Fatalf("%v at %v, want a timeout at 2s", err, time.Since(start))
		}
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a read after the deadline: %v", err)
		}
		ok(t, near.SetReadDeadline(time.Time{}))
		time.AfterFunc(time.Hour, func() { give(t, far, "x") })
		if n, err := near.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("a read without a deadline: %d, %v", n, err)
		}
		if got := time.Since(start); got != time.Hour+2*time.Second {
			t.Errorf("it came at %v", got)
		}
	})
}

func TestPastDeadlineEndsAReadInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pairOf(t, new(Network))
		defer shut(near)
		defer shut(far)
		start := time.Now()
		time.AfterFunc(time.Second, func() { ok(t, near.SetReadDeadline(time.Unix(1, 0))) })
		_, err := near.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v at %v", err, time.Since(start))
		}
	})
}

func TestHalfClose(t *testing.T) {
	near, far := pairOf(t, new(Network))
	defer shut(near)
	defer shut(far)
	give(t, near, "question")
	if err := near.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(far); string(got) != "question" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a write after CloseWrite: %v", err)
	}
	give(t, far, "answer")
	shut(far)
	if got, err := io.ReadAll(near); string(got) != "answer" || err != nil {
		t.Errorf("the other direction: %q, %v", got, err)
	}
}

func TestCloseWakesBothEnds(t *testing.T) {
	for _, c := range []struct {
		name         string
		end          func(near *Conn) error
		ours, theirs error
		theirWrite   error
	}{
		{"close", (*Conn).Close, net.ErrClosed, io.EOF, syscall.EPIPE},
		{"reset", func(c *Conn) error { c.Reset(); return nil }, net.ErrClosed, syscall.ECONNRESET, syscall.ECONNRESET},
		{"linger 0", func(c *Conn) error { return errors.Join(c.SetLinger(0), c.Close()) }, net.ErrClosed, syscall.ECONNRESET, syscall.ECONNRESET},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := pairOf(t, new(Network))
				defer shut(far)
				read := func(c *Conn) <-chan error {
					got := make(chan error, 1)
					go func() { _, err := c.Read(make([]byte, 1)); got <- err }()
					return got
				}
				ours, theirs := read(near), read(far)
				synctest.Wait()
				if err := c.end(near); err != nil {
					t.Error(err)
				}
				if err := <-ours; !errors.Is(err, c.ours) {
					t.Errorf("our read: %v, want %v", err, c.ours)
				}
				if err := <-theirs; !errors.Is(err, c.theirs) {
					t.Errorf("the peer's read: %v, want %v", err, c.theirs)
				}
				if _, err := far.Write([]byte("x")); !errors.Is(err, c.theirWrite) {
					t.Errorf("the peer's write: %v, want %v", err, c.theirWrite)
				}
				if err := near.Close(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("closed twice: %v", err)
				}
				if err := near.SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
					t.Errorf("a deadline after Close: %v", err)
				}
			})
		})
	}
}

func TestResetLosesWhatIsInFlight(t *testing.T) {
	near, far := pairOf(t, new(Network))
	defer shut(far)
	give(t, near, "half an ans")
	near.Reset()
	if got, err := io.ReadAll(far); len(got) != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWritesDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pairOf(t, &Network{Buffer: 3})
		defer shut(near, far)
		go give(t, near, "aaaaaaaa")
		synctest.Wait()
		take(t, far, 3) // there is room, and the one who waits for it has not seen it yet
		got := make([]byte, 6)
		done := make(chan struct{})
		time.AfterFunc(time.Second, func() {
			_, err := io.ReadFull(far, got)
			ok(t, err)
			close(done)
		})
		give(t, near, "b")
		<-done
		if string(got) != "aaaaab" {
			t.Errorf("%q: writes at the same time were mixed", got)
		}
	})
}

// A timer that fires while its deadline is moved must not end the new one.
func TestOvertakenDeadlineDoesNothing(t *testing.T) {
	s := newStream(1)
	s.setDeadline(&s.reads, time.Now().Add(time.Hour))
	old := s.reads.set
	s.setDeadline(&s.reads, time.Now().Add(2*time.Hour))
	if s.expire(&s.reads, old); s.reads.past {
		t.Error("the old deadline ended the new one")
	}
	if s.expire(&s.reads, s.reads.set); !s.reads.past {
		t.Error("the new deadline does not end")
	}
	s.setDeadline(&s.reads, time.Time{})
}
