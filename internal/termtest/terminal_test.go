//go:build unix

package termtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestScreenShowsWhatWasDrawn(t *testing.T) {
	term := sh(t, `printf 'one\r\n\033[31mtwo\033[0m\033[1;10Hfar\033[4;1H● 高x'; read x`, 20, 5)
	must(t, term.WaitText(t.Context(), "x"))
	want := "one      far\ntwo\n\n● 高x\n\n"
	if got := term.Screen(); got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
	if !strings.Contains(term.Styled(), "\x1b[31mtwo") {
		t.Errorf("the colour is lost: %q", term.Styled())
	}
	if !bytes.Contains(term.Output(), []byte("\x1b[31mtwo\x1b[0m")) {
		t.Errorf("output %q", term.Output())
	}
}

func TestTypedKeysReachTheProgram(t *testing.T) {
	term := sh(t, `printf 'ready\n'; read x; printf 'got <%s>\n' "$x"; exit 7`)
	must(t, term.WaitText(t.Context(), "ready"))
	must(t, term.Type("probe now\r"))
	end(t, term, 7)
	if !strings.Contains(term.Screen(), "got <probe now>") {
		t.Errorf("screen:\n%s", term.Screen())
	}
	if err := term.Type("q"); !errors.Is(err, ErrEnded) {
		t.Errorf("typing to nobody: %v", err)
	}
	if err := term.Resize(10, 10); !errors.Is(err, ErrEnded) {
		t.Errorf("resizing for nobody: %v", err)
	}
	if err := term.Signal(syscall.SIGTERM); !errors.Is(err, ErrEnded) {
		t.Errorf("a signal to nobody: %v", err)
	}
}

// A program that asks its terminal waits for the answer; and the terminal,
// which answers through a pipe, must not wait for the program.
func TestTerminalAnswersQuestions(t *testing.T) {
	term := sh(t, `stty -icanon -echo min 1 time 0; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; printf 'done\n'`)
	must(t, term.WaitText(t.Context(), "done"))
	if got := strings.Join(strings.Fields(term.Screen()), " "); !strings.HasPrefix(got, "033 [ 1 ; 1 R") {
		t.Errorf("the cursor's place came back as %q", got)
	}
}

func TestAProgramThatNeverReads(t *testing.T) {
	for range 3 {
		term, err := Start(Program{Path: "/bin/sh", Args: []string{"-c", `stty raw -echo; i=0
			while [ $i -lt 20000 ]; do printf '\033[6n'; i=$((i+1)); done; printf '\033[2J\033[Hasked\n'; exec sleep 1000`}})
		must(t, err)
		ok(t, term.WaitText(t.Context(), "asked"))
		// To ask for size and state must not make the writes below block for ever.
		ok(t, term.Resize(70, 20))
		if left := term.Leftovers(); len(left) != 1 {
			t.Errorf("left over: %q", left)
		}
		for range 2 * maxTyped {
			if err = term.Type(strings.Repeat("x", 4096)); err != nil {
				break
			}
		}
		if err == nil {
			t.Error("what a program does not read is kept for ever")
		}
		ok(t, term.Close())
	}
}

func TestResizeIsHeard(t *testing.T) {
	term := sh(t, `trap 'stty size' WINCH; stty size; echo up; while :; do read x && exit 0; done`, 100, 30)
	must(t, term.WaitText(t.Context(), "30 100"))
	must(t, term.WaitText(t.Context(), "up"))
	must(t, term.Resize(60, 16))
	must(t, term.Type("\r"))
	must(t, term.WaitText(t.Context(), "16 60"))
	if lines := strings.Count(term.Screen(), "\n"); lines != 16 {
		t.Errorf("the screen has %d lines", lines)
	}
}

func TestHowProgramsEnd(t *testing.T) {
	for _, c := range []struct {
		name, script string
		end          func(*Terminal) error
		want         int
	}{
		{"by itself", `echo up; exit 3`, nil, 3},
		{"by a signal it does not take", `echo up; exec sleep 1000`, func(t *Terminal) error { return t.Signal(syscall.SIGTERM) }, 128 + 15},
		{"by a signal it takes", `trap 'exit 4' TERM; echo up; read x; exit 5`, func(t *Terminal) error { return t.Signal(syscall.SIGTERM) }, 4},
		{"by ctrl+c", `echo up; exec sleep 1000`, func(t *Terminal) error { return t.Type("\x03") }, 128 + 2},
		{"by ctrl+\\", `ulimit -c 0; echo up; exec sleep 1000`, func(t *Terminal) error { return t.Type("\x1c") }, 128 + 3},
		{"with a child left behind", `sleep 1000 & echo up; exit 0`, nil, 0},
		{"with a program that is not there", `echo up; exec /nowhere`, nil, 127},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			term := sh(t, c.script)
			must(t, term.WaitText(t.Context(), "up"))
			if c.end != nil {
				must(t, c.end(term))
			}
			end(t, term, c.want)
			if !strings.Contains(term.Screen(), "up") {
				t.Error("what it wrote is gone with it")
			}
			if strings.Contains(term.Screen(), "Terminated") {
				t.Errorf("the screen has words of others:\n%s", term.Screen())
			}
		})
	}
}

// The last words of a program that ends at once were lost when its end was
// taken for the end of its output.
func TestNothingWrittenIsLost(t *testing.T) {
	for range 20 {
		term := sh(t, `i=0; while [ $i -lt 300 ]; do echo "line $i"; i=$((i+1)); done`)
		end(t, term, 0)
		if !strings.Contains(term.Screen(), "line 299\n") || bytes.Count(term.Output(), []byte("\n")) != 300 {
			t.Fatalf("%d lines of 300; screen:\n%s", bytes.Count(term.Output(), []byte("\n")), term.Screen())
		}
	}
}

func TestCloseKills(t *testing.T) {
	alive, held, err := os.Pipe()
	must(t, err)
	defer closeAll(alive)
	term, err := Start(Program{Path: "/bin/sh", Stderr: held,
		Args: []string{"-c", `trap '' TERM HUP INT; echo up; while :; do sleep 1000; done`}})
	must(t, err)
	closeAll(held)
	must(t, term.WaitText(t.Context(), "up"))
	must(t, syscall.Kill(term.PID(), 0))
	must(t, term.Close())
	must(t, term.Close())
	end(t, term, 128+9)
	must(t, alive.SetReadDeadline(time.Now().Add(10*time.Second)))
	if n, err := alive.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the program, or a child of it, still holds its pipe: %d, %v", n, err)
	}
}

// A test that crashes closes the terminal and nothing else; its program once
// lived on.
func TestProgramEndsWithItsTerminal(t *testing.T) {
	alive, held, err := os.Pipe()
	must(t, err)
	defer closeAll(alive)
	l, s, err := open(Program{Path: "/bin/sh", Args: []string{"-c", "exec sleep 1000"}, Env: Env(), Stderr: held, Columns: 80, Rows: 24})
	must(t, err)
	closeAll(held, l)
	must(t, alive.SetReadDeadline(time.Now().Add(10*time.Second)))
	if n, err := alive.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the program still holds its pipe: %d, %v", n, err)
		ok(t, s.kill())
	}
	ok(t, s.end())
}

func TestWaitForSaysWhatItSaw(t *testing.T) {
	term := sh(t, `echo nearly; read x`)
	must(t, term.WaitText(t.Context(), "nearly"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err := term.WaitText(ctx, "there")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nearly") {
		t.Errorf("%v", err)
	}
	if _, err := term.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nearly") {
		t.Errorf("%v", err)
	}
	must(t, term.Type("\r"))
	err = term.WaitText(t.Context(), "there")
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "nearly") {
		t.Errorf("after the end: %v", err)
	}
	ok(t, term.WaitText(t.Context(), "nearly"))
}

func TestStreamsThatAreNotTheTerminal(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must(t, err)
	defer closeAll(out)
	term, err := Start(Program{Path: "/bin/sh", Args: []string{"-c", `echo to a file; [ -t 0 ] && echo seen >&2; tty >&2`}, Stdout: out})
	must(t, err)
	end(t, term, 0)
	must(t, term.Close())
	got, err := os.ReadFile(out.Name())
	if err != nil || string(got) != "to a file\n" || !strings.HasPrefix(term.Screen(), "seen\n/dev/pts/") {
		t.Errorf("%q, %v; screen:\n%s", got, err, term.Screen())
	}
	if _, err := Start(Program{Path: "/bin/sh", Stdin: out, Stdout: out, Stderr: out}); err == nil {
		t.Error("a terminal nobody uses")
	}
}

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	term, err := Start(Program{Path: "/bin/sh", Args: []string{"-c", `echo "$TERM $TZ $MINE"; pwd`}, Env: Env("MINE=yes"), Dir: dir})
	must(t, err)
	defer func() { ok(t, term.Close()) }()
	end(t, term, 0)
	if want := "xterm-256color UTC yes\n" + dir; !strings.HasPrefix(term.Screen(), want) {
		t.Errorf("want %q; screen:\n%s", want, term.Screen())
	}
}

func TestStartFails(t *testing.T) {
	if _, err := Start(Program{Path: "/bin/sh", Dir: "/nowhere"}); err == nil {
		t.Error("no error for a folder that is not there")
	}
}
