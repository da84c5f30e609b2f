//go:build linux

package main

import (
	"strconv"
	"sync/atomic"
)

// The methods that clients ask here. No probe asks them, so that an upstream can
// tell the two apart.
const (
	methodRead  = "eth_getBalance"
	methodWrite = "eth_sendRawTransaction"
)

// batchCalls is how many calls a batch holds.
const batchCalls = 5

// lastID is the newest id that was given out. Each call has its own, in the
// whole run.
var lastID atomic.Int64

// ask is one request and the answer that belongs to it.
type ask struct {
	body []byte
	want []byte
}

// single makes a request of one call, in the buffers of an ask that is over.
func (a *ask) single(method string) {
	id := lastID.Add(1)
	a.body, a.want = appendCall(a.body[:0], id, method), appendReply(a.want[:0], id)
}

func (a *ask) batch() {
	a.body, a.want = append(a.body[:0], '['), append(a.want[:0], '[')
	for i := range batchCalls {
		if i > 0 {
			a.body, a.want = append(a.body, ','), append(a.want, ',')
		}
		id := lastID.Add(1)
		a.body, a.want = appendCall(a.body, id, methodRead), appendReply(a.want, id)
	}
	a.body, a.want = append(a.body, ']'), append(a.want, ']')
}

func appendCall(b []byte, id int64, method string) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, method...)
	if method == methodWrite {
		return append(b, `","params":["0x02f87001808459682f00850a02ffee0082520894407d73d8a49eeb85d32cf465507dd71d507100c18080c0"]}`...)
	}
	return append(b, `","params":["0x407d73d8a49eeb85d32cf465507dd71d507100c1","latest"]}`...)
}

func appendReply(b []byte, id int64) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"result":"0x`...)
	digits := strconv.AppendInt(nil, id, 16)
	for range 64 - len(digits) {
		b = append(b, '0')
	}
	b = append(b, digits...)
	return append(b, `"}`...)
}
