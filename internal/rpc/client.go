package rpc

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/config"
)

// DefaultMaxBody bounds an answer's body after inflation (SPEC X3).
const DefaultMaxBody = 1 << 20

// defaultMaxIdle bounds the connections a Client keeps: one for the head and one
// beside it. At 37 to 56 KiB each, more would be most of the memory of a fleet.
const defaultMaxIdle = 2

// Options are how an upstream is reached. The zero value is the default.
type Options struct {
	// HTTP is TLS, proxy, credentials and headers; fill it from
	// config.DefaultHTTPClientConfig first. Redirects are never followed,
	// whatever it says.
	HTTP config.HTTPClientConfig
	// Dial makes connections; nil is a net.Dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// RootCAs are trusted instead of the system's and of HTTP.TLSConfig's.
	RootCAs *x509.CertPool
	// MaxBody bounds a body in bytes, after inflation; 0 is DefaultMaxBody.
	MaxBody int64
	// MaxIdle bounds the connections that are kept; 0 is 2.
	MaxIdle int
	// H2C says that a plain http:// address speaks HTTP/2 from the first byte, as
	// gRPC does without TLS. With TLS the handshake agrees on it.
	H2C bool
}

// Client is the one way to an upstream, shared by whoever asks it (SPEC F4). It
// is an http.RoundTripper, over HTTP/1.1 and HTTP/2. It may be used by many at
// once.
type Client struct {
	url     URL
	plain   bool // http or ws
	h2c     bool
	http    config.HTTPClientConfig
	tls     *tlsSource
	rt      http.RoundTripper
	dialer  func(ctx context.Context, network, addr string) (net.Conn, error)
	maxBody int64
	scrub   *scrubber
	keys    []string     // headers in which the configuration sends keys
	asks    atomic.Int64 // ids given out
	born    time.Time
	heard   atomic.Int64 // when a byte last came, in ns after born; 0 = never

	life context.Context // ends with Close
	end  context.CancelFunc

	mu    sync.Mutex
	conns map[*conn]struct{} // open; nil once closed
}

// NewClient is a client for u. It dials nothing. An error names what of the
// options cannot be used.
func NewClient(u URL, o Options) (*Client, error) {
	if u.raw == nil {
		return nil, errors.New("no URL")
	}
	if isZero(o.HTTP) {
		o.HTTP = config.DefaultHTTPClientConfig
	}
	if err := o.HTTP.Validate(); err != nil {
		return nil, fmt.Errorf("http of %s: %w", u.name, err)
	}
	c := &Client{
		url: u, plain: u.Scheme() == "http" || u.Scheme() == "ws",
		h2c: o.H2C, http: o.HTTP, dialer: o.Dial, maxBody: o.MaxBody,
		scrub: newScrubber(append(u.secrets(), secretsOf(&o.HTTP)...)),
		conns: map[*conn]struct{}{}, born: time.Now(),
	}
	if c.dialer == nil {
		c.dialer = (&net.Dialer{}).DialContext
	}
	if c.maxBody <= 0 {
		c.maxBody = DefaultMaxBody
	}
	if o.MaxIdle <= 0 {
		o.MaxIdle = defaultMaxIdle
	}
	c.keys = c.secretHeaders()
	c.life, c.end = context.WithCancel(context.Background())
	if err := c.build(o); err != nil {
		c.end()
		return nil, fmt.Errorf("http of %s: %w", u.name, err)
	}
	return c, nil
}

// URL is the upstream's address, which prints redacted.
func (c *Client) URL() URL { return c.url }

// Text is outside text made fit to be shown: cleaned, at most that many runes
// long, and without this upstream's secrets, which it may have echoed.
func (c *Client) Text(outside string, runes int) string { return c.scrub.text(outside, runes) }

// HeardSince says whether any byte came from the upstream after t, on any
// connection, for whoever asked (SPEC F11).
func (c *Client) HeardSince(t time.Time) bool {
	heard := c.heard.Load()
	return heard > 0 && c.born.Add(time.Duration(heard)).After(t)
}

// NextID is an id for a JSON-RPC request that no other request of this client has.
func (c *Client) NextID() int64 { return c.asks.Add(1) }

// Format prints the upstream's address, redacted, whatever the verb: nothing
// else of a client is for anyone to see.
func (c *Client) Format(s fmt.State, verb rune) { c.url.Format(s, verb) }

// CloseIdle closes the connections on which nothing is asked.
func (c *Client) CloseIdle() {
	if rt, ok := c.rt.(interface{ CloseIdleConnections() }); ok {
		rt.CloseIdleConnections()
	}
}

// Close ends every dial and closes every connection, those in use too. The
// client cannot be used any more.
func (c *Client) Close() {
	c.end()
	c.CloseIdle()
	c.mu.Lock()
	open := make([]*conn, 0, len(c.conns))
	for k := range c.conns {
		open = append(open, k)
	}
	c.conns = nil
	c.mu.Unlock()
	for _, k := range open {
		// It is being thrown away.
		_ = k.Close()
	}
}

type repeatKey struct{}

// WithRepeat says that a request may be sent a second time when the kept
// connection it went out on is lost before the first byte of an answer (SPEC
// F5): a question that changes nothing. It is asked once more, on a fresh
// connection. Without it such a request fails.
func WithRepeat(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeatKey{}, true)
}

// RoundTrip sends req to this upstream, whatever host its URL names: of that
// only a path and a query count, which are added to the upstream's own. A body
// must come with GetBody to be sent again (WithRepeat). Its error is a *Failure
// unless the request could not be built; a redirect is an answer.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	repeat, _ := req.Context().Value(repeatKey{}).(bool)
	resp, a, err := c.send(req)
	if repeat && a.lost(resp, err) {
		drop(resp)
		if again := c.again(req); again != nil {
			resp, a, err = c.send(again)
		}
	}
	if err != nil {
		return nil, c.fault(a, err)
	}
	return resp, nil
}

// again is req to be sent once more on a fresh connection, or nil if it cannot be.
func (c *Client) again(req *http.Request) *http.Request {
	if req.Context().Err() != nil || (req.Body != nil && req.Body != http.NoBody && req.GetBody == nil) {
		return nil
	}
	c.CloseIdle()
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil
		}
		again.Body = body
	}
	return again
}

// send is one attempt.
func (c *Client) send(req *http.Request) (*http.Response, *attempt, error) {
	ctx, a := follow(req.Context())
	out := req.WithContext(ctx)
	out.URL = c.target(req.URL)
	out.Host = c.url.raw.Host
	if out.Header == nil || c.url.raw.User != nil || out.Header.Get("User-Agent") == "" {
		out.Header = out.Header.Clone() // it is written to, and is the caller's
		if out.Header == nil {
			out.Header = http.Header{}
		}
	}
	if user := c.url.raw.User; user != nil && !c.authorized() {
		word, _ := user.Password()
		out.SetBasicAuth(user.Username(), word)
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "chaintop")
	}
	resp, err := c.rt.RoundTrip(out)
	return resp, a, err
}

// target is the upstream's address with the path and the query of u.
func (c *Client) target(u *url.URL) *url.URL {
	to := c.url.reveal()
	to.User = nil
	to.Scheme = "http" + strings.TrimPrefix(strings.TrimPrefix(c.url.Scheme(), "ws"), "http")
	if u == nil {
		return to
	}
	if u.Path != "" && u.Path != "/" {
		if to.Path == "" {
			to.Path = "/" // or the joined path would begin with none
		}
		to = to.JoinPath(u.EscapedPath())
	}
	if u.RawQuery != "" {
		if to.RawQuery != "" {
			to.RawQuery += "&"
		}
		to.RawQuery += u.RawQuery
	}
	return to
}

// authorized says whether the configuration brings credentials of its own.
func (c *Client) authorized() bool {
	h := &c.http
	return h.BasicAuth != nil || h.Authorization != nil || h.OAuth2 != nil
}
