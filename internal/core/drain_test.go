package core_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/core"
	"chaintop/model"
)

// users is a gateway's activity that a test makes up.
type users struct {
	mu    sync.Mutex
	says  model.Activity
	read  int         // how often it was asked for
	since []time.Time // for which drains
}

// ask is a client's request, on a connection older than any drain or a new one.
func (u *users) ask(now time.Time, old bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.says.Last = now
	u.says.Requests++
	if old {
		u.says.OldLast = now
		u.says.OldRequests++
	}
}

func (u *users) write(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.says.Message, u.says.OldMessage = now, now
}

func (u *users) activity(now, since time.Time) model.Activity {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.read++
	u.since = append(u.since, since)
	a := u.says
	a.At, a.Since = now, since
	return a
}

// leaver is a core that drains, with what became of it.
type leaver struct {
	*rig
	users *users
	ends  []string // "close" and "exit N", each with its time since the start
}

func leave(t *testing.T, tune func(*model.DrainSettings), o core.Options) *leaver {
	l := &leaver{users: &users{}}
	set := model.DefaultDrain()
	if tune != nil {
		tune(&set)
	}
	o.Instance.Drain.Settings = set
	o.Prober = &blocked{}
	if o.Activity == nil {
		o.Activity = l.users.activity
	}
	begun := time.Now()
	note := func(what string) { l.ends = append(l.ends, fmt.Sprint(what, " ", time.Since(begun))) }
	o.Exit = func(code int) { note(fmt.Sprint("exit ", code)) }
	if o.Close == nil {
		o.Close = func() {
			note("close")
			go l.core.Closed(model.Cut{Streams: 2})
		}
	}
	l.rig = start(t, nil, nil, o)
	return l
}

// every asks at once after half a period, and then once a period, n times.
func (l *leaver) every(period time.Duration, n int, old bool) {
	time.Sleep(period / 2)
	for range n {
		l.users.ask(l.core.Now(), old)
		time.Sleep(period)
	}
}

// changes are the drain's, with their times since the start.
func (l *leaver) changes() []string {
	l.t.Helper()
	var out []string
	bodies, at := of[model.DrainChanged](l.rig, -1)
	for n, b := range bodies {
		out = append(out, fmt.Sprint(b.What, " ", at[n]))
	}
	return out
}

func (l *leaver) wants(changes, ends string) {
	l.t.Helper()
	if got := strings.Join(l.changes(), ", "); got != changes {
		l.t.Errorf("%s; want %s", got, changes)
	}
	if got := strings.Join(l.ends, ", "); got != ends {
		l.t.Errorf("ended by %s; want %s", got, ends)
	}
}

func (l *leaver) send(cmd model.Command) {
	l.t.Helper()
	cmd.ID, cmd.Who = "d", "oncall"
	if err := l.core.Send(l.t.Context(), cmd); err != nil {
		l.t.Fatal(err)
	}
	synctest.Wait()
}

func bubble(t *testing.T, name string, tune func(*model.DrainSettings), do func(l *leaver)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := leave(t, tune, core.Options{})
			do(l)
			l.stop()
		})
	})
}

// D4: it ends exactly idle after the later of its start and the last request.
func TestDrainEndsExactly(t *testing.T) {
	bubble(t, "nobody asks", nil, func(l *leaver) {
		time.Sleep(5 * time.Second)
		l.core.Signal("SIGTERM")
		time.Sleep(time.Minute)
		l.wants("started 5s, drained 15s, exits 15s", "close 15s, exit 0 15s")
		if ready, at := of[model.ReadyChanged](l.rig, -1); len(ready) != 1 || ready[0].Ready || !ready[0].Draining || at[0] != 5*time.Second {
			l.t.Errorf("readiness %+v at %v", ready, at)
		}
		if cut := l.core.Picture().Drain.Cut; cut != (model.Cut{Streams: 2}) {
			l.t.Errorf("cut %+v", cut)
		}
	})
	bubble(t, "somebody asked before it", nil, func(l *leaver) {
		l.every(time.Second, 5, true)
		l.core.Signal("SIGTERM")
		time.Sleep(time.Minute)
		l.wants("started 5.5s, drained 15.5s, exits 15.5s", "close 15.5s, exit 0 15.5s")
	})
	bubble(t, "a request a second, thirty times", nil, func(l *leaver) {
		l.core.Signal("SIGTERM")
		l.every(time.Second, 30, true) // the last at 29.5s
		time.Sleep(time.Minute)
		l.wants("started 0s, drained 39.5s, exits 39.5s", "close 39.5s, exit 0 39.5s")
		// Read for the signal, for the drain's mark, and each time the timer rang: a
		// last request at the moment it rings may be seen or be a little late.
		if l.users.read > 7 {
			l.t.Errorf("the activity was read %d times: that is polling", l.users.read)
		}
	})
	bubble(t, "messages do not count", nil, func(l *leaver) {
		l.core.Signal("SIGTERM")
		time.Sleep(8 * time.Second)
		l.users.write(l.core.Now())
		time.Sleep(time.Minute)
		l.wants("started 0s, drained 10s, exits 10s", "close 10s, exit 0 10s")
	})
	bubble(t, "messages count where they are told to", func(s *model.DrainSettings) { s.CountMessages = true }, func(l *leaver) {
		l.core.Signal("SIGTERM")
		time.Sleep(8 * time.Second)
		l.users.write(l.core.Now())
		time.Sleep(time.Minute)
		l.wants("started 0s, drained 18s, exits 18s", "close 18s, exit 0 18s")
	})
	bubble(t, "drain.max", func(s *model.DrainSettings) { s.Max = 30 * time.Second }, func(l *leaver) {
		l.core.Signal("SIGTERM")
		l.every(time.Second, 60, true)
		l.wants("started 0s, drained 30s, exits 30s", "close 30s, exit 0 30s")
		if d := l.core.Picture().Drain; d.End != model.DrainEndMax {
			l.t.Errorf("ended by %q", d.End)
		}
	})
	bubble(t, "mode immediate", func(s *model.DrainSettings) { s.Mode, s.Immediate = model.DrainImmediate, 3*time.Second }, func(l *leaver) {
		go l.every(time.Second, 30, true)
		time.Sleep(2 * time.Second)
		l.core.Signal("SIGTERM")
		synctest.Wait()
		if d := l.core.Picture().Drain; !d.Refuses() || !d.Leaving() {
			l.t.Error("it does not refuse")
		}
		time.Sleep(time.Minute)
		l.wants("started 2s, drained 5s, exits 5s", "close 5s, exit 0 5s")
	})
	bubble(t, "mode immediate, at once", func(s *model.DrainSettings) { *s = model.DrainSettings{Mode: model.DrainImmediate} }, func(l *leaver) {
		l.core.Signal("SIGTERM")
		time.Sleep(time.Second)
		l.wants("started 0s, drained 0s, exits 0s", "close 0s, exit 0 0s")
	})
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	bubble(t, "while it drains", nil, func(l *leaver) {
		l.core.Signal("SIGTERM")
		time.Sleep(3 * time.Second)
		l.core.Signal("SIGTERM")
		time.Sleep(time.Minute)
		l.wants("started 0s, forced 3s", "exit 1 3s")
	})
	t.Run("while requests finish", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := leave(t, nil, core.Options{Close: func() {}}) // a request that does not end
			l.core.Signal("SIGINT")
			time.Sleep(12 * time.Second)
			l.core.Signal("SIGINT")
			time.Sleep(time.Minute)
			l.wants("started 0s, drained 10s, forced 12s", "exit 1 12s")
			l.stop()
		})
	})
}

func TestDrainByCommand(t *testing.T) {
	bubble(t, "stopped, and again", nil, func(l *leaver) {
		l.send(model.Command{Op: model.OpDrain, Confirm: "gw", IfState: "serving"})
		time.Sleep(9 * time.Second)
		l.send(model.Command{Op: model.OpUndrain})
		time.Sleep(time.Minute)
		l.send(model.Command{Op: model.OpDrain, Confirm: "gw"})
		time.Sleep(time.Minute)
		l.wants("started 0s, stopped 9s, started 1m9s, drained 1m19s, exits 1m19s", "close 1m19s, exit 0 1m19s")
	})
	bubble(t, "refused", nil, func(l *leaver) {
		l.send(model.Command{Op: model.OpDrain})
		l.send(model.Command{Op: model.OpDrain, Confirm: "gw", IfState: "draining"})
		l.send(model.Command{Op: model.OpUndrain})
		l.core.Signal("SIGTERM")
		l.send(model.Command{Op: model.OpDrain, Confirm: "gw"})
		l.send(model.Command{Op: model.OpUndrain})
		l.send(model.Command{Op: model.OpSimulate})
		time.Sleep(time.Minute)
		done, _ := of[model.CommandDone](l.rig, -1)
		var codes []int
		for _, d := range done {
			codes = append(codes, d.Code)
		}
		if want := []int{412, 409, 409, 409, 409, 409}; !slices.Equal(codes, want) {
			l.t.Errorf("answers %v, want %v", codes, want)
		}
		l.wants("started 0s, drained 10s, exits 10s", "close 10s, exit 0 10s")
	})
}

// Without a gateway nobody can ask, and there is nothing to close.
func TestDrainWithoutAGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var exits []time.Duration
		begun := time.Now()
		r := start(t, nil, nil, core.Options{Prober: &blocked{}, Exit: func(code int) {
			if code == 0 {
				exits = append(exits, time.Since(begun))
			}
		}})
		if err := r.core.Send(t.Context(), model.Command{Op: model.OpDrain, Confirm: "gw"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		r.stop()
		if !slices.Equal(exits, []time.Duration{10 * time.Second}) {
			t.Errorf("exits at %v, want 10s", exits)
		}
	})
}

// D6: the same machine on the same traffic, with a timer for all of it and one
// for the connections older than it; nothing outside changes.
func TestSimulatedDrainHasTwoTimers(t *testing.T) {
	bubble(t, "old connections fall silent first", nil, func(l *leaver) {
		go l.every(time.Second, 40, false) // the last at 39.5s
		l.send(model.Command{Op: model.OpSimulate})
		time.Sleep(6200 * time.Millisecond)
		l.users.ask(l.core.Now(), true)
		time.Sleep(2 * time.Minute)
		l.wants("simulated 0s, old_idle 16.2s, sim_over 49.5s", "")
		if ready, _ := of[model.ReadyChanged](l.rig, -1); len(ready) != 0 {
			l.t.Errorf("readiness turned: %+v", ready)
		}
		f := l.core.Picture().Drain.Forecast
		if f.Takes() != 16200*time.Millisecond || !f.NewComes || f.LetsGo != 4*time.Second {
			l.t.Errorf("forecast %+v", f)
		}
	})
	bubble(t, "stopped", nil, func(l *leaver) {
		l.send(model.Command{Op: model.OpSimulate})
		time.Sleep(3 * time.Second)
		l.send(model.Command{Op: model.OpUndrain})
		time.Sleep(time.Minute)
		l.wants("simulated 0s, sim_over 3s", "")
	})
	bubble(t, "ended by the real thing", nil, func(l *leaver) {
		l.send(model.Command{Op: model.OpSimulate})
		time.Sleep(3 * time.Second)
		l.core.Signal("SIGTERM")
		time.Sleep(time.Minute)
		l.wants("simulated 0s, sim_over 3s, started 3s, drained 13s, exits 13s", "close 13s, exit 0 13s")
	})
}

// The activity comes with the sums, once a second, and once more when nobody
// asks any longer.
func TestActivityComesWithTheSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gw := newRelay()
		left := 3
		gw.sums = func(now time.Time) (model.Sums, bool) {
			left--
			return model.Sums{At: now, Chains: []model.ChainSums{{}}}, left >= 0
		}
		l := leave(t, nil, core.Options{Instance: model.Instance{Chains: []*model.Chain{chain("x", 1, rare)}}, Relay: gw})
		time.Sleep(10 * time.Second)
		l.users.ask(l.core.Now(), true)
		gw.say(model.Missed{})
		time.Sleep(time.Minute)
		reads, at := of[model.TrafficRead](l.rig, -1)
		if want := []time.Duration{11 * time.Second, 12 * time.Second, 13 * time.Second, 14 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("read at %v, want %v", at, want)
		}
		for n, r := range reads {
			if r.Activity == nil || r.Activity.Last.Sub(l.start) != 10*time.Second {
				t.Errorf("reading %d: %+v", n, r.Activity)
			}
		}
		if got := l.core.Picture().Drain.Activity.Last.Sub(l.start); got != 10*time.Second {
			t.Errorf("the picture says the last request came at %v", got)
		}
		l.stop()
	})
}

// The counts of an activity are of the drain: it is told of its start at once,
// and of its end.
func TestActivityIsToldOfTheDrain(t *testing.T) {
	bubble(t, "from start to stop", nil, func(l *leaver) {
		time.Sleep(time.Second)
		began := l.core.Now()
		l.send(model.Command{Op: model.OpDrain, Confirm: "gw"})
		time.Sleep(time.Second)
		l.send(model.Command{Op: model.OpUndrain})
		l.stop()
		if want := []time.Time{began, {}}; !slices.EqualFunc(l.users.since, want, time.Time.Equal) {
			l.t.Errorf("read for %v, want %v", l.users.since, want)
		}
	})
}

func TestDrainLogLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		l := leave(t, func(s *model.DrainSettings) { s.Max = 10 * time.Second }, core.Options{Logger: logger})
		l.users.says.InFlight, l.users.says.Streams = 1, 14
		l.core.Signal("SIGTERM")
		l.every(time.Second, 20, true)
		l.stop()
		want := `level=INFO msg=drain what=started state=draining who=SIGTERM reason="" final=true end="" requests=1 streams=14 cut_requests=0 cut_streams=0 exit=0
level=WARN msg=drain what=drained state=drained who=SIGTERM reason="" final=true end=max requests=1 streams=14 cut_requests=0 cut_streams=0 exit=0
level=WARN msg=drain what=exits state=drained who=SIGTERM reason="" final=true end=max requests=1 streams=14 cut_requests=0 cut_streams=2 exit=0
`
		if out.String() != want {
			t.Errorf("the log:\n%s\nwant:\n%s", out.String(), want)
		}
	})
}

func TestRefusesDrainSettings(t *testing.T) {
	set := model.DefaultDrain()
	set.Idle = 0
	set.Max = time.Second
	_, err := core.New(core.Options{Prober: &blocked{}, Instance: model.Instance{Drain: model.Drain{Settings: set}}})
	if err == nil || !strings.Contains(err.Error(), "drain.idle") {
		t.Errorf("%v", err)
	}
}
