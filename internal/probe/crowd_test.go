package probe_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"chaintop/internal/probe"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// crowdEnv makes the test binary the upstreams of a crowd, in a process of their
// own, so that their memory is not counted.
const crowdEnv = "CHAINTOP_TEST_CROWD"

// crowd is how the upstreams of a crowd fail, by path.
var crowd = []string{"/silence", "/drip", "/endless", "/chunks", "/error", "/bomb", "/page", "/interim", "/headers", "/facts"}

// serveCrowd prints its address and serves until its input ends.
func serveCrowd() {
	piece := fmt.Sprintf("%x\r\n%s\r\n", 16384, strings.Repeat(" ", 16384))
	zip := bomb()
	s, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		req, body, ok := c.Request()
		if !ok {
			return
		}
		switch req.URL.Path {
		case "/silence":
			c.Wait()
		case "/drip":
			drip(c, jsonHead+"Content-Length: 4000\r\n\r\n")
		case "/endless":
			endless(c, jsonHead+"\r\n", piece)
		case "/chunks":
			endless(c, chunked, piece)
		case "/error":
			endless(c, badGateway, piece)
		case "/bomb":
			c.Answer("200 OK", "Content-Encoding: gzip\r\n", zip)
		case "/page":
			c.Answer("503 X", "", page+strings.Repeat("<p>", 1<<20))
		case "/interim":
			endless(c, "", "HTTP/1.1 103 Early Hints\r\n\r\n")
		case "/headers":
			endless(c, "HTTP/1.1 200 OK\r\n", "X-A: "+strings.Repeat("a", 4000)+"\r\n")
		case "/facts": // a head at once, and never the end of a fact
			if strings.Contains(string(body), "eth_blockNumber") {
				c.Result(`"0x10"`)
			}
			endless(c, chunked, piece)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Close()
}

// startCrowd starts them and returns their address.
func startCrowd(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://") {
		t.Fatalf("%q %v", line, err)
	}
	return strings.TrimSpace(line)
}

// crowdOf is the first n upstreams of a crowd.
func crowdOf(t *testing.T, at string, n int) (set probe.Set) {
	for i := range n {
		set = append(set, []probe.Target{evmTarget(t, at+crowd[i%len(crowd)], nil)})
	}
	return set
}

// resident is the process's memory in bytes.
func resident(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm here")
	}
	var size, pages int
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestAHundredBadUpstreams is R8: a crowd of them at once costs at most 16 MiB,
// each has its outcome in time, and nothing is left of them.
func TestAHundredBadUpstreams(t *testing.T) {
	const timeout = 2 * time.Second
	at := startCrowd(t)
	// One of each first, so that what a process pays once is not counted.
	once := crowdOf(t, at, len(crowd)-1)
	for n := range once {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, _ = once.Try(ctx, n, 0) // seen below
		cancel()
	}
	once.Close()
	set := crowdOf(t, at, 100)
	runtime.GC()
	debug.FreeOSMemory()
	before, routines := resident(t), runtime.NumGoroutine()
	peak, stop, watched := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak = max(peak, resident(t))
			}
		}
	}()
	var wg sync.WaitGroup
	for n := range set {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			begun := time.Now()
			o, err := set.Try(ctx, n, 0)
			if took := time.Since(begun); err != nil || took > timeout+250*time.Millisecond {
				t.Errorf("%s: %v after %v", crowd[n%len(crowd)], err, took)
			}
			if o.Kind == model.Result {
				_, err = set.Facts(ctx, n, 0, everything)
			}
			if (o.Kind == model.Result) != (crowd[n%len(crowd)] == "/facts") || err != nil {
				t.Errorf("%s: %s %s %v", crowd[n%len(crowd)], o.Kind, o.Evidence, err)
			}
		})
	}
	wg.Wait()
	close(stop)
	<-watched
	grown := peak - before
	t.Logf("RSS %.1f MiB, and %.1f MiB more at the most", float64(before)/(1<<20), float64(grown)/(1<<20))
	if grown > 16<<20 && !raced {
		t.Errorf("%d KiB more", grown>>10)
	}
	set.Close()
	for deadline := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > routines && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines, were %d", n, routines)
	}
}
