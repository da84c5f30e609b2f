//go:build unix

package termtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// Program is what runs on a terminal.
type Program struct {
	Path string   // of the executable
	Args []string // without its name
	Env  []string // all of it; nil = Env()
	Dir  string   // "" = that of the test

	Columns, Rows int // 0 = 80, 24

	// A standard stream that is not the terminal; at least one must be it.
	Stdin, Stdout, Stderr *os.File
}

// Env is an environment that is the same everywhere: a colour terminal, UTC,
// the search path and home of the test, and extra.
func Env(extra ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC",
	}, extra...)
}

// keeper is the shell between the terminal and the program. When the leader of
// a terminal's session ends, the kernel resets the line, and nobody can see any
// more how the program left it; so the shell leads, says the program's id and
// exit code on descriptor 3, and stays until 4 is closed. What interrupts the
// program does not end the shell; when the terminal is gone, a test that crashed
// too, both end. The shell's own words ("Killed") are not shown.
const keeper = `trap : INT QUIT
exec 5>&2 2>/dev/null
sh -c 'echo $$ >&3; exec 2>&5 3>&- 4<&- 5>&-; exec "$@"' sh "$@"
echo $? >&3
read -r gone <&4`

// session is a program under its keeper.
type session struct {
	shell  *exec.Cmd
	pid    int           // of the program
	says   *bufio.Reader // the keeper's words
	pipes  [2]*os.File   // our ends: its words, and what holds it
	before *term.State   // of the line, before the program
}

// open starts p on a new terminal, and is the terminal's side of it.
func open(p Program) (*line, *session, error) {
	l, tty, err := openLine(p.Columns, p.Rows)
	if err != nil {
		return nil, nil, err
	}
	defer closeAll(tty)
	s, err := p.start(l, tty)
	if err != nil {
		closeAll(l)
		return nil, nil, err
	}
	return l, s, nil
}

func (p Program) start(l *line, tty *os.File) (*session, error) {
	before, err := l.state()
	if err != nil {
		return nil, err
	}
	says, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	held, holds, err := os.Pipe()
	if err != nil {
		closeAll(says, theirs)
		return nil, err
	}
	defer closeAll(theirs, held)
	s := &session{says: bufio.NewReader(says), pipes: [2]*os.File{says, holds}, before: before}
	if s.shell, err = p.shell(tty, theirs, held); err == nil {
		err = s.shell.Start()
	}
	if err != nil {
		closeAll(says, holds)
		return nil, err
	}
	if s.pid, err = s.number(); err != nil {
		return nil, errors.Join(fmt.Errorf("its shell said nothing: %w", err), s.kill(), s.end())
	}
	return s, nil
}

// shell is the command of the keeper, which leads a session on tty.
func (p Program) shell(tty, says, held *os.File) (*exec.Cmd, error) {
	c := exec.Command("/bin/sh", append([]string{"-c", keeper, "sh", p.Path}, p.Args...)...)
	c.Env, c.Dir, c.ExtraFiles = p.Env, p.Dir, []*os.File{says, held}
	control := -1
	for fd, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		if f == nil {
			f = tty
			control = fd
		}
		switch fd {
		case 0:
			c.Stdin = f
		case 1:
			c.Stdout = f
		case 2:
			c.Stderr = f
		}
	}
	if control < 0 {
		return nil, errors.New("none of its standard streams is the terminal")
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: control}
	return c, nil
}

// number reads one line of the keeper.
func (s *session) number() (int, error) {
	word, err := s.says.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(word))
}

// code waits for the program's end and is its exit code; not ok when the keeper
// was killed, and the program with it.
func (s *session) code() (code int, ok bool) {
	n, err := s.number()
	if err != nil {
		return 128 + int(syscall.SIGKILL), false
	}
	return n, true
}

// end lets the keeper go, and waits for it.
func (s *session) end() error {
	closeAll(s.pipes[1])
	err := s.shell.Wait()
	closeAll(s.pipes[0])
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // the program's end counts, not the shell's
	}
	return err
}

// kill ends the program, with all it started in its group.
func (s *session) kill() error {
	err := syscall.Kill(-s.shell.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// closeAll closes files of which nothing is expected any more.
func closeAll(files ...io.Closer) {
	for _, f := range files {
		f.Close()
	}
}
