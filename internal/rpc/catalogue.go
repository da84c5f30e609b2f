package rpc

import (
	"net/http"
	"strings"

	"chaintop/model"
)

// limit is what kind of a limit an error answer speaks of.
type limit uint8

const (
	noLimit   limit = iota
	rateLimit       // slow down
	quotaUsed       // the plan is used up; waiting a moment does not help
)

// said is an error answer as the catalogue reads it: an HTTP status, a code of
// JSON-RPC or of a websocket, and words in lower case.
type said struct {
	status int
	code   int64
	words  string
	server string // the Server header, in lower case
	reply  bool   // the words are those of a JSON-RPC reply
	page   bool   // the words are those of a web page
}

// The catalogue. Words are matched as parts of the text; the numbers alone mean
// different things with different vendors, so that most need words beside them.
var (
	perTime = []string{"per second", "/second", "per minute", "/minute", "per hour", "req/s", "requests/s", " rps", "rps limit"}
	limited = []string{"rate limit", "rate-limit", "ratelimit", "rate_limit", "rate exceeded", "too many requests", "requests per",
		"throttl", "slow down", "compute units per", "error code: 1015", "over limit"}
	// limitedUnless are limits of the rate unless something says that the
	// question was too large.
	limitedUnless = []string{"request limit", "limit exceeded", "limit reached", "capacity exceeded", "exceeded its capacity", "exceeded the capacity"}
	tooLarge      = []string{"range", "more than", "results", "response size", "too large", "size limit", "size exceed", "blocks", "gas", "batch",
		"subscription", "depth", "stack", "memory", "timeout", "timed out", "filter"}
	quota = []string{"quota", "daily request", "daily limit", "daily credit", "daily usage", "monthly", "payment required", "credits used",
		"out of credit", "credit limit", "credits exhausted", "insufficient credit", "plan limit", "upgrade your plan", "upgrade to a paid",
		"usage limit", "free tier", "request count exceeded", "billing", "used up", "capacity limit"}
	denied = []string{"unauthorized", "unauthorised", "not authorized", "not authorised", "forbidden", "access denied", "not have access",
		"no access", "api key", "apikey", "api-key", "invalid key", "key not valid", "key is not valid", "key invalid", "key is invalid",
		"invalid token", "token expired", "project id", "authentication", "must authenticate", "origin not allowed", "ip not allowed",
		"permission denied", "invalid credentials"}
	otherHost = []string{"invalid host", "host header", "host not allowed", "default backend", "no route matched",
		"no matching route", "unknown route"}
	prunedWords = []string{"missing trie node", "proof window", "pruned", "historical state", "state is not available", "state not available",
		"state unavailable", "history is not available", "history not available", "archive node", "archival"}
	edgeWords = []string{"no healthy upstream", "upstream connect error", "default backend", "no route matched", "just a moment", "error code: 10",
		"bad gateway", "gateway time", "origin is unreachable", "cloudflare", "ray id"}
	edgeServers = []string{"cloudflare", "cloudfront", "awselb", "envoy", "akamai", "nginx", "openresty", "haproxy", "traefik", "kong", "varnish",
		"caddy", "apache", "gws", "google frontend", "vercel", "fastly", "squid", "microsoft-azure", "bigip"}
	// overloaded is a node's own 503.
	overloaded = []string{"work queue depth exceeded"}
	lacking    = []string{"does not exist", "not available", "not supported", "unsupported", "is disabled", "not found", "not implemented",
		"unimplemented", "not whitelisted", "not allowed", "not enabled", "unknown method", "no such method", "module"}
)

func anyOf(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// limit says which limit it speaks of: by status, by code, by text. A limit of
// the question's size is none.
func (s said) limit() limit {
	switch {
	case s.status == http.StatusPaymentRequired:
		return quotaUsed
	case anyOf(s.words, perTime):
		return s.rate()
	case anyOf(s.words, quota):
		return quotaUsed
	}
	return s.rate()
}

func (s said) rate() limit {
	switch {
	case s.status == http.StatusTooManyRequests, s.code == 429, s.code == 4029, anyOf(s.words, limited):
		return rateLimit
	case anyOf(s.words, tooLarge):
		return noLimit
	case s.code == -32005, anyOf(s.words, limitedUnless):
		return rateLimit
	case s.code == -32007 && anyOf(s.words, perTime):
		return rateLimit
	}
	return noLimit
}

// findings is what it says of the upstream, beside that it is an error.
func (s said) findings() model.Findings {
	var f model.Findings
	switch s.limit() {
	case rateLimit:
		f = f.With(model.RateLimited)
	case quotaUsed:
		f = f.With(model.Quota)
	case noLimit:
		switch {
		case s.elsewhere():
			f = f.With(model.Misconfigured)
		case s.refused():
			f = f.With(model.AccessDenied)
		}
	}
	f = f.Set(model.Pruned, s.reply && anyOf(s.words, prunedWords))
	return f.Set(model.Gateway, s.gateway())
}

// elsewhere: it is not the endpoint we should ask.
func (s said) elsewhere() bool {
	if s.reply {
		return false
	}
	return s.status == http.StatusNotFound || s.status == http.StatusMethodNotAllowed ||
		(s.status >= 400 && s.status < 500 && anyOf(s.words, otherHost))
}

// refused: the key, the address or the origin has no access.
func (s said) refused() bool {
	switch {
	case s.code == -32601:
		return false // of one method
	case s.status == http.StatusUnauthorized, s.status == http.StatusForbidden:
		return true
	}
	return anyOf(s.words, denied)
}

// gateway: something in front of the node said it (V5).
func (s said) gateway() bool {
	switch {
	case s.status == http.StatusServiceUnavailable && anyOf(s.words, overloaded):
		return false
	case s.status >= 502 && s.status <= 504, s.status >= 520 && s.status <= 530:
		return true
	case s.status < 400 || s.reply:
		return false
	case anyOf(s.words, edgeWords):
		return true
	}
	return s.page && anyOf(s.server, edgeServers)
}

// Lacks says whether an error means that the node does not have the method, or
// does not give it to us. That is a fact about the node and no ill health (V1).
func (e *Error) Lacks() bool {
	if e == nil {
		return false
	}
	words := strings.ToLower(e.words())
	switch e.Code {
	case -32601:
		return true
	case -32600, -32602, -32603, -32604, -32004, -32000, -32001, -32700:
	default:
		return false
	}
	s := said{code: e.Code, words: words, reply: true}
	return s.limit() == noLimit && anyOf(words, lacking) && (strings.Contains(words, "method") || e.Code == -32600 || e.Code == -32004 || e.Code == -32601)
}
