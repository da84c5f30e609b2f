package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// drainStep is one input to a drain and what it must bring.
type drainStep struct {
	at    time.Duration // since epoch0
	in    Input         // its time is filled in
	want  string        // the changes, "refused CODE", READY and NOT READY, effects; in order
	state DrainState    // really, after it
	due   time.Duration // since epoch0; 0 = waits for nothing
}

const sec = time.Second

// asked is the activity after a last request at t, on an old connection at old.
func asked(t, old time.Duration) Activity {
	a := Activity{Last: epoch0.Add(t), Client: "10.83.2.9", Kind: ClientHTTP, Requests: 2, OldRequests: 2, OldClients: 1, InFlight: 3, Streams: 2}
	if a.OldLast = epoch0.Add(old); old != t {
		a.OldRequests = 1
	}
	return a
}

func due(a Activity) DrainDue { return DrainDue{Activity: a} }

func ask(op Op) Command {
	return Command{ID: "c", Op: op, Who: "oncall", Confirm: "gw"}
}

func TestDrainMachine(t *testing.T) {
	signal := Signal{Name: "SIGTERM"}
	bound := func(s *DrainSettings) { s.Max = 30 * sec }
	messages := func(s *DrainSettings) { s.CountMessages = true }
	wrote := asked(0, 0)
	wrote.Message, wrote.OldMessage = epoch0.Add(8*sec), epoch0.Add(8*sec)
	for _, tt := range []struct {
		name  string
		tune  func(*DrainSettings)
		steps []drainStep
	}{
		{"nobody asks", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(Activity{}), "drained, close", Drained, 0},
			{11 * sec, Closed{Cut: Cut{Streams: 2}}, "exits, exit 0", Drained, 0},
			{12 * sec, Closed{}, "", Drained, 0},
		}},
		{"a request puts it off, from the last one only", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(asked(9*sec, 9*sec)), "read", Draining, 19 * sec},
			{15 * sec, Sums{Activity: ptr(asked(14*sec, 9*sec))}, "read", Draining, 24 * sec},
			{24 * sec, due(asked(14*sec, 9*sec)), "drained, close", Drained, 0},
		}},
		{"requests from before it say nothing", nil, []drainStep{
			{0, Sums{Activity: ptr(asked(-sec, -sec))}, "read", DrainServing, 0},
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(asked(-sec, -sec)), "drained, close", Drained, 0},
		}},
		{"the timer rang early", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{9999 * time.Millisecond, due(Activity{}), "read", Draining, 10 * sec},
		}},
		{"messages do not bump", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(wrote), "drained, close", Drained, 0},
		}},
		{"messages bump where they count", messages, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(wrote), "read", Draining, 18 * sec},
			{18 * sec, due(wrote), "drained, close", Drained, 0},
		}},
		{"its bound", bound, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(asked(9*sec, 9*sec)), "read", Draining, 19 * sec},
			{19 * sec, due(asked(27*sec, 9*sec)), "read", Draining, 30 * sec},
			{30 * sec, due(asked(27*sec, 9*sec)), "drained max, close", Drained, 0},
			{31 * sec, Closed{Cut: Cut{3, 2}}, "exits, exit 0", Drained, 0},
		}},
		{"a second signal", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{sec, signal, "forced, exit 1", Drained, 0},
		}},
		{"a second signal while it closes", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{10 * sec, due(Activity{}), "drained, close", Drained, 0},
			{11 * sec, signal, "forced, exit 1", Drained, 0},
		}},
		{"a command, taken back", nil, []drainStep{
			{0, ask(OpDrain), "started, NOT READY, accepted", Draining, 10 * sec},
			{4 * sec, Command{Op: OpUndrain, Kind: OnlySimulation}, "refused 409", Draining, 10 * sec},
			{5 * sec, ask(OpUndrain), "stopped, READY, accepted", DrainServing, 0},
			{10 * sec, due(Activity{}), "", DrainServing, 0},
			{11 * sec, ask(OpUndrain), "refused 409", DrainServing, 0},
			{20 * sec, ask(OpDrain), "started, NOT READY, accepted", Draining, 30 * sec},
			{30 * sec, due(Activity{}), "drained, close", Drained, 0},
			{31 * sec, ask(OpUndrain), "refused 409", Drained, 0},
			{31 * sec, ask(OpDrain), "refused 409", Drained, 0},
			{31 * sec, ask(OpSimulate), "refused 409", Drained, 0},
		}},
		{"a signal makes a command's drain final, and keeps its time", nil, []drainStep{
			{0, ask(OpDrain), "started, NOT READY, accepted", Draining, 10 * sec},
			{5 * sec, signal, "final", Draining, 10 * sec},
			{6 * sec, ask(OpUndrain), "refused 409", Draining, 10 * sec},
			{7 * sec, signal, "forced, exit 1", Drained, 0},
		}},
		{"a signal's drain is final", nil, []drainStep{
			{0, signal, "started, NOT READY", Draining, 10 * sec},
			{sec, ask(OpUndrain), "refused 409", Draining, 10 * sec},
			{sec, ask(OpDrain), "refused 409", Draining, 10 * sec},
			{sec, ask(OpSimulate), "refused 409", Draining, 10 * sec},
		}},
		{"the name and the state", nil, []drainStep{
			{0, Command{Op: OpDrain, Confirm: "gw-2"}, "refused 412", DrainServing, 0},
			{0, Command{Op: OpDrain, Confirm: "gw", IfState: "draining"}, "refused 409", DrainServing, 0},
			{0, Command{Op: OpDrain, Confirm: "gw", IfState: "serving"}, "started, NOT READY, accepted", Draining, 10 * sec},
		}},
		{"mode immediate", func(s *DrainSettings) { s.Mode, s.Immediate, s.Max = DrainImmediate, 5*sec, sec }, []drainStep{
			{0, ask(OpSimulate), "refused 409", DrainServing, 0},
			{0, signal, "started, NOT READY", Draining, 5 * sec},
			{5 * sec, due(asked(5*sec, 5*sec)), "drained immediate, close", Drained, 0},
			{5 * sec, Closed{}, "exits, exit 0", Drained, 0},
		}},
		{"mode immediate, at once", func(s *DrainSettings) { *s = DrainSettings{Mode: DrainImmediate} }, []drainStep{
			{sec, signal, "started, NOT READY", Draining, sec},
			{sec, due(Activity{}), "drained immediate, close", Drained, 0},
		}},
		{"simulated: two timers, no effect", nil, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{sec, ask(OpSimulate), "refused 409", DrainServing, 10 * sec},
			{10 * sec, due(asked(10*sec, 4*sec)), "read", DrainServing, 14 * sec},
			{14 * sec, due(asked(13*sec, 4*sec)), "old_idle", DrainServing, 23 * sec},
			{23 * sec, due(asked(20*sec, 4*sec)), "read", DrainServing, 30 * sec},
			{30 * sec, due(asked(20*sec, 4*sec)), "sim_over", DrainServing, 0},
		}},
		{"simulated: nobody asks", nil, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{10 * sec, due(Activity{}), "old_idle, sim_over", DrainServing, 0},
		}},
		{"simulated: its bound", bound, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{10 * sec, due(asked(28*sec, 28*sec)), "read", DrainServing, 30 * sec},
			{30 * sec, due(asked(28*sec, 28*sec)), "old_idle max, sim_over", DrainServing, 0},
		}},
		{"simulated: stopped", nil, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{5 * sec, ask(OpUndrain), "sim_over, accepted", DrainServing, 0},
		}},
		{"simulated: the real thing ends it", nil, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{5 * sec, Command{Op: OpDrain, Confirm: "gw", IfState: "serving"}, "sim_over, started, NOT READY, accepted", Draining, 15 * sec},
		}},
		{"simulated: a signal ends it", nil, []drainStep{
			{0, ask(OpSimulate), "simulated, accepted", DrainServing, 10 * sec},
			{5 * sec, signal, "sim_over, started, NOT READY", Draining, 15 * sec},
		}},
	} {
		w := newWorld(t)
		if tt.tune != nil {
			tt.tune(&w.inst.Drain.Settings)
		}
		for n, s := range tt.steps {
			w.drainStep(fmt.Sprintf("%s, step %d", tt.name, n), s)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func (w *world) drainStep(name string, s drainStep) {
	w.t.Helper()
	w.now = epoch0.Add(s.at)
	in := reflect.New(reflect.TypeOf(s.in)).Elem()
	in.Set(reflect.ValueOf(s.in))
	in.FieldByName("At").Set(reflect.ValueOf(w.now))
	w.other = nil
	said := drainSaid(w.in(in.Interface().(Input)))
	for _, e := range w.other {
		switch e := e.(type) {
		case EffectCloseListeners:
			said = append(said, "close")
		case EffectExit:
			said = append(said, fmt.Sprint("exit ", e.Code))
		case EffectTry, EffectFault:
		}
	}
	if got := strings.Join(said, ", "); got != s.want {
		w.t.Errorf("%s: %q, want %q", name, got, s.want)
	}
	d := w.inst.Drain
	var due time.Duration
	if at := d.Due(); !at.IsZero() {
		due = at.Sub(epoch0)
	}
	if d.Real() != s.state || due != s.due {
		w.t.Errorf("%s: %v, due at %v; want %v at %v", name, d.Real(), due, s.state, s.due)
	}
	if r := Ready(&w.inst, ReadyAll); r.Ready != (s.state == DrainServing) || r.Draining != (s.state != DrainServing) {
		w.t.Errorf("%s: readiness %+v while %v", name, r, s.state)
	}
}

// drainSaid is what events say of a drain, in few words.
func drainSaid(events []Event) (said []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case DrainChanged:
			word := string(b.What)
			if end := b.Drain.End; b.What == DrainReached && end != DrainEndIdle {
				word += " " + string(end)
			}
			if b.What == DrainOldIdle && b.Drain.Forecast.End != DrainEndIdle {
				word += " " + string(b.Drain.Forecast.End)
			}
			said = append(said, word)
		case ReadyChanged:
			said = append(said, map[bool]string{true: "READY", false: "NOT READY"}[b.Ready])
		case CommandDone:
			if b.Code != 202 {
				said = append(said, fmt.Sprint("refused ", b.Code))
				continue
			}
			said = append(said, b.Answer)
		case TrafficRead:
			said = append(said, "read")
		case Started, ProbeStarted, TryEnded, ProbeEnded, ChainChanged, UpstreamChanged, ServingChanged, ClientsFelt, UpstreamRead, Skipped:
			said = append(said, string(e.Kind()))
		}
	}
	return said
}

// D6: the forecast is of the old connections; where newer ones asked too, a real
// drain gets such until its readiness is read as lost.
func TestForecast(t *testing.T) {
	for _, tt := range []struct {
		name string
		max  time.Duration
		a    Activity
		at   time.Duration // when the timer rings
		want string
	}{
		{"old connections alone", 0, asked(40*sec, 40*sec), 50 * sec, "at 03:00:50, 50s after its start · from the old connections · 2 streams cut"},
		{"new ones too, later than it lets go", 0, asked(45*sec, 40*sec), 50 * sec, "at 03:00:50, 50s after its start · from the old connections, and new ones for the first 4s (assumed) · 2 streams cut"},
		{"new ones hold it for as long as it is in rotation", 0, asked(9*sec, 2*sec), 12 * sec, "at 03:00:14, 14s after its start · from the old connections, and new ones for the first 4s (assumed) · 2 streams cut"},
		{"the bound comes first", 30 * sec, asked(29*sec, 29*sec), 30 * sec, "at 03:00:30, 30s after its start · its bound · 2 streams cut"},
		{"idle at the bound is idle", 30 * sec, asked(20*sec, 20*sec), 30 * sec, "at 03:00:30, 30s after its start · from the old connections · 2 streams cut"},
	} {
		w := newWorld(t)
		w.inst.Drain.Settings.Max = tt.max
		w.in(Command{At: w.now, Op: OpSimulate})
		w.in(DrainDue{At: epoch0.Add(tt.at), Activity: tt.a})
		f := w.inst.Drain.Forecast
		if got := f.words(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if f.Clients != 1 || f.Requests != tt.a.OldRequests || !f.Last.Equal(tt.a.OldLast) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestDrainLines(t *testing.T) {
	w := newWorld(t)
	at := func(d time.Duration, in Input) { w.drainStepAt(d, in) }
	at(0, ask(OpSimulate))
	at(10*sec, due(asked(0, 0)))
	at(20*sec, Command{Op: OpDrain, Confirm: "gw", Who: "oncall", Reason: "INC-4411"})
	at(21*sec, ask(OpUndrain))
	at(30*sec, Signal{Name: "SIGTERM"})
	at(71*sec, due(asked(61*sec, 61*sec)))
	at(72*sec, Closed{Cut: Cut{Streams: 2}})
	var lines []string
	for _, e := range w.events {
		if l, ok := Describe(&w.inst, e); ok && e.Kind() != "started" {
			lines = append(lines, l.Subject+" "+l.What+": "+l.Detail)
		}
	}
	want := []string{
		"gw simulated drain: by oncall · nothing outside changes",
		"oncall drain.simulate: gw → accepted",
		"gw would have drained: at 03:00:10, 10s after its start · from the old connections · 2 streams cut",
		"gw simulation over: a drain takes about 10s and cuts 2 streams",
		"gw draining: ● serving → ▼ draining · by oncall · INC-4411",
		"gw NOT READY: ● READY → ✖ NOT READY · draining",
		"oncall drain.start: gw → accepted",
		"gw serving: ▼ draining → ● serving",
		"gw READY: ✖ NOT READY → ● READY",
		"oncall drain.stop: gw → accepted",
		"gw draining: ● serving → ▼ draining · SIGTERM, final",
		"gw NOT READY: ● READY → ✖ NOT READY · draining",
		"gw drained: idle 10s reached after 41s",
		"gw exit 0: 0 requests cut, 2 streams closed 1001",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("the lines:\n%s\nwant:\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func (w *world) drainStepAt(at time.Duration, in Input) {
	v := reflect.New(reflect.TypeOf(in)).Elem()
	v.Set(reflect.ValueOf(in))
	v.FieldByName("At").Set(reflect.ValueOf(epoch0.Add(at)))
	w.in(v.Interface().(Input))
}

// A chain that holds the instance out stays the cause while it drains, and a
// drain that ends leaves it out.
func TestReadyWhileDraining(t *testing.T) {
	i := Begin(Instance{Name: "gw", Policy: ReadyAll, Chains: []*Chain{testChain("x", primaries("a")...)}}, epoch0)
	i.Chains[0].State.Health = Unhealthy
	events, _ := i.Step(Signal{At: epoch0, Name: "SIGTERM"})
	if got := Ready(&i, ReadyAll); got != (Readiness{Cause: 0, Draining: true}) || len(events) != 1 {
		t.Errorf("%+v, %d events", got, len(events))
	}
}

func TestRefusesDrainSettings(t *testing.T) {
	for field, spoil := range map[string]func(*DrainSettings){
		"drain.idle":      func(s *DrainSettings) { s.Idle = 0 },
		"drain.max":       func(s *DrainSettings) { s.Max = -1 },
		"drain.immediate": func(s *DrainSettings) { s.Immediate = -1 },
		"drain.mode":      func(s *DrainSettings) { s.Mode = 9 },
		"readiness":       func(s *DrainSettings) { s.ReadyPeriod = -1 },
	} {
		s := DefaultDrain()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		spoil(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
