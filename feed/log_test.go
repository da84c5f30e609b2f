package feed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"chaintop/feed"
	"chaintop/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func batch(names ...string) []model.Event {
	var es []model.Event
	for _, n := range names {
		es = append(es, model.Event{Chain: -1, Who: n, Body: model.CommandDone{ID: n}})
	}
	return es
}

func whos(es []model.Event) (got []string) {
	for _, e := range es {
		got = append(got, e.Who)
	}
	return got
}

func newLog() (*feed.Log, *model.Instance) {
	pic := &model.Instance{Epoch: "e"}
	return feed.NewLog(pic), pic
}

func TestAfterHandsOutEachEventOnceInOrder(t *testing.T) {
	log, pic := newLog()
	_, at, _ := log.Snapshot(t.Context())
	log.Append(pic, batch("a", "b"))
	log.Append(pic, batch("c"))
	events, at, err := log.After(t.Context(), at)
	if err != nil || fmt.Sprint(whos(events)) != "[a b c]" || at.Seq != 3 {
		t.Fatalf("%v to %v, %v", whos(events), at, err)
	}
	log.Append(pic, batch("d"))
	events, at, err = log.After(t.Context(), at)
	if err != nil || fmt.Sprint(whos(events)) != "[d]" || at.Seq != 4 {
		t.Fatalf("%v to %v, %v", whos(events), at, err)
	}
}

func TestAfterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, pic := newLog()
		got := make(chan []string)
		for range 3 { // all who wait are woken
			go func() {
				events, _, _ := log.After(t.Context(), feed.Cursor{Epoch: "e"})
				got <- whos(events)
			}()
		}
		synctest.Wait()
		log.Append(pic, batch("a"))
		for range 3 {
			if g := <-got; fmt.Sprint(g) != "[a]" {
				t.Errorf("%v", g)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _, err := log.After(ctx, feed.Cursor{Epoch: "e", Seq: 1})
			got <- []string{fmt.Sprint(err)}
		}()
		synctest.Wait()
		cancel()
		if g := <-got; g[0] != context.Canceled.Error() {
			t.Errorf("%v", g)
		}
	})
}

func TestReaderTooFarBehindGetsAGap(t *testing.T) {
	log, pic := newLog()
	const held = 8192
	for i := range held + 10 {
		log.Append(pic, batch(fmt.Sprint(i)))
	}
	for seq, want := range map[uint64]error{0: feed.ErrGap, 9: feed.ErrGap, 10: nil, held + 9: nil, held + 11: feed.ErrGap} {
		events, _, err := log.After(t.Context(), feed.Cursor{Epoch: "e", Seq: seq})
		if !errors.Is(err, want) || (err == nil && len(events) != int(held+10-seq)) {
			t.Errorf("after %d: %d events, %v; want %v", seq, len(events), err, want)
		}
	}
	if _, _, err := log.After(t.Context(), feed.Cursor{Epoch: "another", Seq: 100}); !errors.Is(err, feed.ErrGap) {
		t.Errorf("another epoch: %v", err)
	}
}

// What a reader holds was once written over by the ring coming round.
func TestHandedOutEventsAreNeverWrittenAgain(t *testing.T) {
	log, pic := newLog()
	log.Append(pic, batch("first"))
	events, _, _ := log.After(t.Context(), feed.Cursor{Epoch: "e"})
	_ = append(events, batch("a reader's own")...)
	for i := range 3 * 8192 {
		log.Append(pic, batch(fmt.Sprint(i)))
	}
	if events[0].Who != "first" {
		t.Errorf("it became %q", events[0].Who)
	}
}

func TestClosedLogIsReadToItsEnd(t *testing.T) {
	log, pic := newLog()
	log.Append(pic, batch("last words"))
	log.Close()
	events, at, err := log.After(t.Context(), feed.Cursor{Epoch: "e"})
	if err != nil || fmt.Sprint(whos(events)) != "[last words]" {
		t.Fatalf("%v, %v", whos(events), err)
	}
	if _, _, err := log.After(t.Context(), at); !errors.Is(err, feed.ErrClosed) {
		t.Errorf("%v", err)
	}
}
