package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"chaintop/internal/termtest"
)

func onTerminal(t *testing.T, p termtest.Program) *termtest.Terminal {
	t.Helper()
	if p.Path == "" {
		p.Path = built(t)
	}
	term, err := termtest.Start(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.Close(); err != nil {
			t.Error(err)
		}
	})
	return term
}

func see(t *testing.T, term *termtest.Terminal, texts ...string) {
	t.Helper()
	err := term.WaitFor(t.Context(), func(s string) bool {
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatalf("want %q: %v", texts, err)
	}
}

func press(t *testing.T, term *termtest.Terminal, keys string) {
	t.Helper()
	if err := term.Type(keys); err != nil {
		t.Fatal(err)
	}
}

// ended wants an exit code and a terminal as it was.
func ended(t *testing.T, term *termtest.Terminal, code int) {
	t.Helper()
	got, err := term.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("exit code %d, want %d; the screen:\n%s", got, code, term.Screen())
	}
	if left := term.Leftovers(); len(left) > 0 {
		t.Errorf("left of the terminal: %v", left)
	}
}

// S7: whatever ends the screen, the terminal is as it was.
func TestTerminalRestored(t *testing.T) {
	for name, end := range map[string]func(*termtest.Terminal) error{
		"q":       func(term *termtest.Terminal) error { return term.Type("q") },
		"ctrl+c":  func(term *termtest.Terminal) error { return term.Type("\x03") },
		"SIGTERM": func(term *termtest.Terminal) error { return term.Signal(syscall.SIGTERM) },
		"SIGINT":  func(term *termtest.Terminal) error { return term.Signal(syscall.SIGINT) },
		"SIGHUP":  func(term *termtest.Terminal) error { return term.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			term := onTerminal(t, termtest.Program{})
			see(t, term, "DEMO", "? help")
			if !term.IsAltScreen() {
				t.Error("it draws over what was there")
			}
			if err := end(term); err != nil {
				t.Fatal(err)
			}
			ended(t, term, 0)
		})
	}
}

// A panic once left the terminal raw, without echo and in the other screen.
func TestTerminalRestoredAfterAPanic(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"update": "a bug in Update", "reader": "a bug in a reader", "try": "a bug in a try",
	} {
		t.Run(where, func(t *testing.T) {
			term := onTerminal(t, termtest.Program{Path: self, Env: termtest.Env("CHAINTOP_TEST_PANIC=" + where)})
			if where == "update" {
				see(t, term, "? help")
				press(t, term, "x")
			}
			ended(t, term, 1)
			if out := string(term.Output()); !strings.Contains(out, text) || !strings.Contains(out, "goroutine") {
				t.Errorf("the panic is not told: %s", term.Screen())
			}
		})
	}
}

func TestTerminalShowsTheDemo(t *testing.T) {
	term := onTerminal(t, termtest.Program{Columns: 120, Rows: 40})
	see(t, term, "DEMO", "quiet/jsonrpc", "stalls/jsonrpc", "refuses/jsonrpc", "✓ healthy", "timeout")
	press(t, term, "?")
	see(t, term, "DEMO", "Help")
	press(t, term, "?")
	see(t, term, "SERVING")
	press(t, term, "P")
	see(t, term, "manual: ")
	press(t, term, "q")
	ended(t, term, 0)
}

// x injects a fault into the demo and heals it; every act is echoed.
func TestTerminalDemoTakesFaults(t *testing.T) {
	term := onTerminal(t, termtest.Program{Args: []string{"demo", "--scenario", "quiet"}, Columns: 120, Rows: 40})
	see(t, term, "DEMO", "scenario quiet", "● READY")
	press(t, term, "/polygon\r")
	see(t, term, "1 of 8")
	press(t, term, "\r")
	see(t, term, "bor-1", "UPSTREAMS")
	press(t, term, "x")
	see(t, term, "kill")
	press(t, term, "\r")
	see(t, term, "BACKUP", "bor-1 kill → accepted", "refused")
	press(t, term, "x")
	see(t, term, "heal")
	press(t, term, strings.Repeat("j", 7)+"\r") // the last of the menu
	see(t, term, "bor-1 heal → accepted", "serving bor-1")
	press(t, term, "q")
	ended(t, term, 0)
}

// A file without chains is no demo, and says what to do.
func TestTerminalOfAnEmptyConfig(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "empty.yml"), []byte("instance: {name: gw-1}\n\nchains: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term := onTerminal(t, termtest.Program{Args: []string{"--config", "empty.yml"}, Dir: dir, Columns: 120})
	see(t, term, "gw-1", "READY", "no chains in empty.yml (line 3, chains: []) · chaintop config example")
	press(t, term, "q")
	ended(t, term, 0)
}

// A node is killed and started again under a screen that stays.
func TestTerminalStaysWhileANodeIsKilled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	serve := func(l net.Listener) *httptest.Server {
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(evm)}}
		s.Start()
		return s
	}
	node := serve(l)
	term := onTerminal(t, termtest.Program{Args: []string{"http://" + addr}})
	see(t, term, "● READY", "● healthy", "✓ healthy", addr)
	node.CloseClientConnections()
	node.Close()
	press(t, term, "p")
	see(t, term, "✖ NOT READY", "✖ unhealthy", "✗ unreachable", "refused")
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	node = serve(l)
	defer node.Close()
	press(t, term, "p")
	see(t, term, "● READY", "✓ healthy")
	press(t, term, "q")
	ended(t, term, 0)
}

func TestTerminalWithoutColour(t *testing.T) {
	for _, tt := range []struct {
		env    string
		colour bool
	}{{"NO_COLOR=", true}, {"NO_COLOR=yes", false}} {
		term := onTerminal(t, termtest.Program{Env: termtest.Env(tt.env)})
		see(t, term, "DEMO", "✓ healthy")
		if got := strings.Contains(string(term.Output()), "\x1b[38;"); got != tt.colour {
			t.Errorf("%s: coloured %v", tt.env, got)
		}
		press(t, term, "q")
		ended(t, term, 0)
	}
}

// A screen logs to the file of --log and nowhere else, a line a probe (H5).
func TestTerminalLogsToItsFile(t *testing.T) {
	node := httptest.NewServer(http.HandlerFunc(evm))
	defer node.Close()
	file := filepath.Join(t.TempDir(), "chaintop.log")
	term := onTerminal(t, termtest.Program{Args: []string{node.URL, "--log", file}})
	see(t, term, "● READY")
	press(t, term, "q")
	ended(t, term, 0)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "msg=probe") || !strings.Contains(string(text), "verdict=healthy health=healthy tries=1") {
		t.Errorf("the log: %v\n%s", err, text)
	}
	if strings.Contains(string(term.Output()), "msg=probe") {
		t.Error("a log line is on the screen")
	}
}

func TestTerminalASCII(t *testing.T) {
	for name, p := range map[string]termtest.Program{
		"flag":   {Args: []string{"demo", "--ascii"}},
		"locale": {Args: []string{"demo"}, Env: termtest.Env("LC_ALL=C")},
		"linux":  {Args: []string{"demo"}, Env: termtest.Env("TERM=linux")},
	} {
		t.Run(name, func(t *testing.T) {
			term := onTerminal(t, p)
			see(t, term, "DEMO", "+ healthy")
			for _, r := range term.Screen() {
				if r > 126 {
					t.Fatalf("%q on the screen:\n%s", r, term.Screen())
				}
			}
			press(t, term, "q")
			ended(t, term, 0)
		})
	}
}

func TestTerminalTooSmall(t *testing.T) {
	term := onTerminal(t, termtest.Program{Columns: 50, Rows: 12})
	see(t, term, "50×12 is too small, 60×16 is needed")
	if err := term.Resize(80, 24); err != nil {
		t.Fatal(err)
	}
	see(t, term, "CHAIN", "? help")
	press(t, term, "q")
	ended(t, term, 0)
}

// What a node says and what its URL hides reach no terminal (X1, X2).
func TestTerminalOfAHostileNode(t *testing.T) {
	evil := "\x1b]52;c;ZXZpbA==\a\x1b]0;owned\a\x1b[2J\x1b[6n\u009b31m\u202egnp.exe\x1b]8;;http://evil"
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "%s key %s", evil, r.URL.Path)
	}))
	defer node.Close()
	term := onTerminal(t, termtest.Program{Args: []string{strings.Replace(node.URL, "//", "//ann:hunter2hunter2@", 1) + "/v2/s3cr3tk3yabcdef"}})
	see(t, term, "403", "~ inconclusive")
	press(t, term, "\r")
	see(t, term, "403", "key")
	out := string(term.Output())
	for _, bad := range []string{"]52;", "owned", "\x1b[6n", "\u009b", "\u202e", "]8;;", "s3cr3tk3y", "hunter2"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	press(t, term, "q")
	ended(t, term, 0)
}
