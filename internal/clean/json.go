package clean

// Brackets calls f at each bracket and each comma of JSON that stands outside a
// string, with how deep that is nested: an opening bracket is at the depth it
// opens, a closing one at the depth it ends. It stops when f returns false. b
// need not be JSON; nothing is kept of it.
func Brackets(b []byte, f func(c byte, depth int) bool) {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; !f(c, depth) {
				return
			}
		case c == '}' || c == ']':
			if !f(c, depth) {
				return
			}
			depth--
		case c == ',':
			if !f(c, depth) {
				return
			}
		}
	}
}

// Deeper says whether b nests deeper than most, before anything parses it (X3).
func Deeper(b []byte, most int) (deeper bool) {
	Brackets(b, func(_ byte, depth int) bool {
		deeper = depth > most
		return !deeper
	})
	return deeper
}
