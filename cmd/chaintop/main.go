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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	stop()
	os.Exit(code)
}

// streams are the process's ends to the outside.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
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
