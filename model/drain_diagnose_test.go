package model

import (
	"testing"
	"time"
	"unicode/utf8"
)

type drainSaying struct {
	name                       string
	alone                      bool // no gateway runs
	drain                      Drain
	at                         time.Duration // since epoch0
	why, whose, felt, next, do string        // Long; empty = of no matter here
}

// drainSayings are a drain's states with what is said of each.
func drainSayings() []drainSaying {
	set := DefaultDrain()
	at := func(d time.Duration) time.Time { return epoch0.Add(d) }
	const sec, minute = time.Second, time.Minute
	client := Client{Addr: "10.83.2.9", Kind: ClientHTTP, Method: "eth_blockNumber", Every: 2 * sec, Count: 79, Last: at(150 * sec), OldLast: at(150 * sec), Since: at(-2*time.Hour - 11*minute), Conns: 1, Old: true}
	asked := Activity{
		Last: client.Last, Client: client.Addr, Kind: ClientHTTP, OldLast: client.Last, OldClient: client.Addr, OldKind: ClientHTTP, OldMessage: at(-38 * minute), Message: at(-38 * minute),
		NewConn: at(4 * sec), Streams: 2, Requests: 79, OldRequests: 79, OldClients: 1, Clients: []Client{client},
	}
	signalled := Drain{Settings: set, State: Draining, Since: at(0), By: DrainBySignal, Who: "SIGTERM", Final: true, Activity: asked}
	with := func(d Drain, do func(*Drain)) Drain { do(&d); return d }
	simulated := with(signalled, func(d *Drain) { d.Simulated, d.Final, d.By, d.Who = true, false, DrainByCommand, "oncall" })
	forecast := Forecast{Began: at(0), At: at(50 * sec), End: DrainEndIdle, Streams: 14, Over: at(minute)}
	immediate := with(signalled, func(d *Drain) { d.Settings.Mode, d.Settings.Immediate = DrainImmediate, 5*sec })
	drained := with(signalled, func(d *Drain) { d.State, d.Drained, d.End = Drained, at(41*sec), DrainEndIdle })
	second := Client{Addr: "10.4.2.17", Kind: ClientHTTP, Every: 8 * time.Millisecond, Last: at(149 * sec), OldLast: at(149 * sec), Since: at(-minute)}
	return []drainSaying{
		{"kept awake by one", false, signalled, 151800 * time.Millisecond,
			"one http client asks every 2.0s, so 10s without a request never come",
			"the client 10.83.2.9: it keeps a connection of 2h13m, not the drain",
			"nobody new since 03:00:04; what is asked is answered as ever",
			"drained 10s after it stops; no bound (drain.max 0s)",
			"ask its owner to reconnect · a 2nd SIGTERM exits now, cuts 2 streams"},
		{"kept awake by two, with a bound", false, with(signalled, func(d *Drain) { d.Settings.Max = 5 * minute; d.Activity.Clients = []Client{client, second} }), 152 * sec,
			"2 clients ask, one every 8.0ms, so 10s without a request never come",
			"2 clients that keep their connections, the last one 10.83.2.9", "",
			"drained 10s after it stops; at 03:05:00 at the latest (drain.max 5m)", ""},
		{"a single request", false, with(signalled, func(d *Drain) { d.Activity.Clients, d.Activity.NewConn = nil, at(-minute) }), 155 * sec,
			"the last request came 5s ago; 10s without one end it", "the client 10.83.2.9, whose connection is closed",
			"nobody new since it began; what is asked is answered as ever", "", ""},
		{"simulated, and who asked has another connection now", false, with(simulated, func(d *Drain) {
			left := client
			left.Old = false
			d.Activity.Clients = []Client{left, second}
		}), 152 * sec,
			"the last request came 2s ago; 10s without one end it", "nobody's any more: 10.83.2.9 has left its old connection", "", "", ""},
		{"new clients long after readiness was lost", false, with(signalled, func(d *Drain) { d.Activity.NewConn = at(150 * sec) }), 151 * sec,
			"", "somebody still sends new clients: one came 2m30s after /readyz went 503", "", "", ""},
		{"messages count", false, with(signalled, func(d *Drain) { d.Settings.CountMessages, d.Activity.Message = true, at(151*sec) }), 152 * sec,
			"a client wrote on a stream 1s ago; messages count (drain.count_messages)", "", "", "", ""},
		{"quiet, by command", false, with(signalled, func(d *Drain) { d.Final, d.By = false, DrainByCommand; d.Activity = Activity{} }), 7 * sec,
			"nobody asks: quiet for 7s of the 10s it takes", "nobody's: no request holds it", "",
			"drained in 3s, unless somebody asks before; no bound (drain.max 0s)", "wait · U undrain…"},
		{"immediate", false, immediate, 2 * sec,
			"mode immediate: every request gets a 503 until the exit", "nobody's: draining", "every request is refused with 503, /healthz too",
			"exit in 3s", "nothing: it exits by itself"},
		{"immediate, over", false, with(immediate, func(d *Drain) { d.State, d.End = Drained, DrainEndImmediate }), 5 * sec,
			"mode immediate: it refused for 5s", "", "", "", ""},
		{"drained", false, drained, 42 * sec,
			"idle 10s reached after 41s", "nobody's: drained", "listeners close; 0 requests and 2 streams were open",
			"listeners close, in flight finish, streams get 1001, exit 0", "nothing: it ends by itself"},
		{"exited", false, with(drained, func(d *Drain) { d.Exited, d.Cut.Streams = at(42*sec), 2 }), 42 * sec,
			"", "", "0 requests cut, 2 streams closed 1001", "exit 0", ""},
		{"at its bound", false, with(drained, func(d *Drain) { d.End, d.Settings.Max = DrainEndMax, minute }), minute,
			"its bound was reached: drain.max 1m", "", "", "", ""},
		{"forced", false, with(drained, func(d *Drain) { d.Exited, d.Code = at(42*sec), 1 }), 42 * sec,
			"a second signal ended it at once, with exit code 1", "", "", "exit 1", ""},
		{"simulated", false, with(simulated, func(d *Drain) { d.Activity.OldLast = at(2 * sec) }), 4 * sec,
			"", "", "nothing: a simulation changes nothing outside, readiness stays what it is",
			"a forecast in 8s, unless an old connection asks before; no bound (drain.max 0s)", "wait for the forecast · d stop"},
		{"simulated, with a forecast", false, with(simulated, func(d *Drain) { d.Forecast, d.OldIdle = forecast, at(50*sec) }), 55 * sec,
			"", "", "", "a drain takes about 50s and cuts 14 streams; it goes on until all traffic is quiet too",
			"a drain now takes about 50s and cuts 14 streams · D drain… · d stop"},
		{"serving", false, Drain{Settings: set, Activity: asked}, 151 * sec,
			"it serves: last request 1s ago, 2 streams open", "nobody's: serving", "nothing: it serves",
			"d simulates a drain on this traffic and says when it would have ended", "nothing · d simulate a drain · D drain…"},
		{"serving, simulated before", false, Drain{Settings: set, Forecast: forecast}, 2 * minute,
			"it serves, and no client has asked yet", "", "", "a drain takes about 50s and cuts 14 streams, by the simulation 1m00s ago", ""},
		{"without a gateway", true, Drain{Settings: set}, 0,
			"no gateway runs here: a drain sees no client and takes 10s", "", "", "", ""},
		{"mode immediate, serving", false, Drain{Settings: DrainSettings{Mode: DrainImmediate}}, 0,
			"", "", "", "a drain refuses everything for 0s, then exits (mode immediate)", ""},
	}
}

func TestDiagnosisOfADrain(t *testing.T) {
	for _, r := range drainSayings() {
		d := DiagnoseDrain(&Instance{Name: "gw", Gateway: !r.alone, Drain: r.drain}, epoch0.Add(r.at))
		for _, s := range []struct {
			label string
			said  Sentence
			want  string
		}{{"WHY", d.Why, r.why}, {"WHOSE", d.Whose, r.whose}, {"FELT", d.Felt, r.felt}, {"NEXT", d.Next, r.next}, {"DO", d.Do, r.do}} {
			if s.want != "" && s.said.Long != s.want {
				t.Errorf("%s: %s is %q, want %q", r.name, s.label, s.said.Long, s.want)
			}
			if long, short := utf8.RuneCountInString(s.said.Long), utf8.RuneCountInString(s.said.Short); long == 0 || long > 112 || short == 0 || short > 73 {
				t.Errorf("%s: %s has %d and %d cells: %q", r.name, s.label, long, short, s.said.Short)
			}
		}
	}
}
