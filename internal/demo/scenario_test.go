package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// look is what ails the nodes at a time of the script, and how far heads are
// from where the clock has them.
type look struct {
	at, plus float64 // seconds: of the script as written, and after that
	want     string
	heads    map[string]int64
}

// plays are what a client sees of each scenario.
var plays = map[string][]look{
	"": {
		{0, 0.1, "stalls:node-1 silent", nil},
		{10, 0, "", nil},
		{20, 0.1, "refuses:node-1 refused", nil},
		{59, 0, "refuses:node-1 refused", nil},
		{60, 0.1, "", nil},
		{80, 0.1, "refuses:node-1 refused", nil},
		{120, 0.1, "", nil},
	},
	"quiet": {{0, 1.5, "", nil}, {60, 0, "", nil}, {3600, 0, "", nil}},
	"stall": {
		{9, 0, "", nil},
		{10, 0.1, "polygon:bor-1 silent", nil},
		{44, -3, "polygon:bor-1 silent", nil},
		{45, 0.1, "", nil},
		{55, 0.1, "arbitrum:nitro-1 silent", nil},
		{60, 0, "", nil},
		{85, 0.1, "polygon:bor-1 silent", nil},
	},
	"ratelimit": {
		{8, 0.1, "base:llama 429 12", nil},
		{16, 0.1, "base:llama 429 12; base:alchemy 429", nil},
		{24, 0.1, "base:llama 429 12; base:alchemy 429; base:infura 429 quota", nil},
		{30, 0.1, "base:llama 429 12; base:alchemy 429; base:infura 429 quota; ethereum:alchemy 429 5", nil},
		{33, 0.1, "base:llama 429 12; base:alchemy 429; base:infura 429 quota; ethereum:alchemy 429 5", nil},
		{36, 0.1, "base:llama 429 12; base:alchemy 429; base:infura 429 quota", nil},
		{60, 0.1, "base:alchemy 429; base:infura 429 quota", nil},
		{75, 0.1, "", nil},
		{128, 0.1, "base:llama 429 12", nil},
	},
	"syncing": {
		{0, 1.5, "gnosis:nethermind-1 syncing", map[string]int64{"gnosis:nethermind-1": -1160, "gnosis:ankr": 0}},
		{0, 22.5, "gnosis:nethermind-1 syncing", map[string]int64{"gnosis:nethermind-1": -600}},
		{0, 45, "", map[string]int64{"gnosis:nethermind-1": 0}},
		{100, 0.1, "gnosis:nethermind-1 refused", map[string]int64{"gnosis:ankr": 0}},
		{100, 5.1, "gnosis:nethermind-1 syncing", map[string]int64{"gnosis:nethermind-1": -2396}},
		{100, 65.1, "", map[string]int64{"gnosis:nethermind-1": 0}},
	},
	"wrongchain": {
		{9, 0, "", nil},
		{10, 0.1, "linea:besu-1 refused", nil},
		{10, 5.1, "linea:besu-1 id 59141", nil},
		{69, 0, "linea:besu-1 id 59141", nil},
		{70, 0.1, "linea:besu-1 refused", nil},
		{70, 5.1, "", nil},
		{110, 5.1, "linea:besu-1 id 59141", nil},
	},
	"roguetip": {
		{9, 0, "", map[string]int64{"optimism:op-2": 0}},
		{10, 0.1, "", map[string]int64{"optimism:op-1": 0, "optimism:op-2": 9812, "optimism:alchemy": 0}},
		{60, 0.1, "optimism:op-2 refused", map[string]int64{"optimism:op-1": 0}},
		{60, 5.1, "", map[string]int64{"optimism:op-2": 0}},
		{100, 0.1, "", map[string]int64{"optimism:op-2": 9812}},
	},
	"halt": {
		{19, 0, "", map[string]int64{"arbitrum:nitro-1": 0}},
		{20, 30.02, "", map[string]int64{"arbitrum:nitro-1": -30, "arbitrum:nitro-2": -30, "arbitrum:quicknode": -30, "base:llama": 0}},
		{20, 90.02, "", map[string]int64{"arbitrum:nitro-1": -90, "arbitrum:nitro-2": -90, "arbitrum:quicknode": -90}},
		{200, 0.02, "", map[string]int64{"arbitrum:nitro-1": 0, "arbitrum:nitro-2": 0, "arbitrum:quicknode": 0}},
		{280, 10.02, "", map[string]int64{"arbitrum:nitro-1": -10}},
	},
	"outage": {
		{9, 0, "", nil},
		{11, 0.1, "base:llama refused; base:alchemy refused; base:infura refused", nil},
		{20, 0.1, "base:llama refused; base:alchemy refused; base:infura refused; polygon:bor-1 refused", nil},
		{55, 0.1, "base:llama refused; base:alchemy refused; polygon:bor-1 refused", nil},
		{58, 0.1, "polygon:bor-1 refused", nil},
		{80, 0.1, "", nil},
		{131, 0.1, "base:llama refused; base:alchemy refused; base:infura refused", nil},
	},
	"drain": {
		{5, 0, "", nil},
	},
}

func TestWhatAClientSees(t *testing.T) {
	for _, sc := range scenarios {
		looks := plays[sc.name]
		if len(looks) == 0 {
			t.Errorf("scenario %q: nobody looks", sc.name)
		}
		for _, seed := range []int64{7, -3} {
			t.Run(fmt.Sprintf("%s/%d", sc.name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := enter(t, sc.name, seed)
					for _, l := range looks {
						s.until(l.at, l.plus)
						s.compare(l)
						if got := s.ails(); got != l.want {
							t.Errorf("at %vs+%vs: %q\nwant %q", l.at, l.plus, got, l.want)
						}
					}
				})
			})
		}
	}
}

// compare holds the heads, all asked at the same time, against the clock.
func (s *stage) compare(l look) {
	s.t.Helper()
	var wg sync.WaitGroup
	for key, want := range l.heads {
		wg.Go(func() {
			if got := s.off(key); got != want {
				s.t.Errorf("at %vs+%vs: %s is %+d blocks from the clock's head, want %+d", l.at, l.plus, key, got, want)
			}
		})
	}
	wg.Wait()
}

// run is what came of some rounds: the heads the nodes said, what their answers
// took, and what they were set to.
type run struct{ heads, took, sets []string }

func watch(t *testing.T, scenario string, seed int64) (r run) {
	synctest.Test(t, func(t *testing.T) {
		s := enter(t, scenario, seed)
		for range 6 {
			time.Sleep(time.Minute)
			for _, a := range slices.Concat(s.cast...) {
				var head string
				began := time.Now()
				wrong := s.ask(a, "eth_blockNumber", &head)
				r.heads = append(r.heads, fmt.Sprintf("%v %s %s%s", time.Since(s.open).Round(time.Minute), a.key(), head, wrong))
				r.took = append(r.took, time.Since(began).String())
			}
		}
		_ = s.stop() // the clean-up judges it
		r.sets = s.notes
	})
	return r
}

func TestSeedRepeatsARun(t *testing.T) {
	for _, sc := range scenarios {
		one, two, other := watch(t, sc.name, 7), watch(t, sc.name, 7), watch(t, sc.name, 8)
		for _, c := range []struct {
			what            string
			one, two, other []string
			least           int
		}{
			{"heads", one.heads, two.heads, other.heads, 6},
			{"latencies", one.took, two.took, other.took, 6},
			{"faults", one.sets, two.sets, other.sets, len(sc.round)},
		} {
			if !slices.Equal(c.one, c.two) {
				t.Errorf("scenario %q: two runs of one seed differ in their %s", sc.name, c.what)
			}
			if len(c.one) < c.least || c.least > 0 && slices.Equal(c.one, c.other) {
				t.Errorf("scenario %q: %d %s, and those of another seed are the same", sc.name, len(c.one), c.what)
			}
		}
	}
}

func TestSeedIsBounded(t *testing.T) {
	seen := map[float64]bool{}
	for seed := range int64(200) {
		d, err := Open(Options{Seed: seed - 100, Listen: listenNowhere})
		if err != nil {
			t.Fatal(err)
		}
		if d.stretch < 1 || d.stretch > 1.25 {
			t.Errorf("seed %d stretches by %v", seed-100, d.stretch)
		}
		seen[d.stretch] = true
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) < 20 {
		t.Errorf("200 seeds have %d paces", len(seen))
	}
}

func TestScriptsAreInOrder(t *testing.T) {
	for _, s := range scenarios {
		var last time.Duration
		for i, c := range s.round {
			if c.at < last || c.at <= 0 {
				t.Errorf("scenario %q: cue %d is before the one before it", s.name, i+1)
			}
			last = c.at
		}
		if last > s.length {
			t.Errorf("scenario %q: a round of %v, and its last cue at %v", s.name, s.length, last)
		}
	}
}

func TestUnknownScenario(t *testing.T) {
	all := "want quiet, stall, ratelimit, syncing, wrongchain, roguetip, halt, outage or drain"
	for given, want := range map[string]string{
		"outgae":                 `unknown scenario "outgae": ` + all,
		"Halt":                   `unknown scenario "Halt": ` + all,
		"meteor":                 `unknown scenario "meteor": ` + all,
		"\x1b[31m":               `unknown scenario "\x1b[31m": ` + all,
		strings.Repeat("x", 1e6): `unknown scenario "` + strings.Repeat("x", 40) + `…": ` + all,
	} {
		if _, err := Open(Options{Scenario: given}); err == nil || err.Error() != want {
			t.Errorf("%.50q: %v", given, err)
		}
	}
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
		if s.About == "" {
			t.Errorf("%s says nothing of itself", s.Name)
		}
	}
	if got := strings.Join(names, " "); got != "quiet stall ratelimit syncing wrongchain roguetip halt outage drain" {
		t.Errorf("scenarios: %s", got)
	}
}
