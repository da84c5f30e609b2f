//go:build unix

package termtest

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// patience bounds a wait whose context has no deadline.
const patience = 30 * time.Second

// pace is how often a wait looks at the screen.
const pace = 10 * time.Millisecond

// Screen is what the terminal shows, a line a row, without colours and without
// blanks at the end of a line.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for y := range t.screen.Height() {
		b.WriteString(strings.TrimRight(t.row(y), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// row is line y of the screen. The caller holds the lock.
func (t *Terminal) row(y int) string {
	var b strings.Builder
	for x := 0; x < t.screen.Width(); {
		cell := t.screen.CellAt(x, y)
		if cell == nil || cell.Content == "" {
			b.WriteByte(' ')
			x++
			continue
		}
		b.WriteString(cell.Content)
		x += max(1, cell.Width)
	}
	return b.String()
}

// Styled is what the terminal shows, with its colours as escape sequences.
func (t *Terminal) Styled() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.Render()
}

// Output is all the program wrote, byte for byte; of more than 16 MiB, the
// newest.
func (t *Terminal) Output() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.output...)
}

// IsAltScreen says whether the alternate screen is shown.
func (t *Terminal) IsAltScreen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.IsAltScreen()
}

// WaitFor waits until ok holds of the screen. It fails when ctx ends, after 30 s
// if ctx has no deadline, or when the program ends before that; the error
// carries the last screen.
func (t *Terminal) WaitFor(ctx context.Context, ok func(screen string) bool) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	look := time.NewTicker(pace)
	defer look.Stop()
	for {
		end := t.isOver() // asked first: what it wrote is then on the screen
		screen := t.Screen()
		if ok(screen) {
			return nil
		}
		if end {
			return fmt.Errorf("wait for the screen: %w, code %d; last screen:\n%s", ErrEnded, t.code, screen)
		}
		select {
		case <-look.C:
		case <-t.over:
		case <-ctx.Done():
			return fmt.Errorf("wait for the screen: %w; last screen:\n%s", context.Cause(ctx), screen)
		}
	}
}

// WaitText waits until the screen has this text, in one line.
func (t *Terminal) WaitText(ctx context.Context, text string) error {
	if err := t.WaitFor(ctx, func(s string) bool { return strings.Contains(s, text) }); err != nil {
		return fmt.Errorf("look for %q: %w", text, err)
	}
	return nil
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}
