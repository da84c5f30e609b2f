package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// OutcomeKind is what happened in a try (V1). The zero value is no outcome at
// all: the try was abandoned, and moves nothing.
type OutcomeKind uint8

// The outcomes of V1, worst last.
const (
	NoOutcome OutcomeKind = iota
	Result                // a complete reply with a value usable for the method asked
	Answer                // positive evidence of an error answer (V2)
	NoAnswer              // everything else (V4)
)

var outcomeKindNames = names[OutcomeKind]{"", "result", "answer", "no_answer"}

func (k OutcomeKind) String() string                { return outcomeKindNames.word(k) }
func (k OutcomeKind) MarshalText() ([]byte, error)  { return outcomeKindNames.marshal(k) }
func (k *OutcomeKind) UnmarshalText(b []byte) error { return outcomeKindNames.unmarshal(k, b) }

// Reason says why an outcome is not a result. The set is closed; a result has
// none.
type Reason string

// Reasons of no answer (V4), then reasons of an error answer (V2).
const (
	ReasonTimeout     Reason = "timeout"      // the deadline of the try came first
	ReasonRefused     Reason = "refused"      // nothing listens there
	ReasonReset       Reason = "reset"        // the connection was torn down
	ReasonEOF         Reason = "eof"          // it was closed before any evidence was whole
	ReasonDNS         Reason = "dns"          // the name did not resolve
	ReasonTLS         Reason = "tls"          // the handshake failed
	ReasonNoRoute     Reason = "no_route"     // the network says it cannot get there
	ReasonTruncated   Reason = "truncated"    // the answer was cut, or longer than is read
	ReasonMalformed   Reason = "malformed"    // bytes that are not the protocol's grammar
	ReasonEmpty       Reason = "empty"        // a success without a body
	ReasonNotProtocol Reason = "not_protocol" // something else speaks there
	ReasonIDMismatch  Reason = "id_mismatch"  // a reply to somebody else's request
	ReasonOwnSide     Reason = "own_side"     // our own proxy or network said it
	ReasonNoUpstream  Reason = "no_upstream"  // there was nobody to ask
	ReasonStalled     Reason = "stalled"      // no byte to anybody since a client's request went to it (F11)

	ReasonNodeError      Reason = "node_error"      // a JSON-RPC error object
	ReasonHTTPStatus     Reason = "http_status"     // a status that is an error
	ReasonRateLimit      Reason = "rate_limit"      // by status, by code or by text
	ReasonGRPCStatus     Reason = "grpc_status"     // a status that came over the wire
	ReasonWSClose        Reason = "ws_close"        // a close code meant for us
	ReasonUnusableResult Reason = "unusable_result" // our id, no error, a useless value
)

// Layer is where in the path a try ended.
type Layer string

// The layers a try passes, outermost first.
const (
	LayerDNS  Layer = "dns"
	LayerTCP  Layer = "tcp"
	LayerTLS  Layer = "tls"
	LayerHTTP Layer = "http"
	LayerWS   Layer = "ws"
	LayerRPC  Layer = "rpc"
)

// EvidenceRunes bounds the text of a try's evidence.
const EvidenceRunes = 200

// Evidence is what a try saw, for a person to read. Text is cleaned and bounded
// where it entered (X2), and is never read by a rule.
type Evidence struct {
	Layer Layer  `json:"layer,omitempty"`
	HTTP  int    `json:"http,omitempty"` // the status, when one arrived
	Code  int64  `json:"code,omitempty"` // JSON-RPC, websocket or gRPC code
	Text  string `json:"text,omitempty"` // at most EvidenceRunes runes
}

// String is the evidence in one line: `HTTP 429 · -32005 "daily request count exceeded"`.
func (e Evidence) String() string {
	var parts []string
	if e.HTTP != 0 {
		parts = append(parts, "HTTP "+strconv.Itoa(e.HTTP))
	}
	if e.Code != 0 {
		parts = append(parts, strconv.FormatInt(e.Code, 10))
	}
	if e.Text == "" {
		return strings.Join(parts, " · ")
	}
	if e.Code != 0 {
		parts[len(parts)-1] += " " + strconv.Quote(e.Text)
		return strings.Join(parts, " · ")
	}
	return strings.Join(append(parts, e.Text), " · ")
}

// Outcome is what happened in one try (V1). It is that of the head question;
// Facts and Findings hold what the other questions brought, and never change it.
type Outcome struct {
	Kind       OutcomeKind   `json:"kind"`
	Reason     Reason        `json:"reason,omitempty"`
	Evidence   Evidence      `json:"evidence"`
	Facts      Facts         `json:"facts"`
	Findings   Findings      `json:"findings,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"` // what a rate limit asked for; 0 = it did not say
	Took       time.Duration `json:"took_ns"`                  // until the outcome of the head question
	Asked      int           `json:"asked"`                    // requests sent
}

// Word is the outcome's reason as the screens name it: "timeout", "429",
// "403", "quota", "-32000".
func (o Outcome) Word() string { return reasonWord(o.Reason, o.Evidence, o.Findings) }

func reasonWord(r Reason, e Evidence, f Findings) string {
	switch r {
	case ReasonHTTPStatus:
		return strconv.Itoa(e.HTTP)
	case ReasonRateLimit:
		switch {
		case f.Has(Quota):
			return Quota.String()
		case e.HTTP == 429 || e.Code == 429:
			return "429"
		}
		return RateLimited.String()
	case ReasonNodeError:
		if e.Code != 0 {
			return strconv.FormatInt(e.Code, 10)
		}
		return "error"
	case ReasonWSClose:
		return fmt.Sprintf("close %d", e.Code)
	case ReasonUnusableResult:
		return "unusable"
	case ReasonNotProtocol:
		return "not json-rpc"
	case ReasonIDMismatch:
		return "other id"
	case ReasonTimeout, ReasonRefused, ReasonReset, ReasonEOF, ReasonDNS, ReasonTLS, ReasonNoRoute, ReasonTruncated,
		ReasonMalformed, ReasonEmpty, ReasonOwnSide, ReasonNoUpstream, ReasonStalled, ReasonGRPCStatus:
	}
	return strings.ReplaceAll(string(r), "_", " ")
}
