package rpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"chaintop/model"
)

// drop gives up an answer nobody will read; its connection is closed unless the
// answer was whole already.
func drop(resp *http.Response) {
	if resp != nil {
		// It is being thrown away.
		_ = resp.Body.Close()
	}
}

// errLong says that a body is longer than is read.
var errLong = errors.New("longer than is read")

// errEncoding says that a body is encoded in a way nobody asked for.
var errEncoding = errors.New("encoding not asked for")

// smallBody is what a body may hold on its own, in bytes. Few are longer, and
// those few are read on shelves: otherwise a hundred bad upstreams that never
// stop talking would each hold all that is allowed to one.
const smallBody = 32 << 10

// shelf is buffers of one size that the process keeps; whoever has one may read
// a body as long as that. nil stands for a buffer not made yet.
type shelf struct {
	size    int64 // 0 = as long as is allowed
	buffers chan []byte
}

// shelves are a shelf for a large block, and one for what is larger than any.
// Who waits for the second has one of the first, and never the other way round.
var shelves = []shelf{newShelf(128<<10, 8), newShelf(0, 2)}

func newShelf(size int64, n int) shelf {
	s := shelf{size: size, buffers: make(chan []byte, n)}
	for range n {
		s.buffers <- nil
	}
	return s
}

// readBody is the body of resp, inflated, at most max bytes of it. What was read
// before an error is returned with the error.
func readBody(ctx context.Context, resp *http.Response, max int64) ([]byte, error) {
	var from io.Reader = resp.Body
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		// A bomb is as small on the wire as it is large after it, so the bound
		// stands after inflation; what is not inflated is bounded as well.
		zipped, err := gzip.NewReader(&io.LimitedReader{R: resp.Body, N: max})
		if err != nil {
			return nil, err
		}
		from = zipped
	default:
		return nil, errEncoding
	}
	buf, err := fill(make([]byte, 0, min(512, max)), from, min(smallBody, max))
	switch {
	case err == io.EOF: //nolint:errorlint // the end of a body is io.EOF itself: wrapped, it is a cut
		return buf, nil
	case err != nil:
		return buf, err
	case max <= smallBody:
		return buf, atEnd(from)
	}
	return readLarge(ctx, buf, from, max)
}

// readLarge reads on after begun, a shelf after the other, when it is its turn.
func readLarge(ctx context.Context, begun []byte, from io.Reader, max int64) ([]byte, error) {
	for _, s := range shelves {
		size := max
		if s.size > 0 {
			size = min(s.size, max)
		}
		var buf []byte
		select {
		case buf = <-s.buffers:
		case <-ctx.Done():
			return few(begun), ctx.Err()
		}
		if int64(cap(buf)) < size {
			buf = make([]byte, 0, size)
		}
		defer func() { s.buffers <- buf[:0] }()
		var err error
		buf, err = fill(append(buf[:0], begun...), from, size)
		if err == nil && size == max {
			err = atEnd(from)
			if err == nil {
				return bytes.Clone(buf), nil
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // as in readBody
			return bytes.Clone(buf), nil
		case err != nil:
			return few(buf), err
		}
		begun = buf
	}
	return few(begun), errLong
}

// few is the beginning of a body that is of no use but for its words.
func few(b []byte) []byte { return bytes.Clone(b[:min(len(b), evidenceWindow)]) }

// fill reads into buf until it is max long, which is no error, or from ends.
func fill(buf []byte, from io.Reader, max int64) ([]byte, error) {
	for int64(len(buf)) < max {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(int64(4*cap(buf)), max))
			copy(grown, buf)
			buf = grown
		}
		n, err := from.Read(buf[len(buf):min(int64(cap(buf)), max)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// atEnd is nil if nothing more comes, errLong if something does.
func atEnd(r io.Reader) error {
	var one [1]byte
	for range 100 {
		n, err := r.Read(one[:])
		switch {
		case n > 0:
			return errLong
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return io.ErrNoProgress
}

// bodyFailure is why a body is not whole. The headers were, after the time given.
func (c *Client) bodyFailure(ctx context.Context, err error, got int, max int64, headers time.Duration) *Failure {
	f := &Failure{Reason: model.ReasonMalformed, Layer: model.LayerHTTP, err: err}
	switch {
	case errors.Is(err, errLong):
		f.Reason, f.Text = model.ReasonTruncated, "body longer than "+bytesText(max)
	case errors.Is(err, errEncoding):
		f.Text = "body in an encoding that was not asked for"
	case timedOut(ctx, err):
		f.Reason, f.Text = model.ReasonTimeout, fmt.Sprintf("headers after %s, body stalled", model.Took(headers))
		if got > 0 {
			f.Text += " after " + bytesText(int64(got))
		}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		f.Reason, f.Text = model.ReasonTruncated, "body cut after "+bytesText(int64(got))
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		f.Reason, f.Text = model.ReasonTruncated, "body cut by a reset after "+bytesText(int64(got))
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		f.Text = "body is not the gzip it is labelled"
	default:
		if s := streamFailure(stageBody, err); s != nil {
			f.Reason, f.Text = model.ReasonTruncated, "body cut: "+s.Text
			break
		}
		f.Text = "body is not valid HTTP"
	}
	return f
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
