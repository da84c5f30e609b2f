package clean_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"chaintop/internal/clean"
)

func TestTextLosesWhatATerminalActsOn(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "connection refused", "connection refused"},
		{"lines", "a\r\nb\tc\n", "a b c"},
		{"spaces", "  a   b  ", "a b"},
		{"colour", "a\x1b[31;1mred\x1b[0mb", "aredb"},
		{"title", "a\x1b]0;owned\ab", "ab"},
		{"clipboard, OSC 52", "a\x1b]52;c;aGVsbG8=\x1b\\b", "ab"},
		{"link, OSC 8", "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"queries", "a\x1b[6n\x1b[c\x1b[>cb", "ab"},
		{"DECRQSS", "a\x1bP$qm\x1b\\b", "ab"},
		{"APC, PM, SOS", "a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d", "abcd"},
		{"8-bit in UTF-8", "a\u009b31mb\u009d0;t\u009cc\u0090q\u009cd", "abcd"},
		{"8-bit raw", "a\x9b31mb", "a\uFFFD31mb"},
		{"an OSC that never ends", "a\x1b]52;c;aGVsbG8=", "a52;c;aGVsbG8="},
		{"two that never end", "\x1b]1\x1bP2", "12"},
		{"two-byte escapes", "a\x1bcb\x1b(Bc\x1b7d", "abcd"},
		{"a lone escape", "a\x1b", "a"},
		{"escape in escape", "\x1b[\x1b[31mx", "x"},
		{"controls", "a\x00\x07\x08\x7f\u0085b", "a b"},
		{"bidi", "a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"zero width", "a\u200bb\ufeffc\u2060d\u00ade", "abcde"},
		{"separators", "a\u2028b\u2029c", "a b c"},
		{"tags", "a\U000E0041\U000E007Fb", "ab"},
		{"variation selectors", "a\ufe0fb\U000E0100c", "abc"},
		{"blank letters", "a\u3164b\u2800c", "abc"},
		{"no UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"private use and noncharacters", "a\ue000b\uffffc", "a\uFFFDb\uFFFDc"},
		{"other scripts stay", "блок 高さ ok", "блок 高さ ok"},
		{"empty", "", ""},
	} {
		if got := clean.Text(c.in, 200); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTextIsCutAtRunes(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"абвгд", 5, "абвгд"},
		{"абвгд", 4, "абв…"},
		{"ab cd", 4, "ab…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{strings.Repeat("\x1b[0m", 5000) + "abc", 3, "abc"},
	} {
		if got := clean.Text(c.in, c.max); got != c.want {
			t.Errorf("Text(%.20q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}

// A text full of strings that never end was searched to its end once for each.
func TestTextOfUnendedSequencesIsLinear(t *testing.T) {
	hostile := strings.Repeat("\x1b]\x1bP", 100_000) + strings.Repeat("\x1bP\x1b\\", 100_000)
	begun := time.Now()
	clean.Text(hostile, 200)
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("%d bytes took %v", len(hostile), took)
	}
}

// harmless fails the test if s holds anything Text promises to take out.
func harmless(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || (unicode.IsSpace(r) && r != ' ') {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"\x1b]52;c;eA==\a", "\u009b31m", "a\u202eb", "\x1bP\x1b\\", "\x1b[\x1b]", "\xff\xfe", "a  b"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		max %= 400
		got := clean.Text(s, max)
		harmless(t, got)
		if n := utf8.RuneCountInString(got); n > max && n > 0 {
			t.Fatalf("%d runes, at most %d: %q", n, max, got)
		}
		if again := clean.Text(got, max); again != got {
			t.Fatalf("not idempotent: %q, then %q", got, again)
		}
	})
}
