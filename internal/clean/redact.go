package clean

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// Hidden stands where a secret was.
const Hidden = "***"

// shortest is the length from which a secret is looked for. What is shorter
// would hide half of any text and protects nothing.
const shortest = 3

// Redactor takes known secrets out of text: as they are, percent-encoded or
// JSON-escaped in any mixture, in hex, and in base64 wherever they stand in
// what was encoded. ASCII letters match in either case. The nil Redactor knows none.
type Redactor struct {
	raw   []string // in lower case, longest first
	coded []string // base64 of the secrets, longest first; case counts
}

// NewRedactor knows the given secrets; those shorter than 3 bytes are left out.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		r.raw = append(r.raw, lowerASCII(s), hex.EncodeToString([]byte(s)))
		r.coded = append(r.coded, encoded(s)...)
	}
	for _, list := range []*[]string{&r.raw, &r.coded} {
		slices.SortFunc(*list, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		*list = slices.Compact(*list)
	}
	return r
}

// encoded is what of s's base64 does not depend on its neighbours, for each of
// the three places s may begin at in a group.
func encoded(s string) []string {
	var out []string
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), s...))
		from := []int{0, 2, 3}[shift]
		if n := (shift + len(s)) % 3; n != 0 {
			text = text[:len(text)-1] // its last character takes bits of what follows
		}
		if len(text)-from < 4 {
			continue
		}
		text = text[from:]
		out = append(out, text)
		if url := strings.NewReplacer("+", "-", "/", "_").Replace(text); url != text {
			out = append(out, url)
		}
	}
	return out
}

// Scrub is s with Hidden where a secret stood.
func (r *Redactor) Scrub(s string) string {
	if r == nil || len(r.raw) == 0 {
		return s
	}
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		n := r.match(s[i:])
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[kept:i])
		b.WriteString(Hidden)
		i += n
		kept = i
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// match is the length of the secret that s begins with, 0 for none.
func (r *Redactor) match(s string) int {
	for _, want := range r.coded {
		if strings.HasPrefix(s, want) {
			return len(want)
		}
	}
	for _, want := range r.raw {
		if s[0] != '%' && s[0] != '\\' && !is(s[0], want[0]) {
			continue
		}
		if n := spelled(s, want); n > 0 {
			return n
		}
	}
	return 0
}

// spelled is how much of s spells want, each byte written in any way; 0 if it
// does not. Where a secret holds a % there is more than one way to read on, so
// that every place one may be at is kept.
func spelled(s, want string) int {
	if s == "" || want == "" {
		return 0
	}
	var have, next [maxPlaces]int
	places := 1
	for j := range len(want) {
		n := 0
		for _, at := range have[:places] {
			for size := range spellings(s[at:], want[j]) {
				if n < maxPlaces && !slices.Contains(next[:n], at+size) {
					next[n] = at + size
					n++
				}
			}
		}
		if n == 0 {
			return 0
		}
		have, places = next, n
	}
	return slices.Max(have[:places])
}

// maxPlaces bounds the places kept, maxLevels how often a byte may have been
// percent-encoded.
const (
	maxPlaces = 8
	maxLevels = 3
)

// spellings yields the lengths of what s begins with that stands for the byte c:
// itself, %41 encoded once or more, \u0041, \x41, or a backslash before it.
func spellings(s string, c byte) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if s == "" || (is(s[0], c) && !yield(1)) {
			return
		}
		if n := escaped(s, c); n > 0 && !yield(n) {
			return
		}
		for at := 1; s[0] == '%' && at < 2*maxLevels; at += 2 {
			if v, ok := hexByte(s[at:]); ok && is(v, c) && !yield(at+2) {
				return
			}
			if !strings.HasPrefix(s[at:], "25") {
				return
			}
		}
	}
}

// escaped is the length of a backslash escape of c that s begins with.
func escaped(s string, c byte) int {
	if s[0] != '\\' {
		return 0
	}
	n := 2
	v, ok := byte(0), false
	switch {
	case len(s) >= 6 && s[1:4] == "u00":
		n = 6
		v, ok = hexByte(s[4:])
	case len(s) >= 4 && s[1] == 'x':
		n = 4
		v, ok = hexByte(s[2:])
	case len(s) >= 2:
		v, ok = s[1], strings.IndexByte(`/\"`, s[1]) >= 0
	}
	if !ok || !is(v, c) {
		return 0
	}
	return n
}

// is says whether b is the byte c of a secret, which is in lower case. A query
// writes a space as +.
func is(b, c byte) bool { return lower(b) == c || (b == '+' && c == ' ') }

func hexByte(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	var out [1]byte
	if _, err := hex.Decode(out[:], []byte(s[:2])); err != nil {
		return 0, false
	}
	return out[0], true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}
