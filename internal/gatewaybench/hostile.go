//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	halfOpen     = 10_000
	halfOpenRate = 4_000 // dials a second: two cores are shared with those who are to be spared
	hugeBody     = 1 << 30
	hugeHeaders  = 1 << 20
	hugeBatch    = 100_000
	attackers    = 8
)

// attack is one kind of hostile client.
type attack struct {
	name string
	run  func(ctx context.Context, addr string) (string, error) // what came of it
	last time.Duration                                          // at least; it is repeated
}

// salvo is the pause between two attacks of one kind: without one the processors
// would be what is short, and that is no hostile client's doing alone.
const salvo = 250 * time.Millisecond

// runHostile has hostile clients beside a load of good ones.
func runHostile(ctx context.Context, b *bench) error {
	clients, err := raiseFiles()
	if err != nil {
		return err
	}
	if clients < halfOpen {
		b.say("open files are limited: %d half-open clients instead of %d\n", clients, halfOpen)
	}
	_, t, err := b.scene(ctx)
	if err != nil {
		return err
	}
	attacks := []attack{
		{nobody, alone(b.spans.alone), 0},
		{fmt.Sprintf("%d half-open clients", clients), func(ctx context.Context, addr string) (string, error) {
			return halfOpens(ctx, addr, clients)
		}, 0},
		{"1 GiB body, announced", together(announced), b.spans.attack},
		{"1 GiB body, in chunks", together(chunked), b.spans.attack},
		{"1 MiB of headers", together(headerBomb), b.spans.attack},
		{"batch of 100,000", together(bigBatch), b.spans.attack},
		{nobody + " again", alone(b.spans.alone), 0},
	}
	load := beginBeside(ctx, t)
	rows, err := b.under(ctx, t, attacks, load)
	all, stopped := load.stop()
	if err = errors.Join(err, stopped); err != nil {
		return err
	}
	b.tellHostile(rows, all)
	return nil
}

const nobody = "nobody"

// alone is no attack at all.
func alone(last time.Duration) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) { return "", nap(ctx, last) }
}

// beside is a load of good clients that goes on until it is stopped.
type beside struct {
	load load
	end  context.CancelFunc
	done <-chan error
	all  samples
}

func beginBeside(ctx context.Context, t target) *beside {
	ctx, end := context.WithCancel(ctx)
	s := &beside{load: load{addr: t.addr, rate: steadyRate, last: 5 * time.Minute, fill: reads}, end: end}
	ready := make(chan struct{})
	s.load.started = ready
	s.done = deferred(func() (err error) { s.all, err = s.load.run(ctx); return err })
	<-ready
	return s
}

// stop ends the load and returns what was sent.
func (s *beside) stop() (samples, error) {
	s.end()
	if err := <-s.done; !errors.Is(err, context.Canceled) {
		return s.all, err
	}
	return s.all, nil
}

// phase is an attack while it went on.
type phase struct {
	name     string
	from, to time.Duration
	rss      float64 // most, in MiB
	came     string
}

// under runs one attack after the other and watches the gateway's memory.
func (b *bench) under(ctx context.Context, t target, attacks []attack, load *beside) ([]phase, error) {
	if err := nap(ctx, time.Second); err != nil { // its connections are there, its methods known
		return nil, err
	}
	var rows []phase
	for _, a := range attacks {
		p := phase{name: a.name, from: time.Since(load.load.start)}
		watch := watchMemory(t.p)
		for p.to == 0 || p.to < p.from+a.last {
			var err error
			if p.came, err = a.run(ctx, t.addr); err != nil {
				return nil, fmt.Errorf("%s: %w", a.name, err)
			}
			if err := nap(ctx, salvo); err != nil {
				return nil, err
			}
			p.to = time.Since(load.load.start)
		}
		p.rss = watch()
		rows = append(rows, p)
	}
	return rows, nil
}

// watchMemory looks at a process's memory until the func it returns is called,
// which returns the most there was.
func watchMemory(p *process) (most func() float64) {
	stop, done := make(chan struct{}), make(chan float64)
	go func() {
		top := p.rss()
		for {
			select {
			case <-stop:
				done <- max(top, p.rss())
				return
			case <-time.After(50 * time.Millisecond):
				top = max(top, p.rss())
			}
		}
	}()
	return func() float64 { close(stop); return <-done }
}

func (b *bench) tellHostile(rows []phase, all samples) {
	var cells [][]string
	base := all.between(rows[0].from, rows[0].to).quantile(0.99)
	failed := 0
	for _, p := range rows {
		during := all.between(p.from, p.to)
		failed += during.failed()
		cells = append(cells, []string{
			p.name, fmt.Sprintf("%.0f", p.rss), fmt.Sprintf("%d of %d", during.failed(), len(during)),
			ms(during.quantile(0.5)) + " / " + ms(during.quantile(0.99)), ms(during.slowest()), p.came,
		})
		if p.came != "" {
			worse := during.quantile(0.99) - base
			b.soft("others' p99 beside "+p.name+", over that beside "+nobody, ms(worse), "≤ 5 ms", worse <= 5*time.Millisecond)
		}
	}
	b.say("Beside %d req/s of good clients, each attack by %d at a time where it says no number.\n", steadyRate, attackers)
	b.table([]string{"hostile", "RSS MiB, most", "others failed", "others' p50 / p99", "slowest", "what they got"}, cells)
	b.soft("others failed, hostile clients beside", fmt.Sprint(failed), "0", failed == 0)
	const limit = 512 // MiB: 50 KiB for each half-open client, and what was there before
	most := 0.0
	for _, p := range rows {
		most = max(most, p.rss)
	}
	b.soft("memory under hostile clients", fmt.Sprintf("%.0f MiB", most), fmt.Sprintf("≤ %d MiB", limit), most <= limit)
}

// raiseFiles raises the limit of open files, for this process and those it
// starts from now on, and returns how many half-open clients there may be.
func raiseFiles() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	want := uint64(2*halfOpen + 1000)
	higher := syscall.Rlimit{Cur: max(want, limit.Max), Max: max(want, limit.Max)}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &higher) != nil { // not allowed: as far as it goes
		higher = syscall.Rlimit{Cur: limit.Max, Max: limit.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &higher); err != nil {
			return 0, err
		}
	}
	return min(halfOpen, int(higher.Cur)-1000), nil
}

// halfOpens opens connections that begin a request and say no more, and holds
// them until the gateway closes them. Meanwhile a client that is new tries its
// luck every 100 ms.
func halfOpens(ctx context.Context, addr string, n int) (string, error) {
	conns := make([]net.Conn, 0, n)
	defer func() {
		for _, c := range conns {
			_ = c.Close() // it was never to be used
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fresh := freshClients(ctx, addr)
	refused := 0
	err := pace(ctx, time.Now(), n, time.Second/halfOpenRate, func(int, time.Time) {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			refused++
			return
		}
		conns = append(conns, c)
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: half\r\n") // it may be closed already
	})
	if err != nil {
		return "", err
	}
	closed, within := untilClosed(conns, 15*time.Second)
	cancel()
	return fmt.Sprintf("%d connected, %d were closed by the gateway within %s; %s", len(conns), closed, seconds(within), fresh()), nil
}

// untilClosed waits until the other side has closed the connections, or no
// longer than most.
func untilClosed(conns []net.Conn, most time.Duration) (closed int, took time.Duration) {
	var n atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for _, c := range conns {
		all.Go(func() {
			_ = c.SetReadDeadline(begin.Add(most)) // of a connection that is closed already: it fails below
			// An answer (408) may come before the end.
			var timeout net.Error
			if _, err := io.Copy(io.Discard, c); !errors.As(err, &timeout) || !timeout.Timeout() {
				n.Add(1)
			}
		})
	}
	all.Wait()
	return int(n.Load()), time.Since(begin)
}

// freshClients are good clients, each on a new connection. What is returned says
// what became of them.
func freshClients(ctx context.Context, addr string) func() string {
	var mu sync.Mutex
	var all samples
	done := make(chan struct{})
	go func() {
		defer close(done)
		var waiting sync.WaitGroup
		for nap(ctx, 100*time.Millisecond) == nil {
			waiting.Go(func() {
				begin := time.Now()
				s := sample{}
				k, err := open(context.WithoutCancel(ctx), addr)
				if err == nil {
					var a ask
					a.single(methodRead)
					_, err = k.ask(a)
					k.close()
				}
				if err != nil {
					s.fault = err.Error()
				}
				s.took = time.Since(begin)
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
			})
		}
		waiting.Wait()
	}()
	return func() string {
		<-done
		return fmt.Sprintf("of %d new clients meanwhile %d failed, the slowest took %s", len(all), all.failed(), ms(all.slowest()))
	}
}

// together runs an attack by several at once, and says what they got.
func together(one func(addr string) string) func(context.Context, string) (string, error) {
	return func(ctx context.Context, addr string) (string, error) {
		var mu sync.Mutex
		got := map[string]int{}
		var order []string
		var all sync.WaitGroup
		for range attackers {
			all.Go(func() {
				s := one(addr)
				mu.Lock()
				defer mu.Unlock()
				if got[s]++; got[s] == 1 {
					order = append(order, s)
				}
			})
		}
		all.Wait()
		var text bytes.Buffer
		for i, s := range order {
			if i > 0 {
				text.WriteString("; ")
			}
			fmt.Fprintf(&text, "%d × %s", got[s], s)
		}
		return text.String(), ctx.Err()
	}
}

// headOf is the beginning of a request of a hostile client.
const headOf = "POST / HTTP/1.1\r\nHost: hostile\r\nContent-Type: application/json\r\n"

func announced(addr string) string {
	return abuse(addr, fmt.Sprintf("%sContent-Length: %d\r\n\r\n", headOf, hugeBody), hugeBody, func(piece []byte) []byte { return piece })
}

func chunked(addr string) string {
	return abuse(addr, headOf+"Transfer-Encoding: chunked\r\n\r\n", hugeBody, func(piece []byte) []byte {
		return fmt.Appendf(nil, "%x\r\n%s\r\n", len(piece), piece)
	})
}

func headerBomb(addr string) string {
	return abuse(addr, "POST / HTTP/1.1\r\nHost: hostile\r\n", hugeHeaders, func(piece []byte) []byte {
		return fmt.Appendf(nil, "X-Bomb: %s\r\n", piece[:1000])
	})
}

func bigBatch(addr string) string {
	body := "[" + string(bytes.Repeat([]byte(`{},`), hugeBatch-1)) + "{}]"
	return abuse(addr, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", headOf, len(body), body), 0, nil)
}

// abuse sends a beginning and then up to so many bytes in pieces, as long as they
// are taken, and says what the answer was.
func abuse(addr, begin string, more int64, wrap func(piece []byte) []byte) string {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()                    // nothing more is said on it
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // where it cannot be set the connection is gone
	answered := make(chan string, 1)
	go func() {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			answered <- "no answer: " + plainError(err)
			return
		}
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // as much as came
		answered <- fmt.Sprintf("HTTP %d %s", resp.StatusCode, bytes.TrimSpace(text))
	}()
	_, err = io.WriteString(conn, begin)
	sent := int64(0)
	for piece := bytes.Repeat([]byte{'x'}, 64<<10); err == nil && sent < more; {
		var n int
		out := wrap(piece)
		n, err = conn.Write(out)
		sent += int64(n)
	}
	said := <-answered
	if err == nil && more > 0 {
		said += " (it took all of it)"
	}
	return said
}

// plainError is an error without the addresses in it, so that equal ones are
// counted together.
func plainError(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
