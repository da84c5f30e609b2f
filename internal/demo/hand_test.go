package demo

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaultsByHand(t *testing.T) {
	for _, c := range []struct {
		kind   string
		ails   string        // ethereum:geth-1, once it stands
		off    int64         // its head, two minutes later
		comes  time.Duration // until it stands
		leaves time.Duration // until it is healed
	}{
		{"kill", "refused", 0, 0, 0},
		{"stall", "silent", 0, 0, 0},
		{"limit", "429 5", 0, 0, 0},
		{"wrongchain", "id 2", 0, 5 * time.Second, 5 * time.Second},
		{"lag", "", -6, 0, 0},
		{"halt", "", -11, 0, 0},
		{"error", "error -32603", 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := enter(t, "quiet", 7)
			time.Sleep(time.Until(s.open.Add(12*time.Second - 1)))
			order := func(kind string, wait time.Duration) {
				start := time.Now()
				if err := s.Fault("ethereum/jsonrpc", "geth-1", kind); err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if took := time.Since(start); took != 0 {
					t.Errorf("%s took %v", kind, took)
				}
				if wait > 0 {
					time.Sleep(wait - 1)
					if got := s.ails(); got != "ethereum:geth-1 refused" {
						t.Errorf("%s, before it comes back: %q", kind, got)
					}
					time.Sleep(2 * time.Nanosecond)
				}
			}
			order(c.kind, c.comes)
			for _, plus := range []time.Duration{0, 2 * time.Minute} {
				time.Sleep(plus)
				want := ""
				if c.ails != "" {
					want = "ethereum:geth-1 " + c.ails
				}
				if got := s.ails(); got != want {
					t.Errorf("%s: %q, want %q", c.kind, got, want)
				}
			}
			if c.ails == "" {
				if got := s.off("ethereum:geth-1"); got != c.off {
					t.Errorf("%s: the head is off by %d, want %d", c.kind, got, c.off)
				}
			}
			order("heal", c.leaves)
			if got := s.ails(); got != "" || s.off("ethereum:geth-1") != 0 {
				t.Errorf("%s, healed: %q", c.kind, got)
			}
			order("heal", 0)
		})
	}
}

func TestFaultsAreAMenu(t *testing.T) {
	d, err := Open(Options{Listen: listenNowhere})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, d)
	if got := strings.Join(d.Faults(), " "); got != "kill stall limit wrongchain lag halt error heal" {
		t.Errorf("%s", got)
	}
	for _, c := range []struct{ chain, upstream, kind, want string }{
		{"quite/jsonrpc", "node-1", "kill", `unknown chain "quite/jsonrpc": want quiet/jsonrpc, stalls/jsonrpc or refuses/jsonrpc`},
		{"quiet/jsonrpc", "node1", "kill", `unknown upstream of quiet "node1": want node-1`},
		{"quiet", "node-1", "kil", `unknown fault "kil": want kill, stall, limit, wrongchain, lag, halt, error or heal`},
		{"quiet", "node-1", "", `unknown fault "": want kill, stall, limit, wrongchain, lag, halt, error or heal`},
	} {
		if err := d.Fault(c.chain, c.upstream, c.kind); err == nil || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// A hand's fault stands against the script, which would have healed it at 60 s,
// and refused at 80 s.
func TestScriptLeavesAHandsFaultAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := enter(t, "", 7)
		s.until(30, 0)
		fault := func(kind string) {
			t.Helper()
			if err := s.Fault("refuses", "node-1", kind); err != nil {
				t.Fatal(err)
			}
		}
		fault("error")
		for _, at := range []float64{35, 61, 90, 125} {
			s.until(at, 0)
			if got := s.fate(s.cast[2][0]); got != "error -32603" {
				t.Errorf("at %vs: %q", at, got)
			}
		}
		fault("heal")
		if got := s.fate(s.cast[2][0]); got != "" {
			t.Errorf("healed: %q", got)
		}
		s.until(141, 0)
		if got := s.fate(s.cast[2][0]); got != "refused" {
			t.Errorf("healed, and the script has it again: %q", got)
		}
	})
}

// An order that comes while a node is away takes the place of the one before,
// and the node is away as long as that takes.
func TestLastOrderCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := enter(t, "quiet", 7)
		node := s.cast[5][0]
		for _, step := range []struct {
			kind  string
			after time.Duration
			want  string
		}{
			{"wrongchain", 2 * time.Second, "refused"},
			{"stall", 10 * time.Second, "silent"},
			{"wrongchain", 6 * time.Second, "id 59145"},
			{"kill", time.Second, "refused"},
			{"heal", 4 * time.Second, "refused"}, // or nobody would see that its chain is another again
			{"", 2 * time.Second, ""},
		} {
			if step.kind != "" {
				s.Inject(5, 0, step.kind)
			}
			time.Sleep(step.after)
			if got := s.fate(node); got != step.want {
				t.Errorf("%s: %q, want %q", step.kind, got, step.want)
			}
		}
		for _, wrong := range [][2]int{{-1, 0}, {8, 0}, {5, -1}, {5, 2}} {
			s.Inject(wrong[0], wrong[1], "kill")
		}
		s.Inject(5, 0, "no such kind")
		time.Sleep(time.Second)
		if got := s.ails(); got != "" {
			t.Errorf("%q", got)
		}
	})
}

// A node's port is free while it is down, and somebody may take it.
func TestTakenPortIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := enter(t, "quiet", 7)
		if err := s.Fault("base", "llama", "kill"); err != nil {
			t.Fatal(err)
		}
		thief, err := s.network.Listen(strings.TrimPrefix(s.address(s.cast[1][0]), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fault("base", "llama", "heal"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("%v, want the address taken", err)
		}
		time.Sleep(time.Minute)
		if err := thief.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := s.ails(); got != "" {
			t.Errorf("%q", got)
		}
	})
}
