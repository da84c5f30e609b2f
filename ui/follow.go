package ui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/feed"
)

const (
	// framePace is the least time between two batches: the screen draws no
	// more than 30 frames a second, and a batch between two of them would be
	// work nobody sees.
	framePace = time.Second / 30
	// retryAfter is the pause before a source that failed is asked again.
	retryAfter = time.Second
)

// follow hands the screen the picture and then what changes: the first change
// after quiet at once, then whole batches, at most 30 a second. Nothing is
// dropped and nothing merged. It returns when the log ends, which the screen
// outlives, or when ctx does. A source that fails is said to have failed and is
// asked for a new picture: the screen never ends because of what it watches.
func follow(ctx context.Context, src feed.Source, send func(tea.Msg)) {
	for ctx.Err() == nil {
		err := followFrom(ctx, src, send)
		switch {
		case errors.Is(err, feed.ErrClosed):
			send(endedMsg{})
			return
		case ctx.Err() != nil:
			return
		case errors.Is(err, feed.ErrGap):
			pause(ctx, framePace)
		default:
			send(lostMsg{err})
			pause(ctx, retryAfter)
		}
	}
}

// followFrom follows from a new snapshot until the source has no more after it.
func followFrom(ctx context.Context, src feed.Source, send func(tea.Msg)) error {
	inst, at, err := src.Snapshot(ctx)
	if err != nil {
		return err
	}
	mine := inst.Clone()
	// The snapshot's array goes on being written behind its end by its owner.
	mine.Recent = slices.Clip(mine.Recent)
	send(snapshotMsg{mine})
	for {
		events, next, err := src.After(ctx, at)
		if err != nil {
			return err
		}
		at = next
		send(changedMsg{events})
		pause(ctx, framePace)
	}
}
