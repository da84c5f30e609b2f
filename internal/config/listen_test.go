package config

import (
	"strings"
	"testing"
)

// A screen listens only where the file says so; serve where nothing is said, too.
func TestListenSaysWhatTheFileNames(t *testing.T) {
	const gateway, ops = "127.0.0.1:8640", "127.0.0.1:9640"
	for text, want := range map[string]Listen{
		"{}":                                   {Gateway: gateway, Ops: ops},
		"listen: ~":                            {Gateway: gateway, Ops: ops},
		"listen: {gateway: ~}":                 {Gateway: gateway, Ops: ops},
		"listen: {gateway: \"\"}":              {Ops: ops, GatewaySet: true},
		"listen: {ops: \":1\"}":                {Gateway: gateway, Ops: ":1", OpsSet: true},
		"listen: {ops: " + ops + "}":           {Gateway: gateway, Ops: ops, OpsSet: true},
		"listen: {gateway: a.b:0, ops: a.b:0}": {Gateway: "a.b:0", Ops: "a.b:0", GatewaySet: true, OpsSet: true},
		"listen: {gateway: \"\", ops: \"\"}\ndrain: {mode: immediate}": {GatewaySet: true, OpsSet: true},
	} {
		if got := taken(t, text, Env{}).Listen(); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if got, want := Default().Listen(), (Listen{Gateway: gateway, Ops: ops}); got != want {
		t.Errorf("default %+v, want %+v", got, want)
	}
}

func TestListenTakesNamesAndAddresses(t *testing.T) {
	for text, ok := range map[string]bool{
		":0": true, ":65535": true, "localhost:1": true, "a_b.c-d.example.:1": true, "0.0.0.0:1": true, "[::1]:1": true, "[fe80::1%eth0]:1": true,
		"::1:1": false, "1": false, "a": false, "a:": false, "a:-1": false, "a:+1": false, "a:65536": false, "a:00": false, "1.2.3:1": false,
		"1.2.3.4.5:1": false, "a..b:1": false, "-a:1": false, "a-:1": false, "[a]:1": true, "a/b:1": false, "@:1": false,
		strings.Repeat("a.", 127) + ":1": false, strings.Repeat("a.", 126) + "a:1": true,
	} {
		if got := hostPortFault(text); (got == "") != ok {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestTwoListenersCannotShareAPort(t *testing.T) {
	for _, r := range []struct {
		a, b string
		want bool
	}{
		{"a:1", "A:1", true}, {"a:1", "b:1", false}, {"a:1", "a:2", false}, {"a:0", "a:0", false}, {"", "", false}, {"a:1", "", false},
		{"localhost:1", "127.0.0.1:1", true}, {"127.0.0.1:1", "127.0.0.2:1", false}, {"[::ffff:127.0.0.1]:1", "127.0.0.1:1", true},
		{":1", "127.0.0.1:1", true}, {":1", "[::1]:1", true}, {":1", "a:1", true}, {"0.0.0.0:1", "127.0.0.1:1", true},
		{"0.0.0.0:1", "[::1]:1", false}, {"0.0.0.0:1", "[::]:1", true}, {"[::1]:1", "127.0.0.1:1", false}, {":01", ":1", true},
	} {
		if got, turned := clash(r.a, r.b), clash(r.b, r.a); got != r.want || turned != r.want {
			t.Errorf("%s and %s: %v, turned %v, want %v", r.a, r.b, got, turned, r.want)
		}
	}
}

func TestLoopbackIsOnlyWhatIsCertain(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:9640": true, "127.1.2.3:0": true, "[::1]:1": true, "localhost:1": true, "LOCALHOST.:1": true, "[::ffff:127.0.0.1]:1": true,
		":9640": false, "0.0.0.0:1": false, "[::]:1": false, "10.0.0.1:1": false, "localhost.example:1": false, "gw:1": false, "": false, "localhost": false,
	} {
		if got := Loopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
