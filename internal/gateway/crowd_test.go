package gateway

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"chaintop/internal/memnet"
)

// A full house lets a new client in by seeing out the one that asked nothing for
// longest; on whose connection a request runs is never seen out.
func TestFullHouse(t *testing.T) {
	var network memnet.Network
	l, err := network.Listen("gw:80")
	if err != nil {
		t.Fatal(err)
	}
	release, began := make(chan struct{}), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-release
		}
		_, _ = fmt.Fprint(w, "ok")
	})
	s := &http.Server{Handler: counted(h), ConnContext: withGuest, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(&crowd{Listener: l, most: 3}) }) // closed below
	defer func() {
		_ = s.Close()
		wg.Wait()
	}()
	dial := func() net.Conn {
		t.Helper()
		c, err := network.Dial(context.Background(), "tcp", "gw:80")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	ask := func(c net.Conn, path string) { _, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: gw\r\n\r\n", path) }
	status := func(c net.Conn) string {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err.Error()
		}
		_ = resp.Body.Close()
		return resp.Status
	}
	busy, half, idle := dial(), dial(), dial()
	ask(busy, "/slow")
	<-began
	_, _ = fmt.Fprint(half, "GET / HTT") // it never finishes
	ask(idle, "/")
	if got := status(idle); got != "200 OK" {
		t.Fatal(got)
	}
	fresh := dial() // the fourth
	ask(fresh, "/")
	if got := status(fresh); got != "200 OK" {
		t.Errorf("a new client of a full house: %s", got)
	}
	if n, err := half.Read(make([]byte, 1)); err == nil || n != 0 || os.IsTimeout(err) {
		t.Errorf("the half-open one is still there: %d %v", n, err)
	}
	ask(idle, "/")
	if got := status(idle); got != "200 OK" {
		t.Errorf("the idle one: %s", got)
	}
	close(release)
	if got := status(busy); got != "200 OK" {
		t.Errorf("the busy one: %s", got)
	}
	for _, c := range []net.Conn{busy, half, idle, fresh} {
		_ = c.Close()
	}
}
