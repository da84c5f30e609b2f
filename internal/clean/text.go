// Package clean makes text from outside safe, once, where it enters: a node's
// error, a close reason, a name in a feed. What it returns can be written to a
// terminal, a log or a file as it is.
//
// Law: no control character, no escape sequence, nothing that changes the
// direction of text, and nothing without a width leaves this package; and what
// it returned once, it returns unchanged (SPEC X2).
//
// It does not promise that text is true, or short in cells: runes are counted,
// and a rune may be two cells wide.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut stands where text was longer than asked for.
const cut = '…'

// Text is s without anything a terminal would act on, on one line, at most max
// runes long. A whole escape sequence goes, not only its first byte; bytes that
// are no UTF-8 become U+FFFD; runs of white space become one space. Longer text
// ends in "…" within max. Work is bounded by the length of s.
func Text(s string, max int) string {
	if max <= 0 {
		return ""
	}
	w := writer{max: max, out: make([]rune, 0, min(len(s), max+1))}
	var ends terminators
	for i := 0; i < len(s) && !w.full(); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if intro, size := introducer(s[i:], r); intro != 0 {
			i += size
			i += ends.sequence(s, i, intro)
			continue
		}
		i += n
		w.add(r)
	}
	return w.text()
}

// writer collects runes up to one more than max, so that it knows whether
// there was more.
type writer struct {
	out   []rune
	max   int
	space bool // white space is due before the next rune
}

func (w *writer) full() bool { return len(w.out) > w.max }

func (w *writer) add(r rune) {
	switch {
	case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
		w.space = len(w.out) > 0
		return
	case dropped(r):
		return
	case unicode.In(r, unicode.Co) || noncharacter(r):
		r = utf8.RuneError
	}
	if w.space {
		w.out = append(w.out, ' ')
		w.space = false
	}
	w.out = append(w.out, r)
}

func (w *writer) text() string {
	if len(w.out) <= w.max {
		return string(w.out)
	}
	return strings.TrimRight(string(w.out[:w.max-1]), " ") + string(cut)
}

// dropped says whether r is taken out without a trace: controls, everything of
// the format class (bidi, zero width, tags, soft hyphen), variation selectors
// and letters that are blank.
func dropped(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.In(r, unicode.Cf):
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF, r >= 0x180B && r <= 0x180F:
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x17B4, r == 0x17B5, r == 0x2065:
		return true
	}
	return false
}

func noncharacter(r rune) bool {
	return r&0xFFFE == 0xFFFE || (r >= 0xFDD0 && r <= 0xFDEF)
}
