package ui

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"chaintop/model"
)

func TestChainsPlan(t *testing.T) {
	rows := []struct {
		name            string
		h, chains, deep int
		banner          bool
		want            chainsPlan
	}{
		{"the design size at 24 rows", 24, 12, 3, false, chainsPlan{rows: 12, card: 5, events: 2}},
		{"the design size at 40 rows", 40, 12, 3, false, chainsPlan{rows: 12, card: 5, upstreams: 3, strip: true, ruled: true, events: 12}},
		{"a banner takes a row of the table", 24, 12, 3, true, chainsPlan{rows: 11, card: 5, events: 2}},
		{"few chains leave room for more", 24, 3, 3, false, chainsPlan{rows: 3, card: 5, upstreams: 3, strip: true, ruled: true, events: 5}},
		{"no chain has a row that says so", 24, 0, 0, false, chainsPlan{rows: 1, card: 5, strip: true, ruled: true, events: 11}},
		{"a long table shares what is above 24 rows", 40, 200, 3, false, chainsPlan{rows: 20, card: 5, upstreams: 3, strip: true, ruled: true, events: 4}},
		{"and has all the rows at 24", 24, 200, 3, false, chainsPlan{rows: 12, card: 5, events: 2}},
		{"many upstreams are cut", 60, 12, 40, false, chainsPlan{rows: 12, card: 5, upstreams: 6, strip: true, ruled: true, events: 29}},
		{"no selection, no upstreams and no strip", 24, 8, -1, true, chainsPlan{rows: 8, card: 5, ruled: true, events: 4}},
		{"the least size has no events", 16, 12, 3, false, chainsPlan{rows: 6, card: 5}},
		{"then NEXT goes", 16, 12, 3, true, chainsPlan{rows: 6, card: 4}},
		{"few chains keep the events", 16, 4, 3, false, chainsPlan{rows: 4, card: 5, events: 2}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := planChains(r.h, r.chains, r.deep, extra(r.banner))
			if diff := cmp.Diff(r.want, got, cmp.AllowUnexported(chainsPlan{})); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func extra(banner bool) int {
	if banner {
		return 1
	}
	return 0
}

// lines is how many a plan makes of Chains.
func (p chainsPlan) lines(banner bool) int {
	n := headerRows + 1 + p.rows + 1 + p.card + p.events + 1
	if banner {
		n++
	}
	if p.upstreams > 0 {
		n += 1 + p.upstreams
	}
	for _, on := range []bool{p.strip, p.ruled} {
		if on {
			n++
		}
	}
	return n
}

func (p chainPlan) lines(banner bool) int {
	n := headerRows + 1 + p.rows() + 1
	if banner {
		n++
	}
	for _, k := range []int{p.findings, p.facts} {
		if k > 0 {
			n += k + 1
		}
	}
	for _, on := range []bool{p.ruled, p.strip} {
		if on {
			n++
		}
	}
	return n
}

// Whatever the picture, a plan fills the window to the row.
func TestPlansFillTheWindow(t *testing.T) {
	for h := leastHeight; h <= 80; h++ {
		for _, banner := range []bool{false, true} {
			for _, n := range []int{0, 1, 5, 12, 13, 200} {
				for _, deep := range []int{-1, 0, 1, 4, 30} {
					if p := planChains(h, n, deep, extra(banner)); p.lines(banner) != h || p.rows < 1 || p.card < cardLeast {
						t.Fatalf("planChains(%d, %d, %d, %v) = %+v, %d lines", h, n, deep, banner, p, p.lines(banner))
					}
					c := crowd(1, max(deep, 1)).Chains[0]
					c.Upstreams = c.Upstreams[:max(deep, 0)]
					c.Settings.Tries = max(n, 1)
					for u := range c.Upstreams {
						c.Upstreams[u].State.Findings = model.FindingSet(model.Finding(u % 18))
					}
					for _, w := range []int{60, 80, 120} {
						if p := planChain(h, w, c, extra(banner)); p.lines(banner) != h || p.card < cardLeast || p.tries < 1 || p.upstreams < 1 {
							t.Fatalf("planChain(%d, %d, …, %v) = %+v, %d lines", h, w, banner, p, p.lines(banner))
						}
					}
				}
			}
		}
	}
}

// Nothing moves while tries come in one by one.
func TestTriesMoveNothing(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 16}} {
		c := running()
		var was chainPlan
		for n := range 7 {
			c.Probe.Tries = nil
			for k := range n {
				c.Probe.Tries = append(c.Probe.Tries, refused(k+1, k%3))
			}
			p := planChain(size[1], size[0], c, 0)
			if n > 0 && p != was {
				t.Errorf("%v: with %d tries the plan is %+v, was %+v", size, n, p, was)
			}
			was = p
		}
	}
}

func TestCardGivesUpNextThenFeltThenWhose(t *testing.T) {
	say := func(s string) model.Sentence { return model.Sentence{ID: s, Long: "the long " + s, Short: s} }
	d := model.Diagnosis{Why: say("w"), Whose: say("x"), Felt: say("f"), Next: say("n"), Do: say("d")}
	m := screen(t, night(), 80, 24)
	s := scene{inst: m.inst, now: at, w: 40, pen: &m.draw.pen}
	labels := func(n int, d model.Diagnosis) string {
		out := ""
		for _, l := range s.card(nil, d, n) {
			out += fmt.Sprintf("%.6s|", ansi.Strip(l))
		}
		return out
	}
	for n, want := range map[int]string{
		5: " WHY  | WHOSE| FELT | NEXT | DO   |", 4: " WHY  | WHOSE| FELT | DO   |",
		3: " WHY  | WHOSE| DO   |", 2: " WHY  | DO   |",
	} {
		if got := labels(n, d); got != want {
			t.Errorf("%d rows: %q, want %q", n, got, want)
		}
	}
	d.Whose = model.Sentence{}
	if got, want := labels(5, d), " WHY  | FELT | NEXT | DO   |      |"; got != want {
		t.Errorf("without a WHOSE the card is %q, want %q", got, want)
	}
}

func TestSentenceIsLongWhereItFits(t *testing.T) {
	m := screen(t, night(), 80, 24)
	for _, r := range []struct {
		w    int
		want string
	}{
		{120, " WHY    the whole of it"}, {24, " WHY   the whole of it"}, {20, " WHY   brief"}, {9, " WHY   b…"},
	} {
		s := scene{w: r.w, pen: &m.draw.pen}
		m.draw.pen.th = newTheme(true, 0, false)
		got := s.sentence(sentence{label: "WHY", says: model.Sentence{Long: "the whole of it", Short: "brief"}})
		if len(got) < len(r.want) || got[:len(r.want)] != r.want {
			t.Errorf("at %d: %q, want %q", r.w, got, r.want)
		}
	}
}
