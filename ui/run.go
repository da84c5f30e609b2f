package ui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// fps is the most frames drawn in a second.
const fps = 30

// PanicError is a panic in a goroutine of the screen. It was kept, the terminal
// restored, and Run returned it.
type PanicError struct {
	Where string // what the goroutine was for
	Value any
	Stack []byte
}

// Error is the panic in one line; the stack is for a log.
func (e *PanicError) Error() string { return fmt.Sprintf("panic while %s: %v", e.Where, e.Value) }

// Run shows o.Source until somebody quits, ctx ends or the process is told to
// stop, and restores the terminal whatever ends it. Leaving because one was
// asked to is no error. The terminal must be one: Run draws on stdout and reads
// stdin, or what opts say.
func Run(ctx context.Context, o Options, opts ...tea.ProgramOption) error {
	m := New(o)
	return run(ctx, o.NoColor, m, func(ctx context.Context, g *guard, p *tea.Program, running <-chan struct{}) {
		m.ctx = ctx
		watch(ctx, g, p, running, o, p.Send)
	}, opts...)
}

// run makes a program of m; start begins what runs beside it.
func run(ctx context.Context, noColor bool, m tea.Model, start func(context.Context, *guard, *tea.Program, <-chan struct{}), opts ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &started{Model: m, running: make(chan struct{})}
	all := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(fps)}
	if noColor {
		// The library honours NO_COLOR only where it says "true".
		all = append(all, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(s, append(all, opts...)...)
	var g guard
	start(ctx, &g, p, s.running)
	_, err := p.Run()
	cancel()
	return g.wait(err)
}

// watch follows what a screen shows, once its program runs: killing a program
// that has not set its terminal up would leave it set up for good.
func watch(ctx context.Context, g *guard, p *tea.Program, running <-chan struct{}, o Options, send func(tea.Msg)) {
	begin := func(where string, f func()) {
		g.start(p, where, func() {
			select {
			case <-ctx.Done():
			case <-running:
				f()
			}
		})
	}
	begin("following the source", func() { follow(ctx, o.Source, send) })
	if o.Remote != nil {
		begin("watching the feed", func() { watchRemote(ctx, o.Remote, send) })
	}
	if o.Refusals != nil {
		begin("listening for refusals", func() { tellRefusals(ctx, o.Refusals, send) })
	}
}

// started is a model that says when its program runs.
type started struct {
	tea.Model
	running chan struct{}
}

func (s *started) Init() tea.Cmd {
	return tea.Batch(s.Model.Init(), func() tea.Msg {
		close(s.running)
		return nil
	})
}

func (s *started) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := s.Model.Update(msg)
	return s, cmd
}

// guard runs goroutines of the screen so that a panic in one ends the program,
// which restores the terminal, and comes out of Run.
type guard struct {
	wg    sync.WaitGroup
	mu    sync.Mutex
	panic *PanicError // the first
}

func (g *guard) start(p *tea.Program, where string, f func()) {
	g.wg.Go(func() {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			g.mu.Lock()
			if g.panic == nil {
				g.panic = &PanicError{where, v, debug.Stack()}
			}
			g.mu.Unlock()
			p.Kill()
		}()
		f()
	})
}

// wait waits for the goroutines; err is what the program ended with.
func (g *guard) wait(err error) error {
	g.wg.Wait()
	switch {
	case g.panic != nil:
		return g.panic
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, context.Canceled):
		return nil
	}
	return err
}
