package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"chaintop/feed"
	"chaintop/internal/config"
	"chaintop/internal/core"
	"chaintop/internal/gateway"
	"chaintop/internal/ops"
	"chaintop/model"
)

// instance is a core with what it listens on, from the first socket to the exit.
type instance struct {
	core   *core.Core
	gate   *gateway.Gateway // nil: it does not relay
	feed   *feed.Server     // nil: nobody follows it from outside
	ops    *ops.Server      // nil: it has no ops listener
	doors  []*door
	logger *slog.Logger

	grace   time.Duration // for requests in flight once the listeners are closed
	closing chan struct{} // closed when the drain is over
	exit    chan int      // the code to end with
}

// door is a listener and its server.
type door struct {
	name     string // listen.gateway or listen.ops
	listener net.Listener
	server   *http.Server
	tls      *tls.Config
}

// instanceOptions is what an instance is made of beside what it watches.
type instanceOptions struct {
	gate, ops net.Listener // nil: not listened on
	insecure  bool
	logger    *slog.Logger
	fault     func(chain, upstream int, kind string)
}

// newInstance makes an instance over w. The listeners are its own from then on,
// whatever becomes of it.
func newInstance(w *watch, o instanceOptions) (*instance, error) {
	if o.logger == nil {
		o.logger = slog.New(slog.DiscardHandler)
	}
	i := &instance{logger: o.logger, closing: make(chan struct{}), exit: make(chan int, 2)}
	opts := core.Options{
		Instance: w.instance, Prober: w.targets, Logger: o.logger, Fault: o.fault,
		Close: sync.OnceFunc(func() { close(i.closing) }),
		Exit: func(code int) {
			select {
			case i.exit <- code:
			default: // it ends already
			}
		},
	}
	if o.gate != nil {
		opts.Instance.Gateway = true
		i.gate = gateway.New(gateway.Options{
			Picture: func() *model.Instance {
				if i.core == nil {
					return &w.instance
				}
				return i.core.Picture()
			},
			Now: func() time.Time { return i.core.Now() }, Clients: w.clients(), Sockets: w.sockets, Settings: w.gatewaySettings(), Logger: o.logger,
		})
		opts.Relay, opts.Activity = i.gate, i.gate.Activity
		for _, g := range w.gateways {
			i.grace = max(i.grace, g.Timeout)
		}
	}
	var err error
	if i.core, err = core.New(opts); err != nil {
		o.close()
		return nil, err
	}
	if o.gate != nil {
		s := i.gate.Server(ops.Health(i.core.Picture, i.core.Now))
		i.doors = append(i.doors, &door{name: "listen.gateway", listener: gateway.Bounded(o.gate), server: s})
	}
	if o.ops != nil {
		if err := i.openOps(w, o); err != nil {
			o.close()
			return nil, err
		}
	}
	return i, nil
}

// openOps adds the ops listener, and the feed where it may be served (E5).
func (i *instance) openOps(w *watch, o instanceOptions) error {
	loopback := config.Loopback(o.ops.Addr().String())
	on, err := w.config.FeedOn(o.ops.Addr().String(), o.insecure)
	if err != nil {
		return usageError{err.Error()}
	}
	d := &door{name: "listen.ops", listener: o.ops}
	oo := ops.Options{Picture: i.core.Picture, Source: i.core.Log(), Now: i.core.Now, Logger: o.logger}
	if on {
		f := w.config.Feed()
		if f.CertFile != "" {
			pair, err := tls.LoadX509KeyPair(f.CertFile, f.KeyFile)
			if err != nil {
				return usage("feed.tls: %v", err)
			}
			d.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		}
		so := feed.ServerOptions{
			Log: i.core.Log(), Sink: i.core, Origins: f.Origins, Hosts: f.Hosts, Loopback: loopback,
			TLS: d.tls != nil, Insecure: o.insecure && !loopback && (d.tls == nil || len(f.Tokens) == 0), Now: i.core.Now, Logger: o.logger,
		}
		if len(f.Tokens) > 0 {
			so.Tokens = (&tokens{list: f.Tokens, logger: o.logger}).read
		}
		if i.feed, err = feed.NewServer(so); err != nil {
			return usage("%v", err)
		}
		oo.Feed = i.feed
	}
	i.ops = ops.New(oo)
	d.server = &http.Server{
		Handler: i.ops, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(o.logger.Handler(), slog.LevelDebug),
	}
	i.doors = append(i.doors, d)
	return nil
}

// close closes the listeners that nobody will be served by.
func (o instanceOptions) close() {
	for _, l := range []net.Listener{o.gate, o.ops} {
		if l != nil {
			_ = l.Close() // nobody knows of it yet
		}
	}
}

// run serves until the drain is over, ctx ends or something of it fails, and
// returns the exit code. Stopping is in this order: the listeners close, what is
// in flight ends, streams are closed, the core takes no more, the feed says
// goodbye.
func (i *instance) run(ctx context.Context) (int, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ended, over := make(chan error, 1), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(over)
		ended <- i.core.Run(life)
	})
	if i.ops != nil {
		wg.Go(func() { _ = i.ops.Run(life) }) // ends with us
	}
	if i.gate != nil {
		wg.Go(func() { _ = i.gate.Follow(life, i.core.Log()) }) // ends with us
	}
	for _, d := range i.doors {
		wg.Go(func() { d.serve(i.logger) })
	}
	go func() {
		select {
		case <-i.closing:
			i.core.Closed(i.leave(ctx))
		case <-life.Done():
		}
	}()
	code, err := 0, error(nil)
	select {
	case code = <-i.exit:
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	i.stop(func() {
		end()
		<-over // the log is closed: the feed sends it to its end
	})
	wg.Wait()
	return code, err
}

// leave closes the gateway's listener, waits for what is in flight and closes
// the streams. It returns what was cut.
func (i *instance) leave(ctx context.Context) model.Cut {
	if i.gate == nil {
		return model.Cut{}
	}
	for _, d := range i.doors {
		if d.name == "listen.gateway" {
			_ = d.listener.Close() // it takes no more either way
		}
	}
	wait, cancel := context.WithTimeout(ctx, i.grace+time.Second)
	defer cancel()
	cut := model.Cut{Requests: i.gate.Quiet(wait)}
	cut.Streams = i.gate.Streams() // each gets 1001
	i.gate.CloseStreams(wait)
	return cut
}

// byeTime bounds the goodbye to those who follow.
const byeTime = 2 * time.Second

// stop ends everything in its order.
func (i *instance) stop(end func()) {
	ctx, cancel := context.WithTimeout(context.Background(), byeTime)
	defer cancel()
	if i.gate != nil {
		i.gate.CloseStreams(ctx)
	}
	end()
	if i.feed != nil {
		_ = i.feed.Shutdown(ctx) // who is not gone by then is cut off
	}
	for _, d := range i.doors {
		if err := d.server.Shutdown(ctx); err != nil {
			_ = d.server.Close() // what is left is cut off
		}
	}
}

func (d *door) serve(logger *slog.Logger) {
	l := d.listener
	if d.tls != nil {
		l = tls.NewListener(l, d.tls)
	}
	err := d.server.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		logger.Error("a listener failed", "listen", d.name, "err", err)
	}
}

// tokens reads the feed's tokens from their files, at every question, so that a
// file can be changed while the process runs.
type tokens struct {
	list   []config.Token
	logger *slog.Logger
}

func (t *tokens) read() []feed.Token {
	var all []feed.Token
	for _, one := range t.list {
		secret, err := config.ReadToken(one.File)
		if err != nil {
			t.logger.Warn("a token file cannot be read: its bearer is nobody", "token", one.Name, "err", err)
			continue
		}
		all = append(all, feed.Token{Name: one.Name, Role: feed.Role(one.Role), Secret: secret.Reveal(), Expires: one.Expires})
	}
	return all
}
