package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/core"
	"chaintop/internal/memnet"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// asked is an activity on a clock of the test's.
type asked struct {
	*activity
	at time.Time
}

func newAsked() *asked {
	a := &asked{at: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)}
	a.activity = newActivity(func() time.Time { return a.at })
	return a
}

func (a *asked) pass(d time.Duration) { a.at = a.at.Add(d) }

// conn accepts a connection.
func (a *asked) conn() (net.Conn, *connInfo) {
	c := &net.TCPConn{}
	return c, connOf(a.connContext(context.Background(), c))
}

func (a *asked) http(ci *connInfo, client, method string) {
	v := a.enter(ci, 0, model.ClientHTTP, client, a.at)
	v.method(method)
	v.leave()
}

func TestActivityOfTheLastRequest(t *testing.T) {
	a := newAsked()
	_, one := a.conn()
	a.pass(time.Minute)
	since := a.at
	_, two := a.conn()
	a.http(one, "10.4.2.17", "eth_call")
	a.pass(time.Second)
	v := a.enter(two, 1, model.ClientGRPC, "10.4.2.31", a.at) // its body is not read yet
	got := a.snapshot(a.at.Add(3*time.Second), since)
	if !got.Last.Equal(a.at) || got.Client != "10.4.2.31" || got.Kind != model.ClientGRPC || got.Chain != 1 || got.Method != "" || got.InFlight != 1 {
		t.Errorf("last %+v", got)
	}
	if !got.OldLast.Equal(since) || got.OldClient != "10.4.2.17" || got.OldMethod != "eth_call" {
		t.Errorf("on an old connection %+v", got)
	}
	if !got.NewConn.Equal(since) || got.Quiet != 3*time.Second {
		t.Errorf("newest connection %v, quiet %v", got.NewConn, got.Quiet)
	}
	v.method("a\x1b[2Jb" + strings.Repeat("c", 100))
	v.leave()
	if got := a.snapshot(a.at, since); len([]rune(got.Method)) != mostMethod || strings.Contains(got.Method, "\x1b") || got.InFlight != 0 {
		t.Errorf("method %q, %d in flight", got.Method, got.InFlight)
	}
}

// What comes between a drain's start and the moment anybody here is told of it
// is not lost.
func TestActivityBeforeItIsToldOfTheDrain(t *testing.T) {
	a := newAsked()
	_, ci := a.conn()
	a.pass(time.Minute)
	since := a.at
	a.http(ci, "10.4.2.17", "eth_call")
	s := a.enter(ci, 0, model.ClientWS, "10.4.2.17", a.at).open(a.at)
	s.wrote(a.at)
	got := a.snapshot(a.at, since)
	if !got.OldLast.Equal(since) || got.OldClient != "10.4.2.17" || got.OldRequests == 0 || !got.OldMessage.Equal(since) {
		t.Errorf("%+v", got)
	}
	s.close(a.at)
}

// D5: a message on a stream is no request; it is told apart.
func TestMessagesAreToldApart(t *testing.T) {
	a := newAsked()
	c, ci := a.conn()
	v := a.enter(ci, 0, model.ClientWS, "10.83.2.12", a.at)
	v.method("eth_subscribe")
	a.connState(c, http.StateHijacked)
	s := v.open(a.at)
	upgraded := a.at
	a.pass(time.Minute)
	since := a.at
	a.pass(41 * time.Second)
	s.wrote(a.at)
	got := a.snapshot(a.at, since)
	if !got.Last.Equal(upgraded) || !got.Message.Equal(a.at) || !got.OldMessage.Equal(a.at) || got.MessageClient != "10.83.2.12" {
		t.Errorf("%+v", got)
	}
	if got.Streams != 1 || got.InFlight != 0 || got.Requests != 0 || !got.Oldest.Equal(upgraded) {
		t.Errorf("%d streams, %d in flight, %d requests, oldest %v", got.Streams, got.InFlight, got.Requests, got.Oldest)
	}
	want := model.Client{
		Addr: "10.83.2.12", Kind: model.ClientWS, Method: "eth_subscribe", Last: upgraded, Since: upgraded,
		Conns: 1, Streams: 1, Message: a.at, Old: true,
	}
	if len(got.Clients) != 1 || got.Clients[0] != want {
		t.Errorf("clients %+v", got.Clients)
	}
	s.close(a.at)
	s.close(a.at)
	if got := a.snapshot(a.at, since); got.Streams != 0 || len(got.Clients) != 0 || len(a.conns) != 0 {
		t.Errorf("after its end: %+v", got)
	}
}

func TestClientsOfADrain(t *testing.T) {
	a := newAsked()
	c, ci := a.conn()
	accepted := a.at
	a.pass(2*time.Hour + 14*time.Minute)
	since := a.at
	a.snapshot(a.at, since)
	for range 79 {
		a.pass(2 * time.Second)
		a.http(ci, "10.83.2.9", "eth_blockNumber")
	}
	last := a.at
	a.pass(1800 * time.Millisecond)
	got := a.snapshot(a.at, since)
	want := model.Client{
		Addr: "10.83.2.9", Kind: model.ClientHTTP, Method: "eth_blockNumber", Every: 2 * time.Second, Count: 79, Last: last,
		Since: accepted, Conns: 1, Old: true, OldCount: 79, OldLast: last,
	}
	if len(got.Clients) != 1 || got.Clients[0] != want {
		t.Errorf("clients %+v, want %+v", got.Clients, want)
	}
	if got.Quiet != 2*time.Second || got.Requests != 79 || got.OldClients != 1 || got.Window != 0 {
		t.Errorf("quiet %v, %d requests of %d clients", got.Quiet, got.Requests, got.OldClients)
	}
	a.connState(c, http.StateClosed)
	gone := a.snapshot(a.at, since).Clients[0]
	if !gone.Closed.Equal(a.at) || gone.Conns != 0 || gone.Every != 0 || !gone.Since.IsZero() || gone.Old {
		t.Errorf("after its connection was closed: %+v", gone)
	}
}

// While it serves the list is of the last minute, the busiest first, and sums up
// the rest.
func TestClientsOfTheLastMinute(t *testing.T) {
	a := newAsked()
	for range 600 { // ten minutes of one client, then another asks for one
		a.pass(time.Second)
		a.http(nil, "10.0.0.1", "m")
	}
	for range 60 {
		a.pass(500 * time.Millisecond)
		a.http(nil, "10.0.0.2", "m")
		a.pass(500 * time.Millisecond)
		a.http(nil, "10.0.0.2", "m")
	}
	got := a.snapshot(a.at, time.Time{})
	if len(got.Clients) != 1 && len(got.Clients) != 2 {
		t.Fatalf("clients %+v", got.Clients)
	}
	if c := got.Clients[0]; c.Addr != "10.0.0.2" || c.Count != 120 || c.Every != 500*time.Millisecond {
		t.Errorf("the busiest %+v", c)
	}
	if got.Window < time.Minute || got.Window > 70*time.Second {
		t.Errorf("a window of %v", got.Window)
	}
	if got.Quiet != time.Second { // the pauses of the first client are less than five minutes ago
		t.Errorf("longest quiet %v", got.Quiet)
	}
	a.pass(20 * time.Minute)
	if got := a.snapshot(a.at, time.Time{}); len(got.Clients) != 0 || got.Others != (model.Others{}) || got.Quiet != 20*time.Minute {
		t.Errorf("after twenty minutes: %+v", got)
	}
}

// D6: twenty clients are listed and the others summed; memory is bounded however
// many ask, and the last request stays exact.
func TestClientsAreBounded(t *testing.T) {
	a := newAsked()
	_, old := a.conn()
	a.pass(time.Second)
	since := a.at
	a.snapshot(a.at, since)
	a.http(old, "10.9.9.9", "eth_call")
	for n := range 500 {
		a.pass(time.Millisecond)
		a.http(nil, fmt.Sprintf("10.1.%d.%d", n/250, n%250), "eth_call")
	}
	got := a.snapshot(a.at, since)
	if len(got.Clients) != model.AwakeClients || got.Others.Clients != 501-20 || got.Others.Count != 501-20 {
		t.Errorf("%d clients listed, others %+v", len(got.Clients), got.Others)
	}
	if got.Clients[0].Addr != "10.1.1.249" {
		t.Errorf("the first is %s", got.Clients[0].Addr)
	}
	if !slices.ContainsFunc(got.Clients, func(c model.Client) bool { return c.Addr == "10.9.9.9" }) {
		t.Error("the one client on an old connection is not listed")
	}
	for n := range 10_000 {
		a.pass(time.Millisecond)
		a.http(nil, fmt.Sprintf("10.2.%d.%d", n/250, n%250), "eth_call")
	}
	got = a.snapshot(a.at, since)
	ring := 1
	for by := a.newest.after; by != a.newest; by = by.after {
		ring++
	}
	if len(a.askers) != mostAskers || ring != mostAskers {
		t.Errorf("%d clients kept, %d in the ring", len(a.askers), ring)
	}
	if !got.Last.Equal(a.at) || !got.OldLast.Equal(since) || got.Requests != 10_501 || got.Others.Count != 10_501-20 {
		t.Errorf("last %v, of old connections %v, %d requests, others %+v", got.Last, got.OldLast, got.Requests, got.Others)
	}
}

func TestClientAddresses(t *testing.T) {
	for remote, want := range map[string]string{
		"10.83.2.9:41000": "10.83.2.9", "[::1]:80": "::1", "[fe80::1%eth0]:80": "fe80::1", "[::ffff:10.83.2.9]:80": "10.83.2.9", "pipe": "pipe",
	} {
		if got := clientOf(remote); got != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
}

// A request of a client that is known costs no allocation.
func TestActivityAllocatesNothing(t *testing.T) {
	a := newAsked()
	_, ci := a.conn()
	a.http(ci, "10.4.2.17", "eth_call")
	if n := testing.AllocsPerRun(1000, func() { a.http(ci, "10.4.2.17", "eth_call") }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func TestActivityInParallel(t *testing.T) {
	a := newActivity(time.Now)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for n := range 500 {
				c := &net.TCPConn{}
				ci := connOf(a.connContext(t.Context(), c))
				v := a.enter(ci, n, model.ClientHTTP, fmt.Sprint("10.0.0.", n%40), time.Now())
				v.method("m")
				if n%7 == 0 {
					a.connState(c, http.StateHijacked)
					s := v.open(time.Now())
					s.wrote(time.Now())
					s.close(time.Now())
				} else {
					v.leave()
					a.connState(c, http.StateClosed)
				}
				if n%50 == 0 {
					a.snapshot(time.Now(), time.Time{}.Add(time.Duration(w)))
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	if got := a.snapshot(time.Now(), time.Time{}); got.InFlight != 0 || got.Streams != 0 || len(a.conns) != 0 || got.Others.Count+countOf(got.Clients) != 4000 {
		t.Errorf("%d in flight, %d streams, %d connections, %+v", got.InFlight, got.Streams, len(a.conns), got.Others)
	}
}

func countOf(clients []model.Client) (n int) {
	for _, c := range clients {
		n += c.Count
	}
	return n
}

// door is a gateway's server before a core that drains.
type door struct {
	t    *testing.T
	core *core.Core
	net  *memnet.Network
	stop func()
}

func newDoor(t *testing.T) *door {
	d := &door{t: t, net: &memnet.Network{}}
	set := model.DefaultSettings(model.EVM)
	inst := model.Instance{Name: "gw", Epoch: "e", Gateway: true, Chains: []*model.Chain{{Name: "x", Interface: "jsonrpc", Family: model.EVM, Settings: set}}}
	gw := New(Options{
		Picture: func() *model.Instance {
			if d.core == nil { // it is made after its gateway
				return &inst
			}
			return d.core.Picture()
		},
		Now:     func() time.Time { return d.core.Now() },
		Clients: [][]*rpc.Client{nil}, Settings: []Settings{DefaultSettings()},
	})
	var err error
	if d.core, err = core.New(core.Options{Instance: inst, Prober: silent{}, Relay: gw, Activity: gw.Activity}); err != nil {
		t.Fatal(err)
	}
	server := gw.Server(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	l, err := d.net.Listen("gw:80")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = server.Serve(l) }) // closed below
	all.Go(func() { _ = d.core.Run(ctx) }) // cancelled below
	d.stop = func() {
		_ = server.Close() // the test is over
		cancel()
		all.Wait()
	}
	return d
}

// client is one that keeps its connection.
func (d *door) client() (ask func(path, body string), hangUp func()) {
	tr := &http.Transport{DialContext: d.net.Dial}
	c := &http.Client{Transport: tr}
	return func(path, body string) {
		resp, err := c.Post("http://gw"+path, "application/json", strings.NewReader(body))
		if err != nil {
			d.t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body) // in memory
		_ = resp.Body.Close()
	}, tr.CloseIdleConnections
}

const call1 = `{"jsonrpc":"2.0","id":1,"method":"eth_call"}`

type silent struct{}

func (silent) Try(context.Context, int, int) (model.Outcome, error) {
	return model.Outcome{}, context.Canceled
}

func (silent) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	return model.Told{}, nil
}

// D5, exact, through the gateway's server: what bumps and what does not.
func TestWhatKeepsADrainAwake(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		want             time.Duration // drained, after a start at 5s and requests a second from 5.5s to 24.5s
	}{
		{"nothing", "", "", 15 * time.Second},
		{"requests", "/", call1, 34500 * time.Millisecond},
		{"denied ones", "/x", strings.ReplaceAll(call1, "eth_", "admin_"), 34500 * time.Millisecond},
		{"unreadable ones", "/x", "x", 34500 * time.Millisecond},
		{"to a chain that is not there", "/y", call1, 34500 * time.Millisecond},
		{"health", "/healthz", "", 15 * time.Second},
		{"readiness", "/readyz", "", 15 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDoor(t)
			begun := time.Now()
			ask, hangUp := d.client()
			time.Sleep(5 * time.Second)
			d.core.Signal("SIGTERM")
			time.Sleep(500 * time.Millisecond)
			for range 20 {
				if tt.path != "" {
					ask(tt.path, tt.body)
				}
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := d.core.Picture().Drain.Drained.Sub(begun); got != tt.want {
				t.Errorf("%s: drained at %v, want %v", tt.name, got, tt.want)
			}
			hangUp()
			d.stop()
		})
	}
}

// D6, exact: a simulation's second timer is of the connections older than it.
func TestOldConnectionsOfASimulation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		begun := time.Now()
		old, hangUpOld := d.client()
		old("/", call1)
		time.Sleep(5 * time.Second)
		if err := d.core.Send(t.Context(), model.Command{ID: "s", Op: model.OpSimulate}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		fresh, hangUpFresh := d.client()
		for n := range 30 { // at 5.5s, 6.5s, …, 34.5s; the old connection asks until 12.5s
			fresh("/", call1)
			if n <= 7 {
				old("/", call1)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		f := d.core.Picture().Drain.Forecast
		if at, over := f.At.Sub(begun), f.Over.Sub(begun); at != 22500*time.Millisecond || over != 44500*time.Millisecond || f.Requests != 8 || f.Clients != 1 || !f.NewComes {
			t.Errorf("forecast for %v, over at %v: %+v", at, over, f)
		}
		hangUpOld()
		hangUpFresh()
		d.stop()
	})
}
