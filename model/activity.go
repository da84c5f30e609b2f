package model

import "time"

// AwakeClients bounds the clients of an Activity (D6).
const AwakeClients = 20

// ClientKind is how a client asks.
type ClientKind string

// The kinds of clients.
const (
	ClientHTTP ClientKind = "http" // JSON-RPC or REST, a request at a time
	ClientWS   ClientKind = "ws"   // a websocket
	ClientGRPC ClientKind = "grpc"
)

// Activity is who uses the gateway of an instance, read at one moment. Only
// what reaches the RPC handlers is in it: no health, metrics or feed request,
// no probe of ours (D5).
type Activity struct {
	At    time.Time `json:"at,omitzero"`    // when it was read; zero = never, or there is no gateway
	Since time.Time `json:"since,omitzero"` // the drain or simulation its counts are since; zero = the counts are of Window

	// The last request that bumps the idle timer. A websocket's upgrade is one,
	// a message on it is not.
	Last   time.Time  `json:"last,omitzero"`
	Method string     `json:"method,omitempty"` // empty: its body is not read yet, or cannot be
	Kind   ClientKind `json:"kind,omitempty"`
	Chain  int        `json:"chain"` // -1 = of no chain there is
	Client string     `json:"client,omitempty"`

	// The same of the connections that were accepted before Since (D6).
	OldLast   time.Time  `json:"old_last,omitzero"`
	OldMethod string     `json:"old_method,omitempty"`
	OldKind   ClientKind `json:"old_kind,omitempty"`
	OldChain  int        `json:"old_chain"`
	OldClient string     `json:"old_client,omitempty"`

	Message       time.Time `json:"message,omitzero"`         // the last message a client sent on a stream
	MessageClient string    `json:"message_client,omitempty"` // who
	OldMessage    time.Time `json:"old_message,omitzero"`     // the last one on a stream older than Since

	InFlight int       `json:"in_flight"`         // requests that are not answered yet, streams apart
	Streams  int       `json:"streams"`           // open websockets
	Oldest   time.Time `json:"oldest,omitzero"`   // when the oldest open stream was accepted
	NewConn  time.Time `json:"new_conn,omitzero"` // when the newest connection was accepted that asked anything

	Requests    int           `json:"requests,omitempty"`     // since Since
	OldRequests int           `json:"old_requests,omitempty"` // of those, on connections older than it
	OldClients  int           `json:"old_clients,omitempty"`  // who sent those
	Quiet       time.Duration `json:"quiet_ns,omitempty"`     // the longest time between two requests since Since; without it, in the last five minutes
	Window      time.Duration `json:"window_ns,omitempty"`    // what the clients' counts cover: a minute or so, less after a start; 0 = from Since on

	Clients []Client `json:"clients,omitempty"` // at most AwakeClients; by the last request while Since is set, else the busiest first
	Others  Others   `json:"others,omitzero"`
}

// Client is one address that asks, by one kind.
type Client struct {
	Addr    string        `json:"addr"` // without its port; for viewers cut to a network (X1)
	Kind    ClientKind    `json:"kind"`
	Method  string        `json:"method,omitempty"` // of its last request
	Chain   int           `json:"chain"`            // of its last request; -1 = of no chain there is
	Every   time.Duration `json:"every_ns,omitempty"`
	Count   int           `json:"count"` // requests
	Last    time.Time     `json:"last,omitzero"`
	Since   time.Time     `json:"since,omitzero"`  // when its oldest open connection was accepted; zero = it has none
	Closed  time.Time     `json:"closed,omitzero"` // when its last connection was closed; zero = one is open
	Conns   int           `json:"conns"`           // open ones that asked something, streams among them
	Streams int           `json:"streams,omitempty"`
	Message time.Time     `json:"message,omitzero"` // the last it sent on a stream

	Old      bool      `json:"old,omitempty"` // it has an open connection older than the drain
	OldCount int       `json:"old_count,omitempty"`
	OldLast  time.Time `json:"old_last,omitzero"`
}

// Others sums the clients that are not in the list.
type Others struct {
	Clients int       `json:"clients"`
	Count   int       `json:"count"`
	Last    time.Time `json:"last,omitzero"`
}

// bumped is when the idle timer was last bumped (D5): by a request, and by a
// client's message where messages count.
func (a Activity) bumped(messages bool) time.Time {
	if messages && a.Message.After(a.Last) {
		return a.Message
	}
	return a.Last
}

// bumpedOld is the same for the connections older than the drain alone.
func (a Activity) bumpedOld(messages bool) time.Time {
	if messages && a.OldMessage.After(a.OldLast) {
		return a.OldMessage
	}
	return a.OldLast
}
