package memnet

import (
	"io"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shut closes what a test is done with, closed already or not.
func shut(all ...io.Closer) {
	for _, c := range all {
		c.Close()
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func give(t *testing.T, w io.Writer, s string) {
	t.Helper()
	_, err := io.WriteString(w, s)
	ok(t, err)
}

func take(t *testing.T, r io.Reader, n int) {
	t.Helper()
	_, err := io.ReadFull(r, make([]byte, n))
	ok(t, err)
}
