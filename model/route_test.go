package model

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func up(tier Tier, h Health, fs ...Finding) Upstream {
	u := Upstream{Name: "u", Tier: tier, State: UpstreamState{Findings: FindingSet(fs...)}}
	u.State.Health = h
	return u
}

func held(tier Tier, d time.Duration) Upstream {
	u := up(tier, Healthy, RateLimited)
	u.State.Hold = Hold{Active: true, Until: epoch0.Add(d)}
	return u
}

func failing(tier Tier) Upstream {
	u := up(tier, Unknown)
	u.State.Streak = 1
	return u
}

func TestRoute(t *testing.T) {
	halted := func(c *Chain) { c.State.Halted = epoch0 }
	for _, tt := range []struct {
		name string
		us   []Upstream
		mod  func(*Chain)
		want int
		why  RouteWhy
	}{
		{"nobody", nil, nil, -1, RouteNone},
		{"the first primary", []Upstream{up(Primary, Healthy), up(Primary, Healthy)}, nil, 0, RouteFit},
		{"unknown and never failed is fit", []Upstream{up(Primary, Unknown)}, nil, 0, RouteFit},
		{"unknown and failed is not", []Upstream{failing(Primary), up(Backup, Healthy)}, nil, 1, RouteBackup},
		{"a primary behind a backup in order", []Upstream{up(Backup, Healthy), up(Primary, Healthy)}, nil, 1, RouteFit},
		{"the second primary", []Upstream{up(Primary, Unhealthy), up(Primary, Healthy), up(Backup, Healthy)}, nil, 1, RouteFit},
		{"the first backup", []Upstream{up(Primary, Unhealthy), up(Backup, Healthy), up(Backup, Healthy)}, nil, 1, RouteBackup},
		{"a row 1 finding is never served", []Upstream{up(Primary, Healthy, Syncing)}, nil, -1, RouteNone},
		{"wrong chain is never served", []Upstream{up(Primary, Healthy, WrongChain), up(Backup, Unhealthy)}, nil, -1, RouteNone},
		{"a row 2 finding is the last resort", []Upstream{up(Primary, Healthy, Gateway), up(Backup, Healthy)}, nil, 1, RouteBackup},
		{"with nothing fit it serves", []Upstream{up(Primary, Unhealthy), up(Backup, Healthy, AccessDenied)}, nil, 1, RouteLast},
		{"of last resorts a primary", []Upstream{up(Backup, Healthy, Gateway), up(Primary, Healthy, Gateway)}, nil, 1, RouteLast},
		{"a row 3 finding is shown only", []Upstream{up(Primary, Healthy, NoPeers)}, nil, 0, RouteFit},
		{"held is not fit", []Upstream{held(Primary, time.Minute), up(Backup, Healthy)}, nil, 1, RouteBackup},
		{"held goes after a last resort", []Upstream{held(Primary, time.Minute), up(Backup, Healthy, Gateway)}, nil, 1, RouteLast},
		{"of the held the first to end", []Upstream{held(Primary, time.Minute), held(Backup, time.Second)}, nil, 1, RouteHeld},
		{"a hold that is over leaves the finding", []Upstream{held(Primary, 0)}, nil, 0, RouteLast},
		{"stale is not served", []Upstream{up(Primary, Healthy, StaleHead), up(Backup, Healthy)}, nil, 1, RouteBackup},
		{"on a halted chain it is, without failover", []Upstream{up(Primary, Healthy, StaleHead), up(Backup, Healthy, StaleHead)}, halted, 0, RouteFit},
	} {
		c := testChain("x", tt.us...)
		if tt.mod != nil {
			tt.mod(c)
		}
		if got, why := Route(c, epoch0, 0); got != tt.want || why != tt.why {
			t.Errorf("%s: %d %s, want %d %s", tt.name, got, why, tt.want, tt.why)
		}
		if s := c.routed(epoch0); s.Failover != (tt.why == RouteBackup) {
			t.Errorf("%s: failover %v", tt.name, s.Failover)
		}
	}
}

// The flag that sums up a failover was once what routing read: with it false
// nobody served (F2).
func TestRouteNeverReadsTheFlag(t *testing.T) {
	c := testChain("x", up(Primary, Unhealthy), up(Backup, Healthy))
	c.Serving = Serving{Upstream: 0, Why: RouteFit, Failover: false}
	if got, why := Route(c, epoch0, 0); got != 1 || why != RouteBackup {
		t.Errorf("%d %s, want the backup", got, why)
	}
}

func TestRouteNeverNamesUnfitBeforeFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Upstream {
			u := up(Tier(rapid.IntRange(0, 1).Draw(t, "tier")), Health(rapid.IntRange(0, 2).Draw(t, "health")))
			u.State.Streak = rapid.IntRange(0, 1).Draw(t, "streak")
			for range rapid.IntRange(0, 2).Draw(t, "findings") {
				u.State.Findings = u.State.Findings.With(Finding(rapid.IntRange(0, int(findingCount)-1).Draw(t, "f")))
			}
			if rapid.Bool().Draw(t, "held") {
				u.State.Hold = Hold{Active: true, Until: epoch0.Add(time.Duration(rapid.IntRange(-9, 9).Draw(t, "until")) * time.Second)}
			}
			return u
		}), 0, 6).Draw(t, "upstreams")
		c := testChain("x", us...)
		var tried Tried
		last := Fit
		for range us {
			i, why := Route(c, epoch0, tried)
			if i < 0 {
				break
			}
			fit := c.Fitness(i, epoch0)
			if fit == UnfitFinding || fit == UnfitHealth {
				t.Fatalf("named %d, which is never served (%v, %s)", i, fit, why)
			}
			if fit < last {
				t.Fatalf("named %d (%v) after one that is less fit (%v)", i, fit, last)
			}
			last, tried = fit, tried.With(i)
		}
		for i := range us {
			if !tried.Has(i) && c.Fitness(i, epoch0) < UnfitFinding {
				t.Fatalf("never named %d, which may serve", i)
			}
		}
	})
}

func TestReady(t *testing.T) {
	chain := func(h Health) *Chain { c := testChain("x"); c.State.Health = h; return c }
	for _, tt := range []struct {
		name    string
		healths []Health
		ready   bool
		cause   int
		more    int
	}{
		{"no chains", nil, true, -1, 0},
		{"all healthy", []Health{Healthy, Healthy}, true, -1, 0},
		{"one unknown", []Health{Healthy, Unknown}, false, 1, 0},
		{"one unhealthy", []Health{Unhealthy, Healthy}, false, 0, 0},
		{"an unhealthy one is the better cause", []Health{Unknown, Unhealthy, Unhealthy}, false, 1, 2},
	} {
		i := &Instance{Policy: ReadyAll}
		for _, h := range tt.healths {
			i.Chains = append(i.Chains, chain(h))
		}
		if got := Ready(i, ReadyAll); got != (Readiness{Ready: tt.ready, Cause: tt.cause, More: tt.more}) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
