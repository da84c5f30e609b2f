package simnode

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// maxBody bounds a request.
const maxBody = 1 << 20

// call is one JSON-RPC request.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// reply is its answer: a result or an error.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// JSON-RPC's own errors.
var (
	errParse   = &failure{-32700, "parse error"}
	errInvalid = &failure{-32600, "invalid request"}
	errParams  = &failure{-32602, "invalid argument"}
)

// null is a result that is null, where a nil one would be left out.
var null = json.RawMessage("null")

// question is what a request holds.
type question struct {
	calls   []call
	batch   bool
	bad     *failure // it holds no call, and this is why
	big     bool     // longer than maxBody
	empty   bool     // no POST: there is no question
	methods []string // as they are counted
}

// read takes a request in, whole: only then does the server notice a client
// that goes away.
func (n *Node) read(r *http.Request) (question, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return question{}, err
	}
	if r.Method != http.MethodPost {
		q := question{empty: true, methods: []string{"other"}}
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			q.methods[0] = r.Method
		}
		return q, nil
	}
	q := parse(body)
	for _, c := range q.calls {
		name := "other"
		if methods[c.Method] != nil {
			name = c.Method
		}
		q.methods = append(q.methods, name)
	}
	if len(q.calls) == 0 {
		q.methods = []string{"other"}
	}
	return q, nil
}

func parse(body []byte) question {
	q := question{big: len(body) > maxBody}
	if q.big {
		return q
	}
	if !json.Valid(body) {
		q.bad = errParse
		return q
	}
	var err error
	if trimmed := bytes.TrimSpace(body); trimmed[0] == '[' {
		q.batch = true
		err = json.Unmarshal(body, &q.calls)
	} else {
		q.calls = make([]call, 1)
		err = json.Unmarshal(body, &q.calls[0])
	}
	if err != nil || len(q.calls) == 0 {
		q.calls, q.bad = nil, errInvalid
	}
	return q
}

// reply writes the answers to q as v has them.
func (n *Node) reply(w http.ResponseWriter, q question, v view) {
	switch {
	case q.big:
		answer(w, http.StatusRequestEntityTooLarge, "request too large\n")
		return
	case q.empty:
		w.WriteHeader(http.StatusOK)
		return
	case q.bad != nil:
		send(w, reply{Version: "2.0", ID: null, Error: q.bad})
		return
	}
	var all []reply
	for _, c := range q.calls {
		if c.ID == nil && c.Method != "" {
			continue // a notification has no answer
		}
		r := reply{Version: "2.0", ID: c.ID}
		if r.ID == nil {
			r.ID = null
		}
		r.Result, r.Error = v.answer(c)
		all = append(all, r)
	}
	switch {
	case len(all) == 0:
		w.WriteHeader(http.StatusOK)
	case q.batch:
		send(w, all)
	default:
		send(w, all[0])
	}
}

func send(w http.ResponseWriter, answer any) {
	b, err := json.Marshal(answer)
	if err != nil {
		panic(err) // strings, and raw JSON that was valid when it came
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // a client that went away is no concern of a node
}
