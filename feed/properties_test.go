package feed

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// The names below are etcd's: what a reader of a log may rely on.

// readAll collects what a client hands out, with the numbers of the events,
// until its log is at seq.
func readAll(t *testing.T, c *following, at Cursor, seq uint64) (probes []uint64, batches [][]uint64) {
	t.Helper()
	for at.Seq < seq {
		events, next, err := c.After(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		var batch []uint64
		for _, e := range events {
			if b, ok := e.Body.(model.ChainChanged); ok {
				batch = append(batch, b.State.Probes)
			}
		}
		probes, batches = append(probes, batch...), append(batches, batch)
		at = next
	}
	return probes, batches
}

func TestOrderedUniqueReliable(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, h *house, c *following) {
		_, at, _ := c.Snapshot(t.Context())
		const n = 3000
		go func() {
			for i := range n {
				p.tick(0)
				if i%50 == 49 {
					time.Sleep(7 * time.Millisecond)
				}
				if i == n/2 {
					h.cut()
				}
			}
		}()
		probes, _ := readAll(t, c, at, at.Seq+n)
		if len(probes) != n { // Reliable: none is missing
			t.Fatalf("%d of %d events came", len(probes), n)
		}
		for i, got := range probes { // Ordered and Unique
			if got != uint64(i+1) {
				t.Fatalf("event %d says %d", i+1, got)
			}
		}
		if got := h.feed.snapshots.encoded.Load(); got != 1 {
			t.Errorf("%d snapshots: the cut was not resumed", got)
		}
		same(t, p, c)
	})
}

func TestAtomic(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, _ *house, c *following) {
		_, at, _ := c.Snapshot(t.Context())
		// One input's events, many times what a frame holds.
		var events []model.Event
		p.mu.Lock()
		for i := range 10*sealEvents + 7 {
			st := p.inst.Chains[i%3].State
			st.Probes = uint64(i)
			events = append(events, model.Event{At: time.Now().UTC(), Chain: i % 3, Body: model.ChainChanged{What: model.ChangeNext, State: st}})
		}
		p.inst.Apply(events...)
		p.log.Append(p.inst.Clone(), events)
		p.mu.Unlock()
		_, batches := readAll(t, c, at, p.seq())
		if len(batches) != 1 || len(batches[0]) != len(events) {
			t.Errorf("one batch of %d came as %d, the first of %d", len(events), len(batches), len(batches[0]))
		}
		same(t, p, c)
	})
}

func TestResumable(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, h *house, c *following) {
		for range 20 {
			p.tick(1)
			time.Sleep(100 * time.Millisecond)
			h.cut()
			p.tick(1) // while nobody is there
			time.Sleep(time.Second)
		}
		time.Sleep(backoffMost)
		synctest.Wait()
		if n := h.feed.snapshots.encoded.Load(); n != 1 {
			t.Errorf("%d snapshots, want the first alone: 20 cuts are resumed", n)
		}
		same(t, p, c)
	})
}

func TestBookmarkable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		raw := dialRaw(t, l.DialContext, opSecret)
		defer raw.close()
		raw.say(t, typeHello, "", helloData{Resume: &place{Epoch: "e1", Seq: 1}})
		if w := raw.next(t); w.Type != typeWelcome {
			t.Fatalf("%+v", w)
		}
		// Whatever else comes, a heartbeat says up to where everything came.
		last, hearts := uint64(1), 0
		for hearts < 4 {
			f := raw.next(t)
			if f.Type == typeHeart {
				hearts++
				if f.Epoch != "e1" || f.Seq != last {
					t.Errorf("a heartbeat at %s/%d after %d", f.Epoch, f.Seq, last)
				}
				p.tick(0)
			}
			last = f.Seq
		}
		if last < 4 {
			t.Errorf("events up to %d came", last)
		}
	})
}

func TestReplaySendsWhatFollowsAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		synctest.Wait()
		for range 10 {
			p.tick(0)
			time.Sleep(100 * time.Millisecond)
		}
		for _, row := range []struct {
			from   place
			resume string
			why    string
		}{
			{place{"e1", 5}, byReplay, ""}, {place{"e1", p.seq()}, byReplay, ""}, {place{"e1", 1}, byReplay, ""},
			{place{"e1", 0}, bySnapshot, whySlow}, {place{"e1", 99}, bySnapshot, whySlow}, {place{"e0", 5}, bySnapshot, whyEpoch}, {place{}, bySnapshot, whyFirst},
		} {
			raw := dialRaw(t, l.DialContext, opSecret)
			raw.say(t, typeHello, "", helloData{Resume: &row.from})
			var w welcomeData
			raw.data(t, raw.next(t), &w)
			if w.Resume != row.resume || w.Why != row.why {
				t.Errorf("from %+v: %s %q, want %s %q", row.from, w.Resume, w.Why, row.resume, row.why)
			}
			p.tick(0)
			if row.resume == byReplay {
				var seen []uint64
				for last := uint64(0); last < p.seq(); {
					f := raw.until(t, typeEvents)
					var d eventsData
					raw.data(t, f, &d)
					for i := range d.Events {
						if n := f.Seq - uint64(len(d.Events)-1-i); n > row.from.Seq {
							seen = append(seen, n)
						}
					}
					last = f.Seq
				}
				var want []uint64
				for n := row.from.Seq + 1; n <= p.seq(); n++ {
					want = append(want, n)
				}
				if fmt.Sprint(seen) != fmt.Sprint(want) {
					t.Errorf("from %d: %v, want %v", row.from.Seq, seen, want)
				}
			}
			raw.close()
			time.Sleep(time.Second)
		}
	})
}
