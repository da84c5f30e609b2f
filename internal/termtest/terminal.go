//go:build unix

package termtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/term"
)

// maxOutput bounds what Output keeps, in bytes.
const maxOutput = 16 << 20

// maxTyped is how many writes to the program wait before Type fails.
const maxTyped = 1024

// ErrEnded says that the program has ended.
var ErrEnded = errors.New("the program has ended")

// Terminal is a terminal with a program on it. It is safe for concurrent use.
type Terminal struct {
	line    *line
	session *session
	typed   chan []byte   // to the program: keys, and the terminal's answers
	over    chan struct{} // closed when the program has ended and all it wrote is on the screen
	ended   chan struct{} // closed when nothing of the terminal runs any more

	code  int         // the program's exit code; written before over
	after *term.State // the line as the program left it, nil if it was killed; written before over
	err   error       // of the end; written before ended

	mu     sync.Mutex   // held for each write of the program, so that a screen is whole
	screen *vt.Emulator // written under mu; its answers are read without it, or a write that asks would wait for ever
	modes  modes
	output []byte
}

// Start runs p on a terminal of its own.
func Start(p Program) (*Terminal, error) {
	if p.Columns <= 0 || p.Rows <= 0 {
		p.Columns, p.Rows = 80, 24
	}
	if p.Env == nil {
		p.Env = Env()
	}
	line, s, err := open(p)
	if err != nil {
		return nil, fmt.Errorf("start %s on a terminal: %w", p.Path, err)
	}
	t := &Terminal{
		line: line, session: s,
		typed: make(chan []byte, maxTyped), over: make(chan struct{}), ended: make(chan struct{}),
		screen: vt.NewEmulator(p.Columns, p.Rows),
	}
	t.modes.watch(t.screen)
	go t.run()
	return t, nil
}

// run carries bytes both ways until the program has ended.
func (t *Terminal) run() {
	defer close(t.ended)
	var drawing, talking sync.WaitGroup
	drawing.Go(t.draw)
	talking.Go(t.sendTyped)
	talking.Go(t.sendAnswers)

	code, ok := t.session.code()
	var err error
	if t.code = code; ok {
		t.after, err = t.line.state()
	}
	err = errors.Join(err, t.session.end())
	drawing.Wait() // now nobody has the terminal open
	close(t.over)

	t.mu.Lock() // no resize meanwhile
	closeAll(t.line)
	t.mu.Unlock()
	if in, ok := t.screen.InputPipe().(io.Closer); ok {
		closeAll(in) // and not the emulator: its Close races with a Read
	}
	talking.Wait()
	t.err = err
}

// draw puts what the program writes on the screen, until nobody has the
// terminal open any more.
func (t *Terminal) draw() {
	buf := make([]byte, 32<<10)
	for {
		n, err := t.line.Read(buf)
		if n > 0 {
			t.mu.Lock()
			_, _ = t.screen.Write(buf[:n]) // an emulator that is open takes all
			t.keep(buf[:n])
			t.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// keep adds to the output; beyond its bound the older half goes.
func (t *Terminal) keep(b []byte) {
	if len(t.output)+len(b) > maxOutput {
		t.output = slices.Clone(t.output[len(t.output)/2:])
	}
	t.output = append(t.output, b...)
}

// sendTyped writes to the program. It is one goroutine, so that keys and
// answers do not mix.
func (t *Terminal) sendTyped() {
	for {
		select {
		case b := <-t.typed:
			if _, err := t.line.Write(b); err != nil {
				return
			}
		case <-t.over:
			return
		}
	}
}

// sendAnswers takes what the terminal answers to the program's questions. A
// program that does not read loses its answers, not its terminal.
func (t *Terminal) sendAnswers() {
	buf := make([]byte, 4<<10)
	for {
		n, err := t.screen.Read(buf)
		if err != nil {
			return
		}
		select {
		case t.typed <- slices.Clone(buf[:n]):
		default:
		}
	}
}

// Type sends bytes to the program, as keys would: "q", "\x1b[A", "\x03". It
// does not wait until they are read.
func (t *Terminal) Type(keys string) error {
	if t.isOver() {
		return ErrEnded
	}
	select {
	case t.typed <- []byte(keys):
		return nil
	default:
		return errors.New("the program does not read what is typed")
	}
}

// Resize changes the terminal's size, and the program hears of it.
func (t *Terminal) Resize(columns, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isOver() {
		return ErrEnded
	}
	t.screen.Resize(columns, rows)
	if err := t.line.resize(columns, rows); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// Signal sends a signal to the program, and to it alone.
func (t *Terminal) Signal(s syscall.Signal) error {
	if t.isOver() {
		return ErrEnded
	}
	if err := syscall.Kill(t.session.pid, s); err != nil {
		return fmt.Errorf("signal %v: %w", s, err)
	}
	return nil
}

// PID is the program's process id.
func (t *Terminal) PID() int { return t.session.pid }

// Wait waits for the program's end, for 30 s at most if ctx has no deadline,
// and returns its exit code; 128 and the number of the signal that ended it. By
// then all it wrote is on the screen.
func (t *Terminal) Wait(ctx context.Context) (int, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	select {
	case <-t.over:
		return t.code, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the program's end: %w; last screen:\n%s", context.Cause(ctx), t.Screen())
	}
}

// Close kills the program if it still runs, with all it started in its group,
// and returns when nothing of the terminal runs any more.
func (t *Terminal) Close() error {
	if !t.isOver() {
		if err := t.session.kill(); err != nil {
			return fmt.Errorf("kill the program: %w", err)
		}
	}
	<-t.ended
	return t.err
}

func (t *Terminal) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}
