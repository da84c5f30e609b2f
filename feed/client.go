package feed

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"chaintop/model"
)

// ClientOptions is what a client is made of.
type ClientOptions struct {
	URL   string                 // ws:// or wss://, without user and query
	Token func() (string, error) // asked before every try, so that a file can be read again; nil: none
	TLS   *tls.Config            // nil: the system's
	Dial  func(ctx context.Context, network, addr string) (net.Conn, error)

	Name string // of this program and its version, for the server's log

	// Insecure lets a token go over ws:// to another machine.
	Insecure bool

	// Refused is told of commands given by Send whose refusal is in no event,
	// so that a screen can say so: a viewer's, one too many, one whose
	// connection was lost. It is called from the client's own goroutines and
	// must not block.
	Refused func(id string, a Answer)

	Now  func() time.Time // nil: time.Now
	Rand func() float64   // 0 ≤ x < 1, for pauses; nil: its own
}

// Client follows a remote instance. It is a Source and a Sink: it folds what
// comes over the feed into a log of its own, so that whoever shows an instance
// need not know where it runs.
//
// Law: what it hands out is the server's log in order, each event once, whole
// batches; where that cannot be had, readers get ErrGap and take the new
// picture. A picture never goes on under a hole.
type Client struct {
	o     ClientOptions
	log   *Log
	calls calls

	retry chan struct{}
	stale *time.Timer

	mu      sync.Mutex // held for a few assignments
	status  Status
	changed chan struct{} // closed by the next change; nil while nobody waits
	skew    skew

	// Owned by the goroutine of Run.
	have *intake
}

// NewClient is a client that does nothing until Run.
func NewClient(o ClientOptions) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("feed: not a URL of the form wss://host/feed")
	case u.Scheme != "ws" && u.Scheme != "wss":
		return nil, errors.New("feed: the URL of a feed begins with ws:// or wss://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("feed: a token is no part of the URL: use a token file")
	case o.Token != nil && u.Scheme == "ws" && !o.Insecure && !loopback(u.Hostname()):
		return nil, errors.New("feed: the token would cross the network in the clear: use wss:// (or --insecure)")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	c := &Client{
		o: o, log: &Log{}, retry: make(chan struct{}, 1), have: &intake{},
	}
	c.calls.wake = make(chan struct{}, 1)
	c.status.Since = o.Now()
	return c, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}

// Run connects, follows and comes back until ctx ends; then the log is closed.
// It may be called once.
func (c *Client) Run(ctx context.Context) error {
	c.stale = time.AfterFunc(staleAfter, func() {
		c.set(func(s *Status) { s.Stale = !s.Heard.IsZero() })
	})
	defer func() {
		c.stale.Stop()
		c.phase(Ended, nil)
		c.endAll(ErrClosed, "this end was closed")
		c.log.Close()
	}()
	pause := backoff{roll: c.o.Rand}
	for try := 1; ; try++ {
		c.phase(Connecting, func(s *Status) { s.Try = try })
		lost, lived := c.session(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause.stable(lived)
		if lived > 0 {
			try = 0
		}
		if err := c.wait(ctx, lost, &pause, try+1); err != nil {
			return err
		}
	}
}

// wait is the pause after a lost connection: as long as the server asked for,
// or by the backoff; without end after a refusal.
func (c *Client) wait(ctx context.Context, l *lost, pause *backoff, try int) error {
	say := func(s *Status) { s.Code, s.Words, s.Try = l.code, l.words, try }
	var over <-chan time.Time
	if l.final {
		c.phase(Refused, say)
		c.endAll(&RefusedError{l.code, l.words}, l.words)
	} else {
		d := pause.next()
		if l.after > 0 {
			d = min(l.after, askedMost)
		}
		next := c.o.Now().Add(d)
		c.phase(Reconnecting, func(s *Status) { say(s); s.Next = next })
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return nil
	case <-c.retry:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RetryNow ends the pause before the next try, also after a refusal.
func (c *Client) RetryNow() {
	select {
	case c.retry <- struct{}{}:
	default: // it is asked for already
	}
}

// Now is the time on the server's clock, as near as it is known: the ages of a
// remote picture are counted from it.
func (c *Client) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.o.Now().Add(c.status.Skew)
}

// measure takes a time from the server's clock.
func (c *Client) measure(theirs time.Time) {
	if theirs.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew.add(theirs, c.o.Now())
	c.status.Skew = c.skew.value()
}

// Snapshot waits for the first picture, and is the newest from then on.
func (c *Client) Snapshot(ctx context.Context) (*model.Instance, Cursor, error) {
	for {
		status, changed := c.Watch()
		pic, at, _ := c.log.Snapshot(ctx) // a Log's never fails
		switch {
		case pic != nil:
			return pic, at, nil
		case status.Phase == Refused:
			return nil, Cursor{}, &RefusedError{status.Code, status.Words}
		case status.Phase == Ended:
			return nil, Cursor{}, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, Cursor{}, ctx.Err()
		}
	}
}

// After waits for events after a place in this client's own log. When the
// picture was replaced it returns ErrGap.
func (c *Client) After(ctx context.Context, at Cursor) ([]model.Event, Cursor, error) {
	return c.log.After(ctx, at)
}
