package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/model"
)

// restNode answers what it was asked, with the status it is told.
type restNode struct {
	name   string
	status atomic.Int64
	posts  atomic.Int64
	cut    atomic.Bool
}

func (n *restNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		n.posts.Add(1)
	}
	if n.cut.Load() && r.Method != http.MethodHead { // the checks are HEADs
		panic(http.ErrAbortHandler)
	}
	status := int(n.status.Load())
	if status == 0 || r.Method == http.MethodHead {
		status = 200
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Node", n.name)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.RequestURI(), body)
}

// A REST question is passed on as it is: path, query, body, status; GET and HEAD
// may be asked again, nothing else (F10).
func TestRESTPassesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &restNode{name: "a"}, &restNode{name: "b"}
		rest := tune{chain: func(c *model.Chain) { c.Family, c.Interface = model.HTTP, "http" }}
		r, stop := newRig(t, rest, up{name: "a", handler: a}, up{name: "b", handler: b, tier: model.Backup})
		defer stop()
		r.known()
		ask := func(method, path, body string) reply { return r.ask(method, "http://gw"+path, body) }
		for _, tt := range []struct {
			method, path, body string
			status             int
			want               string
		}{
			{"GET", "/x/http/eth/v1/node/health?fresh=1", "", 200, "GET /eth/v1/node/health?fresh=1 "},
			{"GET", "/blocks/a%20b", "", 200, "GET /blocks/a%20b "},
			{"POST", "/x/tx", `{"any":1}`, 200, `POST /tx {"any":1}`},
			{"DELETE", "/x/http", "", 200, "DELETE / "},
		} {
			if got := ask(tt.method, tt.path, tt.body); got.status != tt.status || got.by != "a" || got.body != tt.want {
				t.Errorf("%s %s: %v", tt.method, tt.path, got)
			}
		}
		for _, tt := range []struct {
			status int64
			by     string
			got    int
		}{
			{404, "a", 404}, {400, "a", 400}, {301, "a", 301}, {500, "a", 500}, // the node's own
			{429, "b", 200}, // a limit goes on, and holds it
		} {
			a.status.Store(tt.status)
			r.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			if got := ask("GET", "/x/y", ""); got.status != tt.got || got.by != tt.by {
				t.Errorf("%d: %v", tt.status, got)
			}
		}
		synctest.Wait()
		if !r.chain().Upstreams[0].State.Hold.Active {
			t.Error("a rate limit holds nobody")
		}
		a.status.Store(200)
		time.Sleep(time.Minute)
		a.cut.Store(true)
		if got := ask("GET", "/x/y", ""); got.status != 200 || got.by != "b" {
			t.Errorf("a GET that was cut: %v", got)
		}
		before := b.posts.Load()
		got := ask("POST", "/x/tx", "{}")
		if got.status != 502 || b.posts.Load() != before || !strings.Contains(got.body, `{"error":{"code":-32051,"message":"no answer from a; it may have been executed"}}`) {
			t.Errorf("a POST that was cut: %v", got)
		}
		if got := r.raw("GET", "/nobody/x", ""); got.by != "b" { // one chain: any path is its own
			t.Errorf("another path: %v", got)
		}
	})
}

// A stream of events is passed on as it comes, longer than any timeout.
func TestEventStreamPassesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/events" {
				return
			}
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			for n := range 5 {
				_, _ = fmt.Fprintf(w, "data: %d\n\n", n)
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Second)
			}
		})
		rest := tune{chain: func(c *model.Chain) { c.Family, c.Interface = model.HTTP, "http" }}
		r, stop := newRig(t, rest, up{name: "a", handler: h})
		defer stop()
		r.known()
		begun := time.Now()
		resp, err := r.http.Get("http://gw/events")
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 9)
		if _, err := io.ReadFull(resp.Body, first); err != nil || time.Since(begun) != 0 {
			t.Errorf("the first event after %v: %q %v", time.Since(begun), first, err)
		}
		all, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || !strings.Contains(string(all), "data: 4") || time.Since(begun) != 100*time.Second {
			t.Errorf("%q after %v: %v", all, time.Since(begun), err)
		}
	})
}
