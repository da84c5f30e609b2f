//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// link is a client's connection: HTTP/1.1, one request at a time. net/http's own
// client would take a good part of the two cores that are measured.
type link struct {
	conn net.Conn
	in   *bufio.Reader
	head []byte
	out  []byte
	body []byte
}

// reply is an answer. Its body is good until the next one is read.
type reply struct {
	status int
	server []byte // x-served-by
	body   []byte
	last   bool // nothing more may be asked on this connection
}

// patience is how long a client waits for an answer.
const patience = 10 * time.Second

func open(ctx context.Context, addr string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	head := "POST / HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\nContent-Length: "
	return &link{conn: conn, in: bufio.NewReaderSize(conn, 4<<10), head: []byte(head)}, nil
}

func (l *link) close() { _ = l.conn.Close() } // what was asked is answered or given up

// send asks. One write, so that no half request waits for an acknowledgement.
func (l *link) send(body []byte) error {
	if err := l.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	l.out = append(l.out[:0], l.head...)
	l.out = strconv.AppendInt(l.out, int64(len(body)), 10)
	l.out = append(l.out, "\r\n\r\n"...)
	l.out = append(l.out, body...)
	_, err := l.conn.Write(l.out)
	return err
}

var errNoLength = errors.New("an answer without a Content-Length")

// receive reads one answer.
func (l *link) receive() (reply, error) {
	var r reply
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		return r, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return r, fmt.Errorf("no HTTP: %q", line)
	}
	if r.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return r, err
	}
	length := -1
	for {
		if line, err = l.in.ReadSlice('\n'); err != nil {
			return r, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return r, err
			}
		case bytes.EqualFold(name, []byte("x-served-by")):
			r.server = append(r.server, value...)
		case bytes.EqualFold(name, []byte("connection")):
			r.last = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length < 0 {
		return r, errNoLength
	}
	if cap(l.body) < length {
		l.body = make([]byte, length)
	}
	r.body = l.body[:length]
	_, err = io.ReadFull(l.in, r.body)
	return r, err
}

// ask sends one request and says whether its own answer came, and whether the
// connection is good for more.
func (l *link) ask(a ask) (more bool, err error) {
	if err := l.send(a.body); err != nil {
		return false, err
	}
	r, err := l.receive()
	if err != nil {
		return false, err
	}
	if fault := r.fault(a.want); fault != "" {
		return !r.last, errors.New(fault)
	}
	return !r.last, nil
}

// fault is what is wrong with an answer; empty when it is the one that was due.
func (r reply) fault(want []byte) string {
	switch {
	case r.status != 200:
		return fmt.Sprintf("HTTP %d: %s", r.status, few(r.body))
	case !bytes.Equal(r.body, want):
		return "another answer: " + few(r.body)
	}
	return ""
}

func few(b []byte) string { return string(b[:min(len(b), 160)]) }
