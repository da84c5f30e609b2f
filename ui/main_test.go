package ui

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A screen shows UTC wherever it runs.
	time.Local = time.FixedZone("elsewhere", 5*3600+1800)
	goleak.VerifyTestMain(m)
}
