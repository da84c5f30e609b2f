// Command chaintop judges RPC chains and shows, live, how they are.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
)

// Exit codes (SPEC 5).
const (
	exitHealthy      = 0 // healthy, or simply done
	exitUnreachable  = 1 // unreachable, or not reached in time
	exitUsage        = 2 // a fault in what was asked: a flag, a URL, a file
	exitInconclusive = 3
)

func main() {
	// net/http writes what a server says unasked to the standard logger: that
	// is the screen, and a stranger's bytes.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	sig := &signals{stop: stop}
	sig.listen()
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, signals: sig})
	stop()
	os.Exit(code)
}

// signals hands the signals that ask the process to end to whoever takes them,
// once each for the first two; a third one is the system's. Nobody takes them at
// first: then the first ends the program's context and the second the process.
type signals struct {
	stop context.CancelFunc
	take atomic.Pointer[func(name string)]
}

// to hands them to f from now on. A nil receiver is a process without signals.
func (s *signals) to(f func(name string)) {
	if s != nil {
		s.take.Store(&f)
	}
}

func (s *signals) listen() {
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for n := 1; ; n++ {
			name := signalName(<-ch)
			take := s.take.Load()
			if take == nil {
				s.stop()
			} else {
				(*take)(name)
			}
			if take == nil || n == 2 {
				signal.Stop(ch)
				return
			}
		}
	}()
}

func signalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

// streams are the process's ends to the outside.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	signals  *signals // nil: there are none
}

// exitCode is an error that has been told already, or needs no telling.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is a fault in what was asked. Its text names the field, file or
// flag.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, s streams) int {
	cmd := rootCommand(s)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var code exitCode
	var fault usageError
	switch {
	case err == nil:
		return exitHealthy
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &fault):
		tell(s.err, fault.text)
		return exitUsage
	}
	tell(s.err, err.Error())
	return exitUnreachable
}

// tell writes faults, one line each.
func tell(w io.Writer, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		_, _ = fmt.Fprintf(w, "chaintop: %s\n", strings.TrimSpace(line)) // there is nobody else to tell
	}
}
