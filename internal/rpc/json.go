package rpc

import (
	"bytes"
	"encoding/json"
	"errors"

	"chaintop/internal/clean"
)

// MaxDepth bounds how deep JSON from outside may nest (SPEC X3).
const MaxDepth = 32

var (
	errNoJSON   = errors.New("not JSON")
	errDeep     = errors.New("nested too deep")
	errTrailing = errors.New("more than one JSON value")
	errNotReply = errors.New("JSON, but no JSON-RPC reply")
)

// whole says whether b is one JSON value, with white space around it at most,
// that nests no deeper than MaxDepth.
func whole(b []byte) error {
	if clean.Deeper(b, MaxDepth) {
		return errDeep
	}
	if json.Valid(b) {
		return nil
	}
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(b)).Decode(&first) == nil {
		return errTrailing
	}
	return errNoJSON
}

// eachMember calls f with the members of the JSON object b, in order. Names
// are compared as they are: encoding/json would take "Result" for "result", and
// of two members with one name the last.
func eachMember(b []byte, f func(name string, value json.RawMessage)) {
	i := skipSpace(b, 0) + 1
	for {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == '}' {
			return
		}
		if b[i] == ',' {
			i++
			continue
		}
		end := skipValue(b, i)
		var name string
		if json.Unmarshal(b[i:end], &name) != nil {
			return
		}
		i = skipSpace(b, end) + 1 // the colon
		i = skipSpace(b, i)
		end = skipValue(b, i)
		f(name, json.RawMessage(b[i:end]))
		i = end
	}
}

// elements are the elements of the JSON array b.
func elements(b []byte) []json.RawMessage {
	var out []json.RawMessage
	for i := skipSpace(b, 0) + 1; ; {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == ']' {
			return out
		}
		if b[i] == ',' {
			i++
			continue
		}
		end := skipValue(b, i)
		out = append(out, json.RawMessage(b[i:end]))
		i = end
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue is the end of the value that begins at i, in JSON known to be valid.
func skipValue(b []byte, i int) int {
	depth, quoted := 0, false
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i
		}
	}
	return len(b)
}
