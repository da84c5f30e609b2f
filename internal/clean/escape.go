package clean

import "strings"

// introducer tells what kind of escape sequence begins at s, and how long its
// introduction is: 'E' a plain escape, '[' a control sequence, ']' an operating
// system command, 'P' a string up to ST. 0 is none.
func introducer(s string, r rune) (kind byte, size int) {
	switch r {
	case 0x1B:
		if len(s) < 2 {
			return 'E', 1
		}
		switch s[1] {
		case '[', ']':
			return s[1], 2
		case 'P', 'X', '^', '_':
			return 'P', 2
		}
		return 'E', 1
	case 0x9B:
		return '[', 2
	case 0x9D:
		return ']', 2
	case 0x90, 0x98, 0x9E, 0x9F:
		return 'P', 2
	}
	return 0, 0
}

// terminators remembers for which kinds of string no end follows any more, so
// that a text full of unfinished ones is not searched once for each.
type terminators struct{ noBell, noST bool }

// sequence is the length of the rest of a sequence of that kind at s[i:]. The
// rest of a string that never ends is text: only its introduction goes.
func (t *terminators) sequence(s string, i int, kind byte) int {
	rest := s[i:]
	switch kind {
	case '[':
		n := 0
		for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x3F {
			n++
		}
		if n < len(rest) && rest[n] >= 0x40 && rest[n] <= 0x7E {
			n++
		}
		return n
	case 'E':
		n := 0
		for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x2F {
			n++
		}
		if n < len(rest) && rest[n] >= 0x30 && rest[n] <= 0x7E {
			n++
		}
		return n
	}
	return t.end(rest, kind == ']')
}

// end is the length up to and with the first terminator, 0 if none comes. BEL
// ends an operating system command only.
func (t *terminators) end(rest string, bell bool) int {
	if t.noST && (t.noBell || !bell) {
		return 0
	}
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\a' && bell:
			return i + 1
		case c == 0x1B && strings.HasPrefix(rest[i+1:], "\\"), c == 0xC2 && strings.HasPrefix(rest[i+1:], "\x9c"):
			return i + 2
		}
	}
	t.noST, t.noBell = true, t.noBell || bell
	return 0
}
