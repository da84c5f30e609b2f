package demo

import (
	"fmt"
	"strings"
)

// mostShown is how much of a wrong name an error repeats, in bytes.
const mostShown = 40

// unknown is the error about a name that is not in the list, with all of it.
func unknown(what, given string, list []string) error {
	hint := "want " + list[0]
	if last := len(list) - 1; last > 0 {
		hint = "want " + strings.Join(list[:last], ", ") + " or " + list[last]
	}
	if len(given) > mostShown {
		given = given[:mostShown] + "…"
	}
	return fmt.Errorf("unknown %s %q: %s", what, given, hint)
}
