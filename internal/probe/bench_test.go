package probe_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// fleetEnv makes the test binary the node of a sweep, in a process of its own:
// "http" or "https".
const fleetEnv = "CHAINTOP_TEST_FLEET"

// serveFleet prints its address and answers every head until its input ends.
func serveFleet(scheme string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	addr := l.Addr()
	if scheme == "https" {
		ca, err := makeAuthority()
		if err != nil {
			fmt.Println(err)
			return
		}
		conf := ca.server("ok")
		conf.NextProtos = []string{"http/1.1"}
		l = tls.NewListener(l, conf)
	}
	fmt.Printf("%s://%s\n", scheme, addr)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id, _, _ := strings.Cut(strings.TrimPrefix(string(body), `{"jsonrpc":"2.0","id":`), ",")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"0x12a7f3c"}`, id)
	})}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); _ = srv.Close() }()
	_ = srv.Serve(l)
}

func startFleet(b *testing.B, scheme string) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fleetEnv+"="+scheme)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http") {
		b.Fatalf("%q %v", line, err)
	}
	return strings.TrimSpace(line)
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSweep is P3: a check of each of 5,000 upstreams, 1,024 at a time. The
// first sweep dials; those that are measured use kept connections.
func BenchmarkSweep(b *testing.B) {
	for _, scheme := range []string{"http", "https"} {
		b.Run(scheme, func(b *testing.B) {
			const upstreams = 5000
			at := startFleet(b, scheme)
			before, routines := memory(b), runtime.NumGoroutine()
			set := fleetOf(b, at, upstreams)
			begun, used := time.Now(), cpu()
			sweep(b, set)
			first, dialed := time.Since(begun), cpu()-used
			runtime.GC()
			kept := memory(b) - before
			used = cpu()
			for b.Loop() {
				sweep(b, set)
			}
			b.ReportMetric(float64(first.Milliseconds()), "ms/first-sweep")
			b.ReportMetric(float64(dialed.Microseconds())/upstreams, "cpu-µs/first-check")
			b.ReportMetric(float64(kept)/upstreams/1024, "KiB/kept-connection")
			b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N)/upstreams, "cpu-µs/check")
			set.Close()
			for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > routines && time.Now().Before(deadline); {
				runtime.Gosched()
			}
			if n := runtime.NumGoroutine(); n > routines {
				b.Errorf("%d goroutines are left of %d upstreams", n-routines, upstreams)
			}
		})
	}
}

func memory(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("no /proc/self/statm here")
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func fleetOf(b *testing.B, at string, n int) (set probe.Set) {
	b.Helper()
	o := rpc.Options{}
	o.HTTP.TLSConfig.InsecureSkipVerify = true // the node's authority is in its own process
	for range n {
		u, err := rpc.ParseURL("up", at)
		if err != nil {
			b.Fatal(err)
		}
		c, err := rpc.NewClient(u, o)
		if err != nil {
			b.Fatal(err)
		}
		set = append(set, []probe.Target{{Family: model.EVM, Client: c}})
	}
	return set
}

// sweep checks every upstream of set.
func sweep(b *testing.B, set probe.Set) {
	slots := make(chan struct{}, 1024)
	var wg sync.WaitGroup
	for n := range set {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
			defer cancel()
			if o, err := set.Try(ctx, n, 0); err != nil || o.Kind != model.Result {
				b.Errorf("%s %s %s %v", o.Kind, o.Reason, o.Evidence, err)
			}
		})
	}
	wg.Wait()
}
