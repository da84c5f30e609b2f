package demo

import (
	"fmt"
	"strings"
)

// mostShown is how much of a wrong name an error repeats, in bytes.
const mostShown = 40

// unknown is the error about a name that is not in the list: with the one it
// may be a slip of, and with all.
func unknown(what, given string, list []string) error {
	hint := "want " + list[0]
	if last := len(list) - 1; last > 0 {
		hint = "want " + strings.Join(list[:last], ", ") + " or " + list[last]
	}
	if near := nearest(given, list); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	if len(given) > mostShown {
		given = given[:mostShown] + "…"
	}
	return fmt.Errorf("unknown %s %q: %s", what, given, hint)
}

// nearest is the name that given is a slip of: at most a third of its letters
// are another's. Empty: none is.
func nearest(given string, list []string) string {
	if len(given) > mostShown {
		return ""
	}
	best, least := "", max(1, len(given)/3)+1
	for _, name := range list {
		if d := edits(strings.ToLower(given), name); d < least {
			best, least = name, d
		}
	}
	return best
}

// edits counts the letters to add, leave out or replace to get from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}
