package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// errLongCall says that a message is longer than is taken.
var errLongCall = errors.New("the message is longer than is taken")

// grpcLinger is how long after its first message a call may take to end and
// still be taken for a unary one: a client of one says both in one breath.
const grpcLinger = 20 * time.Millisecond

// grpcBody is the body of a gRPC call. A goroutine reads it, since only then can
// one wait for its end and give up waiting; whole says that the end came with
// the first message, and that all of it is in begun.
type grpcBody struct {
	most  int64
	begun []byte
	whole bool

	parts chan []byte // closed at the end
	err   error       // set before parts is closed; io.EOF is a good end
	quit  chan struct{}
	rest  []byte // of the part that is being read
	at    int    // how much of begun was read
}

func newGRPCBody(from io.Reader, most int64) *grpcBody {
	b := &grpcBody{most: most, parts: make(chan []byte), quit: make(chan struct{})}
	go b.pump(from)
	return b
}

// pump reads until the end, or until the handler returns and so ends the body.
func (b *grpcBody) pump(from io.Reader) {
	defer close(b.parts)
	for {
		part := make([]byte, 16<<10)
		n, err := from.Read(part)
		if n > 0 {
			select {
			case b.parts <- part[:n]:
			case <-b.quit:
				return
			}
		}
		if err != nil {
			b.err = err
			return
		}
	}
}

func (b *grpcBody) end() { close(b.quit) }

// look reads the first message, and a moment longer.
func (b *grpcBody) look(ctx context.Context) error {
	var moment <-chan time.Time
	for {
		select {
		case part, more := <-b.parts:
			if !more {
				b.whole = errors.Is(b.err, io.EOF)
				if !b.whole {
					return b.err
				}
				return nil
			}
			b.begun = append(b.begun, part...)
		case <-moment:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		size, known := b.first()
		switch {
		case known && size > b.most:
			return errLongCall
		case known && int64(len(b.begun)) > size+5:
			return nil // a second message: it is a stream
		case known && int64(len(b.begun)) == size+5 && moment == nil:
			moment = time.After(grpcLinger)
		}
	}
}

// first is the length of the first message, when it is known.
func (b *grpcBody) first() (size int64, known bool) {
	if len(b.begun) < 5 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint32(b.begun[1:5])), true
}

// reader is a whole body, from its start.
func (b *grpcBody) reader() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.begun)), nil
}

// Read reads a body that is not whole: what was read already, then what comes.
func (b *grpcBody) Read(p []byte) (int, error) {
	if b.at < len(b.begun) {
		n := copy(p, b.begun[b.at:])
		b.at += n
		return n, nil
	}
	if len(b.rest) == 0 {
		part, more := <-b.parts
		if !more {
			return 0, b.err
		}
		b.rest = part
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
