package ops

import (
	"context"
	"errors"

	"chaintop/feed"
)

// Run counts the events of the log until ctx ends or the log is closed and read
// to its end; then it returns ctx's error, or nil. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	if s.source == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	_, at, err := s.source.Snapshot(ctx)
	if err != nil {
		return err
	}
	at.Seq = 0 // from the first event on, where the log still has it
	for {
		events, next, err := s.source.After(ctx, at)
		switch {
		case errors.Is(err, feed.ErrGap):
			pic, now, err := s.source.Snapshot(ctx)
			if err != nil {
				return err
			}
			s.counts.skip(pic)
			s.logger.Warn("metrics: events were lost before they were counted", "after", at.Seq, "up_to", now.Seq)
			at = now
			continue
		case errors.Is(err, feed.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		s.counts.fold(events)
		at = next
	}
}
