package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Request is one HTTP request to an upstream.
type Request struct {
	Method  string // "" = POST
	Path    string // added to the upstream's own; may have a query; "" = none
	Body    []byte // JSON; nil = none
	MaxBody int64  // bounds the answer's body, in bytes; 0 = the client's bound
}

// Exchange is what came of a request. Exactly one is so: Failed is set and
// nothing else arrived, or Status and Header are whole.
type Exchange struct {
	Status int
	Header http.Header
	Body   []byte        // inflated; with Cut as far as it came
	Cut    *Failure      // why the body is not whole; nil = it is
	Failed *Failure      // why there is no status
	Took   time.Duration // until all of it was known
	Asked  bool          // the request went out
}

// Do sends r and reads its answer within ctx. A deadline that passes is an
// Exchange with a Failure. The error is ErrUnbuilt, or, when ctx was cancelled
// before the answer was whole, wraps ctx's error and the transport's (U7). A
// kept connection that dies before the first byte of an answer is not yet a
// failure: the request is sent once more, on a fresh one, which Asked does not
// count.
func (c *Client) Do(ctx context.Context, r Request) (Exchange, error) {
	begun := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return Exchange{}, err
	}
	resp, a, err := c.send(req)
	asked := a.sent()
	if a.lost(resp, err) {
		drop(resp)
		if again := c.again(req); again != nil {
			resp, a, err = c.send(again)
			asked = asked || a.sent()
		}
	}
	x := Exchange{Asked: asked || err == nil}
	if err == nil {
		err = c.read(ctx, &x, resp, r, begun)
	} else {
		err = c.fault(a, err)
		if errors.As(err, &x.Failed) && !errors.Is(ctx.Err(), context.Canceled) {
			err = nil
		}
	}
	x.Took = time.Since(begun)
	if err != nil {
		return x, c.given(ctx, err)
	}
	return x, nil
}

// given is the error of a request that has no outcome.
func (c *Client) given(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("asking %s: %w: %w", c.url.name, ctx.Err(), err)
	}
	return fmt.Errorf("asking %s: %w", c.url.name, err)
}

// read takes what resp holds into x. Its error says that ctx was cancelled
// before the body was whole.
func (c *Client) read(ctx context.Context, x *Exchange, resp *http.Response, r Request, begun time.Time) error {
	headers := time.Since(begun)
	bound := c.maxBody
	if r.MaxBody > 0 {
		bound = min(bound, r.MaxBody)
	}
	body, err := readBody(ctx, resp, bound)
	drop(resp)
	x.Status, x.Header, x.Body = resp.StatusCode, resp.Header, body
	if err == nil {
		return nil
	}
	x.Cut = c.bodyFailure(ctx, err, len(body), bound, headers)
	if errors.Is(ctx.Err(), context.Canceled) {
		return x.Cut
	}
	return nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	at, err := url.Parse(r.Path)
	if err != nil || at.Host != "" || at.Scheme != "" {
		return nil, fmt.Errorf("asking %s: %w: not a path", c.url.name, ErrUnbuilt)
	}
	req := (&http.Request{Method: method, URL: at, Header: http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"identity"}}}).WithContext(ctx)
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(len(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		req.Body, _ = req.GetBody() // cannot fail, see above
	}
	return req, nil
}
