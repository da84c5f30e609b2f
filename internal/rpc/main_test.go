package rpc

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// net/http writes what a server says unasked to the standard logger, which
	// belongs to the program.
	log.SetOutput(io.Discard)
	goleak.VerifyTestMain(m)
}
