package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Reply is one JSON-RPC response, as it came. A member that is absent is nil;
// an error of null is no error.
type Reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *Error
	// Named says that it names itself JSON-RPC.
	Named bool
	// Torn says that a member stands in it twice with different values.
	Torn bool
	// Status and Message are what explorers put beside a result.
	Status, Message string
}

// Error is the error member of a reply, whatever its type was.
type Error struct {
	Code    int64
	Message string
	Details string // what else it says in words; for judging, and after the message
	shaped  bool   // an object with a code or a message
}

// words is all it says, for a catalogue.
func (e *Error) words() string { return e.Message + " " + e.Details }

// text is what it says, for a person.
func (e *Error) text() string {
	switch {
	case e.Message == "":
		return e.Details
	case e.Details == "" || strings.Contains(e.Message, e.Details):
		return e.Message
	}
	return e.Message + ": " + e.Details
}

var bom = []byte("\xef\xbb\xbf")

// Replies are the replies in a body. List says that it is an array. Marked says
// that a byte order mark stood before it, which RFC 8259 forbids to send and
// lets one ignore. An error says that the body is not one JSON value, or one
// that holds no replies.
func Replies(body []byte) (replies []Reply, list, marked bool, err error) {
	body, marked = bytes.CutPrefix(body, bom)
	if err := whole(body); err != nil {
		return nil, false, marked, err
	}
	switch body[skipSpace(body, 0)] {
	case '{':
		return []Reply{parseReply(body)}, false, marked, nil
	case '[':
		for _, e := range elements(body) {
			if e[0] == '{' {
				replies = append(replies, parseReply(e))
			}
		}
		return replies, true, marked, nil
	}
	return nil, false, marked, errNotReply
}

func parseReply(b []byte) Reply {
	var r Reply
	eachMember(b, func(name string, value json.RawMessage) {
		switch name {
		case "jsonrpc":
			r.Named = true
		case "id":
			r.Torn = r.Torn || (r.ID != nil && !bytes.Equal(r.ID, value))
			r.ID = value
		case "result":
			r.Torn = r.Torn || (r.Result != nil && !bytes.Equal(r.Result, value))
			r.Result = value
		case "error":
			if !isNull(value) && r.Error == nil {
				r.Error = parseError(value)
			}
		case "status":
			r.Status = unquoted(value)
		case "message":
			r.Message = unquoted(value)
		}
	})
	return r
}

// isReply says whether it is a JSON-RPC response at all: it names itself one, or
// has the id of a request beside an answer, or an error of the right shape.
func (r Reply) isReply() bool {
	switch {
	case r.Result == nil && r.Error == nil:
		return r.Named && r.ID != nil
	case r.Named:
		return true
	case r.Error != nil && r.Error.shaped:
		return true
	}
	return r.ID != nil
}

func parseError(value json.RawMessage) *Error {
	e := &Error{}
	if value[0] != '{' {
		e.Message = unquoted(value)
		return e
	}
	eachMember(value, func(name string, v json.RawMessage) {
		switch name {
		case "code":
			e.Code, e.shaped = number(v), true
		case "message":
			e.Message, e.shaped = unquoted(v), true
		case "details", "data":
			// Data in hex is a contract's, not words.
			if s := unquoted(v); v[0] == '"' && !strings.HasPrefix(s, "0x") && len(s) <= 1024 {
				e.Details = s
			}
		}
	})
	return e
}

// number reads a code that may be quoted or a float; 0 if it is none.
func number(v json.RawMessage) int64 {
	s := unquoted(v)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == float64(int64(f)) {
		return int64(f)
	}
	return 0
}

// unquoted is a string's value, or any other value as it stands.
func unquoted(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func isNull(v json.RawMessage) bool { return string(v) == "null" }

// match is how an id answers ours.
type match uint8

const (
	matchNone  match = iota // somebody else's
	matchOurs               // ours, in the type we sent it
	matchLoose              // ours in the other type, or no id at all
)

// matches compares a reply's id with ours, over HTTP, where there is one request
// a connection at a time: the same value in the other JSON type is ours, and so
// is none. Of a request without an id every reply is.
func (r Reply) matches(id json.RawMessage) match {
	switch {
	case id == nil, bytes.Equal(r.ID, id):
		return matchOurs
	case r.ID == nil || isNull(r.ID), unquoted(r.ID) == unquoted(id):
		return matchLoose
	case r.ID[0] != '"' && id[0] != '"' && number(id) != 0 && number(r.ID) == number(id):
		return matchLoose
	}
	return matchNone
}
