package ops

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"chaintop/model"
)

// Over real sockets, while the picture changes and the log is counted.
func TestServedWhileThePictureMoves(t *testing.T) {
	r := newRig(t, model.ReadyAll, model.DrainSettings{}, chainOn("c", primaries("a", "b")...))
	o := r.options()
	at := r.now
	o.Now = func() time.Time { return at }
	s := New(o)
	web := httptest.NewServer(s)
	defer web.Close()
	client := web.Client()

	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	all.Go(func() {
		for range 200 {
			r.round(0, head(100), head(100))
		}
		r.probe(0, head(100))
	})
	for range 30 {
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				body, length := fetch(t, client, method, web.URL+path)
				if (method == http.MethodHead) != (len(body) == 0) {
					t.Errorf("%s %s: %d bytes (%d announced)", method, path, len(body), length)
				}
				if method == http.MethodHead && path != "/metrics" && length <= 0 {
					t.Errorf("HEAD %s announces %d bytes", path, length)
				}
			}
		}
	}
	cancel()
	all.Wait()
}

func fetch(t *testing.T, client *http.Client, method, url string) ([]byte, int64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body, res.ContentLength
}
