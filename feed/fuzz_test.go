package feed

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"chaintop/model"
)

// FuzzServerFrames gives a client whatever a server may send, a frame a line.
// What it takes has to hold together: folding and describing it must not panic;
// what it refuses leaves the picture as it was.
func FuzzServerFrames(f *testing.F) {
	p := newPlant("e1", 1, 1)
	text := p.picture()
	lines := func(frames ...[]byte) []byte { return bytes.Join(frames, []byte("\n")) }
	frame := func(kind string, seq uint64, data any) []byte {
		b, _ := encode(kind, Cursor{"e1", seq}, "", data)
		return b
	}
	f.Add(lines(frame(typeSnapshot, 9, snapshotData{Parts: 1, Bytes: len(text)}), frame(typeSnapshot, 9, snapshotData{Part: 1, Text: text})))
	for _, body := range bodies() {
		e, _ := json.Marshal(model.Event{At: time.Unix(0, 0).UTC(), Chain: 0, Body: body})
		f.Add(lines(frame(typeEvents, 2, eventsData{Events: []json.RawMessage{e}, More: true}), frame(typeEvents, 3, eventsData{Events: []json.RawMessage{e}})))
	}
	f.Add(frame(typeHeart, 1, heartData{}))
	f.Fuzz(func(t *testing.T, in []byte) {
		n := &intake{}
		pic, err := readPicture(text, "e1")
		if err != nil {
			t.Fatal(err)
		}
		n.pic, n.at = pic, Cursor{"e1", 1}
		if err := n.welcome("e1", true); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			fr, err := decode(line)
			if err != nil {
				return
			}
			before := n.pic
			was := pictureText(before)
			got, err := n.frame(fr, time.Unix(0, 0))
			if err != nil {
				if now := pictureText(n.pic); now != was {
					t.Fatalf("refused (%v), and yet it changed: %s", err, diff(now, was))
				}
				return
			}
			describe(n.pic, got.events)
			if err := letIn(n.pic); err != nil {
				t.Fatalf("the fold does not hold together: %v", err)
			}
		}
	})
}

// describe is what a screen does with a picture.
func describe(pic *model.Instance, events []model.Event) {
	now := time.Unix(0, 0)
	for _, e := range append(events, pic.Recent...) {
		model.Describe(pic, e)
	}
	model.Ready(pic, pic.Policy)
	for i, c := range pic.Chains {
		model.Route(c, now, 0)
		model.WhyOf(c, now)
		pic.Chains[i].Due()
	}
	model.Diagnose(model.Fleet{Now: now, Instances: []*model.Instance{pic}})
	_ = pictureText(pic.Masked())
}

// FuzzClientFrames gives a server whatever a client may send. A command that is
// resolved names what there is.
func FuzzClientFrames(f *testing.F) {
	frame := func(kind string, data any) {
		b, _ := encode(kind, Cursor{}, "c", data)
		f.Add(b)
	}
	frame(typeHello, helloData{Client: "x", Resume: &place{"e1", 1}})
	frame(typeCmd, probeOf("K", "chain0/jsonrpc"))
	frame(typeCmd, cmdData{Op: "pin", Args: cmdArgs{Chains: []string{"chain1/jsonrpc"}, Upstream: "node1", For: "3h", Reason: "x"}, Budget: "1s"})
	frame(typeCmd, cmdData{Op: "drain.start", Args: cmdArgs{Confirm: "gw", IfState: "serving"}})
	p := newPlant("e1", 2, 2)
	s, err := NewServer(ServerOptions{Log: p.log, Sink: p, Loopback: true})
	if err != nil {
		f.Fatal(err)
	}
	who := identity{name: "oncall", role: RoleOperator}
	f.Fuzz(func(t *testing.T, in []byte) {
		fr, err := decode(in)
		if err != nil {
			return
		}
		var hello helloData
		_ = unmarshal(fr.Data, &hello)
		if hello.Resume != nil {
			s.sealer.ring.at(hello.Resume.Seq)
		}
		var data cmdData
		if unmarshal(fr.Data, &data) != nil {
			return
		}
		if _, bad := budgetOf(data.Budget); bad != nil {
			return
		}
		cmd, bad := s.desk.resolve(who, "c", data)
		if bad != nil {
			if bad.Words != cleaned(bad.Words) && len(bad.Words) <= maxRunes {
				t.Fatalf("the refusal says %q", bad.Words)
			}
			return
		}
		for _, n := range cmd.Chains {
			if n < 0 || n >= 2 || cmd.Upstream < 0 || cmd.Upstream >= 2 {
				t.Fatalf("%+v", cmd)
			}
		}
		if cmd.Who != "oncall" || cmd.For < 0 || cmd.Reason != cleaned(cmd.Reason) {
			t.Fatalf("%+v", cmd)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inst.Clone().Decide(cmd)
	})
}
