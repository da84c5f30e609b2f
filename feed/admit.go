package feed

import (
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// turnedAway is a handshake that is refused over HTTP, before the upgrade.
type turnedAway struct {
	status int
	answer Answer
	after  time.Duration // when to come back; 0 = it does not say
}

func away(status int, after time.Duration, words string) *turnedAway {
	return &turnedAway{status, answer(status, words), after}
}

// admit judges a handshake: who asks, from where, how often. Before it knows
// who asks it reads nothing but the headers this takes.
func (s *Server) admit(r *http.Request) (identity, *turnedAway) {
	now := s.o.Now()
	if r.Method != http.MethodGet {
		return identity{}, away(codeMethodNotAllowed, 0, "the feed is asked for with GET")
	}
	if !s.originAllowed(r) {
		return identity{}, away(CodeForbidden, 0, "this Origin is not in feed.origins")
	}
	who, refused := s.authenticate(r, now)
	switch {
	case refused != nil:
		return identity{}, refused
	case !s.handshakes.take(now):
		return identity{}, away(CodeRateLimited, time.Second, "too many handshakes")
	case !upgrading(r) || !speaks(r):
		return identity{}, away(codeUpgrade, 0, "this is a websocket of subprotocol "+Protocol)
	}
	return who, nil
}

// authenticate says who the bearer of the request's token is. Strangers have a
// limit of their own, so that guessing keeps nobody out.
func (s *Server) authenticate(r *http.Request, now time.Time) (identity, *turnedAway) {
	if s.o.Tokens == nil {
		if !s.hostAllowed(r.Host) {
			return identity{}, away(CodeForbidden, 0, "this Host is not in feed.hosts")
		}
		return identity{role: RoleViewer}, nil
	}
	kind, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	digest := sha256.Sum256([]byte(strings.TrimSpace(secret)))
	who, ok := find(s.o.Tokens(), digest, now)
	if ok && strings.EqualFold(kind, "Bearer") {
		return who, nil
	}
	if !s.strangers.take(now) {
		return identity{}, away(CodeRateLimited, time.Second, "too many handshakes")
	}
	return identity{}, away(CodeUnauthenticated, 0, "a token is needed: Authorization: Bearer …, one that is known and not expired")
}

// originAllowed says whether a page may ask: only from origins that are listed.
// Programs send no Origin.
func (s *Server) originAllowed(r *http.Request) bool {
	given := r.Header.Values("Origin")
	if len(given) == 0 {
		return true
	}
	return len(given) == 1 && given[0] != "null" && slices.ContainsFunc(s.o.Origins, func(o string) bool {
		return strings.EqualFold(strings.TrimSuffix(o, "/"), given[0])
	})
}

// hostAllowed guards a feed without tokens against pages that reach it under a
// name of their own (DNS rebinding): the name has to be a loopback's or one that
// is listed; with Insecure any address will do, for an address is no name.
func (s *Server) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil && (addr.Unmap().IsLoopback() || s.o.Insecure) {
		return true
	}
	return slices.ContainsFunc(s.o.Hosts, func(h string) bool {
		return strings.EqualFold(h, host) || strings.EqualFold(h, hostport)
	})
}

// refuseHTTP answers a handshake that gets no further.
func refuseHTTP(w http.ResponseWriter, status int, a Answer, after time.Duration) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	switch status {
	case CodeUnauthenticated:
		h.Set("WWW-Authenticate", `Bearer realm="chaintop feed"`)
	case codeUpgrade:
		h.Set("Upgrade", "websocket")
		h.Set("Connection", "Upgrade, close")
	case codeMethodNotAllowed:
		h.Set("Allow", http.MethodGet)
	}
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(int((after+time.Second-1)/time.Second)))
	}
	w.WriteHeader(status)
	body := struct {
		Answer
		Supported []string `json:"supported,omitempty"`
	}{Answer: a}
	if status == codeUpgrade {
		body.Supported = []string{Protocol}
	}
	_ = json.NewEncoder(w).Encode(body) // whoever asked may be gone
}
