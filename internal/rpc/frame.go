package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Frame is one JSON-RPC message on a stream, whichever way it goes: a request,
// a reply or a notification. Its members are nil where they are absent, and
// parts of Raw, so that one can be replaced where it stands.
type Frame struct {
	Raw    json.RawMessage
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Err    json.RawMessage // an error of null is none
	// Torn says that one reader might find another meaning in it than the next:
	// it is no object, a member stands in it twice, or a name differs from the
	// protocol's by its letters' case alone.
	Torn bool
}

// Frames are the messages in b: one, or a list of at most most. An error says
// that it is not one JSON value, holds no message, or more than that.
func Frames(b []byte, most int) (frames []Frame, list bool, err error) {
	if err := whole(b); err != nil {
		return nil, false, err
	}
	switch at := skipSpace(b, 0); b[at] {
	case '{':
		return []Frame{frameOf(b[at:skipValue(b, at)])}, false, nil
	case '[':
		if many(b, most) {
			return nil, true, ErrManyCalls
		}
		for _, e := range elements(b) {
			frames = append(frames, frameOf(e))
		}
		if len(frames) == 0 {
			return nil, true, ErrEmptyBatch
		}
		return frames, true, nil
	}
	return nil, false, errors.New("JSON, but no JSON-RPC message")
}

// IDOf is the id in the beginning of a message that was too long to be read,
// nil when it does not stand there.
func IDOf(beginning []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(beginning))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		if name == "id" {
			return value
		}
	}
}

var frameMembers = []string{"id", "method", "params", "result", "error"}

func frameOf(b []byte) Frame {
	f := Frame{Raw: b}
	if b[0] != '{' {
		f.Torn = true
		return f
	}
	seen := [5]bool{}
	eachMember(b, func(name string, value json.RawMessage) {
		k := slices.IndexFunc(frameMembers, func(m string) bool { return strings.EqualFold(m, name) })
		if k < 0 {
			return
		}
		f.Torn = f.Torn || seen[k] || name != frameMembers[k]
		seen[k] = true
		switch frameMembers[k] {
		case "id":
			f.ID = value
		case "method":
			f.Method = unquoted(value)
			f.Torn = f.Torn || value[0] != '"' || f.Method == ""
		case "params":
			f.Params = value
		case "result":
			f.Result = value
		case "error":
			if !isNull(value) {
				f.Err = value
			}
		}
	})
	return f
}

// Subscription is the value of params.subscription, nil when there is none.
func (f Frame) Subscription() json.RawMessage { return member(f.Params, "subscription") }

// Notice is the value of params.result.
func (f Frame) Notice() json.RawMessage { return member(f.Params, "result") }

// WithSubscription is the message with another params.subscription.
func (f Frame) WithSubscription(id json.RawMessage) []byte {
	return f.with(f.Subscription(), id)
}

// Args are the params, when they are a list.
func (f Frame) Args() []json.RawMessage {
	if len(f.Params) == 0 || f.Params[0] != '[' {
		return nil
	}
	return elements(f.Params)
}

// WithFirstArg is the message with another first parameter.
func (f Frame) WithFirstArg(v json.RawMessage) []byte {
	args := f.Args()
	if len(args) == 0 {
		return f.Raw
	}
	return f.with(args[0], v)
}

// WithResult is the message with another result.
func (f Frame) WithResult(v json.RawMessage) []byte { return f.with(f.Result, v) }

// with is the message with part, which is a part of it, replaced. A part is cut
// out of Raw without a bound on its capacity, which so says where it begins.
func (f Frame) with(part, v json.RawMessage) []byte {
	if part == nil {
		return f.Raw
	}
	at := cap(f.Raw) - cap(part)
	out := make([]byte, 0, len(f.Raw)-len(part)+len(v))
	out = append(out, f.Raw[:at]...)
	out = append(out, v...)
	return append(out, f.Raw[at+len(part):]...)
}

// member is the value of the first member of that name in the JSON object b,
// nil when there is none.
func member(b json.RawMessage, name string) (found json.RawMessage) {
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	eachMember(b, func(n string, v json.RawMessage) {
		if n == name && found == nil {
			found = v
		}
	})
	return found
}

// Members calls f with the members of the JSON object b, known to be valid, in
// order.
func Members(b json.RawMessage, f func(name string, value json.RawMessage)) {
	if len(b) > 0 && b[0] == '{' {
		eachMember(b, f)
	}
}

// Elements are the elements of the JSON array b, known to be valid; nil when it
// is none.
func Elements(b json.RawMessage) []json.RawMessage {
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	return elements(b)
}
