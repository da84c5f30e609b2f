package config_test

import (
	"strings"
	"testing"

	"chaintop/internal/config"
	"chaintop/internal/rpc"
)

// What is taken here is taken by whoever makes the client, and the other way
// round.
func TestAddressesAreThoseOfTheClient(t *testing.T) {
	for _, address := range []string{
		"http://a.example", "https://a.example:8545/v2/key?k=v#f", "ws://127.0.0.1:1", "WSS://[::1]:65535/", "HTTP://user:word@a",
		" http://a.example ", "http://a.example:", "http://%61.example", "http://a_b", "http://ü.example",
		"a.example", "//a.example", "http:a.example", "ftp://a", "://a", "http://", "http:///p", "http://:80", "http://a:0",
		"http://a:65536", "http://a:b", "http://a b", "http://a/%zz", "http://u@:80", "http://u:p w@a", "http://[::1", "http://a/\x7f", "http://a\\b", "",
	} {
		_, want := rpc.ParseURL("u", address)
		text := "chains: [{name: c, upstreams: [{name: u, url: \"" + strings.NewReplacer(`\`, `\\`, "\x7f", `\x7f`).Replace(address) + "\"}]}]"
		c, err := config.Parse("c.yml", []byte(text), config.Env{})
		if (err == nil) != (want == nil) {
			t.Errorf("%q: the client says %v, the config %v", address, want, err)
			continue
		}
		if err == nil {
			if _, err := rpc.ParseURL("u", c.Endpoints()[0][0].URL.Reveal()); err != nil {
				t.Errorf("%q: revealed, the client says %v", address, err)
			}
		}
	}
}
