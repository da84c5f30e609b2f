package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// serve runs an HTTP server on a listener of its own until the test ends.
func serve(t *testing.T, h http.HandlerFunc) (*Listener, *http.Client) {
	t.Helper()
	l := Listen()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 7 * time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	tr := &http.Transport{DialContext: l.DialContext}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		shut(srv)
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return l, &http.Client{Transport: tr}
}

func TestHTTPTakesExactTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := make(chan string, 2)
		_, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			from <- r.RemoteAddr
			time.Sleep(50 * time.Millisecond)
			_, err := io.Copy(w, r.Body)
			ok(t, err)
		})
		for range 2 {
			start := time.Now()
			res, err := client.Post("http://node.example/", "text/plain", strings.NewReader("echo"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if string(body) != "echo" || err != nil {
				t.Errorf("%q, %v", body, err)
			}
			if took := time.Since(start); took != 50*time.Millisecond {
				t.Errorf("took %v, want 50ms", took)
			}
		}
		if a, b := <-from, <-from; a != b {
			t.Errorf("two connections, %s and %s, where one is kept alive", a, b)
		}
	})
}

func TestHTTPClientDeadlineReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		gone := make(chan time.Duration, 1)
		_, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			gone <- time.Since(start)
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://node.example/", nil)
		_, err := client.Do(req)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
			t.Errorf("%v at %v, want the deadline at 5s", err, time.Since(start))
		}
		if at := <-gone; at != 5*time.Second {
			t.Errorf("the handler heard at %v that its client is gone", at)
		}
	})
}

func TestHTTPServerDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
		c, err := l.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		defer shut(c)
		start := time.Now()
		give(t, c, "GET / HTTP/1.1\r\n")
		_, err = io.Copy(io.Discard, c)
		ok(t, err)
		if got := time.Since(start); got != 7*time.Second {
			t.Errorf("the server gave up on a header after %v, want 7s", got)
		}
	})
}

func TestHTTPLargeBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			// Read whole first: an HTTP/1 server does not answer while it reads.
			body, err := io.ReadAll(r.Body)
			ok(t, err)
			_, err = w.Write(body)
			ok(t, err)
		})
		want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB: four times what a direction holds
		res, err := client.Post("http://node.example/", "text/plain", bytes.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes back of %d: %v", len(got), len(want), err)
		}
	})
}

func TestHTTPReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			c.(*Conn).Reset()
		})
		if _, err := client.Get("http://node.example/"); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v, want a reset", err)
		}
	})
}
