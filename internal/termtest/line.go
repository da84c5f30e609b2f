//go:build unix

package termtest

import (
	"errors"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// line is our side of a pseudo-terminal. Reads and writes end at Close, which
// takes a descriptor that does not block: a blocked write to a program that
// never reads outlives that program. To ask for such a file's descriptor would
// make it block again, so questions go to another file on the same terminal.
type line struct {
	*os.File          // bytes
	asks     *os.File // size and state
}

// openLine is a new pseudo-terminal: our side, and the program's.
func openLine(columns, rows int) (*line, *os.File, error) {
	master, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer closeAll(master)
	asks, err := another(master, false)
	if err != nil {
		closeAll(tty)
		return nil, nil, err
	}
	data, err := another(asks, true)
	if err != nil {
		closeAll(tty, asks)
		return nil, nil, err
	}
	l := &line{File: data, asks: asks}
	if err := l.resize(columns, rows); err != nil {
		closeAll(tty, l)
		return nil, nil, err
	}
	return l, tty, nil
}

// another is a second file on what f has open. Whether it blocks goes for both.
func another(f *os.File, nonblock bool) (*os.File, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if err := syscall.SetNonblock(fd, nonblock); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), syscall.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// resize sets the size, of which the kernel tells the program.
func (l *line) resize(columns, rows int) error {
	return pty.Setsize(l.asks, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
}

// state is how the line handles bytes: echo, raw, control keys.
func (l *line) state() (*term.State, error) { return term.GetState(int(l.asks.Fd())) }

func (l *line) Close() error { return errors.Join(l.File.Close(), l.asks.Close()) }
