package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaintop/internal/memnet"
	"chaintop/internal/simnode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a demo on a network in memory, in a bubble, and somebody who asks
// its nodes over plain HTTP.
type stage struct {
	*Demo
	t       *testing.T
	network *memnet.Network
	client  *http.Client
	open    time.Time // when the nodes were made
	heights map[string]uint64
	notes   []string // what the nodes were set to; read it when Run waits or has ended
	stop    func() error
}

// enter opens a demo, and runs it from then on.
func enter(t *testing.T, scenario string, seed int64) *stage {
	t.Helper()
	s := &stage{t: t, network: new(memnet.Network), open: time.Now(), heights: map[string]uint64{}}
	var err error
	s.Demo, err = Open(Options{Scenario: scenario, Seed: seed, Listen: func() (net.Listener, error) { return s.network.Listen("127.0.0.1:0") }})
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DialContext: s.network.Dial, DisableKeepAlives: true} // a pooled connection that was cut is another error than a refused one
	s.client = &http.Client{Transport: tr}
	s.note = func(a *actor, f simnode.Fault) {
		s.notes = append(s.notes, fmt.Sprintf("%v %s %v", time.Since(s.open), a.key(), f))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		tr.CloseIdleConnections()
		return errors.Join(err, s.Close())
	})
	t.Cleanup(func() {
		if err := s.stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("the demo ended with %v", err)
		}
	})
	if scenario != "" { // where the first question would meet the stall
		for _, us := range s.cast {
			var head string
			last := us[len(us)-1] // none begins with a fault
			if wrong := s.ask(last, "eth_blockNumber", &head); wrong != "" {
				t.Fatalf("%s: %s", last.key(), wrong)
			}
			s.heights[last.of.name] = number(t, head) - uint64(time.Since(s.open)/last.of.pace)
		}
	}
	return s
}

func shut(t *testing.T, d *Demo) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// until sleeps until a time of the script as the seed has it, and a bit.
func (s *stage) until(at, plus float64) {
	s.t.Helper()
	due := s.open.Add(s.stretched(seconds(at)) + seconds(plus))
	if time.Now().After(due) {
		s.t.Fatalf("%vs + %vs has passed already", at, plus)
	}
	time.Sleep(time.Until(due))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// ails is what is wrong with the nodes now: "base:llama refused; …", in the
// order of the config.
func (s *stage) ails() string {
	s.t.Helper()
	var wg sync.WaitGroup
	var all []*actor
	for _, us := range s.cast {
		all = append(all, us...)
	}
	said := make([]string, len(all))
	for i, a := range all {
		wg.Go(func() {
			if fate := s.fate(a); fate != "" {
				said[i] = a.key() + " " + fate
			}
		})
	}
	wg.Wait()
	return strings.Join(slices.DeleteFunc(said, func(f string) bool { return f == "" }), "; ")
}

// fate is what is wrong with a node for whoever asks it; empty: nothing.
func (s *stage) fate(a *actor) string {
	var head, id string
	var syncing any
	for _, q := range []struct {
		method string
		into   any
	}{{"eth_blockNumber", &head}, {"eth_chainId", &id}, {"eth_syncing", &syncing}} {
		if wrong := s.ask(a, q.method, q.into); wrong != "" {
			return wrong
		}
	}
	var wrong []string
	if n := number(s.t, id); n != a.of.id {
		wrong = append(wrong, fmt.Sprintf("id %d", n))
	}
	if syncing != false {
		wrong = append(wrong, "syncing")
	}
	return strings.Join(wrong, ", ")
}

// off is how far a node's head is from where the clock has the chain's.
func (s *stage) off(key string) int64 {
	s.t.Helper()
	a, err := s.played(key)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	var head string
	if wrong := s.ask(a, "eth_blockNumber", &head); wrong != "" {
		s.t.Errorf("%s: %s", key, wrong)
		return 0
	}
	return int64(number(s.t, head)) - int64(s.heights[a.of.name]) - int64(time.Since(s.open)/a.of.pace)
}

// ask asks one question as a client would, with a deadline of 2 s. It returns
// what went wrong.
func (s *stage) ask(a *actor, method string, into any) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
	defer cancel()
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":[]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address(a), body)
	if err != nil {
		return err.Error()
	}
	res, err := s.client.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "silent"
	case err != nil:
		return err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	if res.StatusCode != http.StatusOK {
		return strings.Join(slices.DeleteFunc([]string{
			res.Status[:3], res.Header.Get("Retry-After"), quotaWords(string(text)),
		}, func(p string) bool { return p == "" }), " ")
	}
	var r struct {
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err.Error()
	}
	if r.Error != nil {
		return fmt.Sprintf("error %d", r.Error.Code)
	}
	if err := json.Unmarshal(r.Result, into); err != nil {
		return err.Error()
	}
	return ""
}

// address is where the config says that the node is.
func (s *stage) address(a *actor) string {
	for i, c := range s.Config().Instance("", "").Chains {
		for n, u := range c.Upstreams {
			if c.Name == a.of.name && u.Name == a.name {
				return s.Config().Endpoints()[i][n].URL.Reveal()
			}
		}
	}
	return "not in the config"
}

func quotaWords(body string) string {
	if strings.Contains(body, "daily request count exceeded") {
		return "quota"
	}
	return ""
}

func number(t *testing.T, quantity string) uint64 {
	t.Helper()
	var n uint64
	if _, err := fmt.Sscanf(quantity, "0x%x", &n); err != nil {
		t.Errorf("%q is no quantity: %v", quantity, err)
	}
	return n
}
