package feed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// hostile runs a client against a server that a test speaks for, and returns
// the client's status when it is quiet. Each connection is spoken for anew.
func hostile(t *testing.T, speak func(t *testing.T, r raw, p *plant, n int), then func(t *testing.T, c *following, p *plant)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 2)
		defer silent(t, l, func(s *socket, n int) {
			speak(t, raw{s}, p, n)
			_, _ = s.read(maxClientFrame) // until it goes
		})()
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		synctest.Wait()
		then(t, c, p)
	})
}

// put sends whatever is given, to a client that may have gone.
func (r raw) put(kind, epoch string, seq uint64, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(envelope{Type: kind, Epoch: epoch, Seq: seq, Data: d})
	_ = r.write(text, time.Second)
}

func tickEvent(chain int, probes uint64) json.RawMessage {
	b, _ := json.Marshal(model.Event{Chain: chain, Body: model.ChainChanged{What: model.ChangeNext, State: model.ChainState{Probes: probes}}})
	return b
}

func TestEscapesInNamesNeverReachTheScreen(t *testing.T) {
	const bad = "\x1b]0;owned\x07gw\u202e\u009b31m\u200b " + "x"
	hostile(t, func(t *testing.T, r raw, p *plant, _ int) {
		p.mu.Lock()
		p.inst.Name, p.inst.Version = bad, strings.Repeat("v", 9000)
		c := *p.inst.Chains[0]
		c.Name, c.Upstreams = bad, append([]model.Upstream{}, c.Upstreams...)
		c.Upstreams[0].Name = bad
		c.Upstreams[0].State.Last.Evidence.Text = bad
		c.Last = &model.Probe{Who: bad, Tries: []model.Try{{Evidence: model.Evidence{Text: bad}}}}
		p.inst.Chains[0] = &c
		p.inst.Recent = append(p.inst.Recent, model.Event{Chain: 0, Who: bad, Body: model.CommandDone{ID: bad, Answer: bad, Kind: bad}})
		p.log.Append(p.inst.Clone(), nil)
		p.mu.Unlock()
		sayPicture(t, r.socket, p)
		e, _ := json.Marshal(model.Event{Chain: 0, Who: bad, Body: model.ProbeEnded{Probe: model.Probe{Who: bad, Tries: []model.Try{{Evidence: model.Evidence{Text: bad}}}}}})
		r.put(typeEvents, "e1", 2, eventsData{Events: []json.RawMessage{e}})
	}, func(t *testing.T, c *following, p *plant) {
		_, at, _ := c.log.Snapshot(t.Context())
		if at.Seq != 2 || c.Status().Phase != Live {
			t.Fatalf("%v, %+v", at, c.Status())
		}
		var pic model.Instance
		if err := json.Unmarshal([]byte(c.picture()), &pic); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{pic.Name, pic.Chains[0].Name, pic.Chains[0].Upstreams[0].Name, pic.Chains[0].Last.Who, pic.Recent[len(pic.Recent)-1].Who} {
			if s != "gw x" {
				t.Errorf("%q", s)
			}
		}
		if n := len(pic.Version); n > maxRunes+4 {
			t.Errorf("a version of %d bytes", n)
		}
		for _, bad := range []string{`\u001b`, `\u009b`, "\u009b", "owned", "\u202e", "\u200b"} {
			if strings.Contains(c.picture(), bad) {
				t.Errorf("%q is in the picture", bad)
			}
		}
	})
}

var okEvents = []json.RawMessage{tickEvent(0, 7)}

// breaches are what a server must not send after a picture at event 1.
var breaches = []struct {
	name  string
	speak func(r raw)
	words string
}{
	{"a hole", func(r raw) { r.put(typeEvents, "e1", 3, eventsData{Events: okEvents}) }, "missing"},
	{"a heartbeat ahead", func(r raw) { r.put(typeHeart, "e1", 9, heartData{}) }, "missing"},
	{"a heartbeat going back", func(r raw) { r.put(typeHeart, "e1", 0, heartData{}) }, "missing"},
	{"seq going back", func(r raw) {
		r.put(typeEvents, "e1", 2, eventsData{Events: okEvents})
		r.put(typeEvents, "e1", 2, eventsData{Events: okEvents})
	}, "missing"},
	{"another epoch", func(r raw) { r.put(typeEvents, "e2", 2, eventsData{Events: okEvents}) }, "missing"},
	{"a heartbeat of another epoch", func(r raw) { r.put(typeHeart, "e2", 1, heartData{}) }, "missing"},
	{"more events than numbers", func(r raw) {
		r.put(typeEvents, "e1", 1, eventsData{Events: slices.Concat(okEvents, okEvents)})
	}, "broke the protocol"},
	{"a chain there is not", func(r raw) {
		r.put(typeEvents, "e1", 2, eventsData{Events: []json.RawMessage{tickEvent(9, 1)}})
	}, "broke the protocol"},
	{"an upstream there is not", func(r raw) {
		e, _ := json.Marshal(model.Event{Chain: 0, Body: model.ServingChanged{Serving: model.Serving{Upstream: 9}}})
		r.put(typeEvents, "e1", 2, eventsData{Events: []json.RawMessage{e}})
	}, "broke the protocol"},
	{"no JSON", func(r raw) { _ = r.write([]byte(`{"t":"events`), time.Second) }, "broke the protocol"},
	{"JSON without end", func(r raw) {
		_ = r.write([]byte(`{"t":"x","d":`+strings.Repeat(`{"a":`, 1000)), time.Second)
	}, "broke the protocol"},
	{"a part that does not follow", func(r raw) {
		r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 2, Bytes: 10})
		r.put(typeSnapshot, "e1", 5, snapshotData{Part: 2, Text: "x"})
	}, "broke the protocol"},
	{"events within a snapshot", func(r raw) {
		r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 2, Bytes: 10})
		r.put(typeEvents, "e1", 2, eventsData{Events: okEvents})
	}, "missing"},
	{"a picture of nothing", func(r raw) {
		r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 1, Bytes: 2})
		r.put(typeSnapshot, "e1", 5, snapshotData{Part: 1, Text: "{}"})
	}, "broke the protocol"},
	{"a picture with a hole", func(r raw) {
		text := `{"epoch":"e1","chains":[null]}`
		r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 1, Bytes: len(text)})
		r.put(typeSnapshot, "e1", 5, snapshotData{Part: 1, Text: text})
	}, "broke the protocol"},
	{"a snapshot of a gigabyte", func(r raw) { r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 4096, Bytes: 1 << 30}) }, "broke the protocol"},
	{"more than it said", func(r raw) {
		r.put(typeSnapshot, "e1", 5, snapshotData{Parts: 2, Bytes: 10})
		r.put(typeSnapshot, "e1", 5, snapshotData{Part: 1, Text: strings.Repeat("x", 1000)})
	}, "broke the protocol"},
	{"a binary frame", func(r raw) { _ = r.conn.WriteMessage(2, []byte("x")) }, "broke the protocol"},
	{"a frame of more than a mebibyte", func(r raw) {
		_ = r.write([]byte(`{"t":"`+strings.Repeat("x", maxServerFrame)+`"}`), time.Second)
	}, "1 MiB"},
}

func TestServerThatBreaksTheProtocol(t *testing.T) {
	for _, row := range breaches {
		var was string
		hostile(t, func(t *testing.T, r raw, p *plant, n int) {
			sayPicture(t, r.socket, p)
			if n == 0 {
				row.speak(r)
			}
		}, func(t *testing.T, c *following, p *plant) {
			st := c.Status()
			if st.Phase != Reconnecting || !strings.Contains(st.Words, row.words) {
				t.Errorf("%s: %+v, want %q", row.name, st, row.words)
			}
			if was = c.picture(); was == "none" {
				t.Errorf("%s: the picture is gone", row.name)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if st := c.Status(); st.Phase != Live {
				t.Errorf("%s: it did not come back: %+v", row.name, st)
			}
			same(t, p, c)
		})
	}
}

// A picture that cannot be continued must not be resumed either.
func TestAfterAHoleTheClientAsksForASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		hellos := make(chan helloData, 9)
		defer serveSockets(t, l, func(s *socket, n int) {
			text, err := s.read(maxHello)
			if err != nil {
				return
			}
			f, _ := decode(text)
			var hello helloData
			_ = json.Unmarshal(f.Data, &hello)
			hellos <- hello
			sayPicture(t, s, p)
			switch n {
			case 0: // cut
				return
			case 1:
				raw{s}.put(typeEvents, "e1", 7, eventsData{Events: []json.RawMessage{tickEvent(0, 1)}})
			}
			_, _ = s.read(maxClientFrame)
		})()
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		time.Sleep(10 * time.Second)
		first, cut, hole := <-hellos, <-hellos, <-hellos
		if first.Resume != nil || cut.Resume == nil || *cut.Resume != (place{"e1", 1}) {
			t.Errorf("%+v, then %+v", first.Resume, cut.Resume)
		}
		if hole.Resume != nil && hole.Resume.Epoch != "" {
			t.Errorf("after a hole it resumes at %+v", hole.Resume)
		}
	})
}

func TestEndlessSnapshotEnds(t *testing.T) {
	hostile(t, func(t *testing.T, r raw, p *plant, n int) {
		r.put(typeWelcome, "e1", 1, welcomeData{Resume: bySnapshot})
		r.put(typeSnapshot, "e1", 1, snapshotData{Parts: 1 << 20, Bytes: maxSnapshot})
		for i := 1; n == 0; i++ {
			r.put(typeSnapshot, "e1", 1, snapshotData{Part: i, Text: "x"})
			time.Sleep(time.Second)
			if i > 200 {
				return
			}
		}
	}, func(t *testing.T, c *following, _ *plant) {
		time.Sleep(snapshotWithin + 2*time.Second)
		synctest.Wait()
		if st := c.Status(); st.Phase == Live || !strings.Contains(st.Words, "without end") {
			t.Errorf("%+v", st)
		}
	})
}

func TestEndlessBatchEnds(t *testing.T) {
	many := make([]json.RawMessage, 4096)
	for i := range many {
		many[i] = json.RawMessage(`{"kind":"of a version to come","chain":-1}`)
	}
	hostile(t, func(t *testing.T, r raw, p *plant, n int) {
		sayPicture(t, r.socket, p)
		for i := uint64(1); n == 0 && i < 40; i++ {
			r.put(typeEvents, "e1", 1+4096*i, eventsData{Events: many, More: true})
		}
	}, func(t *testing.T, c *following, _ *plant) {
		if st := c.Status(); st.Phase != Reconnecting || !strings.Contains(st.Words, "without end") {
			t.Errorf("%+v", st)
		}
	})
}

func TestByeOfAYearIsAMinute(t *testing.T) {
	hostile(t, func(t *testing.T, r raw, p *plant, n int) {
		sayPicture(t, r.socket, p)
		r.put(typeBye, "e1", 0, byeData{Code: CloseShutdown, After: 365 * 24 * time.Hour})
		r.goodbye(CloseShutdown)
	}, func(t *testing.T, c *following, _ *plant) {
		if st := c.Status(); st.Phase != Reconnecting || time.Until(st.Next) != askedMost {
			t.Errorf("%+v", st)
		}
	})
}

func TestUnknownKindsAndValuesAreSkipped(t *testing.T) {
	hostile(t, func(t *testing.T, r raw, p *plant, _ int) {
		sayPicture(t, r.socket, p)
		r.put("of a version to come", "e1", 0, nil)
		r.put(typeEvents, "e1", 4, map[string]any{"new": 1, "events": []json.RawMessage{
			json.RawMessage(`{"kind":"of a version to come","chain":0,"body":{"x":[1]}}`),
			json.RawMessage(`{"kind":"chain_changed","chain":0,"body":{"state":{"health":"glorious"}}}`),
			tickEvent(0, 42),
		}})
	}, func(t *testing.T, c *following, _ *plant) {
		pic, at, _ := c.Snapshot(t.Context())
		if st := c.Status(); st.Phase != Live || st.Skipped != 2 || at.Seq != 4 || pic.Chains[0].State.Probes != 42 {
			t.Errorf("%+v at %d, %d", st, at.Seq, pic.Chains[0].State.Probes)
		}
	})
}

// A frame header that promises a gigabyte must not have room made for it.
func TestFrameOfAGigabyte(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer serveSockets(t, l, func(s *socket, _ int) {
		_, _ = s.read(maxHello)
		sayPicture(t, s, newPlant("e1", 1, 1))
		header := binary.BigEndian.AppendUint64([]byte{0x81, 127}, 1<<30)
		raw := s.conn.NetConn()
		_, _ = raw.Write(header)
		chunk := []byte(strings.Repeat("x", 64<<10))
		for { // until the client has enough
			_ = raw.SetWriteDeadline(time.Now().Add(5 * time.Second))
			if _, err := raw.Write(chunk); err != nil {
				return
			}
		}
	})()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := follow(t, func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}, "", nil)
	defer c.stop()
	for {
		st, changed := c.Watch()
		if st.Phase == Reconnecting {
			if st.Code != int(CloseTooBig) {
				t.Errorf("%+v", st)
			}
			break
		}
		<-changed
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 32<<20 {
		t.Errorf("%d MiB were allocated", grew>>20)
	}
}

func TestServerOfAnotherVersionIsRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 1, 1), nil)
		defer h.shut(context.Background())
		code, a, _ := knock(t, l, set("Sec-WebSocket-Protocol", "chaintop.feed.v0"))
		if code != codeUpgrade || a.Name != "version" || !strings.Contains(a.Words, Protocol) {
			t.Errorf("%d %+v", code, a)
		}
	})
}
