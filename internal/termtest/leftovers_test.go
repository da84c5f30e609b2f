//go:build unix

package termtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeftovers(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         []string
	}{
		{"nothing touched", `:`, nil},
		{"all put back", `old=$(stty -g); stty raw -echo; printf '\033[?1049h\033[?25l\033[?1002h\033[?1006h\033[?2004h\033[>1u\033[>4;2m'
			printf '\033[?1049l\033[?25h\033[?1002l\033[?1006l\033[?2004l\033[<u\033[>4m'; stty "$old"`, nil},
		{"alternate screen", `printf '\033[?1049h'`, []string{"the alternate screen is on (1049)", "the alternate screen is shown"}},
		{"cursor", `printf '\033[?25l'`, []string{"the cursor is hidden"}},
		{"mouse", `printf '\033[?1003;1006h'`, []string{"the mouse is on (1003)", "the mouse is on (1006)"}},
		{"paste", `printf '\033[?2004h'`, []string{"bracketed paste is on"}},
		{"focus", `printf '\033[?1004h'`, []string{"focus reports are on"}},
		{"held output", `printf '\033[?2026h'`, []string{"output is held back (2026)"}},
		{"keyboard", `printf '\033[>1u\033[>3u\033[<u'`, []string{"1 keyboard states are pushed"}},
		{"other keys", `printf '\033[>4;1m'`, []string{"modified keys are reported"}},
		{"raw line", `stty raw`, []string{"the line is not as it was: no echo, or raw"}},
		{"no echo", `stty -echo`, []string{"the line is not as it was: no echo, or raw"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term := sh(t, c.script)
			end(t, term, 0)
			if diff := cmp.Diff(c.want, term.Leftovers()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLeftoversWhileItRuns(t *testing.T) {
	term := sh(t, `old=$(stty -g); stty raw -echo; printf '\033[?1049hup'; dd bs=1 count=1 >/dev/null 2>&1; stty "$old"; printf '\033[?1049l'`)
	must(t, term.WaitText(t.Context(), "up"))
	if !term.IsAltScreen() {
		t.Error("no alternate screen")
	}
	want := []string{"the alternate screen is on (1049)", "the alternate screen is shown", "the line is not as it was: no echo, or raw"}
	if diff := cmp.Diff(want, term.Leftovers()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	must(t, term.Type("q"))
	end(t, term, 0)
	if left := term.Leftovers(); left != nil || term.IsAltScreen() {
		t.Errorf("left over: %q", left)
	}
}

// How the line was left is not known of a program that was killed with its
// terminal, and it must not pass for restored.
func TestLeftoversOfAKilledProgram(t *testing.T) {
	term := sh(t, `echo up; read x`)
	must(t, term.WaitText(t.Context(), "up"))
	must(t, term.Close())
	if left := term.Leftovers(); len(left) != 1 {
		t.Errorf("left over: %q", left)
	}
}
