package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"chaintop/internal/clean"
)

// lost is why a connection is no more.
type lost struct {
	code  int // a close code, or the HTTP status of the handshake; 0 = the network
	words string
	final bool          // coming back is of no use
	after time.Duration // what the server asked for; 0 = nothing
}

// session is one connection of a client.
type session struct {
	c     *Client
	sock  *socket
	epoch string
	bye   *byeData
	live  time.Time // since when the picture is followed; zero = not yet
}

// session makes one connection and follows it to its end. lived is how long the
// picture was followed.
func (c *Client) session(ctx context.Context) (l *lost, lived time.Duration) {
	sock, l := c.open(ctx)
	if l != nil {
		return l, 0
	}
	s := &session{c: c, sock: sock}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		sock.goodbye(closeNormal)
		sock.close()
	})
	var writer sync.WaitGroup
	err := s.greet()
	if err == nil {
		writer.Go(func() { s.write(ctx) })
		err = s.read()
	}
	if stop() { // nobody else closes it
		sock.goodbye(goodbyeFor(err))
		sock.close()
	}
	cancel()
	writer.Wait()
	c.have.cut()
	s.leave()
	if !s.live.IsZero() {
		lived = max(c.o.Now().Sub(s.live), 1)
	}
	return s.why(err), lived
}

// open makes the handshake.
func (c *Client) open(ctx context.Context) (*socket, *lost) {
	header := http.Header{}
	if c.o.Token != nil {
		token, err := c.o.Token()
		if err != nil {
			return nil, &lost{words: clean.Text(err.Error(), maxRunes)}
		}
		header.Set("Authorization", "Bearer "+token)
	}
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	sock, res, err := dialing{url: c.o.URL, header: header, tls: c.o.TLS, dial: c.o.Dial}.open(ctx)
	switch {
	case err != nil && res != nil:
		return nil, turnedDown(res)
	case err != nil:
		return nil, &lost{words: clean.Text(cause(err).Error(), maxRunes)}
	case sock.protocol() != Protocol:
		sock.goodbye(CloseVersion)
		sock.close()
		return nil, &lost{code: int(CloseVersion), words: "it does not speak " + Protocol, final: true}
	}
	return sock, nil
}

// cause is the error without the parts of libraries that may hold a URL.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op
	}
	return err
}

// turnedDown is why a handshake was refused, in the server's words if it has
// any.
func turnedDown(res *http.Response) *lost {
	l := &lost{code: res.StatusCode, words: strings.ToLower(http.StatusText(res.StatusCode))}
	switch res.StatusCode {
	case CodeUnauthenticated, CodeForbidden, codeUpgrade:
		l.final = true
	}
	if res.Body != nil {
		var said struct{ Words string }
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxHello)) // half a text is as good as none
		if unmarshal(text, &said) == nil && said.Words != "" {
			l.words = clean.Text(said.Words, maxRunes)
		}
		res.Body.Close()
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && n > 0 {
		l.after = time.Duration(min(n, int(askedMost/time.Second))) * time.Second
	}
	return l
}

// greet says hello and reads the welcome.
func (s *session) greet() error {
	hello := helloData{Client: s.c.o.Name, Resume: s.c.have.resume()}
	text, err := encode(typeHello, Cursor{}, "", hello)
	if err != nil {
		return err
	}
	if err := s.sock.write(text, helloWithin); err != nil {
		return err
	}
	s.sock.onControl(func() bool { return true }, func(string) {})
	s.sock.readBy(time.Now().Add(helloWithin))
	frame, err := s.frame()
	if err != nil {
		return err
	}
	if frame.Type != typeWelcome {
		return errBadFrame
	}
	var w welcomeData
	if err := unmarshal(frame.Data, &w); err != nil {
		return fmt.Errorf("%w: welcome", errBadFrame)
	}
	s.c.measure(w.Now)
	s.c.set(func(st *Status) {
		st.Instance, st.Version = cleaned(w.Instance), cleaned(w.Version)
		st.Role, st.Insecure = RoleViewer, w.Insecure
		if w.Role == RoleOperator {
			st.Role = RoleOperator
		}
	})
	s.epoch = frame.Epoch
	if err := s.c.have.welcome(frame.Epoch, w.Resume == byReplay); err != nil {
		return err
	}
	if w.Resume == byReplay {
		s.alive()
	}
	return nil
}

// alive says that the picture is followed.
func (s *session) alive() {
	if s.live.IsZero() {
		s.live = s.c.o.Now()
		s.c.phase(Live, func(st *Status) { st.Code, st.Words, st.Try = 0, "", 0 })
	}
}

// frame is the next frame but a goodbye, which is kept.
func (s *session) frame() (envelope, error) {
	for {
		text, err := s.sock.read(maxServerFrame)
		if err != nil {
			return envelope{}, err
		}
		frame, err := decode(text)
		if err != nil {
			return envelope{}, fmt.Errorf("%w: %w", errBadFrame, err)
		}
		s.c.heard()
		if frame.Type != typeBye {
			return frame, nil
		}
		var bye byeData
		if unmarshal(frame.Data, &bye) == nil {
			s.bye = &bye
		}
	}
}

// read takes frames until one fails.
func (s *session) read() error {
	for {
		s.sock.readBy(time.Now().Add(reconnectAfter))
		frame, err := s.frame()
		if err != nil {
			return err
		}
		switch frame.Type {
		case typeEvents, typeSnapshot, typeHeart:
			err = s.follow(frame)
		case typeAccepted, typeError, typeResult:
			err = s.answered(frame)
		}
		if err != nil {
			return err
		}
	}
}

// follow takes what moves the picture, and publishes what is whole.
func (s *session) follow(frame envelope) error {
	have := s.c.have
	got, err := have.frame(frame, s.c.o.Now())
	if err != nil {
		return err
	}
	s.c.measure(got.theirs)
	if got.skipped > 0 {
		s.c.mu.Lock()
		s.c.status.Skipped += got.skipped
		s.c.mu.Unlock()
	}
	switch {
	case got.anew:
		s.c.log.replace(have.pic.Clone(), have.local())
		s.alive()
	case len(got.events) > 0:
		s.c.log.Append(have.pic.Clone(), got.events)
	}
	return nil
}

func (s *session) answered(frame envelope) error {
	var a Answer
	if err := unmarshal(frame.Data, &a); err != nil {
		return fmt.Errorf("%w: %s", errBadFrame, frame.Type)
	}
	a.Words, a.Name = cleaned(a.Words), cleaned(a.Name)
	for i := range a.Ended {
		e := &a.Ended[i]
		e.Chain, e.Upstream, e.Why = cleaned(e.Chain), cleaned(e.Upstream), cleaned(e.Why)
	}
	if k := s.c.calls.answered(frame.Type, frame.ID); k != nil {
		s.c.end(k, outcome{answer: a})
	}
	return nil
}

// goodbyeFor is the close code for what ended the reads.
func goodbyeFor(err error) CloseCode {
	switch {
	case errors.Is(err, errTooBig):
		return CloseTooBig
	case errors.Is(err, errBadFrame), errors.Is(err, errNotText), errors.Is(err, errHole):
		return CloseBadFrame
	case isTimeout(err):
		return CloseHeartbeat
	}
	return closeNormal
}

// why is what ended the connection, as the status says it.
func (s *session) why(err error) *lost {
	l := &lost{}
	var closed *closedError
	switch {
	case errors.As(err, &closed):
		l.code, l.words, l.final = int(closed.code), closed.code.String(), closed.code.Final()
	case isTimeout(err):
		l.code, l.words = int(CloseHeartbeat), "no frame for "+reconnectAfter.String()
	case errors.Is(err, errTooBig):
		l.code, l.words = int(CloseTooBig), "it sent a frame of more than 1 MiB"
	case errors.Is(err, errHole):
		l.code, l.words = int(CloseBadFrame), "events were missing: the picture is taken anew"
	case errors.Is(err, errBadFrame), errors.Is(err, errNotText):
		l.code, l.words = int(CloseBadFrame), clean.Text("it broke the protocol: "+err.Error(), maxRunes)
	default:
		l.words = clean.Text(cause(err).Error(), maxRunes)
	}
	if s.bye != nil {
		l.after = max(s.bye.After, 0)
		if s.bye.Code.Final() {
			l.code, l.words, l.final = int(s.bye.Code), s.bye.Code.String(), true
		} else if l.code == 0 || l.code == int(closeAbnormal) {
			l.code, l.words = int(s.bye.Code), s.bye.Code.String()
		}
	}
	return l
}
