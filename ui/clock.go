package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// tickMsg comes once a second, on the second.
type tickMsg struct{}

// tick is the next second of the wall clock. It is the only clock of the
// screen: ages and countdowns all turn at once. Unlike the library's it ends
// with the program, so that nothing of the screen outlives Run.
func tick(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		now := time.Now()
		pause(ctx, now.Truncate(time.Second).Add(time.Second).Sub(now))
		return tickMsg{}
	}
}

func (m *Model) onTick() tea.Cmd {
	if !m.flash.until.IsZero() && !m.now.Before(m.flash.until) {
		m.flash = flash{}
	}
	return tick(m.ctx)
}

// pause waits for d, or for ctx to end.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
