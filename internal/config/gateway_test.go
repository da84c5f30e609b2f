package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGatewaysOfAFile(t *testing.T) {
	c := taken(t, `
defaults:
  gateway: {timeout: 10s, max_batch: 5, failback_after: 2s, deny: [admin_*, eth_sign]}
chains:
  - {name: a, upstreams: &u [{name: a, url: "http://a.example"}]}
  - {name: b, upstreams: *u, gateway: {hedge_after: 80ms, max_body: 64KiB, deny: []}}
  - {name: c, upstreams: *u, gateway: {hedge_after: 0s, failback_after: 0s, deny: [debug_*]}}
`, Env{})
	all := Gateway{
		Timeout: 10 * time.Second, HedgeAuto: true, MaxBody: 1 << 20, MaxBatch: 5, FailbackAfter: 2 * time.Second,
		Deny: []string{"admin_*", "eth_sign"},
	}
	b, cc := all, all
	b.HedgeAuto, b.HedgeAfter, b.MaxBody, b.Deny = false, 80*time.Millisecond, 64<<10, []string{}
	cc.HedgeAuto, cc.FailbackAfter, cc.Deny = false, 0, []string{"debug_*"}
	want := []Gateway{all, b, cc}
	got := c.Gateways()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all, c.DefaultGateway()); diff != "" {
		t.Error(diff)
	}
	got[0].Deny[0] = "changed"
	if c.Gateways()[0].Deny[0] != "admin_*" || c.DefaultGateway().Deny[0] != "admin_*" {
		t.Error("two callers share a list")
	}
	for n, chain := range c.Instance("h", "v").Chains {
		if got := chain.Settings.FailbackAfter; got != want[n].FailbackAfter {
			t.Errorf("%s: routing waits %v, want %v", chain.Name, got, want[n].FailbackAfter)
		}
	}
}

func TestSizes(t *testing.T) {
	for given, want := range map[string]int64{
		"1": 1, "65536": 65536, "1KiB": 1 << 10, "3MiB": 3 << 20, "1GiB": 1 << 30, "1024MiB": 1 << 30, "1073741824": 1 << 30, "${N}": 7 << 10,
		"1025MiB": 0, "17179869184GiB": 0, "1073741825": 0, "1kib": 0, "1 MiB": 0, "1.5MiB": 0, "0KiB": 0, "MiB": 0, "": 0, "0x10": 0, "+1": 0, "9223372036854775808": 0,
	} {
		env := Env{Getenv: func(string) (string, bool) { return "7KiB", true }}
		c, err := Parse("c.yml", []byte("defaults: {gateway: {max_body: \""+given+"\"}}"), env)
		if (err == nil) != (want > 0) {
			t.Errorf("%q: %v", given, err)
			continue
		}
		if err == nil && c.DefaultGateway().MaxBody != want {
			t.Errorf("%q: %d bytes, want %d", given, c.DefaultGateway().MaxBody, want)
		}
	}
}

func TestMethodsThatMayBeDenied(t *testing.T) {
	for method, ok := range map[string]bool{
		"eth_call": true, "rpc.discover": true, "Filecoin.ChainHead": true, "debug_*": true, "x*": true,
		"*": false, "a*b": false, "a**": false, "a b": false, "_": true, "ä": false, "a?": false, "": false,
		strings.Repeat("m", 128): true, strings.Repeat("m", 129): false,
	} {
		_, err := Parse("c.yml", []byte("defaults: {gateway: {deny: [\""+method+"\"]}}"), Env{})
		if (err == nil) != ok {
			t.Errorf("%q: %v", method, err)
		}
	}
}
