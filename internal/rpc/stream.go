package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"

	"github.com/gorilla/websocket"

	"chaintop/model"
)

// ErrLongMessage says that a message is longer than is read.
var ErrLongMessage = errors.New("a message is longer than is read")

// ErrBadMessage says that a message is not JSON, or nests too deep.
var ErrBadMessage = errors.New("a message is not JSON")

// Stream opens a websocket that lives on when ctx is over, which bounds the
// handshake alone: one for many questions, of a client of ours. at is added to
// the upstream's own address as RoundTrip adds it. Without a connection the
// Judgement and the error are as Open's. It ends with the Client.
func (c *Client) Stream(ctx context.Context, at *url.URL) (*websocket.Conn, Judgement, error) {
	return c.upgraded(ctx, at)
}

// StreamEnded is what the end of a stream says of its upstream, by the error of
// the read or the write that found it: a close code that is meant for the
// client is an answer, everything else none (V2, V4).
func (c *Client) StreamEnded(err error) Judgement {
	e := model.Evidence{Layer: model.LayerWS}
	var closed *websocket.CloseError
	var late net.Error
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return c.closed(closed)
	case errors.Is(err, ErrLongMessage):
		e.Text = err.Error()
		return noAnswer(model.ReasonTruncated, e)
	case errors.Is(err, ErrBadMessage):
		e.Text = err.Error()
		return noAnswer(model.ReasonMalformed, e)
	case errors.As(err, &late) && late.Timeout():
		e.Text = "an open websocket fell silent"
		return noAnswer(model.ReasonTimeout, e)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Text = "an open websocket was reset"
		return noAnswer(model.ReasonReset, e)
	case errors.As(err, &closed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		e.Text = "an open websocket was closed"
		return noAnswer(model.ReasonEOF, e)
	}
	e.Text = "not valid websocket"
	return noAnswer(model.ReasonMalformed, e)
}
