package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"chaintop/feed"
	"chaintop/model"
)

// A client of the feed is what a screen on an instance elsewhere is given.
var _ Remote = (*feed.Client)(nil)

// attached is the night over a feed in a state.
func attached(t *testing.T, w, h int, r *fakeRemote, change ...func(*Options)) *Model {
	return screen(t, night(), w, h, append([]func(*Options){func(o *Options) { o.Remote, o.Mode = r, "" }}, change...)...)
}

func TestRemoteFrames(t *testing.T) {
	for name, make := range map[string]func() *Model{
		"live-80x24":   func() *Model { return attached(t, 80, 24, live(feed.RoleOperator)) },
		"live-120x40":  func() *Model { return attached(t, 120, 40, live(feed.RoleOperator)) },
		"stale-80x16":  func() *Model { return attached(t, 80, 16, lost()) },
		"stale-120x40": func() *Model { return attached(t, 120, 40, lost()) },
		"stale-50x12":  func() *Model { return attached(t, 50, 12, lost()) },
		"viewer-help-80x24": func() *Model {
			m := attached(t, 80, 24, live(feed.RoleViewer))
			press(m, "?")
			return m
		},
		"insecure-80x16": func() *Model {
			r := live(feed.RoleViewer)
			r.status.Insecure = true
			return attached(t, 80, 16, r)
		},
		"refused-80x16": func() *Model {
			r := lost()
			r.status.Phase, r.status.Code, r.status.Words = feed.Refused, 4501, "the token has expired"
			return attached(t, 80, 16, r)
		},
		"connecting-80x16": func() *Model {
			r := &fakeRemote{status: feed.Status{Phase: feed.Reconnecting, Try: 2, Next: at.Add(2 * sec), Since: at, Words: "connection refused"}}
			m := New(Options{Remote: r, Sink: &sink{}, Now: func() time.Time { return at }})
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 16})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := make()
			if err := fits(m.View().Content, m.w, m.h); err != nil {
				t.Error(err)
			}
			golden.RequireEqual(t, seen(m))
		})
	}
}

// A picture that is old says so, is dim, has no mark of a health and no countdown;
// one that is fresh again is as it was.
func TestStaleFeed(t *testing.T) {
	r := live(feed.RoleOperator)
	now := at
	m := attached(t, 80, 24, r, func(o *Options) { o.Now = func() time.Time { return now } })
	fresh := m.View().Content
	if strings.Contains(seen(m), markAway) {
		t.Fatalf("a live feed:\n%s", seen(m))
	}
	r.status.Stale, r.status.Phase, r.status.Heard = true, feed.Reconnecting, before(18*sec)
	r.status.Next, r.status.Try = at.Add(4*sec), 3
	m.Update(remoteMsg{})
	lines := strings.Split(seen(m), "\n")
	if !containsAll(lines[0], "◇ stale 18s", "03:12:41Z") || !containsAll(lines[1], " ◇ 18s AGO: NOT READY arbitrum/jsonrpc", "reconnecting in 4s, try 3 · r now") {
		t.Errorf("the header:\n%s\n%s", lines[0], lines[1])
	}
	if !containsAll(lines[3], "arbitrum/jsonrpc ◇ unhealthy", " — none → 503") || strings.Contains(seen(m), "✖ unhealthy ✗") {
		t.Errorf("the row: %s", lines[3])
	}
	for _, r := range []role{good, warn, bad, hold, text} {
		if m.draw.pen.th.plain[r] != m.draw.pen.th.plain[dim] {
			t.Errorf("role %d is not dim", r)
		}
	}
	// Ages count to the last word, not on.
	now = now.Add(3 * time.Second)
	was := lines[3:22]
	m.Update(tickMsg{})
	if got := strings.Split(seen(m), "\n")[3:22]; strings.Join(got, "\n") != strings.Join(was, "\n") {
		t.Errorf("the picture goes on:\n%s", strings.Join(got, "\n"))
	}
	if press(m, "r"); r.retried != 1 {
		t.Errorf("r tried %d times", r.retried)
	}
	if cmd := press(m, "p", "d", "P"); cmd != nil {
		t.Error("a key asks over a feed that is away")
	}
	now = at
	r.status = live(feed.RoleOperator).status
	m.Update(remoteMsg{})
	m.flash = flash{}
	m.order.touched = time.Time{}
	if got := m.View().Content; got != fresh {
		t.Errorf("fresh again it is another picture:\n%s", seen(m))
	}
}

// Ages are counted on the clock of the instance, flashes and the clock on ours.
func TestSkewedClock(t *testing.T) {
	r := live(feed.RoleOperator)
	straight := seen(attached(t, 80, 24, live(feed.RoleOperator)))
	r.status.Skew, r.theirs = -time.Hour, at
	i := night()
	m := screen(t, i, 80, 24, func(o *Options) {
		o.Remote, o.Mode = r, ""
		o.Now = func() time.Time { return at.Add(time.Hour) }
	})
	r.status.Heard = at.Add(time.Hour - sec)
	got := strings.ReplaceAll(seen(m), "04:12:41Z", "03:12:41Z")
	if got != straight {
		t.Errorf("an hour apart:\n%s\nwant\n%s", got, straight)
	}
}

// What no event says of a refusal the screen is told beside them, and only of its
// own commands.
func TestRefusalsAreShown(t *testing.T) {
	s := &sink{}
	m := attached(t, 80, 24, live(feed.RoleOperator), func(o *Options) { o.Sink = s })
	press(m, "p")()
	m.Update(refusalMsg{"another-1", "not ours"})
	if strings.Contains(seen(m), "not ours") {
		t.Error("a refusal of somebody else's command is shown")
	}
	m.Update(refusalMsg{s.sent[0].ID, "429 more than 5 commands a second"})
	if !strings.Contains(seen(m), "✖ refused: 429 more than 5 commands a second") {
		t.Errorf("nothing is said:\n%s", seen(m))
	}
}

func TestViewerIsToldSo(t *testing.T) {
	m := attached(t, 80, 24, live(feed.RoleViewer))
	if cmd := press(m, "p", "d", "D"); cmd != nil || m.box.kind != boxNone {
		t.Error("a viewer acts")
	}
	lines := strings.Split(seen(m), "\n")
	if !strings.Contains(lines[0], "gw-7fe3 · viewer ● live") || strings.Contains(lines[23], "probe") {
		t.Errorf("a viewer's screen:\n%s\n%s", lines[0], lines[23])
	}
	m = attached(t, 120, 40, live(feed.RoleViewer))
	press(m, "?")
	if !strings.Contains(seen(m), "p, P, d, D, U, F are off: this token is a viewer") {
		t.Errorf("Help:\n%s", seen(m))
	}
}

// A frozen picture of a feed that goes away stays frozen.
func TestFrozenThenAway(t *testing.T) {
	r := live(feed.RoleOperator)
	m := attached(t, 80, 24, r)
	press(m, "space")
	r.status = lost().status
	m.Update(remoteMsg{})
	if !containsAll(seen(m), "FROZEN 0s ago", "◇ 18s AGO") {
		t.Errorf("frozen, then away:\n%s", seen(m))
	}
	press(m, "space")
	if err := fits(m.View().Content, 80, 24); err != nil || strings.Contains(seen(m), "FROZEN") {
		t.Errorf("it does not go on: %v", err)
	}
}

// The program asks for a frame whenever the connection changes, and ends cleanly.
func TestRunWatchesTheFeed(t *testing.T) {
	r := live(feed.RoleOperator)
	r.changed = make(chan struct{})
	refused := make(chan Refusal)
	tty, ended := start(t, t.Context(), Options{Source: feed.NewLog(night()), Sink: &sink{}, Remote: r, Refusals: refused})
	tty.shows(t, "gw-7fe3 v0.4.0 ● live")
	refused <- Refusal{"nobody's", "x"}
	if _, err := tty.keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	tty.restored(t)
}

func several(t *testing.T, w, h int) *Several {
	o := func(r *fakeRemote) Options {
		return Options{Sink: &sink{}, Who: "oncall", Remote: r, Now: func() time.Time { return at }}
	}
	s := NewSeveral([]Named{
		{"gw-7f9c", o(live(feed.RoleOperator))}, {"gw-7fe3", o(live(feed.RoleOperator))}, {"gw-5d77", o(live(feed.RoleViewer))},
		{"gw-7fb0", o(lost())}, {"gw-9999", o(&fakeRemote{status: feed.Status{Phase: feed.Reconnecting, Try: 2, Next: at.Add(3 * sec), Since: before(sec), Words: "connection refused"}})},
	})
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	well := busy()
	well.Policy = "ethereum/jsonrpc"
	for i, inst := range []*model.Instance{well, night(), keptAwake(), busy()} {
		s.Update(toScreen{i, snapshotMsg{inst}})
	}
	return s
}

func tap(s *Several, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = s.Update(keyOf(k))
	}
	return cmd
}

func TestSeveralFrames(t *testing.T) {
	for name, make := range map[string]func() *Several{
		"80x24": func() *Several { return several(t, 80, 24) },
		"120x40-second": func() *Several {
			s := several(t, 120, 40)
			tap(s, "down")
			return s
		},
		"80x24-draining":   func() *Several { s := several(t, 80, 24); tap(s, "down", "down"); return s },
		"80x24-connecting": func() *Several { s := several(t, 80, 24); tap(s, "G"); return s },
		"80x24-help":       func() *Several { s := several(t, 80, 24); tap(s, "?"); return s },
	} {
		t.Run(name, func(t *testing.T) {
			s := make()
			frame := s.View().Content
			if err := fits(frame, s.base.w, s.base.h); err != nil {
				t.Error(err)
			}
			golden.RequireEqual(t, ansi.Strip(frame))
		})
	}
}

// enter opens the instance that is selected, and esc, once nothing is left to
// close there, leads back.
func TestSeveralInAndOut(t *testing.T) {
	s := several(t, 80, 24)
	tap(s, "down", "enter")
	if frame := ansi.Strip(s.View().Content); !containsAll(frame, "[1 Chains]", "gw-7fe3", "✖ NOT READY 51s") {
		t.Fatalf("enter:\n%s", frame)
	}
	if tap(s, "down", "esc"); s.inside != 1 {
		t.Error("esc leaves although a row was picked")
	}
	if tap(s, "/", "b", "esc"); s.inside != 1 {
		t.Error("esc leaves although a filter was typed")
	}
	if tap(s, "2", "esc"); s.inside != 1 {
		t.Error("esc leaves from another view")
	}
	if tap(s, "esc", "esc"); s.inside != -1 {
		t.Error("esc does not lead back")
	}
	// What is answered to a command goes to the screen that asked.
	tap(s, "enter")
	cmd := tap(s, "p")
	if msg, ok := cmd().(toScreen); !ok || msg.i != 1 {
		t.Errorf("the answer goes to %v", msg)
	}
}

// Every key of the table of instances acts.
func TestSeveralKeysAct(t *testing.T) {
	for _, b := range several(t, 80, 24).base.binds {
		for _, k := range b.Keys() {
			for _, at := range []int{0, 2, 4} {
				s := several(t, 80, 24)
				s.at = at
				if b.where&inSeveral == 0 {
					tap(s, "?")
				}
				was := ansi.Strip(s.View().Content)
				cmd := tap(s, k)
				if cmd != nil || ansi.Strip(s.View().Content) != was {
					k = ""
					break
				}
			}
			if k != "" && !(b.where&inSeveral == 0 || b.where&inHelp != 0 && b.where&inSeveral == 0) {
				t.Errorf("%q (%s) does nothing", k, b.Help().Desc)
			}
		}
	}
	s := several(t, 80, 24)
	tap(s, "r")
	if r := s.screens[3].o.Remote.(*fakeRemote); r.retried != 1 {
		t.Error("r does not retry the one that is away")
	}
	if r := s.screens[0].o.Remote.(*fakeRemote); r.retried != 0 {
		t.Error("r retries one that is live")
	}
}

func TestSeveralFitEverySize(t *testing.T) {
	s := several(t, 80, 24)
	for w := 1; w <= 160; w += 7 {
		for h := 1; h <= 50; h += 3 {
			for _, keys := range [][]string{nil, {"?"}, {"?"}, {"enter"}, {"esc"}} {
				tap(s, keys...)
				s.Update(tea.WindowSizeMsg{Width: w, Height: h})
				if err := fits(s.View().Content, w, h); err != nil {
					t.Fatalf("%d×%d after %v: %v", w, h, keys, err)
				}
			}
			if tap(s, "esc"); s.inside >= 0 {
				t.Fatalf("%d×%d: still inside", w, h)
			}
		}
	}
}

func TestRunSeveralFollowsAll(t *testing.T) {
	tty := newTerminal(t)
	now := func() time.Time { return at }
	logs := []*feed.Log{feed.NewLog(night()), feed.NewLog(keptAwake())}
	ended := make(chan error, 1)
	go func() {
		ended <- RunSeveral(t.Context(), []Named{{"one", Options{Source: logs[0], Now: now}}, {"two", Options{Source: logs[1], Now: now}}}, on(tty)...)
	}()
	tty.shows(t, "DRAINING 2m39s")
	tty.shows(t, "NOT READY 51s")
	if _, err := tty.keys.Write([]byte("j\r")); err != nil {
		t.Fatal(err)
	}
	tty.shows(t, "drain of gw-5d77")
	if _, err := tty.keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	tty.restored(t)
}
