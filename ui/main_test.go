package ui

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A screen shows UTC wherever it runs.
	time.Local = time.FixedZone("elsewhere", 5*3600+1800)
	// The library's reader of keys waits for ever with a key it read as its
	// program ended.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents"))
}
