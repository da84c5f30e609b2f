//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one that was started here.
type process struct {
	name string
	last syscall.Signal // what ends it
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	said *tail         // the end of what it wrote
	out  io.ReadCloser // what it says of itself; nil unless it is one of ours
}

// brood is every process that was started here.
type brood struct {
	mu  sync.Mutex
	all []*process
}

// start starts a program that ends by the signal last: at the end, and should
// this process be killed.
func (b *brood) start(name string, last syscall.Signal, ours bool, program string, args ...string) (*process, error) {
	p := &process{name: name, last: last, cmd: exec.Command(program, args...), done: make(chan struct{}), said: &tail{}}
	// A group of its own: ctrl-C is for this process, which ends the others.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: last}
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	if ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
		defer func() { _ = w.Close() }() // the child has its own
		p.out, p.cmd.Stdout = r, w
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code says nothing: most are killed
		close(p.done)
	}()
	b.mu.Lock()
	b.all = append(b.all, p)
	b.mu.Unlock()
	return p, nil
}

// again starts this very program in another role and returns where it listens.
func (b *brood) again(name, role string, args ...string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, err := b.start(name, syscall.SIGKILL, true, self, append([]string{"-role", role}, args...)...)
	if err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(p.out).ReadString('\n')
	if err != nil {
		p.end()
		return nil, "", fmt.Errorf("start %s: it said nothing: %s", name, p.said)
	}
	return p, strings.TrimSpace(line), nil
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s to %s: %w", s, p.name, err)
	}
	return nil
}

// kill is kill -9, and waits until it is over.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL) // it is gone, or goes now
	<-p.done
}

// end ends it. Nothing here has anything to save, but nginx has workers to end.
func (p *process) end() {
	_ = p.signal(p.last) // as in kill
	select {
	case <-p.done:
	case <-time.After(2 * time.Second):
		p.kill()
	}
	if p.out != nil {
		_ = p.out.Close() // it was read
	}
}

// end ends all of them.
func (b *brood) end() {
	b.mu.Lock()
	all := b.all
	b.all = nil
	b.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		all[i].end()
	}
}

// rss is the memory of a process and its children, in MiB.
func (p *process) rss() float64 {
	sum := residentOf(p.cmd.Process.Pid)
	for _, child := range p.children() {
		sum += residentOf(child)
	}
	return sum
}

// children are the processes it started that have not ended.
func (p *process) children() []int {
	pid := p.cmd.Process.Pid
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // none: it has none, or has ended
	var all []int
	for child := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(child); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func residentOf(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)) // as above
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

// answers waits until somebody listens at addr.
func (p *process) answers(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended at once: %s", p.name, p.said)
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen on %s: %s", p.name, addr, p.said)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// freePort is an address nobody listened on a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
