package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chaintop/internal/rpc"
)

// call is a client's request.
type call struct {
	route *route
	path  *url.URL  // the upstream's part
	began time.Time // by the core's clock
	start time.Time // by this machine's

	judged bool // it is JSON-RPC, and so are its answers
	body   []byte
	list   bool
	ids    []json.RawMessage // of the calls that get a reply
	calls  []rpc.Call
	method string // as it is shown: of a batch the first and how many follow
	repeat bool   // F10
}

// read takes the client's request in. What it returns, if anything, is why the
// request goes nowhere.
func (g *Gateway) read(w http.ResponseWriter, r *http.Request, c *call) *refusal {
	body, no := readBody(w, r, c.route.set)
	if no != nil {
		return no
	}
	c.body = body
	if !c.route.rpc || r.Method != http.MethodPost {
		c.method = r.Method
		c.repeat = r.Method == http.MethodGet || r.Method == http.MethodHead
		return nil
	}
	c.judged = true
	calls, list, err := rpc.Calls(body, c.route.set.MaxBatch)
	switch {
	case errors.Is(err, rpc.ErrManyCalls):
		return &refusal{status: http.StatusRequestEntityTooLarge, code: -32052,
			text: fmt.Sprintf("a batch holds at most %d calls here (max_batch)", c.route.set.MaxBatch)}
	case err != nil:
		return &refusal{status: http.StatusBadRequest, code: -32700, text: "not a JSON-RPC request: " + err.Error()}
	}
	c.calls, c.list, c.repeat = calls, list, true
	for _, one := range calls {
		if one.ID != nil {
			c.ids = append(c.ids, one.ID)
		}
		for _, m := range one.Methods {
			if c.route.deny.has(m) {
				return &refusal{status: http.StatusForbidden, code: -32601, text: "the method is denied here"}
			}
			c.repeat = c.repeat && repeatable(m)
		}
	}
	c.method = methodOf(calls)
	return nil
}

// methodOf is a request's method as it is shown.
func methodOf(calls []rpc.Call) string {
	name := "?"
	if len(calls[0].Methods) > 0 {
		name = calls[0].Methods[0]
	}
	if len(calls) > 1 {
		return fmt.Sprintf("%s +%d", name, len(calls)-1)
	}
	return name
}

// bodyTime bounds how long a client may take to send its request's body.
const bodyTime = 30 * time.Second

// readBody reads a request's body, as much as it may hold. Memory follows what
// came, not what was announced.
func readBody(w http.ResponseWriter, r *http.Request, set Settings) ([]byte, *refusal) {
	large := &refusal{status: http.StatusRequestEntityTooLarge, code: -32052,
		text: fmt.Sprintf("a request holds at most %d bytes here (max_body)", set.MaxBody)}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > set.MaxBody {
		return nil, large
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(min(bodyTime, set.Timeout))) // where it cannot be set, the server's own count
	buf := make([]byte, 0, 512)
	if n := r.ContentLength; n > 0 && n <= 16<<10 {
		buf = make([]byte, 0, n+1)
	}
	body := http.MaxBytesReader(w, r.Body, set.MaxBody)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		var most *http.MaxBytesError
		switch {
		case err == nil:
			continue
		case err == io.EOF:
			_ = control.SetReadDeadline(time.Time{}) // as above
			return buf, nil
		case errors.As(err, &most):
			return nil, large
		}
		return nil, &refusal{status: http.StatusRequestTimeout, code: -32700, text: "the request's body did not come whole"}
	}
}

// acceptable is how an answer may be encoded: as the client may have it, and as
// it can be judged here.
func acceptable(client string) string {
	if strings.Contains(client, "gzip") {
		return "gzip"
	}
	return "identity"
}
