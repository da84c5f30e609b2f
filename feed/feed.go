// Package feed is how anyone follows an instance: one log of events, in one
// order, read by cursor. The picture of an instance is the fold of its log; a
// Snapshot is that fold at a cursor.
//
// Law: After hands out contiguous events, in order, each once, and never half a
// batch; a reader too far behind gets ErrGap and takes a new snapshot. Nobody
// who reads slows the one who appends.
package feed

import (
	"context"
	"errors"

	"chaintop/model"
)

// Cursor is a place in the log of one start of an instance: the sequence number
// of the last event read.
type Cursor struct {
	Epoch string
	Seq   uint64
}

// ErrGap says that events after the cursor are gone, or are of another epoch:
// take a new snapshot.
var ErrGap = errors.New("the log no longer holds the events after this cursor")

// ErrClosed says that the log has ended and everything in it was read.
var ErrClosed = errors.New("the log is closed")

// Source is how one follows an instance, local or remote.
type Source interface {
	// Snapshot is the newest picture and its place in the log. The picture is
	// shared: its Chains slice may be folded on only after Clone.
	Snapshot(ctx context.Context) (*model.Instance, Cursor, error)
	// After waits for events after at and returns all there are, with the
	// cursor of the last. It returns ErrGap, ErrClosed, or ctx's error.
	After(ctx context.Context, at Cursor) ([]model.Event, Cursor, error)
}

// Sink takes commands to an instance. Their effect and their answer come back
// as events.
type Sink interface {
	// Send hands over a command and does not wait for its effect. It fails
	// when the instance takes no more, or when ctx ends first.
	Send(ctx context.Context, c model.Command) error
}
