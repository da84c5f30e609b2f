package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"chaintop/feed"
	"chaintop/model"
)

// terminal is an emulator that a program draws on, and a keyboard.
type terminal struct {
	*vt.SafeEmulator
	keys  *io.PipeWriter
	typed *io.PipeReader
	mu    sync.Mutex
	raw   bytes.Buffer
	drawn chan struct{}
}

func newTerminal(t *testing.T) *terminal {
	tty := &terminal{SafeEmulator: vt.NewSafeEmulator(80, 24), drawn: make(chan struct{}, 1)}
	tty.typed, tty.keys = io.Pipe()
	answers := make(chan struct{})
	go func() { // what the emulator answers must be read, or it blocks
		defer close(answers)
		_, _ = io.Copy(io.Discard, tty.SafeEmulator)
	}()
	t.Cleanup(func() {
		_ = tty.keys.Close()
		_ = tty.InputPipe().(io.Closer).Close() // Close itself races with Read
		<-answers
	})
	return tty
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.raw.Write(b)
	t.mu.Unlock()
	// Where its input is no terminal the library counts on one that maps newlines.
	if _, err := t.SafeEmulator.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	select {
	case t.drawn <- struct{}{}:
	default:
	}
	return len(b), nil
}

// shows waits for words on the screen.
func (t *terminal) shows(tb testing.TB, words string) {
	tb.Helper()
	late := time.After(10 * time.Second)
	for !strings.Contains(ansi.Strip(t.Render()), words) {
		select {
		case <-t.drawn:
		case <-late:
			tb.Fatalf("%q never came:\n%s", words, ansi.Strip(t.Render()))
		}
	}
}

// restored says whether everything that was switched on is off again.
func (t *terminal) restored(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	raw := t.raw.String()
	t.mu.Unlock()
	if t.IsAltScreen() {
		tb.Error("the alternate screen is still shown")
	}
	for what, mode := range map[string][2]string{
		"mouse":  {ansi.SetModeMouseButtonEvent, ansi.ResetModeMouseButtonEvent},
		"cursor": {ansi.ResetModeTextCursorEnable, ansi.SetModeTextCursorEnable},
		"paste":  {ansi.SetModeBracketedPaste, ansi.ResetModeBracketedPaste},
	} {
		if strings.LastIndex(raw, mode[0]) > strings.LastIndex(raw, mode[1]) {
			tb.Errorf("%s is left as the screen had set it", what)
		}
	}
}

func on(tty *terminal) []tea.ProgramOption {
	return []tea.ProgramOption{
		tea.WithInput(tty.typed), tea.WithOutput(tty), tea.WithWindowSize(80, 24),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignalHandler(),
	}
}

func start(t *testing.T, ctx context.Context, o Options, opts ...tea.ProgramOption) (*terminal, chan error) {
	tty := newTerminal(t)
	if o.Now == nil {
		o.Now = func() time.Time { return at }
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o, append(on(tty), opts...)...) }()
	return tty, ended
}

func TestRunShowsFollowsAndQuits(t *testing.T) {
	log := feed.NewLog(night())
	tty, ended := start(t, t.Context(), Options{Source: log, Sink: &sink{}})
	tty.shows(t, "arbitrum/jsonrpc ✖ unhealthy ✗ unreachable timeout×6")
	// What happens in the log is on the screen.
	m := screen(t, night(), 80, 24)
	log.Append(night(), turnTo(m, "sui/grpc", model.Unhealthy, at).events)
	tty.shows(t, "sui/grpc         ✖ unhealthy ✗ unreachable")
	// A log that ends does not end the screen.
	log.Close()
	tty.shows(t, "◇ ended")
	_, _ = tty.keys.Write([]byte("q"))
	if err := returned(t, ended); err != nil {
		t.Errorf("q ends with %v", err)
	}
	tty.restored(t)
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tty, ended := start(t, ctx, Options{Source: feed.NewLog(night())})
	tty.shows(t, "arbitrum")
	cancel()
	if err := returned(t, ended); err != nil {
		t.Errorf("an ended context ends with %v", err)
	}
	tty.restored(t)
}

// A context that has ended already must leave the terminal alone, too.
func TestRunWithAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tty, ended := start(t, ctx, Options{Source: feed.NewLog(night())})
	if err := returned(t, ended); err != nil {
		t.Errorf("ends with %v", err)
	}
	tty.restored(t)
}

// panics is a source that panics when it is asked for the picture, or later when
// told to.
type panics struct {
	feed.Source
	early bool
	now   chan struct{}
}

func (p panics) Snapshot(ctx context.Context) (*model.Instance, feed.Cursor, error) {
	if p.early {
		panic("a bug of ours")
	}
	return p.Source.Snapshot(ctx)
}

func (p panics) After(ctx context.Context, at feed.Cursor) ([]model.Event, feed.Cursor, error) {
	select {
	case <-p.now:
		panic("a bug of ours")
	case <-ctx.Done():
		return nil, at, ctx.Err()
	}
}

// A panic in a goroutine of ours, which the library does not see, used to leave
// the terminal raw. It is kept, and Run returns it; one before the program had
// set its terminal up left it set up for good.
func TestRunRestoresAfterAPanicOfItsGoroutine(t *testing.T) {
	for _, early := range []bool{false, true} {
		now := make(chan struct{})
		tty, ended := start(t, t.Context(), Options{Source: panics{feed.NewLog(night()), early, now}})
		if !early {
			tty.shows(t, "arbitrum")
			close(now)
		}
		err := returned(t, ended)
		var p *PanicError
		if !errors.As(err, &p) || p.Value != "a bug of ours" || !bytes.Contains(p.Stack, []byte("ui.panics.")) {
			t.Fatalf("Run returned %v", err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("the error is more than a line: %q", err)
		}
		tty.restored(t)
	}
}

// returned is what Run returned, within a bound.
func returned(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("Run does not return")
		return nil
	}
}

// A panic in Update is the library's to recover; the terminal is restored and
// Run returns an error.
func TestRunRestoresAfterAPanicInUpdate(t *testing.T) {
	silence(t)
	var told atomic.Bool
	clock := func() time.Time {
		if told.Load() {
			panic("a bug of ours")
		}
		return at
	}
	tty, ended := start(t, t.Context(), Options{Source: feed.NewLog(night()), Now: clock})
	tty.shows(t, "arbitrum")
	told.Store(true)
	_, _ = tty.keys.Write([]byte("j"))
	if err := returned(t, ended); !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("Run returned %v", err)
	}
	tty.restored(t)
}

// silence keeps the library's stack trace out of the test's output.
func silence(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = null
	t.Cleanup(func() {
		os.Stderr = was
		_ = null.Close()
	})
}

// With NoColor no colour reaches the terminal, whatever the terminal says it has.
func TestRunWithoutColour(t *testing.T) {
	tty, ended := start(t, t.Context(), Options{Source: feed.NewLog(night()), NoColor: true, Banner: "DEMO"},
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}))
	tty.shows(t, "arbitrum")
	_, _ = tty.keys.Write([]byte("q"))
	if err := returned(t, ended); err != nil {
		t.Fatal(err)
	}
	tty.mu.Lock()
	defer tty.mu.Unlock()
	for _, sgr := range regexp.MustCompile(`\x1b\[([0-9;:]*)m`).FindAllStringSubmatch(tty.raw.String(), -1) {
		for p := range strings.SplitSeq(sgr[1], ";") {
			if n, _ := strconv.Atoi(p); n >= 30 {
				t.Errorf("the terminal was sent %q", sgr[0])
			}
		}
	}
	if !strings.Contains(tty.raw.String(), "\x1b[1;7m") {
		t.Error("the selected row is not marked")
	}
}
