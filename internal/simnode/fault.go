package simnode

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault is how a node misbehaves: one of the constructors below. The zero value
// is Quiet.
type Fault struct {
	kind  kind
	first int // it meets only the first so many requests; 0 = all

	code             int64 // Status: HTTP; ErrorAll: JSON-RPC; LagBy: blocks
	text             string
	wait             time.Duration // RateLimit: Retry-After; CatchUp: until it is in sync
	current, highest uint64
	id               uint64
}

type kind uint8

const (
	quiet kind = iota
	stall
	refuse
	rateLimit
	errorAll
	status
	syncing
	catchUp
	wrongChain
	halt
	lag
	drop
	reset
)

// Quiet is no fault.
func Quiet() Fault { return Fault{} }

// Stall never answers: each request hangs until its client goes away.
func Stall() Fault { return Fault{kind: stall} }

// StallFirst never answers the first request from now on; every later one is
// answered (T5).
func StallFirst() Fault { return Fault{kind: stall, first: 1} }

// Refuse takes the node down: nobody listens, and open connections are cut.
func Refuse() Fault { return Fault{kind: refuse} }

// RateLimit answers the next n requests, or all when n is not positive, with
// HTTP 429; with a Retry-After in whole seconds when retryAfter is positive.
func RateLimit(n int, retryAfter time.Duration) Fault {
	return Fault{kind: rateLimit, first: max(n, 0), wait: retryAfter}
}

// ErrorAll answers every call with this JSON-RPC error, in an HTTP 200.
func ErrorAll(code int64, message string) Fault {
	return Fault{kind: errorAll, code: code, text: message}
}

// Status answers every request with an HTTP status and a body.
func Status(code int, body string) Fault {
	return Fault{kind: status, code: int64(code), text: body}
}

// Syncing says that the node is catching up, at current of highest.
func Syncing(current, highest uint64) Fault {
	return Fault{kind: syncing, current: current, highest: highest}
}

// CatchUp says that the node is catching up, and lets it: it begins so many
// blocks behind the chain, gains evenly, and is in sync once over has passed.
func CatchUp(behind uint64, over time.Duration) Fault {
	return Fault{kind: catchUp, current: behind, wait: over}
}

// WrongChain is a node of another chain.
func WrongChain(id uint64) Fault { return Fault{kind: wrongChain, id: id} }

// Halt stops the head where it is; without it the node is where the clock has
// it.
func Halt() Fault { return Fault{kind: halt} }

// LagBy keeps the head n blocks behind, or ahead when n is negative.
func LagBy(n int64) Fault { return Fault{kind: lag, code: n} }

// DropConn closes the connection instead of answering.
func DropConn() Fault { return Fault{kind: drop} }

// ResetConn resets the connection instead of answering.
func ResetConn() Fault { return Fault{kind: reset} }

// String is the fault in a few words.
func (f Fault) String() string {
	switch f.kind {
	case quiet:
		return "quiet"
	case stall:
		if f.first > 0 {
			return "stalls its first request"
		}
		return "stalls"
	case refuse:
		return "refuses"
	case rateLimit:
		return "rate limits"
	case errorAll:
		return fmt.Sprintf("answers error %d", f.code)
	case status:
		return fmt.Sprintf("answers HTTP %d", f.code)
	case syncing:
		return fmt.Sprintf("syncing %d of %d", f.current, f.highest)
	case catchUp:
		return fmt.Sprintf("catches up %d blocks", f.current)
	case wrongChain:
		return fmt.Sprintf("is of chain %d", f.id)
	case halt:
		return "halted"
	case lag:
		return fmt.Sprintf("lags by %d", f.code)
	case drop:
		return "drops connections"
	case reset:
		return "resets connections"
	}
	return "unknown"
}

// interrupt answers, or breaks off, where the fault lies below JSON-RPC.
func (f Fault) interrupt(w http.ResponseWriter) bool {
	switch f.kind {
	case rateLimit:
		if secs := int64(f.wait / time.Second); secs > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt(secs, 10))
		}
		answer(w, http.StatusTooManyRequests, "too many requests\n")
	case status:
		answer(w, int(f.code), f.text)
	case drop:
		panic(http.ErrAbortHandler)
	case reset:
		cut(w)
	case quiet, stall, refuse, errorAll, syncing, catchUp, wrongChain, halt, lag:
		return false
	}
	return true
}

// answer writes a status with a body that is labelled by its looks.
func answer(w http.ResponseWriter, code int, body string) {
	kind := "text/plain; charset=utf-8"
	switch {
	case strings.HasPrefix(body, "<"):
		kind = "text/html; charset=utf-8"
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body) // a client that went away is no concern of a node
}

// cut resets the connection, where it can be; else it closes it.
func cut(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if l, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0) // then it is closed without a reset, which is all that is left to do
	}
	_ = c.Close()
}

var _ interface{ SetLinger(int) error } = (*net.TCPConn)(nil)
