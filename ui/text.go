package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxText bounds, in bytes, what is drawn of any one text: no line is longer.
const maxText = 1024

// clean is s as it may be drawn, and its width in cells. Nearly all text is
// plain, and is handed back as it is.
func clean(s string) (string, int) {
	n := 0
	for _, r := range s {
		if !narrow(r) {
			s = scrub(s)
			return s, ansi.StringWidth(s)
		}
		n++
	}
	if len(s) > maxText {
		s = scrub(s)
		return s, ansi.StringWidth(s)
	}
	return s, n
}

// width is the cells that s takes once it is clean.
func width(s string) int {
	_, n := clean(s)
	return n
}

// narrow says that r is one visible cell in every terminal, by itself and after
// any other such rune.
func narrow(r rune) bool {
	switch {
	case r < 0x20:
		return false
	case r < 0x7f:
		return true
	case r > 0xa0 && r < 0x300:
		return r != 0xad // a soft hyphen may be nothing
	}
	return isSign(r)
}

// scrub takes out of s whatever could reach beyond its cells. What is left is as
// wide as its runes are one by one, in every terminal: scripts that join theirs
// lose their marks, and in the last resort their letters.
func scrub(s string) string {
	s = ansi.Strip(strings.ToValidUTF8(s[:min(len(s), maxText)], "\uFFFD"))
	for _, marks := range []int{2, 0} {
		if out := sift(s, marks); additive(out) {
			return out
		}
	}
	return strings.Map(func(r rune) rune {
		if narrow(r) {
			return r
		}
		return '\uFFFD'
	}, sift(s, 0))
}

// sift is s without control characters of both sets, bidi and zero-width signs,
// and with at most so many marks on a letter. What ends a line or jumps becomes
// a blank.
func sift(s string, marks int) string {
	var b strings.Builder
	b.Grow(len(s))
	on := 0 // the letter before
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Zs, r):
			r, on = ' ', 0
		case hidden(r):
			continue
		case unicode.Is(unicode.M, r):
			if on++; on > marks {
				continue
			}
		default:
			on = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hidden says that r has no cell of its own, or none that terminals agree on.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		(r >= 0x1f3fb && r <= 0x1f3ff) // skin tones: they join the sign before, or do not
}

// additive says that s takes the cells of its runes, whether a terminal joins
// them or not, and joins nothing beside it.
func additive(s string) bool {
	n := 0
	for _, r := range s {
		n += ansi.StringWidth(string(r))
	}
	return ansi.StringWidth("a"+s+"a") == n+2 && ansi.StringWidthWc(s) == n
}

// cut is s in at most w cells, its end given up for a "…".
func cut(s string, w int) string {
	s, n := clean(s)
	switch {
	case n <= w:
		return s
	case w <= 0:
		return ""
	}
	return ansi.Truncate(s, w, "…")
}

// cutMiddle is s in at most w cells, its middle given up: names of upstreams
// differ at both ends.
func cutMiddle(s string, w int) string {
	s, n := clean(s)
	if n <= w {
		return s
	}
	if w < 3 {
		return cut(s, w)
	}
	tail := (w - 1) / 2
	return ansi.Truncate(s, w-tail, "…") + end(s, tail)
}

// end is the last runes of a clean s, as many as w cells take.
func end(s string, w int) string {
	i := len(s)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if w -= ansi.StringWidth(string(r)); w < 0 {
			break
		}
		i -= size
	}
	return s[i:]
}

// ascii is s with one ASCII sign a cell.
func ascii(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch c, known := asciiOf[r]; {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case known:
			b.WriteByte(c)
		default:
			// As many cells as it had, so that no layout changes.
			b.WriteString("??"[:min(2, ansi.StringWidth(string(r)))])
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
