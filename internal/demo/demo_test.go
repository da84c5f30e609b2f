package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// listenNowhere is for demos that nobody asks.
func listenNowhere() (net.Listener, error) { return memnet.Listen(), nil }

func TestConfigNamesNodesThatServe(t *testing.T) {
	for _, sc := range scenarios {
		synctest.Test(t, func(t *testing.T) {
			s := enter(t, sc.name, 7)
			time.Sleep(2500 * time.Millisecond) // past a stalled first request, if there is one
			if sc.name == "" {
				var head string
				_ = s.ask(s.cast[1][0], "eth_blockNumber", &head) // the one that stalls
			}
			i := s.Config().Instance("host", "v1")
			if i.Name != "demo" || len(i.Chains) != len(sc.chains) {
				t.Fatalf("scenario %q: instance %s of %d chains", sc.name, i.Name, len(i.Chains))
			}
			asked := map[string]bool{}
			for n, c := range i.Chains {
				want := sc.chains[n]
				if err := c.Validate(); err != nil {
					t.Error(err)
				}
				if c.Key() != want.name+"/jsonrpc" || c.Family != model.EVM || c.ExpectID != strconv.FormatUint(want.id, 10) || c.Settings.MaxLag != want.maxLag {
					t.Errorf("scenario %q: chain %s %s, id %s, max_lag %d; want %+v", sc.name, c.Key(), c.Family, c.ExpectID, c.Settings.MaxLag, want)
				}
				for u, up := range c.Upstreams {
					if up.Name != want.upstreams[u].name || (up.Tier == model.Backup) != want.upstreams[u].backup {
						t.Errorf("scenario %q: upstream %s %s, want %+v", sc.name, up.Name, up.Tier, want.upstreams[u])
					}
					asked[s.Config().Endpoints()[n][u].URL.Reveal()] = true
					if fate := s.fate(s.cast[n][u]); fate != "" && !strings.Contains(fate, "syncing") {
						t.Errorf("scenario %q: %s:%s %s", sc.name, c.Name, up.Name, fate)
					}
				}
			}
			for url := range asked {
				if !strings.HasPrefix(url, "http://127.0.0.1:") {
					t.Errorf("an address outside: %s", url)
				}
			}
			if n := slices.Concat(s.cast...); len(asked) != len(n) {
				t.Errorf("scenario %q: %d addresses for %d nodes", sc.name, len(asked), len(n))
			}
		})
	}
}

func TestPaceOfTheDemo(t *testing.T) {
	d, err := Open(Options{Scenario: "quiet", Listen: listenNowhere})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, d)
	want := model.DefaultSettings(model.EVM)
	want.Timeout, want.HealthyInterval, want.UnhealthyInterval, want.Soon = 2*time.Second, 20*time.Second, 5*time.Second, 3*time.Second
	want.CheckInterval, want.CheckTimeout = time.Second, 2*time.Second
	chains := d.Config().Instance("", "").Chains
	if len(chains) != 8 {
		t.Fatalf("%d chains", len(chains))
	}
	for n, c := range chains {
		want.MaxLag = eight[n].maxLag
		if c.Settings != want {
			t.Errorf("%s: %+v\nwant %+v", c.Key(), c.Settings, want)
		}
	}
	if !strings.Contains(d.yaml, "fast motion") {
		t.Errorf("the file does not say that it is faster than life:\n%s", d.yaml)
	}
}

func TestBanner(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Seed: 7}, "DEMO  simulated chains on loopback, faults in fast motion · seed 7"},
		{Options{Seed: -1, Scenario: "outage"}, "DEMO  simulated chains on loopback, faults in fast motion · scenario outage · seed -1"},
	} {
		c.o.Listen = listenNowhere
		d, err := Open(c.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Banner(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// On loopback itself, with a client that knows nothing but the config.
func TestDemoOnSockets(t *testing.T) {
	d, err := Open(Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	s := &stage{Demo: d, t: t, client: &http.Client{Transport: tr}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	if err := d.Fault("refuses", "node-1", "kill"); err != nil {
		t.Error(err)
	}
	if got := s.ails(); got != "stalls:node-1 silent; refuses:node-1 refused" {
		t.Errorf("%q", got)
	}
	if err := d.Fault("refuses", "node-1", "heal"); err != nil {
		t.Error(err)
	}
	if got := s.ails(); got != "" {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run ended with %v", err)
	}
	tr.CloseIdleConnections()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestDemoThatCannotListen(t *testing.T) {
	for fits := range 3 {
		left := fits
		var open []*memnet.Listener
		_, err := Open(Options{Listen: func() (net.Listener, error) {
			if left--; left < 0 {
				return nil, errors.New("no port left")
			}
			l := memnet.Listen()
			open = append(open, l)
			return l, nil
		}})
		if err == nil || !strings.Contains(err.Error(), "start the demo: "+three[fits].name+":node-1: no port left") {
			t.Errorf("%v", err)
		}
		for _, l := range open {
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a listener is left open: %v", err)
			}
		}
	}
}

func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(Options{Scenario: "outage", Listen: listenNowhere})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- d.Run(t.Context()) }()
		time.Sleep(15 * time.Second)
		if err := d.Run(t.Context()); err == nil {
			t.Error("it runs twice")
		}
		for range 2 {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		select {
		case err := <-ended:
			if !errors.Is(err, ErrOver) {
				t.Errorf("Run ended with %v", err)
			}
		case <-time.After(time.Hour):
			t.Fatal("Run goes on")
		}
		if err := d.Fault("base", "llama", "heal"); !errors.Is(err, ErrOver) {
			t.Errorf("a fault after the end: %v", err)
		}
		d.Inject(0, 0, "heal") // nobody waits, nobody is told
	})
}

// An order that came too late for Run must not hold its sender.
func TestFaultThatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(Options{Listen: listenNowhere})
		if err != nil {
			t.Fatal(err)
		}
		all := make(chan error, 2*mostOrders)
		for range cap(all) {
			go func() { all <- d.Fault("quiet", "node-1", "stall") }()
		}
		synctest.Wait()
		for range mostOrders {
			d.Inject(0, 0, "stall") // does not wait
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for range cap(all) {
			if err := <-all; !errors.Is(err, ErrOver) {
				t.Fatalf("%v", err)
			}
		}
	})
}

// A machine that slept, or a node that took its time, is not paid back with
// rounds at once.
func TestMissedRoundsAreNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(Options{Scenario: "outage", Listen: listenNowhere})
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, d)
		p := player{Demo: d, round: time.Now().Add(-time.Hour)}
		before := len(d.script)
		sets := 0
		d.note = func(*actor, simnode.Fault) { sets++ }
		p.play(time.Now())
		if sets != before || p.round != time.Now() || p.next != 0 {
			t.Errorf("%d of %d steps were played, the next is %d of a round from %v", sets, before, p.next, p.round)
		}
	})
}
