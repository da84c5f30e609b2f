package feed

import "strconv"

// Codes of answers to commands, and of handshakes that were refused. The set is
// part of the protocol.
const (
	CodeOK               = 200 // of a result
	CodeAccepted         = 202
	CodeBadRequest       = 400
	CodeUnauthenticated  = 401
	CodeForbidden        = 403
	CodeUnknown          = 404 // no such chain, upstream or operation
	CodeConflict         = 409 // another command under the same key, or the state moved
	CodeConfirm          = 412 // the instance's name has to be typed
	CodeTooLarge         = 413
	CodeRateLimited      = 429
	CodeCanceled         = 499 // the instance stopped before the command was over
	CodeUnavailable      = 503 // it takes no commands, or cannot write its audit
	CodeDeadline         = 504 // the budget ended first; what was begun goes on
	codeUpgrade          = 426
	codeMethodNotAllowed = 405
)

// codeNames are the words of the codes, for programs. Where a code has more
// than one, the answer says which.
var codeNames = map[int]string{
	CodeOK: "ok", CodeAccepted: "accepted", CodeBadRequest: "bad_request", CodeUnauthenticated: "unauthenticated",
	CodeForbidden: "forbidden", CodeUnknown: "unknown", CodeConflict: "state_moved", CodeConfirm: "confirm_required",
	CodeTooLarge: "too_large", CodeRateLimited: "rate_limited", CodeCanceled: "canceled",
	CodeUnavailable: "unavailable", CodeDeadline: "deadline", codeUpgrade: "version", codeMethodNotAllowed: "bad_request",
}

func codeName(code int) string {
	if name := codeNames[code]; name != "" {
		return name
	}
	return strconv.Itoa(code)
}

// CloseCode is why a connection of the feed was closed. Of 40xx one comes back,
// of 45xx one does not.
type CloseCode int

// The close codes of the protocol.
const (
	CloseShutdown        CloseCode = 4001 // the instance stops
	CloseSlow            CloseCode = 4008 // the viewer does not keep up
	CloseHeartbeat       CloseCode = 4009 // nothing was heard for too long
	CloseLimit           CloseCode = 4013 // too many connections, or too much at once
	CloseUnauthenticated CloseCode = 4501 // the token is unknown, expired or revoked
	CloseForbidden       CloseCode = 4503
	CloseVersion         CloseCode = 4506 // no version in common
	CloseBadFrame        CloseCode = 4509
	CloseTooBig          CloseCode = 4513

	closeNormal   CloseCode = 1000
	closeAbnormal CloseCode = 1006 // the network, or slow
)

// Final says that coming back is of no use.
func (c CloseCode) Final() bool { return c >= 4500 && c < 4600 }

// String is the reason beside the code: an enum, never text from outside.
func (c CloseCode) String() string {
	switch c {
	case CloseShutdown:
		return "shutdown"
	case CloseSlow:
		return "slow"
	case CloseHeartbeat:
		return "heartbeat"
	case CloseLimit:
		return "limit"
	case CloseUnauthenticated:
		return "unauthenticated"
	case CloseForbidden:
		return "forbidden"
	case CloseVersion:
		return "version"
	case CloseBadFrame:
		return "bad frame"
	case CloseTooBig:
		return "too big"
	case closeNormal:
		return "closed"
	case closeAbnormal:
		return "connection lost"
	}
	return "close " + strconv.Itoa(int(c))
}
