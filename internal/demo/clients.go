package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// asker is a simulated client of the gateway: it asks chains of the demo in
// turn, from an address of its own where the system has more than one loopback.
type asker struct {
	from   string // local address
	every  time.Duration
	chains []string // names; empty: all
	method string
	params string
	fresh  int  // requests a connection; 0: it is kept for ever
	stays  bool // it does not leave when the instance drains
}

// askers are the clients of every demo.
var askers = []asker{
	{from: "127.4.2.31", every: 90 * time.Millisecond, method: "eth_blockNumber", params: "[]", fresh: 40},
	{from: "127.4.2.17", every: 130 * time.Millisecond, method: "eth_getBlockByNumber", params: `["latest",false]`, fresh: 40},
	{from: "127.22.7.5", every: 400 * time.Millisecond, method: "eth_chainId", params: "[]", fresh: 20},
}

// stayer keeps a connection of scenario drain, whatever the instance says.
var stayer = asker{from: "127.83.2.9", every: 2 * time.Second, chains: []string{"ethereum"}, method: "eth_blockNumber", params: "[]", stays: true}

// readyEvery is how often clients look whether the instance is ready: they come
// when it first is, as through a Service, and leave after two looks at which it
// drained. From one that is not ready for another reason they do not leave: they
// have nowhere else to go.
const readyEvery = 2 * time.Second

// Ask sends the demo's client requests to the gateway at base, an http URL,
// until ctx ends. An error of a request is what a client gets: it asks on.
func (d *Demo) Ask(ctx context.Context, base string) {
	var wg sync.WaitGroup
	all := askers
	if d.scenario.stayer {
		all = append(all[:len(all):len(all)], stayer)
	}
	service := &service{base: base}
	wg.Go(func() { service.watch(ctx) })
	for _, a := range all {
		if len(a.chains) == 0 {
			for _, c := range d.scenario.chains {
				a.chains = append(a.chains, c.name)
			}
		}
		wg.Go(func() { a.run(ctx, base, service) })
	}
	wg.Wait()
}

// client is an http.Client from the asker's address, or from any where the
// system does not have it.
func (a asker) client() (*http.Client, func()) {
	own := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(a.from)}}
	other := &net.Dialer{}
	t := &http.Transport{MaxIdleConnsPerHost: 4, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if c, err := own.DialContext(ctx, network, addr); err == nil {
			return c, nil
		}
		return other.DialContext(ctx, network, addr)
	}}
	return &http.Client{Transport: t, Timeout: 35 * time.Second}, t.CloseIdleConnections
}

// run asks, and does not wait for an answer before it asks again; few enough
// are on their way at once that a hung gateway costs little.
func (a asker) run(ctx context.Context, base string, s *service) {
	client, closeIdle := a.client()
	defer closeIdle()
	ticker := time.NewTicker(a.every)
	defer ticker.Stop()
	flying := make(chan struct{}, 16)
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !a.stays && !s.ready() {
			closeIdle()
			continue
		}
		if a.fresh > 0 && n%a.fresh == 0 {
			closeIdle()
		}
		select {
		case flying <- struct{}{}:
		default:
			continue
		}
		wg.Go(func() {
			defer func() { <-flying }()
			a.ask(ctx, client, base, n)
		})
	}
}

func (a asker) ask(ctx context.Context, client *http.Client, base string, n int) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, a.method, a.params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/"+a.chains[n%len(a.chains)]+"/"+interfaceName, bytes.NewBufferString(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if resp, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body) // what it says is the gateway's to count
		_ = resp.Body.Close()
	}
}

// service is what stands before an instance in a cluster.
type service struct {
	base string
	mu   sync.Mutex
	seen bool // it was ready once
	bad  int  // looks in a row at which it drained
}

func (s *service) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen && s.bad < 2
}

func (s *service) watch(ctx context.Context) {
	client := &http.Client{Timeout: readyEvery, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(readyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/readyz", http.NoBody)
		if err != nil {
			return
		}
		gone, ready := false, false
		if resp, err := client.Do(r); err == nil {
			gone, ready = draining(resp.Body), resp.StatusCode == http.StatusOK
			_ = resp.Body.Close()
		}
		s.mu.Lock()
		if s.bad++; !gone {
			s.bad = 0
		}
		s.seen = s.seen || ready
		s.mu.Unlock()
	}
}

func draining(body io.Reader) bool {
	var said struct{ Draining bool }
	return json.NewDecoder(io.LimitReader(body, 1<<20)).Decode(&said) == nil && said.Draining
}
