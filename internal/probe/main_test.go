package probe_test

import (
	"io"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdEnv) != "" {
		serveCrowd()
		return
	}
	if scheme := os.Getenv(fleetEnv); scheme != "" {
		serveFleet(scheme)
		return
	}
	// net/http writes what a server says unasked to the standard logger, which
	// belongs to the program.
	log.SetOutput(io.Discard)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		sumUp() // last, after what testing says
		os.Exit(code)
	}))
}
