package feed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

func TestPictureIsEncodedOnceForAllWhoComeWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 2)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		var crowd []*following
		defer func() {
			for _, c := range crowd {
				c.stop()
			}
		}()
		come := func(n int) {
			for range n {
				crowd = append(crowd, follow(t, l.DialContext, opSecret, nil))
			}
			synctest.Wait()
		}
		come(20)
		p.tick(0)
		time.Sleep(snapshotFor - time.Nanosecond)
		come(20)
		if n := h.feed.snapshots.encoded.Load(); n != 1 {
			t.Errorf("%d pictures were encoded for forty viewers", n)
		}
		time.Sleep(time.Nanosecond)
		come(1)
		if n := h.feed.snapshots.encoded.Load(); n != 2 {
			t.Errorf("%d pictures were encoded, one of them a second old", n)
		}
		if n := h.feed.sealer.encoded.Load(); n != 1 {
			t.Errorf("one event was encoded %d times", n)
		}
		for _, c := range crowd {
			same(t, p, c)
		}
	})
}

// A frame that began before a snapshot is sent whole: what is in both was once
// folded twice, or the whole frame taken for a hole.
func TestFrameThatBeganBeforeTheSnapshot(t *testing.T) {
	for _, more := range []bool{false, true} {
		bubble(t, func(t *testing.T, p *plant, h *house, _ *following) {
			time.Sleep(time.Second)
			p.tick(0) // sealed at once
			time.Sleep(10 * time.Millisecond)
			p.tick(1) // in the open frame
			time.Sleep(10 * time.Millisecond)
			late := follow(t, h.l.(*memnet.Listener).DialContext, opSecret, nil)
			defer late.stop()
			synctest.Wait()
			same(t, p, late)
			if more {
				time.Sleep(10 * time.Millisecond)
				p.tick(2) // so that the frame goes beyond the snapshot
			}
			time.Sleep(time.Second)
			p.tick(0)
			time.Sleep(time.Second)
			same(t, p, late)
			_, at, _ := late.Snapshot(t.Context())
			if st := late.Status(); st.Phase != Live || at.Seq != p.seq() || at.Epoch != "e1#1" {
				t.Errorf("%+v at %v: it did not go on from its first picture", st, at)
			}
		})
	}
}

func TestSkewIsTheLargestOfLate(t *testing.T) {
	var k skew
	start := time.Unix(1e9, 0)
	// The other clock is an hour ahead; frames come late by the given time.
	for i, row := range []struct {
		at   time.Duration
		late time.Duration
		want time.Duration
	}{
		{0, 300 * time.Millisecond, time.Hour - 300*time.Millisecond},
		{time.Second, 20 * time.Millisecond, time.Hour - 20*time.Millisecond},
		{2 * time.Second, 9 * time.Second, time.Hour - 20*time.Millisecond},        // of a replay
		{31 * time.Second, 2 * time.Second, time.Hour - 20*time.Millisecond},       // the window before counts
		{62 * time.Second, 50 * time.Millisecond, time.Hour - 50*time.Millisecond}, // and no longer
		{10 * time.Minute, time.Second, time.Hour - time.Second},
	} {
		ours := start.Add(row.at)
		k.add(ours.Add(time.Hour-row.late), ours)
		if got := k.value(); got != row.want {
			t.Errorf("%d: %v, want %v", i, got, row.want)
		}
	}
	k.add(start.Add(-time.Hour), start.Add(-time.Hour)) // our clock was set back
	if got := k.value(); got != 0 {
		t.Errorf("after our clock was set: %v", got)
	}
}

// echo is a sink before which somebody else's command of the same id is
// answered.
type echo struct{ *plant }

func (e echo) Send(ctx context.Context, cmd model.Command) error {
	e.mu.Lock()
	other := model.Event{At: time.Now().UTC(), Chain: -1, Who: "somebody else", Body: model.CommandDone{ID: cmd.ID, Op: cmd.Op, Code: 403, Answer: "refused"}}
	e.inst.Apply(other)
	e.log.Append(e.inst.Clone(), []model.Event{other})
	e.mu.Unlock()
	return e.plant.Send(ctx, cmd)
}

func TestAnswerToSomebodyElseIsNotOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, func(o *ServerOptions) { o.Sink = echo{p} })
		defer h.shut(context.Background())
		r := greeted(t, l, opSecret)
		defer r.close()
		r.say(t, typeCmd, "c1", probeOf(""))
		if kind, a := r.reply(t, "c1"); kind != typeAccepted {
			t.Errorf("%s %+v", kind, a)
		}
	})
}
