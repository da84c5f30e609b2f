package ui

import (
	"context"

	"chaintop/model"
)

// sink keeps the commands it is sent, or refuses them.
type sink struct {
	sent []model.Command
	err  error
	ctx  context.Context // of the last
}

func (s *sink) Send(ctx context.Context, c model.Command) error {
	s.ctx = ctx
	if s.err != nil {
		return s.err
	}
	s.sent = append(s.sent, c)
	return nil
}
