package rpc

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/common/config"

	"chaintop/internal/clean"
)

// evidenceWindow bounds how much of an outside text is looked at for words.
const evidenceWindow = 8 << 10

// scrubber takes an upstream's own secrets out of outside text: an upstream may
// echo the request. It learns values that are read from files as they are sent.
type scrubber struct {
	mu    sync.RWMutex
	known []string
	red   *clean.Redactor
}

func newScrubber(secrets []string) *scrubber {
	return &scrubber{known: secrets, red: clean.NewRedactor(secrets...)}
}

// learn adds secrets that were not known yet.
func (s *scrubber) learn(secrets ...string) {
	s.mu.RLock()
	news := slices.ContainsFunc(secrets, func(v string) bool { return !slices.Contains(s.known, v) })
	s.mu.RUnlock()
	if !news {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range secrets {
		if !slices.Contains(s.known, v) {
			s.known = append(s.known, v)
		}
	}
	s.red = clean.NewRedactor(s.known...)
}

// text is outside text made fit to be shown: cleaned, without secrets, of that
// many runes at most. It is cleaned first, since an escape sequence inside a
// secret would hide it from the search.
func (s *scrubber) text(outside string, runes int) string {
	s.mu.RLock()
	red, known := s.red, s.known
	s.mu.RUnlock()
	cut := len(outside) > evidenceWindow
	if cut {
		outside = outside[:evidenceWindow]
	}
	safe := red.Scrub(clean.Text(outside, evidenceWindow))
	if cut {
		// The end of the window may be the beginning of a secret.
		longest := 0
		for _, v := range known {
			longest = max(longest, len(v))
		}
		safe = safe[:len(safe)-min(len(safe), 6*longest)]
	}
	return clean.Text(safe, runes)
}

// secretsOf are the parts of an HTTP configuration that nobody may read.
func secretsOf(h *config.HTTPClientConfig) []string {
	var out []string
	add := func(values ...string) {
		for _, v := range values {
			if v != "" {
				out = append(out, v)
			}
		}
	}
	if b := h.BasicAuth; b != nil {
		add(b.Username, string(b.Password), b.Username+":"+string(b.Password))
	}
	if a := h.Authorization; a != nil {
		add(string(a.Credentials))
	}
	add(string(h.BearerToken))
	if o := h.OAuth2; o != nil {
		add(o.ClientID, string(o.ClientSecret))
	}
	if h.HTTPHeaders != nil {
		for _, header := range h.HTTPHeaders.Headers {
			add(header.Values...)
			for _, v := range header.Secrets {
				add(string(v))
			}
		}
	}
	for _, values := range h.ProxyConnectHeader {
		for _, v := range values {
			add(string(v))
		}
	}
	if p := h.ProxyURL.URL; p != nil && p.User != nil {
		word, _ := p.User.Password()
		add(word, p.User.Username(), p.User.Username()+":"+word)
	}
	return out
}

// sentSecrets are the values of a request's headers that may be keys, as they
// went out.
func sentSecrets(h http.Header, names []string) []string {
	var out []string
	for _, name := range names {
		for _, v := range h.Values(name) {
			out = append(out, v)
			if _, credentials, found := strings.Cut(v, " "); found {
				out = append(out, credentials)
			}
		}
	}
	return out
}
