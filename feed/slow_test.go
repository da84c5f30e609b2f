package feed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// fat is a reading of some size.
func (p *plant) fat(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := model.Event{At: time.Now().UTC().Round(0), Chain: 0, Body: model.UpstreamRead{Checks: model.Checks{TipBy: make([]int, bytes/2)}}}
	p.inst.Apply(e)
	p.log.Append(p.inst.Clone(), []model.Event{e})
}

// A reader that stops was once found out when its socket was full: no goodbye
// fits into a full socket.
func TestStoppedReaderIsToldSoBeforeItsSocketBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		stopped := greeted(t, l, opSecret)
		defer stopped.close()
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		start := time.Now()
		for range 100 { // 100 KB a second
			p.fat(10 << 10)
			time.Sleep(100 * time.Millisecond)
			if d := c.Status().Heard; time.Since(d) > 50*time.Millisecond+heartbeat {
				t.Fatalf("the other viewer waits since %v", d)
			}
		}
		same(t, p, c)
		byes, err := stopped.end()
		if fmt.Sprint(err) != fmt.Sprint(&closedError{CloseSlow}) || len(byes) != 1 || byes[0] != CloseSlow {
			t.Errorf("when it reads again, after %v: %v, goodbyes %v", time.Since(start), err, byes)
		}
		if n := h.feed.Viewers(); n != 1 {
			t.Errorf("%d viewers are left, want the other", n)
		}
	})
}

func TestReaderThatPausesIsHeldAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		r := greeted(t, l, opSecret)
		defer r.close()
		for range 20 {
			for range 30 {
				p.fat(10 << 10)
				time.Sleep(100 * time.Millisecond)
			} // 3 s without a read, then all of it
			for last := uint64(0); last < p.seq(); {
				last = r.until(t, typeEvents).Seq
			}
		}
	})
}

func TestThirdSnapshotForSlownessInAMinuteIsTheLast(t *testing.T) {
	for _, row := range []struct {
		pause time.Duration
		slow  bool
	}{{10 * time.Second, true}, {31 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			l, p := memnet.Listen(), newPlant("e1", 1, 1)
			h := newHouse(t, l, p, nil)
			h.feed.sealer.ring.shrink(100 << 10)
			defer h.shut(context.Background())
			r := greeted(t, l, opSecret)
			defer r.close()
			snapshots := 0
			var closed error
			for range 6 {
				for range 40 { // the ring comes round while it does not read
					p.fat(10 << 10)
					time.Sleep(60 * time.Millisecond)
				}
				for at := uint64(0); at < p.seq() && closed == nil; {
					text, err := r.read(maxServerFrame)
					if err != nil {
						closed = err
						break
					}
					f, _ := decode(text)
					switch f.Type {
					case typeSnapshot:
						var d snapshotData
						if r.data(t, f, &d); d.Why == whySlow {
							snapshots++
						} else if d.Part > 0 {
							at = f.Seq
						}
					case typeEvents:
						at = f.Seq
					}
				}
				time.Sleep(row.pause)
			}
			if row.slow && (fmt.Sprint(closed) != fmt.Sprint(&closedError{CloseSlow}) || snapshots != 2) {
				t.Errorf("every %v: %d snapshots, %v", row.pause, snapshots, closed)
			}
			if !row.slow && (closed != nil || snapshots != 6) {
				t.Errorf("every %v: %d snapshots, %v", row.pause, snapshots, closed)
			}
		})
	}
}

func TestEventTooBigForAFrameIsASnapshot(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, h *house, c *following) {
		p.tick(0)
		p.mu.Lock()
		for n := range p.inst.Chains { // a picture of more than a frame
			more := *p.inst.Chains[n]
			for i := range 60 {
				u := model.Upstream{Name: fmt.Sprint("more", i)}
				for range 64 {
					u.Latency.Samples = append(u.Latency.Samples, time.Hour+time.Duration(i))
				}
				more.Upstreams = append(more.Upstreams, u)
			}
			p.inst.Chains[n] = &more
		}
		for i := range 40 {
			big := *p.inst.Chains[0]
			big.Name = fmt.Sprint("big", i)
			p.inst.Chains = append(p.inst.Chains, &big)
		}
		e := model.Event{At: time.Now().UTC(), Chain: -1, Body: model.Started{Instance: *p.inst.Clone()}}
		p.inst.Apply(e)
		p.log.Append(p.inst.Clone(), []model.Event{e})
		p.mu.Unlock()
		p.tick(1)
		time.Sleep(time.Second)
		p.tick(2)
		time.Sleep(time.Second)
		synctest.Wait()
		if st := c.Status(); st.Phase != Live || len(p.picture()) < maxServerFrame {
			t.Errorf("%+v", st)
		}
		same(t, p, c)
		if n := h.feed.snapshots.encoded.Load(); n != 2 {
			t.Errorf("%d snapshots", n)
		}
	})
}

func TestClientsAddressesAreForOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		op, view := follow(t, l.DialContext, opSecret, nil), follow(t, l.DialContext, viewSecret, nil)
		defer op.stop()
		defer view.stop()
		synctest.Wait()
		p.tick(0)
		synctest.Wait()
		one := h.feed.sealer.ring.frames
		if f := one[len(one)-1]; f.full != f.masked {
			t.Error("a frame without an address was encoded twice")
		}
		p.mu.Lock()
		d := p.inst.Drain
		d.Activity.Client = "10.83.2.9"
		e := model.Event{At: time.Now().UTC().Round(0), Chain: -1, Body: model.DrainChanged{Drain: d}}
		p.inst.Apply(e)
		p.log.Append(p.inst.Clone(), []model.Event{e})
		p.mu.Unlock()
		time.Sleep(time.Second)
		late := follow(t, l.DialContext, viewSecret, nil)
		defer late.stop()
		synctest.Wait()
		for name, row := range map[string]struct {
			c    *following
			want bool
		}{"operator": {op, true}, "viewer": {view, false}, "late viewer": {late, false}} {
			text := row.c.picture()
			if got := strings.Contains(text, "10.83.2.9"); got != row.want || !strings.Contains(text, "10.83.2.") {
				t.Errorf("the %s's picture has the whole address: %v", name, got)
			}
		}
		same(t, p, op)
		if d := diff(view.picture(), late.picture()); d != "" {
			t.Errorf("folding what is masked is not masking the fold: %s", d)
		}
	})
}
