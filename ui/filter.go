package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"chaintop/model"
)

// Bounds of a filter: what a hand types is far below them, and a paste is cut.
const (
	filterRunes  = 200
	filterTerms  = 24
	filterValues = 24
)

// filter is terms that must all hold. The empty one lets everything through.
type filter struct {
	terms []term
	text  string // as it was typed
	keyed bool   // with an error: only the last term has it, and that one names a key
}

// term is one word of a filter: `!key:a,b`.
type term struct {
	not       bool
	attention bool // a lone !: any class but healthy
	key       string
	any       []value // one of them is enough; none for attention
}

// value is what a field is held against: a text, or a number with a sign.
type value struct {
	text string // lower case
	than byte   // '<', '>' or 0
	n    float64
}

// filterKeys are the keys a term may have, and how a value meets a field.
var filterKeys = [...]struct {
	name  string
	field how
}{
	{"chain", within}, {"health", begins}, {"verdict", begins}, {"finding", begins}, {"reason", begins},
	{"family", begins}, {"upstream", within}, {"tier", begins}, {"serving", within}, {"instance", within},
	{"version", within}, {"who", within}, {"whose", within}, {"lag", counts}, {"age", ages},
}

// how is how a value meets a field: words of a closed set by their beginning,
// since "healthy" lies within "unhealthy".
type how uint8

const (
	within how = iota
	begins
	counts
	ages
)

func howOf(key string) (how, bool) {
	for _, k := range filterKeys {
		if k.name == key {
			return k.field, true
		}
	}
	return 0, false
}

// halfTyped says what a filter lacks to be one.
type halfTyped string

func (h halfTyped) Error() string { return string(h) }

// parseFilter reads a filter (SCREENS.md section 5): terms with a space between
// are AND, `a,b` is OR, `!term` is NOT, a lone `!` is what needs attention,
// quotes keep spaces, case is ignored. With an error in its last term it is the
// terms before that one.
func parseFilter(s string) (filter, error) {
	f := filter{text: s}
	words, err := filterWords(s)
	if err != nil {
		return f, err
	}
	for i, w := range words {
		t, err := parseTerm(w)
		if err != nil {
			f.keyed = i == len(words)-1 && t.key != ""
			return f, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// glyph is a rune of a filter, and whether quotes took its meaning.
type glyph struct {
	r      rune
	quoted bool
}

// filterWords parts a filter at its spaces.
func filterWords(s string) ([][]glyph, error) {
	var words [][]glyph
	var word []glyph
	quoted, begun, n := false, false, 0
	end := func() {
		if begun {
			words, word, begun = append(words, word), nil, false
		}
	}
	for _, r := range s {
		if n++; n > filterRunes {
			return nil, halfTyped(fmt.Sprintf("at most %d signs", filterRunes))
		}
		switch {
		case r == '"':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			end()
		default:
			word, begun = append(word, glyph{r, quoted}), true
		}
	}
	if quoted {
		return nil, halfTyped(`a closing " is missing`)
	}
	end()
	if len(words) > filterTerms {
		return nil, halfTyped(fmt.Sprintf("at most %d terms", filterTerms))
	}
	return words, nil
}

// plainAt is where a sign stands that is not quoted, -1 when nowhere.
func plainAt(word []glyph, r rune) int {
	return slices.IndexFunc(word, func(g glyph) bool { return g.r == r && !g.quoted })
}

func spell(word []glyph) string {
	var b strings.Builder
	for _, g := range word {
		b.WriteRune(g.r)
	}
	return strings.ToLower(b.String())
}

func parseTerm(word []glyph) (term, error) {
	var t term
	if plainAt(word, '!') == 0 {
		t.not, word = true, word[1:]
		if len(word) == 0 {
			return term{attention: true}, nil
		}
	}
	if i := plainAt(word, ':'); i >= 0 {
		t.key, word = spell(word[:i]), word[i+1:]
		if _, ok := howOf(t.key); !ok {
			return t, halfTyped(noKey(t.key))
		}
	}
	for {
		i := plainAt(word, ',')
		part := word
		if i >= 0 {
			part = word[:i]
		}
		v, err := parseValue(t.key, spell(part))
		if err != nil {
			return t, err
		}
		if t.any = append(t.any, v); len(t.any) > filterValues {
			return t, halfTyped(fmt.Sprintf("at most %d values", filterValues))
		}
		if i < 0 {
			return t, nil
		}
		word = word[i+1:]
	}
}

func parseValue(key, s string) (value, error) {
	field, known := howOf(key)
	if s == "" {
		return value{}, halfTyped("a value is missing")
	}
	if !known || field == within || field == begins {
		return value{text: s}, nil
	}
	v := value{text: s}
	if s[0] == '<' || s[0] == '>' {
		v.than, s = s[0], s[1:]
	}
	var err error
	if field == counts {
		v.n, err = strconv.ParseFloat(s, 64)
	} else {
		var d time.Duration
		d, err = parseAge(s)
		v.n = d.Seconds()
	}
	if err != nil || math.IsNaN(v.n) {
		return v, halfTyped(map[how]string{counts: key + ":>5 wants a number", ages: key + ":>1m wants an age, as 30s 5m 2h 1d"}[field])
	}
	return v, nil
}

// parseAge reads a duration; a day may be written, which the library has not.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err
	}
	return time.ParseDuration(s)
}

// noKey says that there is no such key, and which may have been meant.
func noKey(key string) string {
	names := make([]string, len(filterKeys))
	for i, k := range filterKeys {
		names[i] = k.name
	}
	if near := model.Nearest(key, names); near != "" {
		return fmt.Sprintf("no key %q, perhaps %s:", key, near)
	}
	return fmt.Sprintf("no key %q: %s", key, strings.Join(names, " "))
}

// subject is what a filter is held against: a chain, or an event.
type subject interface {
	attention() bool
	// texts are the lower-case words of a field; of the empty key everything a
	// plain text may meet.
	texts(key string) []string
	// number is a field in numbers: blocks, or seconds.
	number(key string) (float64, bool)
}

// lets says whether a subject meets every term.
func (f *filter) lets(s subject) bool {
	for i := range f.terms {
		if f.terms[i].holds(s) == f.terms[i].not {
			return false
		}
	}
	return true
}

func (t *term) holds(s subject) bool {
	if t.attention {
		return s.attention()
	}
	field, known := howOf(t.key)
	if known && (field == counts || field == ages) {
		n, ok := s.number(t.key)
		return ok && slices.ContainsFunc(t.any, func(v value) bool { return v.meets(n) })
	}
	for _, has := range s.texts(t.key) {
		for _, v := range t.any {
			if known && field == begins && strings.HasPrefix(has, v.text) || (!known || field == within) && strings.Contains(has, v.text) {
				return true
			}
		}
	}
	return false
}

func (v value) meets(n float64) bool {
	switch v.than {
	case '<':
		return n < v.n
	case '>':
		return n > v.n
	}
	return n == v.n
}

// endsPlain says whether the last term is plain text.
func (f *filter) endsPlain() bool {
	n := len(f.terms)
	return n > 0 && f.terms[n-1].key == "" && !f.terms[n-1].attention
}

// uses says whether the filter asks for a field.
func (f *filter) uses(key string) bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return t.key == key })
}
