package config

import (
	"runtime"
	"strings"
	"testing"
)

// chainBomb is 16 KiB that stand for 300,000 upstreams.
var chainBomb = "chains: [&c {name: a, upstreams: [&u {name: b, url: \"http://a.example\"}" +
	strings.Repeat(",*u", 60) + "]}" + strings.Repeat(",*c", 5_000) + "]\n"

// doubling is the bomb of nine lines: each list holds the one before nine times.
func doubling() string {
	b := strings.Builder{}
	b.WriteString("log: {level: &a0 [x,x,x,x,x,x,x,x,x]}\n")
	b.WriteString("chains: [{name: a, upstreams: [{name: b, url: \"http://a.example\", http: {oauth2: {client_id: c, token_url: \"http://a.example\", claims: {\n")
	for i := range 9 {
		from, to := string(rune('0'+i)), string(rune('1'+i))
		b.WriteString("k" + to + ": &a" + to + " [" + strings.TrimSuffix(strings.Repeat("*a"+from+",", 9), ",") + "],\n")
	}
	return b.String() + "end: 1}}}}]}]\n"
}

func TestAliasBombsAreBounded(t *testing.T) {
	merges := strings.Builder{}
	merges.WriteString("defaults: {probe: &m0 {tries: 3}}\nchains: [{name: a, probe: {<<: [")
	merges.WriteString(strings.Repeat("{<<: [*m0,*m0,*m0,*m0]},", 20_000) + "*m0]}}]\n")
	bombs := map[string]string{
		"lists of lists":            doubling(),
		"chains of chains":          chainBomb,
		"merges":                    merges.String(),
		"a circle of merges":        "defaults: {probe: &p {<<: [*p,*p,*p,*p,*p,*p,*p,*p,*p,*p]}}\n",
		"a circle of lists":         "chains: &c [*c,*c,*c]\n",
		"a deep list":               "chains: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "\n",
		"too deep to parse":         "chains: " + strings.Repeat("[", 500_000) + "\n",
		"many keys":                 "log: {" + strings.Repeat("a: 1, ", 30_000) + "}\n",
		"an unknown key":            strings.Repeat("k", 1000) + ": 1\n",
		"a long name":               "instance: {name: " + strings.Repeat("n", 1<<19) + "}\n",
		"many variables":            "instance: {name: \"" + strings.Repeat("${A}", 1<<15) + "\"}\n",
		"an alias to nothing, late": strings.Repeat("#*x\n", 20_000) + "log: *x\n",
	}
	for name, text := range bombs {
		t.Run(name, func(t *testing.T) {
			if len(text) > maxFile {
				t.Fatalf("%d bytes: it is refused unread", len(text))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Parse("c.yml", []byte(text), Env{Getenv: func(string) (string, bool) { return strings.Repeat("x", 16), true }})
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("taken")
			}
			if n := len(err.Error()); n > (maxFaults+1)*(maxFault+1)*4 {
				t.Errorf("an error of %d bytes", n)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 512 {
				t.Errorf("took %d MiB", mb)
			} else {
				t.Logf("%d MiB; %s", mb, strings.SplitN(err.Error(), "\n", 2)[0])
			}
		})
	}
}
