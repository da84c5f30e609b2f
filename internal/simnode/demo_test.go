package simnode

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
)

func TestDemoOnSockets(t *testing.T) {
	d, err := OpenDemo(7)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	ids := make(map[string]bool)
	for i, name := range []string{"quiet", "stalls", "refuses"} {
		n := d.Nodes[i]
		if n.Name() != name || !strings.HasPrefix(n.URL(), "http://127.0.0.1:") {
			t.Fatalf("node %d is %s at %s", i, n.Name(), n.URL())
		}
		a := asker{t: t, url: n.URL(), client: &http.Client{Transport: tr}}
		if name == "stalls" {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := a.ask(ctx, "eth_blockNumber"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("its first request: %v", err)
			}
			cancel()
		}
		if a.head() == 0 {
			t.Errorf("%s has no head", name)
		}
		ids[string(a.must("eth_chainId").result)] = true
	}
	if len(ids) != 3 {
		t.Errorf("chains %v, want three", ids)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestDemoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(memnet.Network)
		d, err := openDemo(7, func() (net.Listener, error) { return network.Listen("127.0.0.1:0") })
		if err != nil {
			t.Fatal(err)
		}
		tr := &http.Transport{DialContext: network.Dial}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		start := time.Now()
		go func() { ended <- d.Run(ctx) }()
		quiet := asker{t: t, url: d.Nodes[0].URL(), client: &http.Client{Transport: tr}}
		comes := asker{t: t, url: d.Nodes[2].URL(), client: &http.Client{Transport: tr}}
		for minute := range 3 {
			for _, c := range []struct {
				second int
				want   string
			}{{0, "result"}, {19, "result"}, {21, "refused"}, {59, "refused"}} {
				at := time.Duration(minute)*time.Minute + time.Duration(c.second)*time.Second
				time.Sleep(time.Until(start.Add(at + time.Millisecond)))
				if got := fate(comes); got != c.want {
					t.Errorf("at %v: %s, want %s", at, got, c.want)
				}
				if got := fate(quiet); got != "result" {
					t.Errorf("the quiet one at %v: %s", at, got)
				}
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		tr.CloseIdleConnections()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestDemoThatCannotListen(t *testing.T) {
	left := 2
	_, err := openDemo(7, func() (net.Listener, error) {
		if left--; left < 0 {
			return nil, errors.New("no port left")
		}
		return memnet.Listen(), nil
	})
	if err == nil || !strings.Contains(err.Error(), "no port left") {
		t.Errorf("%v", err)
	}
}
