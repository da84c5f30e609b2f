package rpc

import (
	"encoding/json"
	"errors"
	"strings"

	"chaintop/internal/clean"
)

// Call is one JSON-RPC request as a client sent it.
type Call struct {
	ID json.RawMessage // nil: a notification, which gets no reply
	// Methods are the values of every member that some server might take for
	// the method: several stand in it twice, and encoding/json takes "Method"
	// for one.
	Methods []string
}

// ErrEmptyBatch says that a batch holds no call.
var ErrEmptyBatch = errors.New("an empty batch")

// ErrManyCalls says that a batch holds more calls than are taken.
var ErrManyCalls = errors.New("too many calls in a batch")

// Calls are the calls in the body of a request, at most most of them. List says
// that it is a batch. An error says that it is not one JSON value, holds no
// calls, or holds more than that.
func Calls(body []byte, most int) (calls []Call, list bool, err error) {
	if at := skipSpace(body, 0); at < len(body) && body[at] == '[' && many(body, most) {
		return nil, true, ErrManyCalls // before anything dear is done with it
	}
	if err := whole(body); err != nil {
		return nil, false, err
	}
	switch body[skipSpace(body, 0)] {
	case '{':
		return []Call{parseCall(body)}, false, nil
	case '[':
		for _, e := range elements(body) {
			c := Call{}
			if e[0] == '{' {
				c = parseCall(e)
			}
			calls = append(calls, c)
		}
		if len(calls) == 0 {
			return nil, true, ErrEmptyBatch
		}
		return calls, true, nil
	}
	return nil, false, errors.New("JSON, but no JSON-RPC request")
}

// many says whether the JSON array b has more elements than most, by its commas
// at the first level: nothing is kept for one that has.
func many(b []byte, most int) bool {
	n := 1
	clean.Brackets(b, func(c byte, depth int) bool {
		if c == ',' && depth == 1 {
			n++
		}
		return n <= most
	})
	return n > most
}

func parseCall(b []byte) Call {
	var c Call
	eachMember(b, func(name string, value json.RawMessage) {
		switch {
		case name == "id":
			c.ID = value
		case strings.EqualFold(name, "method"):
			c.Methods = append(c.Methods, unquoted(value))
		}
	})
	return c
}
