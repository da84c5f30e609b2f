package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chaintop/model"
)

// passed are the chains of the night that a filter lets through, by name.
func passed(t *testing.T, s string) string {
	t.Helper()
	f, err := parseFilter(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	i := night()
	var out []string
	for n, c := range i.Chains {
		if f.lets(chainSubject{i, n, c.Key(), model.ClassOf(c, i.Policy, at), at}) {
			out = append(out, c.Name)
		}
	}
	return strings.Join(out, " ")
}

func TestFilterOfChains(t *testing.T) {
	all := passed(t, "")
	if len(strings.Fields(all)) != 12 {
		t.Fatalf("the empty filter lets through %q", all)
	}
	for _, r := range []struct{ filter, want string }{
		{"base", "base"},
		{"BASE", "base"},
		{"base,sui", "base sui"},
		{"alchemy", "ethereum arbitrum base polygon"},
		{"alchemy backup", ""},
		{"health:unhealthy", "arbitrum sepolia"},
		{"health:healthy verdict:inconclusive", "base"},
		{"health:un", "arbitrum solana sepolia"},
		{"!health:healthy", "arbitrum solana sepolia"},
		{"verdict:unreachable,inconclusive !chain:base", "arbitrum solana sepolia"},
		{"finding:syncing,stale_head", "neutron gnosis polygon"},
		{"finding:syncing,stale_head family:evm", "polygon"},
		{"reason:timeout", "arbitrum sepolia"},
		{"reason:429", "base"},
		{"family:cometbft", "neutron cosmoshub"},
		{"upstream:teku", "gnosis"},
		{"tier:backup", "gnosis polygon"},
		{"!tier:backup gnosis,base", "base"},
		{"serving:none", "arbitrum sepolia"},
		{"serving:held", "base"},
		{"serving:backup", "gnosis polygon"},
		{"who:oncall", "base sepolia"},
		{"whose:quota", "base"},
		{"instance:gw-7fe3 sui", "sui"},
		{"version:v9", ""},
		{"lag:>100", "gnosis polygon"},
		{"lag:1", "optimism"},
		{"lag:<1 chain:sui,optimism", "sui"},
		{"age:>1m", "neutron"},
		{"age:<2s", "optimism"},
		{`"connection refused"`, "sepolia"},
		{`chain:"sui/grpc"`, "sui"},
		{`reason:"no route"`, ""},
		{"!", "arbitrum base solana sepolia neutron gnosis polygon"},
		{"! family:evm", "arbitrum base sepolia polygon"},
	} {
		if got := passed(t, r.filter); got != r.want {
			t.Errorf("%q lets through %q, want %q", r.filter, got, r.want)
		}
	}
}

func TestFilterThatIsNone(t *testing.T) {
	for _, r := range []struct{ filter, says string }{
		{"healt:unhealthy", `no key "healt", perhaps health:`},
		{"upstreem:x", `no key "upstreem", perhaps upstream:`},
		{"health:", "a value is missing"},
		{"health:a,", "a value is missing"},
		{"lag:x", "wants a number"},
		{"lag:>", "wants a number"},
		{"lag:NaN", "wants a number"},
		{"age:5", "wants an age"},
		{`"half`, `closing "`},
		{strings.Repeat("a ", 60), "at most 24 terms"},
		{strings.Repeat("a,", 60) + "a", "at most 24 values"},
		{strings.Repeat("a", 201), "at most 200 signs"},
	} {
		if _, err := parseFilter(r.filter); err == nil || !strings.Contains(err.Error(), r.says) {
			t.Errorf("%q: %v, want %q", r.filter, err, r.says)
		}
	}
}

func TestFilterOfEvents(t *testing.T) {
	for _, r := range []struct{ filter, want string }{
		{"who:oncall", "sepolia/jsonrpc base/jsonrpc oncall"},
		{"chain:base", "base/jsonrpc base/alchemy base/llama"},
		{"verdict:unreachable", "arbitrum/jsonrpc sepolia/jsonrpc"},
		{"health:unhealthy chain:sepolia", "sepolia/jsonrpc sepolia/jsonrpc"},
		{"upstream:llama", "base/llama"},
		{"serving:backup", "polygon/jsonrpc"},
		{"age:>10m", "gw-7fe3"},
		{"retry-after", "base/alchemy base/llama"},
		{"health:nothing", ""},
	} {
		m := screen(t, night(), 120, 40)
		press(m, "3", "/")
		for _, k := range r.filter {
			press(m, string(k))
		}
		var got []string
		for _, l := range m.news.lines {
			got = append(got, l.line.Subject)
		}
		if diff := cmp.Diff(r.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", r.filter, diff)
		}
	}
}

// Whatever is typed, parsing ends, and what it makes can be held against a
// chain and an event.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{"", "!", "!!", "a:b", "lag:>5", `"a b",c`, "health:un,healthy !x:y", "age:>1d", "lag:1e999", "::", ",", `!"`} {
		f.Add(s)
	}
	i := night()
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseFilter(s)
		if len(got.terms) > filterTerms {
			t.Fatalf("%d terms", len(got.terms))
		}
		if err != nil && err.Error() == "" {
			t.Error("an error says nothing")
		}
		for n, c := range i.Chains {
			got.lets(chainSubject{i, n, c.Key(), model.ClassHealthy, at})
		}
		for n := range i.Recent {
			l, _ := model.Describe(i, i.Recent[n])
			got.lets(eventSubject{i, &i.Recent[n], l, at})
		}
	})
}

func typeIn(m *Model, s string) {
	for _, r := range s {
		press(m, string(r))
	}
}

func TestPrompt(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "/")
	typeIn(m, "sq")
	if m.search.input.Value() != "sq" || m.order.by != byProblems {
		t.Fatal("a letter acted while the prompt had the focus")
	}
	press(m, "backspace", "backspace")
	typeIn(m, "health:un")
	if got := len(rows(m)); got != 3 || !strings.Contains(seen(m), "3 of 12 · esc clears") {
		t.Fatalf("%d rows:\n%s", got, seen(m))
	}
	// Half a term changes nothing.
	typeIn(m, ` "half`)
	if got := len(rows(m)); got != 3 || !strings.Contains(seen(m), `a closing " is missing`) {
		t.Fatalf("%d rows while a term is half typed:\n%s", got, seen(m))
	}
	// Enter keeps what is good, and it follows into the other views.
	press(m, "enter")
	if m.search.open || m.search.input.Value() != "health:un" {
		t.Fatalf("enter leaves %q", m.search.input.Value())
	}
	press(m, "3")
	if !strings.Contains(seen(m), "/ health:un") || len(m.news.lines) == 12 {
		t.Errorf("the filter does not follow into Events:\n%s", seen(m))
	}
	press(m, "2")
	if !strings.Contains(seen(m), "/ health:un") {
		t.Errorf("the filter does not follow into Chain:\n%s", seen(m))
	}
	// esc clears the filter first, then leaves the view.
	if press(m, "esc"); m.view != viewChain || m.search.on() {
		t.Fatal("esc does not clear the filter first")
	}
	if press(m, "esc"); m.view != viewChains || len(rows(m)) != 12 {
		t.Fatal("the second esc does not leave the view")
	}
}

func TestKeyThatIsBeingTypedHidesNothing(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "/")
	typeIn(m, "family:evm health:")
	if got := len(rows(m)); got != 6 {
		t.Errorf("%d rows:\n%s", got, seen(m))
	}
	press(m, "enter")
	if got := m.search.input.Value(); got != "family:evm" {
		t.Errorf("enter keeps %q", got)
	}
}

// What is typed wrong after a good term leaves that as it was.
func TestLastGoodFilterStands(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "/")
	for _, r := range []struct {
		more string
		rows int
	}{
		{"healt:", 12}, {"x", 12}, {"DEL", 12}, {"lag:>1", 3}, {"00", 2}, {"x", 2}, {"DEL", 12}, {"age:>1m", 1}, {"3", 1}, {"0s", 1}, {" fam:", 1}, {`"`, 1},
	} {
		if r.more == "DEL" {
			for m.search.input.Value() != "" {
				press(m, "backspace")
			}
		} else {
			typeIn(m, r.more)
		}
		if got := len(rows(m)); got != r.rows {
			t.Errorf("%q shows %d rows, want %d", m.search.input.Value(), got, r.rows)
		}
	}
}

func TestPromptHasTheCursor(t *testing.T) {
	for _, banner := range []string{"", "DEMO"} {
		m := screen(t, night(), 80, 24, func(o *Options) { o.Banner = banner })
		if m.View().Cursor != nil {
			t.Error("a cursor without a prompt")
		}
		press(m, "/")
		typeIn(m, "base")
		press(m, "left")
		c := m.View().Cursor
		if c == nil || c.X != 6 || c.Y != m.bannerRows()+headerRows {
			t.Fatalf("the cursor is at %+v", c)
		}
		typeIn(m, strings.Repeat("x", 150))
		if c := m.View().Cursor; c.X >= 80 {
			t.Errorf("the cursor is at cell %d of 80", c.X)
		}
	}
}

func TestProblemsOnly(t *testing.T) {
	m := screen(t, night(), 80, 24)
	if press(m, "!"); len(rows(m)) != 7 || !strings.Contains(seen(m), "7 of 12") {
		t.Errorf("%v:\n%s", rows(m), seen(m))
	}
	if press(m, "!"); len(rows(m)) != 12 || m.filterRows() != 0 {
		t.Errorf("! again shows %d rows", len(rows(m)))
	}
}

func TestNothingMatches(t *testing.T) {
	m := screen(t, night(), 80, 24)
	press(m, "down", "/")
	typeIn(m, "zzz")
	if frame := seen(m); !strings.Contains(frame, "no chain matches · esc clears, 12 chains are hidden") {
		t.Errorf("the frame says nothing of it:\n%s", frame)
	}
	if cmd := press(m, "enter", "p"); cmd != nil {
		t.Error("p probes a chain that is not shown")
	}
}

// A chain that no longer passes leaves, but not under the hand.
func TestFilterHoldsItsRows(t *testing.T) {
	m, pass := clocked(t, night(), 80, 24)
	press(m, "/")
	typeIn(m, "health:unhealthy")
	press(m, "enter")
	m.Update(turnTo(m, "sepolia/jsonrpc", model.Healthy, m.now))
	if len(rows(m)) != 2 || !strings.Contains(seen(m), "order held 10s") {
		t.Fatalf("the row left under the hand:\n%s", seen(m))
	}
	pass(10 * time.Second)
	if got := rows(m); len(got) != 1 {
		t.Errorf("rows are %v", got)
	}
}

// P asks for what is shown, and for no more.
func TestProbeAllShown(t *testing.T) {
	s := &sink{}
	m := screen(t, night(), 80, 24, func(o *Options) { o.Sink = s })
	press(m, "/")
	typeIn(m, "health:unhealthy")
	press(m, "enter")
	press(m, "P")()
	want := []int{m.inst.Find("arbitrum/jsonrpc"), m.inst.Find("sepolia/jsonrpc")}
	if len(s.sent) != 1 || !slices.Equal(s.sent[0].Chains, want) {
		t.Errorf("sent %+v, want chains %v", s.sent, want)
	}
}
