package model

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClientNetworks(t *testing.T) {
	for addr, want := range map[string]string{
		"10.83.2.9":            "10.83.2.0/24",
		"10.83.2.0/24":         "10.83.2.0/24",
		"10.83.2.9/24":         "10.83.2.0/24",
		"10.83.2.0/32":         "10.83.2.0/24",
		"::ffff:10.83.2.9":     "10.83.2.0/24",
		"2001:db8:7:1::9":      "2001:db8:7::/48",
		"2001:db8::9":          "2001:db8::/48",
		"2001:db8:0:1:2:3:4:5": "2001:db8::/48",
		"2001:db8:7::/48":      "2001:db8:7::/48",
		"2001:db8:7:1::/64":    "2001:db8:7::/48",
		"fe80::1%eth0":         "fe80::/48",
		"::1":                  "::/48",
		"":                     "",
		"…":                    "…",
		"a name":               "…",
		"10.83.2":              "…",
		"10.83.2.299":          "…",
		"10.83.02.9":           "…",
		"1:2:3:4:5:6:7":        "…",
		"1:2::3::4":            "…",
		"1:2:3:4:5:6:7:8:9":    "…",
		"1:2:3:4::5:6:7:8":     "…",
		"12345::1":             "…",
		":::::::":              "…",
		"/":                    "…",
	} {
		if got := network(addr); got != want {
			t.Errorf("%q is of %q, want %q", addr, got, want)
		}
		if got := network(network(addr)); got != want {
			t.Errorf("%q twice is %q, want %q", addr, got, want)
		}
	}
}

// X1: wherever a client's address may be in a picture or an event, a viewer gets
// its network.
func TestMaskedHasNoClient(t *testing.T) {
	const v4, v6 = "10.83.2.9", "2001:db8:7:1::9"
	a := Activity{
		Last: epoch0, Client: v4, OldClient: v6, MessageClient: v4,
		Clients: []Client{{Addr: v4, Kind: ClientHTTP}, {Addr: v6, Kind: ClientWS}},
	}
	w := newWorld(t, testChain("x", primaries("a")...))
	w.in(Sums{At: epoch0, Activity: &a})
	w.in(Command{At: epoch0, Op: OpSimulate, Who: "oncall"})
	w.in(DrainDue{At: epoch0.Add(10 * sec), Activity: a})
	w.in(Signal{At: epoch0.Add(11 * sec), Name: "SIGTERM"})
	w.events = append(w.events, Event{At: epoch0, Chain: -1, Body: Started{Instance: w.inst}})

	for _, e := range w.events {
		before := mustText(t, e)
		m, changed := Masked(e)
		if leaks := strings.Contains(before, v4) || strings.Contains(before, v6); leaks != changed {
			t.Errorf("%s: changed %v, has an address %v", e.Kind(), changed, leaks)
		}
		if text := mustText(t, m); strings.Contains(text, v4) || strings.Contains(text, v6) {
			t.Errorf("%s still says who: %s", e.Kind(), text)
		}
		if after := mustText(t, e); after != before {
			t.Errorf("%s was changed itself", e.Kind())
		}
	}
	before := mustText(t, &w.inst)
	m := w.inst.Masked()
	if text := mustText(t, m); strings.Contains(text, v4) || strings.Contains(text, v6) || !strings.Contains(text, "10.83.2.0/24") {
		t.Errorf("the picture: %s", text)
	}
	if mustText(t, &w.inst) != before || !strings.Contains(before, v4) {
		t.Error("the picture itself was changed")
	}
	if m.Masked() != m {
		t.Error("a masked picture is masked again")
	}
}

func mustText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
