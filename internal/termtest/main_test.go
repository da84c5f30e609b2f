//go:build unix

package termtest

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sh runs a shell script on a terminal until the test ends.
func sh(t *testing.T, script string, size ...int) *Terminal {
	t.Helper()
	p := Program{Path: "/bin/sh", Args: []string{"-c", script}}
	if len(size) == 2 {
		p.Columns, p.Rows = size[0], size[1]
	}
	term, err := Start(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ok(t, term.Close()) })
	return term
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// must ends the test at once.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// end waits for the program's exit code.
func end(t *testing.T, term *Terminal, want int) {
	t.Helper()
	code, err := term.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if code != want {
		t.Errorf("exit code %d, want %d; screen:\n%s", code, want, term.Screen())
	}
}
