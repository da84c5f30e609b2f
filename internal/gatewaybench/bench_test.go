//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary plays the upstreams, as the bench itself does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}

func TestUpstreamAnswersAsTheLoadExpects(t *testing.T) {
	n := &node{quiet: map[net.Conn]bool{}}
	var a ask
	a.single(methodRead)
	var c rpcCall
	if err := json.Unmarshal(a.body, &c); err != nil {
		t.Fatal(err)
	}
	if got := string(n.answer(nil, c)); got != string(a.want) {
		t.Errorf("%s, want %s", got, a.want)
	}
}

func TestReplyFaults(t *testing.T) {
	want := []byte(`{"id":7}`)
	for _, tt := range []struct {
		r    reply
		ok   bool
		name string
	}{
		{reply{status: 200, body: want}, true, "its own answer"},
		{reply{status: 200, body: []byte(`{"id":8}`)}, false, "another's answer"},
		{reply{status: 503, body: want}, false, "another status"},
	} {
		if got := tt.r.fault(want); (got == "") != tt.ok {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestSamples(t *testing.T) {
	var all samples
	for i := range 100 {
		s := sample{at: time.Duration(i) * time.Second, took: time.Duration(i+1) * time.Millisecond, status: 200, server: "a"}
		if i >= 10 && i < 20 {
			s.server = "b"
		}
		all = append(all, s)
	}
	all[50] = sample{at: 50 * time.Second, took: time.Hour, status: 502, fault: "HTTP 502"}
	if got := all.quantile(0.5); got != 50*time.Millisecond {
		t.Errorf("median of 99 answers: %v", got)
	}
	if got := all.slowest(); got != 100*time.Millisecond {
		t.Errorf("slowest answer %v, and the failed one is none", got)
	}
	if n, s := all.failed(), all.status(502, 503); n != 1 || s != 1 {
		t.Errorf("%d failed, %d of them 502 or 503", n, s)
	}
	if at, ok := all.returned("a", 12*time.Second); !ok || at != 20*time.Second+21*time.Millisecond {
		t.Errorf("a returned at %v (%v)", at, ok)
	}
	if _, ok := all.returned("c", 0); ok {
		t.Error("who never served returned")
	}
}

func TestLoadThroughAKill(t *testing.T) {
	var b brood
	defer b.end()
	up, err := startPair(&b, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := load{addr: up.a.addr, rate: 200, last: 500 * time.Millisecond, fill: func(i int, a *ask) {
		if i == 50 {
			up.a.kill() // by the pacer: from here on nobody answers
		}
		a.single(methodWrite)
	}}
	all, err := l.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if n := all.failed(); len(all) != 100 || n < 50 || n > 51 || all[48].fault != "" { // request 49 may be under way
		t.Errorf("%d of %d failed; one before the kill: %q", n, len(all), all[48].fault)
	}
	if err := up.a.begin(); err != nil {
		t.Fatal(err)
	}
	k, err := open(context.Background(), up.a.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	var a ask
	a.single(methodWrite)
	for range 2 {
		if _, err := k.ask(a); err != nil {
			t.Error(err)
		}
	}
	ids, err := up.written()
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) < 50 || ids[fmt.Sprint(lastID.Load())] != 2 {
		t.Errorf("the journals know %d writes, the last one %d times: want those before the kill too, and 2", len(ids), ids[fmt.Sprint(lastID.Load())])
	}
}

func TestHardBarsDecide(t *testing.T) {
	var out strings.Builder
	r := report{w: &out}
	r.soft("a ratio", "0.5", "≥ 0.6", false)
	if r.missed {
		t.Error("a soft bar failed the run")
	}
	r.hard("failed", "1", "0", false)
	r.end()
	if !r.missed || !strings.Contains(out.String(), "| failed | 1 | 0 | hard | **MISSED** |") {
		t.Errorf("a hard bar was missed, the run says %v and prints %s", r.missed, out.String())
	}
}
