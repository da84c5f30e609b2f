package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// refusal is an answer of the gateway's own (F9). It is an error so that it can
// come out of a RoundTripper.
type refusal struct {
	status int
	code   int
	text   string
}

func (r refusal) Error() string { return r.text }

type errorReply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   errorMember     `json:"error"`
}

type errorMember struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// refuse writes it in the protocol of the request: JSON-RPC with the request's
// id, a batch with one error a member, REST as {"error": …}.
func refuse(w http.ResponseWriter, r *http.Request, c *call, no refusal) {
	var body any
	said := errorMember{Code: no.code, Message: no.text}
	switch {
	case c != nil && c.judged && c.list && len(c.calls) > 0:
		var all []errorReply
		for _, one := range c.calls {
			if one.ID != nil {
				all = append(all, errorReply{Version: "2.0", ID: one.ID, Error: said})
			}
		}
		body = all
	case c != nil && !c.judged && !(c.route.rpc && r.Method == http.MethodPost):
		body = map[string]errorMember{"error": said}
	default:
		id := json.RawMessage("null")
		if c != nil && len(c.calls) == 1 && c.calls[0].ID != nil {
			id = c.calls[0].ID
		}
		body = errorReply{Version: "2.0", ID: id, Error: said}
	}
	b, err := json.Marshal(body)
	if err != nil { // an id that is no JSON cannot get here
		b = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(no.status)
	if r.Method != http.MethodHead {
		_, _ = newPatient(w).Write(b) // the client may be gone
	}
}
