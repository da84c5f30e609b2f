package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"chaintop/feed"
	"chaintop/internal/core"
	"chaintop/model"
	"chaintop/ui"
)

func TestMain(m *testing.M) {
	if where := os.Getenv("CHAINTOP_TEST_PANIC"); where != "" {
		os.Exit(panicIn(where))
	}
	testscript.Main(m, map[string]func(){"chaintop": main})
}

// binary is the program as users run it, built once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "chaintop")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "chaintop")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, nil
})

func built(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScripts runs the command line by script. `code N chaintop …` wants the
// exit code N. NODE is a node that answers, KEYED refuses every key, DEAD is a
// port where nothing listens.
func TestScripts(t *testing.T) {
	node := httptest.NewServer(http.HandlerFunc(evm))
	t.Cleanup(node.Close) // scripts run on after this function
	keyed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "invalid project id", http.StatusForbidden)
	}))
	t.Cleanup(keyed.Close)
	dead := deadPort(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NODE", node.URL)
			e.Setenv("KEYED", keyed.URL)
			e.Setenv("DEAD", dead)
			e.Setenv("TERM", "xterm-256color")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": wantCode, "waitline": waitLine, "envfrom": envFrom},
	})
}

// waitLine waits, 20 s at most, until a file has a line for each pattern:
// waitline FILE PATTERN…
func waitLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: waitline file pattern…")
	}
	path := ts.MkAbs(args[0])
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	end := time.After(20 * time.Second)
	for _, pattern := range args[1:] {
		line, err := regexp.Compile("(?m)" + pattern)
		ts.Check(err)
		for {
			text, _ := os.ReadFile(path) // it may not be there yet
			if line.Match(text) {
				break
			}
			select {
			case <-look.C:
			case <-end:
				ts.Fatalf("no line %q in %s:\n%s", pattern, args[0], text)
			}
		}
	}
}

// envFrom sets a variable to what the group of a pattern matches in a file:
// envfrom VAR FILE PATTERN
func envFrom(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: envfrom var file pattern")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	m := pattern.FindStringSubmatch(ts.ReadFile(args[1]))
	if len(m) != 2 {
		ts.Fatalf("no %q in %s", args[2], args[1])
	}
	ts.Setenv(args[0], m[1])
}

func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // testscript hands it over as it is
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// deadPort is a URL nobody answers at.
func deadPort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only its port was wanted
	return "http://" + l.Addr().String()
}

// panicIn is the program with a fault of ours in it, for the tests of what a
// terminal looks like afterwards.
func panicIn(where string) int {
	var opts []tea.ProgramOption
	var src feed.Source = still{}
	var prober core.Prober = quietProber{}
	switch where {
	case "update":
		opts = append(opts, tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "x" {
				panic("a bug in Update")
			}
			return msg
		}))
	case "reader":
		src = bursting{}
	case "try":
		prober = burstingProber{}
	case "keys":
		w, err := watchURLs([]string{os.Getenv("CHAINTOP_TEST_URL")}, defaultAsked())
		if err != nil {
			panic(err)
		}
		prober = tellingProber{w}
	}
	c, err := core.New(core.Options{
		Instance: model.Instance{Name: "gw", Epoch: "e", Policy: model.ReadyAll, Chains: []*model.Chain{{
			Name: "x", Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM),
			Upstreams: []model.Upstream{{Name: "a"}},
		}}},
		Prober: prober,
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- c.Run(ctx)
		cancel()
	}()
	if where == "try" || where == "keys" {
		src = c.Log()
	}
	err = ui.Run(ctx, ui.Options{Source: src, Sink: c, Now: c.Now}, opts...)
	cancel()
	if err = crash(os.Stderr, err, <-ended); err != nil {
		tell(os.Stderr, err.Error())
		return exitUnreachable
	}
	return 0
}

// still is a source where nothing happens.
type still struct{}

func (still) Snapshot(context.Context) (*model.Instance, feed.Cursor, error) {
	return &model.Instance{Name: "still"}, feed.Cursor{}, nil
}

func (still) After(ctx context.Context, at feed.Cursor) ([]model.Event, feed.Cursor, error) {
	<-ctx.Done()
	return nil, at, ctx.Err()
}

// bursting panics in the goroutine that reads it, a moment after the start.
type bursting struct{ still }

func (bursting) After(context.Context, feed.Cursor) ([]model.Event, feed.Cursor, error) {
	<-time.After(500 * time.Millisecond)
	panic("a bug in a reader")
}

type quietProber struct{}

func (quietProber) Try(ctx context.Context, _, _ int) (model.Outcome, error) {
	<-ctx.Done()
	return model.Outcome{}, context.Canceled
}

func (quietProber) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	return model.Told{}, nil
}

type burstingProber struct{ quietProber }

func (burstingProber) Try(context.Context, int, int) (model.Outcome, error) {
	<-time.After(500 * time.Millisecond)
	panic("a bug in a try")
}

// tellingProber asks, and panics with everything it has.
type tellingProber struct{ w *watch }

func (p tellingProber) Try(ctx context.Context, chain, upstream int) (model.Outcome, error) {
	o, err := p.w.targets.Try(ctx, chain, upstream)
	panic(fmt.Sprintf("a bug with %v %+v %#v %v %v", p.w, *p.w, p.w.targets, o, err))
}

func (tellingProber) Facts(context.Context, int, int, model.Questions) (model.Told, error) {
	return model.Told{}, nil
}
