package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/demo"
	"chaintop/internal/memnet"
	"chaintop/model"
)

// What SERVING says is who serves a request made in that state, in every
// scenario of the demo, all along.
func TestServingIsWhoServes(t *testing.T) {
	if raceEnabled {
		t.Skip("make smoke runs it without the race detector, in a fifth of the time")
	}
	for _, sc := range append([]demo.Scenario{{}}, demo.Scenarios()...) {
		t.Run("scenario "+sc.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { servingIsWhoServes(t, sc.Name) })
		})
	}
}

func servingIsWhoServes(t *testing.T, scenario string) {
	var network memnet.Network
	d, err := demo.Open(demo.Options{Scenario: scenario, Seed: 7, Listen: func() (net.Listener, error) { return network.Listen("127.0.0.1:0") }})
	if err != nil {
		t.Fatal(err)
	}
	w, err := watchConfig(d.Config(), network.Dial)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := network.Listen("gw:80")
	if err != nil {
		t.Fatal(err)
	}
	i, err := newInstance(w, instanceOptions{gate: gate})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.Run(ctx) })
	wg.Go(func() { _, _ = i.run(ctx) })
	transport := &http.Transport{DialContext: network.Dial}
	client := &http.Client{Transport: transport}
	asked, served := 0, map[string]bool{}
	chance := rand.New(rand.NewPCG(7, 7))
	for range 260 {
		time.Sleep(time.Duration(400+chance.IntN(1000)) * time.Millisecond)
		for n, c := range i.core.Picture().Chains {
			begun := time.Now()
			got := servedBy(t, client, c)
			silent := time.Since(begun) >= 50*time.Millisecond
			synctest.Wait()
			after := i.core.Picture().Chains[n].Serving
			if after != c.Serving || silent {
				continue // it turned by this very request, or is about to: the first two of three without an answer
			}
			want := ""
			if c.Serving.Upstream >= 0 {
				want = c.Upstreams[c.Serving.Upstream].Name
			}
			if got != want && !failing(i.core.Picture().Chains[n], c.Serving.Upstream) {
				t.Errorf("%v: SERVING says %q (%s), %q served", c.Key(), want, c.Serving.Why, got)
			}
			asked++
			served[c.Key()+" "+got] = true
		}
	}
	transport.CloseIdleConnections()
	cancel()
	wg.Wait()
	w.Close()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if asked < 300 || len(served) < 3 {
		t.Errorf("%d requests compared, served by %v", asked, served)
	}
}

// failing says that the upstream a request goes to first has failed a check or
// two: it is believed healthy until it failed three (U2), and gives no answer.
func failing(c *model.Chain, upstream int) bool {
	return upstream >= 0 && c.Upstreams[upstream].State.Streak > 0
}

func servedBy(t *testing.T, client *http.Client, c *model.Chain) string {
	resp, err := client.Post("http://gw/"+c.Key(), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.Header.Get("X-Served-By")
}
