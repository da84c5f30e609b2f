package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/config"

	"chaintop/internal/rpctest"
	"chaintop/model"
)

func newClient(t *testing.T, raw string, o Options) *Client {
	t.Helper()
	c, err := NewClient(mustURL(t, raw), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const headReply = `{"jsonrpc":"2.0","id":1,"result":"0x10"}`

// wire is a server that plays a function on each connection it accepts.
func wire(t *testing.T, play func(n int, c *rpctest.Conn)) string {
	t.Helper()
	s, err := rpctest.Serve(play)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL()
}

// got says whether a request came.
func got(conn *rpctest.Conn) bool {
	_, _, ok := conn.Request()
	return ok
}

func do(t *testing.T, c *Client, r Request) Exchange {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if r.Body == nil && r.Method == "" {
		r.Body = []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`)
	}
	x, err := c.Do(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A kept connection that its peer closed as we asked used to count as a failed
// try.
func TestLostKeptConnectionIsAskedOnceMore(t *testing.T) {
	var asked atomic.Int32
	at := wire(t, func(n int, conn *rpctest.Conn) {
		for got(conn) {
			if asked.Add(1) == 2 {
				return // the second request on the first connection
			}
			conn.Answer("200 OK", "", headReply)
		}
	})
	c := newClient(t, at, Options{})
	for n := range 2 {
		if x := do(t, c, Request{}); x.Failed != nil || x.Status != 200 || !x.Asked {
			t.Fatalf("request %d: %+v", n, x)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("%d requests on the wire, want 3", n)
	}
}

func TestFreshConnectionIsNotAskedTwice(t *testing.T) {
	var asked atomic.Int32
	at := wire(t, func(_ int, conn *rpctest.Conn) {
		if got(conn) {
			asked.Add(1)
		}
	})
	c := newClient(t, at, Options{})
	x := do(t, c, Request{})
	if x.Failed == nil || x.Failed.Reason != model.ReasonEOF || x.Failed.Text != "request sent, closed after 0 bytes" || asked.Load() != 1 {
		t.Errorf("%v after %d requests", x.Failed, asked.Load())
	}
}

func TestRoundTripAsksOnceMoreOnlyWhatMayBeRepeated(t *testing.T) {
	for _, repeat := range []bool{false, true} {
		at := wire(t, func(n int, conn *rpctest.Conn) {
			for served := 0; got(conn); served++ {
				if n == 0 && served == 1 {
					return
				}
				conn.Answer("200 OK", "", headReply)
			}
		})
		c := newClient(t, at, Options{})
		send := func() error {
			ctx := t.Context()
			if repeat {
				ctx = WithRepeat(ctx)
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := c.RoundTrip(req)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.Body.Close()
		}
		if err := send(); err != nil {
			t.Fatal(err)
		}
		err := send()
		var f *Failure
		switch {
		case repeat && err != nil:
			t.Errorf("not asked once more: %v", err)
		case !repeat && (!errors.As(err, &f) || f.Reason != model.ReasonEOF):
			t.Errorf("asked again, or %v", err)
		}
	}
}

// A server's 408 to an idle connection was read as the answer to the next request.
func TestUnaskedAnswerIsNobodys(t *testing.T) {
	for _, status := range []string{"408 Request Timeout", "503 Service Unavailable"} {
		sent := make(chan struct{})
		at := wire(t, func(n int, conn *rpctest.Conn) {
			for got(conn) {
				conn.Answer("200 OK", "", headReply)
				if n == 0 {
					conn.Answer(status, "", "")
					close(sent)
					return
				}
			}
		})
		c := newClient(t, at, Options{})
		do(t, c, Request{})
		<-sent
		for range 20 {
			if x := do(t, c, Request{}); x.Status != 200 {
				t.Fatalf("%s: %+v", status, x)
			}
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var followed atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	c := newClient(t, srv.URL, Options{HTTP: config.DefaultHTTPClientConfig})
	if x := do(t, c, Request{}); x.Status != http.StatusTemporaryRedirect || followed.Load() {
		t.Errorf("status %d, followed %v", x.Status, followed.Load())
	}
}

func TestRequestAsItArrives(t *testing.T) {
	type seen struct {
		method, uri, host, auth, agent, encoding, tenant string
		body                                             string
	}
	got := make(chan seen, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.RequestURI, r.Host, r.Header.Get("Authorization"), r.UserAgent(), r.Header.Get("Accept-Encoding"), r.Header.Get("X-Tenant"), string(b)}
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	withHeader := config.DefaultHTTPClientConfig
	withHeader.HTTPHeaders = &config.Headers{Headers: map[string]config.Header{"X-Tenant": {Secrets: []config.Secret{"t-1"}}}}
	withHeader.Authorization = &config.Authorization{Credentials: "token-1"}
	for _, c := range []struct {
		url  string
		http config.HTTPClientConfig
		r    Request
		want seen
	}{
		{srv.URL, config.HTTPClientConfig{}, Request{Body: []byte("{}")}, seen{"POST", "/", host, "", "chaintop", "identity", "", "{}"}},
		{"http://u:p@" + host + "/v2/key?a=b", config.HTTPClientConfig{}, Request{Body: []byte("{}")}, seen{"POST", "/v2/key?a=b", host, "Basic dTpw", "chaintop", "identity", "", "{}"}},
		{"http://u:p@" + host + "/base", withHeader, Request{Method: "GET", Path: "/eth/v1/x?y=1"}, seen{"GET", "/base/eth/v1/x?y=1", host, "Bearer token-1", "chaintop", "identity", "t-1", ""}},
		{srv.URL, config.HTTPClientConfig{}, Request{Method: "HEAD"}, seen{"HEAD", "/", host, "", "chaintop", "identity", "", ""}},
	} {
		do(t, newClient(t, c.url, Options{HTTP: c.http}), c.r)
		if s := <-got; s != c.want {
			t.Errorf("%+v, want %+v", s, c.want)
		}
	}
}

func TestUnreadableKeyFileIsOurOwnTrouble(t *testing.T) {
	h := config.DefaultHTTPClientConfig
	h.Authorization = &config.Authorization{CredentialsFile: filepath.Join(t.TempDir(), "absent")}
	for _, scheme := range []string{"http", "ws"} {
		c := newClient(t, scheme+"://127.0.0.1:1", Options{HTTP: h})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var err error
		if scheme == "ws" {
			_, _, err = c.Open(ctx)
		} else {
			_, err = c.Do(ctx, Request{})
		}
		if !errors.Is(err, ErrUnbuilt) {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// The key of a file is known only when it is read, and may be echoed at once.
func TestKeyFromAFileIsScrubbed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("k3y-in-the-path\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "bad header "+r.Header.Get("Authorization")+" and "+url.QueryEscape(r.Header.Get("X-Key")), http.StatusForbidden)
	}))
	defer srv.Close()
	h := config.DefaultHTTPClientConfig
	h.Authorization = &config.Authorization{CredentialsFile: file}
	h.HTTPHeaders = &config.Headers{Headers: map[string]config.Header{"X-Key": {Files: []string{file}}}}
	c := newClient(t, srv.URL, Options{HTTP: h})
	j := c.Judge(do(t, c, Request{}), ids(1)...)
	leaks(t, "evidence", j.Evidence.String())
	if j.Evidence.Text != "bad header *** and ***" {
		t.Errorf("evidence %q", j.Evidence.Text)
	}
}

func TestDeadlineIsAnOutcomeAndCancellingIsNone(t *testing.T) {
	at := wire(t, func(_ int, conn *rpctest.Conn) {
		got(conn)
		conn.Wait()
	})
	c := newClient(t, at, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	x, err := c.Do(ctx, Request{Body: []byte("{}")})
	if err != nil || x.Failed == nil || x.Failed.Reason != model.ReasonTimeout || x.Failed.Text != "request sent, 0 bytes back" || !x.Asked {
		t.Errorf("deadline: %+v %v", x, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	_, err = c.Do(ctx, Request{Body: []byte("{}")})
	var f *Failure
	if !errors.Is(err, context.Canceled) || !errors.As(err, &f) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestBoundsOfAnAnswer(t *testing.T) {
	huge := strings.Repeat("a", maxHeaderBytes)
	for _, c := range []struct {
		name string
		play func(*rpctest.Conn)
		want string
	}{
		{"headers", func(k *rpctest.Conn) { _, _ = fmt.Fprintf(k, "HTTP/1.1 200 OK\r\nX: %s\r\n\r\n", huge) }, "malformed: headers longer than 64 KiB"},
		{"interim answers", func(k *rpctest.Conn) {
			for {
				if _, err := io.WriteString(k, "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"); err != nil {
					return
				}
			}
		}, "malformed: headers longer than 64 KiB"},
		{"status line", func(k *rpctest.Conn) { _, _ = io.WriteString(k, "HTTP/1.1 2 OK\r\n\r\n") }, "malformed: answer is not valid HTTP"},
	} {
		at := wire(t, func(_ int, conn *rpctest.Conn) {
			if got(conn) {
				c.play(conn)
			}
			conn.Wait()
		})
		x := do(t, newClient(t, at, Options{}), Request{})
		if x.Failed == nil || string(x.Failed.Reason)+": "+x.Failed.Text != c.want {
			t.Errorf("%s: %v, want %s", c.name, x.Failed, c.want)
		}
	}
}

func TestLongBodiesAreReadWholeUpToTheBound(t *testing.T) {
	body := func(n int) string {
		const head, tail = `{"jsonrpc":"2.0","id":1,"result":"`, `"}`
		return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
	}
	for _, framing := range []string{"length", "chunked"} {
		for n, want := range map[int]string{
			100: "", smallBody: "", smallBody + 1: "", 100_000: "", 128 << 10: "", 500_000: "", DefaultMaxBody: "",
			DefaultMaxBody + 1: "body longer than 1 MiB", 3 << 20: "body longer than 1 MiB",
		} {
			at := wire(t, func(_ int, conn *rpctest.Conn) {
				for got(conn) {
					if framing == "length" {
						conn.Answer("200 OK", "", body(n))
						continue
					}
					conn.Say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", n, body(n)))
				}
			})
			x := do(t, newClient(t, at, Options{}), Request{})
			switch {
			case want == "" && (x.Cut != nil || string(x.Body) != body(n)):
				t.Errorf("%d bytes by %s: %d came, %v", n, framing, len(x.Body), x.Cut)
			case want != "" && (x.Cut == nil || x.Cut.Text != want || x.Cut.Reason != model.ReasonTruncated):
				t.Errorf("%d bytes by %s: %v, want %s", n, framing, x.Cut, want)
			}
		}
	}
}

// A hundred long bodies at once share the shelves, and each is read whole.
func TestLongBodiesAtOnce(t *testing.T) {
	text := strings.Repeat("a", 200_000)
	at := wire(t, func(_ int, conn *rpctest.Conn) {
		for got(conn) {
			conn.Answer("200 OK", "", text)
		}
	})
	c := newClient(t, at, Options{})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			x, err := c.Do(ctx, Request{Body: []byte("{}")})
			if err != nil || x.Cut != nil || string(x.Body) != text {
				t.Errorf("%d bytes, %v %v", len(x.Body), x.Cut, err)
			}
		})
	}
	wg.Wait()
}

func TestCloseEndsWhatIsInFlight(t *testing.T) {
	at := wire(t, func(_ int, conn *rpctest.Conn) {
		got(conn)
		conn.Wait()
	})
	c := newClient(t, at, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	time.AfterFunc(20*time.Millisecond, c.Close)
	x, err := c.Do(ctx, Request{Body: []byte("{}")})
	if err != nil || x.Failed == nil || x.Failed.Reason == model.ReasonTimeout {
		t.Errorf("%+v %v", x.Failed, err)
	}
	if x, err := c.Do(ctx, Request{Body: []byte("{}")}); err != nil || x.Failed == nil {
		t.Errorf("a closed client asks: %+v %v", x, err)
	}
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	h := config.DefaultHTTPClientConfig
	h.TLSConfig.CAFile = filepath.Join(t.TempDir(), "absent")
	if _, err := NewClient(mustURL(t, keyed), Options{HTTP: h}); err == nil {
		t.Error("an absent CA file is taken")
	} else {
		leaks(t, "an error", err.Error())
	}
	if _, err := NewClient(URL{}, Options{}); err == nil {
		t.Error("the zero URL is taken")
	}
}
