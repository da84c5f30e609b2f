package feed

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// raw is a client that a test moves frame by frame.
type raw struct{ *socket }

func dialRaw(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), secret string) raw {
	t.Helper()
	header := http.Header{}
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	s, res, err := dialing{url: "ws://127.0.0.1/feed", header: header, dial: dial}.open(t.Context())
	if err != nil {
		t.Fatalf("%v (%v)", err, res)
	}
	s.onControl(func() bool { return true }, func(string) {})
	return raw{s}
}

func (r raw) say(t *testing.T, kind, id string, data any) {
	t.Helper()
	text, err := encode(kind, Cursor{}, id, data)
	if err != nil {
		t.Fatal(err)
	}
	r.text(t, string(text))
}

func (r raw) text(t *testing.T, text string) {
	t.Helper()
	if err := r.write([]byte(text), time.Second); err != nil {
		t.Fatal(err)
	}
}

func (r raw) next(t *testing.T) envelope {
	t.Helper()
	text, err := r.read(maxServerFrame)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	f, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (r raw) until(t *testing.T, kind string) envelope {
	t.Helper()
	for {
		if f := r.next(t); f.Type == kind {
			return f
		}
	}
}

// end reads to the end and is the code the connection was closed with.
func (r raw) end() (codes []CloseCode, err error) {
	for {
		text, err := r.read(maxServerFrame)
		if err != nil {
			return codes, err
		}
		var bye byeData
		if f, err := decode(text); err == nil && f.Type == typeBye && json.Unmarshal(f.Data, &bye) == nil {
			codes = append(codes, bye.Code)
		}
	}
}

func (r raw) data(t *testing.T, f envelope, into any) {
	t.Helper()
	if err := json.Unmarshal(f.Data, into); err != nil {
		t.Fatalf("%s: %v", f.Type, err)
	}
}

// serveSockets hands each connection to a function; it ends when the function
// does.
func serveSockets(t *testing.T, l net.Listener, each func(s *socket, n int)) (stop func()) {
	t.Helper()
	var mu sync.Mutex
	var open []*socket
	var inside sync.WaitGroup
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := upgrade(w, r)
		if err != nil {
			return
		}
		mu.Lock()
		n := len(open)
		open = append(open, s)
		inside.Add(1)
		mu.Unlock()
		defer inside.Done()
		defer s.close()
		each(s, n)
	})}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	return func() {
		_ = srv.Close() // Serve says how it went
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		mu.Lock()
		for _, s := range open {
			s.close()
		}
		mu.Unlock()
		inside.Wait()
	}
}

// sayPicture welcomes and sends the picture of a plant, as a server does.
func sayPicture(t *testing.T, s *socket, p *plant) {
	t.Helper()
	r := raw{s}
	_, at, _ := p.log.Snapshot(t.Context())
	put := func(kind string, data any) {
		text, err := encode(kind, at, "", data)
		if err != nil {
			t.Error(err)
		}
		_ = r.write(text, time.Second) // the client may have gone
	}
	put(typeWelcome, welcomeData{Instance: "gw", Version: "v1", Role: RoleOperator, Now: time.Now(), Resume: bySnapshot, Why: whyFirst})
	text := p.picture()
	put(typeSnapshot, snapshotData{Why: whyFirst, Parts: 1, Bytes: len(text)})
	put(typeSnapshot, snapshotData{Part: 1, Text: text})
}

// cut breaks every connection of a server, as a network does.
func (h *house) cut() {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	for v := range h.feed.viewers {
		v.sock.close()
	}
}
