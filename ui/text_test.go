package ui

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	rows := []struct{ in, want string }{
		{"ethereum/jsonrpc", "ethereum/jsonrpc"},
		{"✗ unreachable timeout×6 → 503", "✗ unreachable timeout×6 → 503"},
		{"a\tb\nc\rd\u2028e\u00a0f\u3000g", "a b c d e f g"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]52;c;aGFoYQ==\x07after", "after"},
		{"\x1b]0;title never ended", ""},
		{"\x9b31mx", "\uFFFD31mx"},
		{"\u009b31mx", "31mx"},
		{"bell\a back\b null\x00 del\x7f", "bell back null del"},
		{"\u202eevil\u2066\u200b\u200d\ufeff", "evil"},
		{"h\u0301\u0301\u0301\u0301i", "h\u0301\u0301i"},
		{"\xff\xfe", "\uFFFD"},
		{"日本", "日本"},
		{"⚠\ufe0f", "⚠"},
		{"👋🏽", "👋"},
		{"\u115f\u3164", ""},
		{"e\u0301tat", "e\u0301tat"},
		{"कः", "क"},            // a mark with a cell of its own, or not
		{"क\u094dष", "कष"},     // two letters that join
		{"🇩🇪", "\uFFFD\uFFFD"}, // a flag, or two letters
		{"\u1112\u1161", "\uFFFD\uFFFD"},
	}
	for _, r := range rows {
		if got, n := clean(r.in); got != r.want || n != ansi.StringWidth(r.want) {
			t.Errorf("clean(%q) = %q, %d cells; want %q, %d", r.in, got, n, r.want, ansi.StringWidth(r.want))
		}
	}
	if got, _ := clean(strings.Repeat("x", 5000)); len(got) != maxText {
		t.Errorf("5000 bytes of text became %d", len(got))
	}
}

// harmful says that a terminal could do with r anything but show it in a cell.
func harmful(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp)
}

func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b", "\u009b", "\u202e", "\u200d", "\ufe0f", "\u0301", "\a", "\x18", "●", "日", "👩"}),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 8), func(p []string) string { return strings.Join(p, "") })
}

func TestCleanLeavesNothingToInterpret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostile().Draw(t, "in")
		out, n := clean(in)
		if i := strings.IndexFunc(out, harmful); i >= 0 {
			t.Fatalf("clean(%q) = %q: %q is left", in, out, out[i:])
		}
		if ansi.Strip(out) != out {
			t.Fatalf("clean(%q) = %q: a terminal sees %q", in, out, ansi.Strip(out))
		}
		if again, m := clean(out); again != out || m != n || n != ansi.StringWidth(out) {
			t.Fatalf("clean(%q) = %q (%d cells), cleaned again %q (%d)", in, out, n, again, m)
		}
	})
}

func TestCuts(t *testing.T) {
	rows := []struct {
		cut  func(string, int) string
		in   string
		w    int
		want string
	}{
		{cut, "cosmoshub/cometbft", 16, "cosmoshub/comet…"},
		{cut, "short", 16, "short"}, {cut, "abc", 1, "…"}, {cut, "abc", 0, ""}, {cut, "abc", -3, ""},
		{cut, "日本語", 4, "日…"},
		{cutMiddle, "quicknode-eu-west", 9, "quic…west"}, {cutMiddle, "short", 9, "short"},
		{cutMiddle, "abcd", 3, "a…d"}, {cutMiddle, "abcd", 2, "a…"}, {cutMiddle, "abcd", 0, ""},
		{cutMiddle, "AA々", 3, "A…"}, {cutMiddle, "A日本語B", 6, "A日…B"},
	}
	for _, r := range rows {
		if got := r.cut(r.in, r.w); got != r.want {
			t.Errorf("%q in %d cells is %q, want %q", r.in, r.w, got, r.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in, w := hostile().Draw(t, "in"), rapid.IntRange(-2, 12).Draw(t, "w")
		for _, got := range []string{cut(in, w), cutMiddle(in, w)} {
			if ansi.StringWidth(got) > max(w, 0) {
				t.Fatalf("%q in %d cells is %q, %d cells", in, w, got, ansi.StringWidth(got))
			}
		}
	})
}

// Whatever is drawn, a line has its width.
func TestPenKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pen{th: newTheme(rapid.Bool().Draw(t, "dark"), colorprofile.TrueColor, rapid.Bool().Draw(t, "ascii"))}
		w := rapid.IntRange(1, 40).Draw(t, "w")
		p.begin(w, rapid.Bool().Draw(t, "selected"))
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			r := role(rapid.IntRange(0, int(roles)-1).Draw(t, "role"))
			s, n := hostile().Draw(t, "s"), rapid.IntRange(-1, 30).Draw(t, "cell")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				p.put(r, s)
			case 1:
				p.left(r, s, n)
			case 2:
				p.right(r, s, n)
			case 3:
				p.line(n)
			}
		}
		if got := p.end(); ansi.StringWidth(got) != w {
			t.Fatalf("%q has %d cells, want %d", got, ansi.StringWidth(got), w)
		}
	})
}
