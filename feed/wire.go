package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// Protocol is the websocket subprotocol this package speaks.
const Protocol = "chaintop.feed.v1"

// Bounds of the protocol, in bytes unless they say otherwise.
const (
	maxHello       = 4 << 10
	maxClientFrame = 64 << 10
	maxServerFrame = 1 << 20
	snapshotPart   = 256 << 10
	maxSnapshot    = 64 << 20
	maxDepth       = 32  // JSON within JSON
	maxRunes       = 200 // of any text from outside
	maxWord        = 128 // of an id, a key, an operation
)

// Times of the protocol.
const (
	heartbeat      = 5 * time.Second
	staleAfter     = 3 * heartbeat
	reconnectAfter = 6 * heartbeat
	pingEvery      = 20 * time.Second
	readWithin     = 45 * time.Second
	writeWithin    = 5 * time.Second
	helloWithin    = 5 * time.Second
	budgetDefault  = 10 * time.Second
	budgetMost     = 30 * time.Second
)

// The types of frames.
const (
	typeHello    = "hello"
	typeCmd      = "cmd"
	typeWelcome  = "welcome"
	typeSnapshot = "snapshot"
	typeEvents   = "events"
	typeHeart    = "hb"
	typeAccepted = "accepted"
	typeError    = "error"
	typeResult   = "result"
	typeBye      = "bye"
)

// envelope is every frame: one JSON object in one text message.
type envelope struct {
	Type  string          `json:"t"`
	Epoch string          `json:"e,omitempty"`
	Seq   uint64          `json:"s,omitempty"` // of the last event inside
	ID    string          `json:"id,omitempty"`
	Data  json.RawMessage `json:"d,omitempty"`
}

// place is a cursor on the wire.
type place struct {
	Epoch string `json:"epoch,omitempty"`
	Seq   uint64 `json:"seq,omitempty"`
}

type helloData struct {
	Client string `json:"client,omitempty"`
	Resume *place `json:"resume,omitempty"`
}

// The ways a viewer is brought up to date, and why it gets a snapshot.
const (
	byReplay   = "replay"
	bySnapshot = "snapshot"

	whyFirst = "first" // it has nothing yet
	whySlow  = "slow"  // it fell behind what is kept
	whyEpoch = "epoch" // the instance started anew
)

type welcomeData struct {
	Instance  string        `json:"instance"`
	Version   string        `json:"version"`
	Role      Role          `json:"role"`
	Now       time.Time     `json:"now"`
	Heartbeat time.Duration `json:"heartbeat_ns"`
	Resume    string        `json:"resume"`
	Why       string        `json:"why,omitempty"`
	Insecure  bool          `json:"insecure,omitempty"`
	Limits    limitsData    `json:"limits"`
}

type limitsData struct {
	ClientFrame int     `json:"client_frame"`
	ServerFrame int     `json:"server_frame"`
	Snapshot    int     `json:"snapshot"`
	Commands    float64 `json:"commands_per_s"`
	Burst       int     `json:"burst"`
}

// snapshotData is the head of a snapshot (Part 0) or one part of it. The parts'
// texts, one after another, are the JSON of the instance.
type snapshotData struct {
	Part  int    `json:"part"`
	Why   string `json:"why,omitempty"`
	Parts int    `json:"parts,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
	Text  string `json:"text,omitempty"`
}

// eventsData is a run of the log. More says that a batch goes on in the next
// frame: whoever folds waits for its end.
type eventsData struct {
	At     time.Time         `json:"at"`
	Events []json.RawMessage `json:"events"`
	More   bool              `json:"more,omitempty"`
}

type heartData struct {
	Now time.Time `json:"now"`
}

type byeData struct {
	Code   CloseCode     `json:"code"`
	Reason string        `json:"reason"`
	After  time.Duration `json:"after_ns,omitempty"` // when to come back
}

type cmdData struct {
	Op     string  `json:"op"`
	Args   cmdArgs `json:"args"`
	Budget string  `json:"budget,omitempty"`
	Key    string  `json:"key,omitempty"`
}

// cmdArgs name configured things only: never a URL, never who asks.
type cmdArgs struct {
	Chains   []string `json:"chains,omitempty"` // keys; none = all
	Upstream string   `json:"upstream,omitempty"`
	Kind     string   `json:"kind,omitempty"`
	For      string   `json:"for,omitempty"` // a duration as in the config
	Reason   string   `json:"reason,omitempty"`
	Confirm  string   `json:"confirm,omitempty"`
	IfState  string   `json:"if_state,omitempty"`
}

// Answer is what became of a command: whether it was taken, or how it ended.
type Answer struct {
	Code     int    `json:"code"`
	Name     string `json:"name"`  // the code as a word
	Words    string `json:"words"` // for a person
	Retry    bool   `json:"retry,omitempty"`
	Replayed bool   `json:"replayed,omitempty"` // the key was used before: nothing was done again
	Seq      uint64 `json:"seq,omitempty"`      // of the event that says so in the log; 0 = there is none
	Joined   int    `json:"joined,omitempty"`   // how much of it was in flight already (H4)
	Ended    []End  `json:"ended,omitempty"`    // of a result: what was asked for, one by one
}

// End is a probe or a check that is over.
type End struct {
	Chain    string            `json:"chain"`
	Probe    uint64            `json:"probe,omitempty"`
	Verdict  model.Verdict     `json:"verdict,omitempty"` // of a probe
	Upstream string            `json:"upstream,omitempty"`
	Outcome  model.OutcomeKind `json:"outcome,omitempty"` // of a check
	Health   model.Health      `json:"health"`            // of the chain or the upstream, after it
	Why      string            `json:"why,omitempty"`
}

func answer(code int, words string) Answer {
	return Answer{Code: code, Name: codeName(code), Words: words,
		Retry: code == CodeRateLimited || code == CodeUnavailable || code == CodeDeadline}
}

func refuse(code int, name, format string, args ...any) *Answer {
	a := answer(code, fmt.Sprintf(format, args...))
	if name != "" {
		a.Name = name
	}
	return &a
}

// encode is a frame that only one connection gets.
func encode(kind string, at Cursor, id string, data any) ([]byte, error) {
	d, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	return json.Marshal(envelope{Type: kind, Epoch: at.Epoch, Seq: at.Seq, ID: id, Data: d})
}

// head opens a frame whose payload is written by hand.
func head(b *bytes.Buffer, kind string, at Cursor) {
	b.WriteString(`{"t":"`)
	b.WriteString(kind)
	b.WriteString(`","e":`)
	epoch, _ := json.Marshal(at.Epoch) // a string always can be
	b.Write(epoch)
	b.WriteString(`,"s":`)
	b.WriteString(strconv.FormatUint(at.Seq, 10))
	b.WriteString(`,"d":`)
}

var errDepth = errors.New("JSON is nested too deep")

// decode reads a frame from outside. It does not keep b.
func decode(b []byte) (envelope, error) {
	var e envelope
	if err := unmarshal(b, &e); err != nil {
		return envelope{}, err
	}
	if e.Type == "" {
		return envelope{}, errors.New("a frame without a type")
	}
	return e, nil
}

// unmarshal is json.Unmarshal with a bound on depth, for bytes from outside.
func unmarshal(b []byte, v any) error {
	if clean.Deeper(b, maxDepth) {
		return errDepth
	}
	return json.Unmarshal(b, v)
}
