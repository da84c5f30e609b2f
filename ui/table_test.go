package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"chaintop/model"
)

// The columns of SCREENS.md section 5, and that more goes to WHY.
func TestColumns(t *testing.T) {
	for w, want := range map[int]columns{
		60:  {chain: 14, health: 11, why: 25, next: 6},
		79:  {chain: 14, health: 11, why: 44, next: 6},
		80:  {chain: 16, health: 11, why: 28, next: 6, serving: 14},
		85:  {chain: 16, health: 11, why: 28, next: 6, lag: 4, serving: 14},
		97:  {chain: 16, health: 11, why: 28, next: 6, head: 11, lag: 4, serving: 14},
		103: {chain: 16, health: 11, why: 28, next: 12, bar: true, head: 11, lag: 4, serving: 14},
		110: {chain: 16, health: 11, why: 28, next: 12, bar: true, head: 11, lag: 4, serving: 14, p50: 6},
		120: {chain: 18, health: 11, why: 35, next: 12, bar: true, head: 11, lag: 4, serving: 15, p50: 6},
		127: {chain: 18, health: 11, why: 35, next: 12, bar: true, head: 11, age: 6, lag: 4, serving: 15, p50: 6},
		144: {chain: 18, health: 11, why: 44, next: 12, bar: true, head: 11, age: 6, lag: 4, serving: 15, p50: 6, rate: 7},
	} {
		if got := columnsAt(w, false); got != want {
			t.Errorf("at %d: %+v, want %+v", w, got, want)
		}
	}
	for w := leastWidth; w <= 300; w++ {
		if c := columnsAt(w, false); c.why < 25 {
			t.Errorf("at %d WHY has %d cells", w, c.why)
		}
		if c := upstreamColumnsAt(w, false); c.fit < 18 {
			t.Errorf("at %d FIT has %d cells", w, c.fit)
		}
	}
}

func TestReasonsInWidth(t *testing.T) {
	two := []model.ReasonCount{{Word: "refused", N: 4}, {Word: "timeout", N: 2}}
	three := append(two, model.ReasonCount{Word: "dns", N: 1})
	for _, r := range []struct {
		all  []model.ReasonCount
		w    int
		want string
	}{
		{two, 19, "refused×4 timeout×2"}, {two, 18, "refused×4 +1"}, {two, 12, "refused×4 +1"},
		{two, 11, "refused×4+1"}, {two, 10, "refused…+1"},
		{three, 30, "refused×4 timeout×2 dns×1"}, {three, 24, "refused×4 timeout×2 +1"}, {three, 13, "refused×4 +2"},
		{two[:1], 9, "refused×4"}, {two[:1], 5, "refu…"}, {nil, 5, ""},
	} {
		if got := reasonsIn(r.all, r.w); got != r.want {
			t.Errorf("%v in %d: %q, want %q", r.all, r.w, got, r.want)
		}
	}
}

func TestNumbersAreNeverCut(t *testing.T) {
	for _, r := range []struct {
		got, want string
	}{
		{heightIn(128_551_907, 11), "128 551 907"}, {heightIn(1_281_904_553, 11), "1281904553"}, {heightIn(1_281_904_553_000, 11), "1.2T"}, {heightIn(0, 11), "0"},
		{lagIn(model.Lag{}, 4), "—"}, {lagIn(model.Lag{Known: true}, 4), "0"}, {lagIn(model.Lag{Known: true, Blocks: 214}, 4), "214"},
		{lagIn(model.Lag{Known: true, Blocks: 9812}, 4), "9812"}, {lagIn(model.Lag{Known: true, Blocks: 9812}, 6), "9 812"},
		{lagIn(model.Lag{Known: true, Blocks: 12_900}, 4), "12k"}, {lagIn(model.Lag{Known: true, Blocks: 12_900}, 5), "12900"}, {rounded(12_900, 5), "12.9k"}, {rounded(128_551_907, 5), "128M"}, {rounded(1_000, 4), "1.0k"}, {lagIn(model.Lag{Known: true, Blocks: -9812}, 6), "+9 812"},
		{lagIn(model.Lag{Known: true, Blocks: -9_812_000}, 4), "+9M"}, {rounded(1<<64-1, 4), "18E"},
	} {
		if r.got != r.want {
			t.Errorf("%q, want %q", r.got, r.want)
		}
	}
}

// drawnCell is what a cell of w draws.
func drawnCell(draw func(scene), w int) string {
	p := &pen{th: newTheme(true, 0, false)}
	p.begin(w, false)
	draw(scene{now: at, w: w, pen: p, link: linkLive})
	return strings.TrimRight(ansi.Strip(p.end()), " ")
}

func TestNextCell(t *testing.T) {
	wait := func(from, to time.Duration) *model.Chain {
		return &model.Chain{State: model.ChainState{Next: model.Next{From: at.Add(from), At: at.Add(to)}}}
	}
	narrow, wide := columns{next: 6}, columns{next: 12, bar: true}
	for _, r := range []struct {
		chain *model.Chain
		c     columns
		want  string
	}{
		{wait(-47*sec, 253*sec), narrow, " 4m13s"},
		{wait(-47*sec, 253*sec), wide, "▱▱▱▱▱▱ 4m13s"},
		{wait(-248*sec, 52*sec), wide, "▰▰▰▰▱▱   52s"},
		{wait(-299*sec, sec), wide, "▰▰▰▰▰▱    1s"},
		{wait(-300*sec, 0), wide, "▰▰▰▰▰▰    0s"},
		{wait(-400*sec, -100*sec), wide, "▰▰▰▰▰▰    0s"},
		{wait(0, 29*mins+48*sec), wide, "▱▱▱▱▱ 29m48s"},
		{wait(0, 400*ms), narrow, "    1s"},
		{wait(0, 0), narrow, "    0s"},
		{&model.Chain{}, wide, "           —"},
		{running(), narrow, "3 of 6"},
		{running(), wide, "      3 of 6"},
		{&model.Chain{Probe: &model.Probe{Max: 6}}, narrow, "1 of 6"},
		{&model.Chain{Probe: &model.Probe{Max: 6, Made: 6}}, narrow, "6 of 6"},
	} {
		if got := drawnCell(func(s scene) { s.nextCell(r.chain, r.c) }, r.c.next); got != r.want {
			t.Errorf("%+v: %q, want %q", r.chain.State.Next, got, r.want)
		}
	}
}

// SERVING never loses BACKUP or held; the name gives way, by its middle.
func TestServingCell(t *testing.T) {
	c := base()
	c.Upstreams[0].Name = "quicknode-eu-west"
	backup := chainOf("x/y", model.EVM, mins, down("a", model.Primary, 3, model.ReasonRefused, "", 0), up("quicknode-eu-west", model.Backup, 1, 0, 0))
	for _, r := range []struct {
		chain *model.Chain
		w     int
		want  string
	}{
		{c, 14, "quic…west held"}, {c, 30, "quicknode-eu-west held 28s"},
		{backup, 14, "qui…est BACKUP"}, {backup, 8, "… BACKUP"},
		{arbitrum(), 14, "none → 503"},
		{night().Chains[0], 14, "alchemy"},
	} {
		if got := drawnCell(func(s scene) { s.servingCell(r.chain, r.w) }, r.w); got != r.want {
			t.Errorf("%s in %d: %q, want %q", r.chain.Key(), r.w, got, r.want)
		}
	}
}

// Past its limit a head is no longer told without its age; a fact nobody
// reported is —, not 0.
func TestOldAndUnknownNumbersAreDashes(t *testing.T) {
	c := night().Chains[0]
	cols := columnsAt(144, false)
	draw := func(c *model.Chain) string {
		return strings.Join(strings.Fields(drawnCell(func(s scene) { s.numbers(c, cols) }, 60)), " ")
	}
	if got, want := draw(c), "21 034 112 2s 0 alchemy 42ms 24"; got != want {
		t.Errorf("a fresh head: %q, want %q", got, want)
	}
	old := *c
	old.Checks.Tip.At = before(21 * sec)
	if got, want := draw(&old), "— 2s 0 alchemy 42ms 24"; got != want {
		t.Errorf("an old tip: %q, want %q", got, want)
	}
	none := model.Chain{Upstreams: []model.Upstream{{Name: "a"}}}
	if got, want := draw(&none), "— — — a — —"; got != want {
		t.Errorf("nothing known: %q, want %q", got, want)
	}
}
