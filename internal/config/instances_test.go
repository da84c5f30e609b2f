package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstancesComeInTheOrderOfTheFile(t *testing.T) {
	c := taken(t, `
instances:
  zebra: {url: "ws://127.0.0.1:9640/feed"}
  gw-1:
    url: " wss://gw-1.example/a/${K} "
    token_file: secrets/gw
  gw.prod: &prod {url: wss://gw.example/feed, token_file: /run/gw}
  1st: {<<: *prod, url: WSS://first.example/feed}
`, Env{
		Getenv:   func(string) (string, bool) { return "feed", true },
		ReadFile: func(path string) ([]byte, error) { return []byte("0123456789abcdef"), nil },
	})
	type row struct {
		alias, url, file, path string
		line                   int
	}
	var got []row
	for _, i := range c.Instances() {
		got = append(got, row{i.Alias, i.URL.Reveal(), i.TokenFile, i.Path, i.Line})
	}
	want := []row{
		{"zebra", "ws://127.0.0.1:9640/feed", "", "instances.zebra", 3},
		{"gw-1", "wss://gw-1.example/a/feed", "conf/secrets/gw", "instances.gw-1", 4},
		{"gw.prod", "wss://gw.example/feed", "/run/gw", "instances[2]", 7},
		{"1st", "WSS://first.example/feed", "/run/gw", "instances[3]", 8},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"{}", "instances: ~", "instances: {}"} {
		if all := taken(t, text, Env{}).Instances(); len(all) != 0 {
			t.Errorf("%q: %v", text, all)
		}
	}
}
