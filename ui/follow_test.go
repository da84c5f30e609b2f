package ui

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/feed"
	"chaintop/model"
)

// source hands out what a test gives it: each After takes one answer.
type source struct {
	snapshots atomic.Int32
	failing   atomic.Int32 // snapshots that fail yet
	answers   chan answer
}

type answer struct {
	events []model.Event
	err    error
}

var errAway = errors.New("the source is away")

func (s *source) Snapshot(context.Context) (*model.Instance, feed.Cursor, error) {
	s.snapshots.Add(1)
	if s.failing.Add(-1) >= 0 {
		return nil, feed.Cursor{}, errAway
	}
	return &model.Instance{Name: "gw"}, feed.Cursor{}, nil
}

func (s *source) After(ctx context.Context, at feed.Cursor) ([]model.Event, feed.Cursor, error) {
	select {
	case a := <-s.answers:
		at.Seq += uint64(len(a.events))
		return a.events, at, a.err
	case <-ctx.Done():
		return nil, at, ctx.Err()
	}
}

// heard is a message, and when it came, counted from the start.
type heard struct {
	msg tea.Msg
	at  time.Duration
}

// following runs follow in a bubble, and keeps what it sends.
func following(t *testing.T, src feed.Source) (got *[]heard, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	start, done := time.Now(), make(chan struct{})
	got = &[]heard{}
	go func() {
		defer close(done)
		follow(ctx, src, func(m tea.Msg) { *got = append(*got, heard{m, time.Since(start)}) })
	}()
	return got, func() { cancel(); <-done }
}

func event(n int) model.Event {
	return model.Event{Chain: -1, Body: model.CommandDone{ID: string(rune('a' + n%26))}}
}

// The first change after quiet is handed on at once; while they keep coming,
// there are 30 batches a second, and every event is in one, in order.
func TestFollowIsPromptAndPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := feed.NewLog(&model.Instance{Name: "gw", Epoch: "e"})
		got, stop := following(t, log)
		synctest.Wait()
		if len(*got) != 1 || (*got)[0].at != 0 {
			t.Fatalf("the picture did not come at once: %v", *got)
		}
		time.Sleep(time.Minute)
		log.Append(&model.Instance{}, []model.Event{event(0)})
		synctest.Wait()
		if len(*got) != 2 || (*got)[1].at != time.Minute {
			t.Fatalf("the first change after quiet did not come at once: %v", *got)
		}
		// A thousand a second for two seconds.
		for n := range 2000 {
			time.Sleep(time.Millisecond)
			log.Append(&model.Instance{}, []model.Event{event(n + 1)})
		}
		time.Sleep(framePace)
		synctest.Wait()
		stop()
		batches, events := (*got)[1:], 0
		for k, h := range batches {
			b := h.msg.(changedMsg)
			for _, e := range b.events {
				if e.Body.(model.CommandDone).ID != event(events).Body.(model.CommandDone).ID {
					t.Fatalf("event %d is out of order", events)
				}
				events++
			}
			if k > 0 && h.at-batches[k-1].at < framePace {
				t.Fatalf("batches %v apart", h.at-batches[k-1].at)
			}
		}
		if events != 2001 {
			t.Errorf("%d events came, want 2001", events)
		}
		if n := len(batches); n < 58 || n > 62 {
			t.Errorf("2s made %d batches, want 60 or so", n)
		}
	})
}

func TestFollowTakesANewPictureAfterAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{answers: make(chan answer, 4)}
		got, stop := following(t, src)
		src.answers <- answer{events: []model.Event{event(0)}}
		src.answers <- answer{err: feed.ErrGap}
		src.answers <- answer{events: []model.Event{event(1)}}
		time.Sleep(time.Second)
		stop()
		want := []heard{
			{snapshotMsg{}, 0}, {changedMsg{}, 0}, {snapshotMsg{}, 2 * framePace}, {changedMsg{}, 2 * framePace},
		}
		same(t, *got, want)
	})
}

func TestFollowEndsQuietlyWithTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := feed.NewLog(&model.Instance{Name: "gw", Epoch: "e"})
		got, stop := following(t, log)
		synctest.Wait()
		log.Append(&model.Instance{}, []model.Event{event(0)})
		log.Close()
		time.Sleep(time.Hour)
		stop()
		same(t, *got, []heard{{snapshotMsg{}, 0}, {changedMsg{}, 0}, {endedMsg{}, framePace}})
	})
}

// The screen never ends because what it watches failed (S7).
func TestFollowTriesAFailingSourceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{answers: make(chan answer, 4)}
		src.failing.Store(2)
		got, stop := following(t, src)
		time.Sleep(3 * time.Second)
		src.answers <- answer{err: errAway}
		time.Sleep(3 * time.Second)
		stop()
		same(t, *got, []heard{
			{lostMsg{}, 0}, {lostMsg{}, time.Second}, {snapshotMsg{}, 2 * time.Second},
			{lostMsg{}, 3 * time.Second}, {snapshotMsg{}, 4 * time.Second},
		})
	})
}

// same compares kinds of messages and their times.
func same(t *testing.T, got, want []heard) {
	t.Helper()
	kind := func(h heard) string {
		switch h.msg.(type) {
		case snapshotMsg:
			return "snapshot"
		case changedMsg:
			return "changed"
		case endedMsg:
			return "ended"
		case lostMsg:
			return "lost"
		}
		return "?"
	}
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = kind(got[i]) == kind(want[i]) && got[i].at == want[i].at
	}
	if ok {
		return
	}
	for _, h := range got {
		t.Logf("got  %s at %v", kind(h), h.at)
	}
	for _, h := range want {
		t.Logf("want %s at %v", kind(h), h.at)
	}
	t.Error("other messages, or at other times")
}

// The picture of a snapshot is shared: folding on from it must not write into
// what its owner goes on writing.
func TestFollowFoldsOnItsOwnCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recent := make([]model.Event, 1, 8)
		recent[0] = event(0)
		log := feed.NewLog(&model.Instance{Name: "gw", Epoch: "e", Recent: recent})
		got, stop := following(t, log)
		synctest.Wait()
		stop()
		m := screen(t, (*got)[0].msg.(snapshotMsg).inst, 80, 24)
		m.Update(changedMsg{[]model.Event{event(1)}})
		if recent[:2][1].Body != nil {
			t.Error("the fold wrote behind the end of the shared array")
		}
	})
}
