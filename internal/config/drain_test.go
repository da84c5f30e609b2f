package config

import (
	"slices"
	"testing"
	"time"
)

func TestDrainOfAFile(t *testing.T) {
	for text, want := range map[string]Drain{
		"{}":                           {Mode: DrainIdle, Idle: 10 * time.Second},
		"drain: {max: 10s}":            {Mode: DrainIdle, Idle: 10 * time.Second, Max: 10 * time.Second},
		"drain: {count_messages: yes}": {Mode: DrainIdle, Idle: 10 * time.Second, CountMessages: true},
		// What only an idle drain reads is no fault of an immediate one.
		"drain: {mode: immediate, idle: 0s, max: 1s, immediate: 2s}": {Mode: DrainImmediate, Max: time.Second, Immediate: 2 * time.Second},
	} {
		if got := taken(t, text, Env{}).Drain(); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// One listener is enough: both answer /readyz.
func TestIdleDrainWantsOneListener(t *testing.T) {
	for _, text := range []string{"listen: {gateway: \"\"}", "listen: {ops: \"\"}", "listen: {gateway: \"\", ops: \"\"}\ndrain: {mode: immediate}"} {
		taken(t, text, Env{})
	}
	if _, err := Parse("c.yml", []byte("listen: {gateway: \"\", ops: \"\"}"), Env{}); err == nil {
		t.Error("an idle drain without a listener is taken")
	}
}

func TestAnUnboundedDrainIsWarnedOf(t *testing.T) {
	const words = ": drain.max: 0s: a client that never stops asking holds a drain for ever"
	for text, want := range map[string][]string{
		"log: {}\n":                     {"conf/c.yml:1" + words},
		"log: {}\ndrain: {idle: 1s}":    {"conf/c.yml:2" + words},
		"log: {}\ndrain:\n  max: 0s":    {"conf/c.yml:3" + words},
		"drain: {max: 10m}":             nil,
		"drain: {mode: immediate}":      nil,
		"drain: {mode: idle, max: 10s}": nil,
	} {
		if got := taken(t, text, Env{}).Warnings(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Default().Warnings(); !slices.Equal(got, []string{"defaults" + words}) {
		t.Errorf("without a file: %q", got)
	}
}
