package model

import "testing"

func TestNearest(t *testing.T) {
	list := []string{"health", "verdict", "finding", "healthy_interval", "evm"}
	for given, want := range map[string]string{
		"health": "health", "heath": "health", "helath": "health", "HEALTHS": "health", "verdct": "verdict",
		"healthy_intervall": "healthy_interval", "evn": "evm", "moon": "", "": "", "e": "",
	} {
		if got := Nearest(given, list); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	if got := Nearest(string(make([]byte, 1<<20)), list); got != "" {
		t.Errorf("a long one: %q", got)
	}
}
