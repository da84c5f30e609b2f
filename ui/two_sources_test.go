package ui

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/feed"
	"chaintop/internal/memnet"
	"chaintop/model"
)

// oneOf is what a screen of the test is followed by.
type oneOf struct {
	m    *Model
	mu   sync.Mutex
	came []tea.Msg
}

func (s *oneOf) send(msg tea.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came = append(s.came, msg)
}

func (s *oneOf) take() {
	s.mu.Lock()
	came := s.came
	s.came = nil
	s.mu.Unlock()
	for _, msg := range came {
		s.m.Update(msg)
	}
}

// beside is a connection as a client's is, for a screen that reads the log
// itself: only the source differs.
type beside struct{ *feed.Client }

// One session, two sources: a script of inputs and keys is shown from the log
// itself and through a real websocket, and every frame is the same to the byte.
// Whatever the local screen knows, the remote one knows.
func TestOneSessionTwoSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		now := func() time.Time { return at.Add(time.Since(begun)) }
		inst := night()
		inst.Gateway = true
		log := feed.NewLog(inst.Clone())
		client, stop := overAWebsocket(t, log, now)
		defer stop()
		options := Options{Sink: &sink{}, Who: "oncall", Remote: beside{client}, Now: client.Now}
		local, remote := &oneOf{}, &oneOf{}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for s, src := range map[*oneOf]feed.Source{local: log, remote: client} {
			o := options
			o.Source = src
			s.m = New(o)
			s.m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
			wg.Go(func() { follow(ctx, src, s.send) })
		}
		defer wg.Wait()
		defer cancel()
		time.Sleep(time.Second)
		frames := 0
		for n, step := range session(inst) {
			var events []model.Event
			for _, in := range step.inputs(now()) {
				evs, _ := inst.Step(in)
				events = append(events, evs...)
			}
			if len(events) > 0 {
				log.Append(inst.Clone(), events)
			}
			time.Sleep(300 * time.Millisecond) // sealed, sent, paced
			synctest.Wait()
			for _, s := range []*oneOf{local, remote} {
				s.take()
				s.m.Update(remoteMsg{})
				s.m.Update(tickMsg{})
				if step.w > 0 {
					s.m.Update(tea.WindowSizeMsg{Width: step.w, Height: step.h})
				}
			}
			compare(t, n, "", local.m, remote.m)
			for _, key := range strings.Fields(step.keys) {
				press(local.m, key)
				press(remote.m, key)
				compare(t, n, key, local.m, remote.m)
				frames++
			}
		}
		if st := client.Status(); st.Phase != feed.Live || st.Role != feed.RoleOperator || frames < 100 {
			t.Errorf("%d frames over a feed that is %+v", frames, st)
		}
	})
}

func compare(t *testing.T, n int, key string, local, remote *Model) {
	t.Helper()
	a, b := local.View().Content, remote.View().Content
	if a == b {
		return
	}
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			t.Errorf("step %d, after %q, line %d:\nlocal  %s\nremote %s", n, key, i, la[i], lb[i])
		}
	}
	t.FailNow()
}

// overAWebsocket is a client of log, live.
func overAWebsocket(t *testing.T, log *feed.Log, now func() time.Time) (*feed.Client, func()) {
	t.Helper()
	const secret = "0123456789abcdef-oncall"
	var network memnet.Network
	l, err := network.Listen("gw:80")
	if err != nil {
		t.Fatal(err)
	}
	server, err := feed.NewServer(feed.ServerOptions{Log: log, Sink: &sink{}, Loopback: true, Now: now, Tokens: func() []feed.Token {
		return []feed.Token{{Name: "oncall", Role: feed.RoleOperator, Secret: secret}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := feed.NewClient(feed.ClientOptions{
		URL: "ws://gw/feed", Dial: network.Dial, Insecure: true, Now: now, Token: func() (string, error) { return secret, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &http.Server{Handler: server, ReadHeaderTimeout: time.Second}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })      // closed below
	wg.Go(func() { _ = client.Run(ctx) }) // ends below
	if _, _, err := client.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	return client, func() {
		cancel()
		_ = server.Shutdown(context.Background()) // nobody looks any more
		_ = s.Close()
		wg.Wait()
	}
}

// moment is a step of the session: what happens, then the keys.
type moment struct {
	happens []func(now time.Time) model.Input
	keys    string
	w, h    int
}

func (s moment) inputs(now time.Time) []model.Input {
	var all []model.Input
	for _, f := range s.happens {
		all = append(all, f(now))
	}
	return all
}

// session is a night on call, as keys and inputs.
func session(i *model.Instance) []moment {
	command := func(c model.Command) func(time.Time) model.Input {
		return func(now time.Time) model.Input {
			c.At, c.ID, c.Who = now, "c", "oncall"
			return c
		}
	}
	due := func(chain int) func(time.Time) model.Input {
		return func(now time.Time) model.Input { return model.Due{At: now, Chain: chain} }
	}
	live := func(chain, run int) func(time.Time) model.Input {
		return func(now time.Time) model.Input {
			return model.Live{At: now, Chain: chain, Run: run, Reason: model.ReasonStalled}
		}
	}
	sums := func(n int) func(time.Time) model.Input {
		return func(now time.Time) model.Input {
			in := model.Sums{At: now, Activity: &model.Activity{
				At: now, Last: now, Method: "eth_call", Kind: model.ClientHTTP, Client: "10.83.2.9", InFlight: n, Window: time.Minute,
				Clients: []model.Client{{Addr: "10.83.2.9", Kind: model.ClientHTTP, Method: "eth_call", Count: 9 * n, Every: time.Second, Last: now, Since: now.Add(-time.Hour), Conns: 1}},
			}}
			for c := range i.Chains {
				in.Chains = append(in.Chains, model.ChainSums{Chain: c, Heard: now, Traffic: model.Traffic{
					Window: time.Minute, Requests: 60 * n, Retried: n, P50: 20 * time.Millisecond, P95: 90 * time.Millisecond, Last: now, Total: uint64(900 * n), Streams: 2,
				}, Felt: &model.Felt{Began: now.Add(-time.Second), Ended: now, Retried: n, Slowest: 38 * time.Millisecond}})
			}
			return in
		}
	}
	signal := func(now time.Time) model.Input { return model.Signal{At: now, Name: "SIGTERM"} }
	const look = "2 3 4 1 n n enter tab tab esc n enter esc"
	var all []moment
	for c := range i.Chains {
		all = append(all, moment{happens: []func(time.Time) model.Input{due(c), live(c, 3)}, keys: "down"})
	}
	return append(all,
		moment{happens: []func(time.Time) model.Input{sums(1)}, keys: look},
		moment{happens: []func(time.Time) model.Input{command(model.Command{Op: model.OpProbe})}, keys: look, w: 80, h: 24},
		moment{happens: []func(time.Time) model.Input{command(model.Command{Op: model.OpPin, Chains: []int{1}, Upstream: 0, For: time.Hour, Reason: "INC-1"})}, keys: "2 3 [ ] esc 1 s s S"},
		moment{happens: []func(time.Time) model.Input{command(model.Command{Op: model.OpSimulate}), sums(2)}, keys: "4 tab down up 1 " + look},
		moment{keys: "/ b a s e enter esc ! esc space down up space", w: 200, h: 60},
		moment{happens: []func(time.Time) model.Input{command(model.Command{Op: model.OpDrain, Confirm: "nobody"}), sums(3), live(2, 4)}, keys: look},
		moment{keys: "? down esc g G", w: 50, h: 12},
		moment{happens: []func(time.Time) model.Input{signal, sums(4)}, keys: look, w: 120, h: 40},
		moment{happens: []func(time.Time) model.Input{due(0), due(1), due(2), sums(5)}, keys: "4 tab down esc 3 j j k esc"},
	)
}
