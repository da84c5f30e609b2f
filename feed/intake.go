package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"chaintop/model"
)

// errHole says that what came does not follow what is there: the picture has to
// be taken anew.
var errHole = errors.New("the frames do not follow each other")

// Bounds of what is put together from several frames.
const (
	maxBatch       = 1 << 16 // events
	snapshotWithin = 2 * time.Minute
)

// intake makes a picture of what a server sends. Whatever it returns an error
// for leaves the picture as it was.
type intake struct {
	pic   *model.Instance // nil until the first snapshot
	at    Cursor          // of the server's log
	round int             // counts the pictures

	epoch   string        // of this connection
	batch   []model.Event // of a batch whose end is still to come
	upTo    uint64        // the last event of it
	coming  *assembly     // a snapshot on its way
	skipped uint64        // in batch
}

// assembly is a snapshot of which parts are still to come.
type assembly struct {
	at    Cursor
	head  snapshotData
	text  strings.Builder
	part  int
	until time.Time
}

// took is what a frame brought.
type took struct {
	events  []model.Event
	anew    bool // there is another picture
	theirs  time.Time
	skipped uint64
}

// resume is where this client is; nil when it has nothing.
func (n *intake) resume() *place {
	if n.pic == nil {
		return nil
	}
	return &place{Epoch: n.at.Epoch, Seq: n.at.Seq}
}

// local is the place in the client's own log: another epoch for each picture,
// so that nobody reads on across two.
func (n *intake) local() Cursor {
	return Cursor{Epoch: n.at.Epoch + "#" + strconv.Itoa(n.round), Seq: n.at.Seq}
}

// cut ends a connection: what is not whole is dropped.
func (n *intake) cut() { n.batch, n.coming, n.skipped = nil, nil, 0 }

func (n *intake) welcome(epoch string, replay bool) error {
	if len(epoch) == 0 || len(epoch) > maxWord || !plain(epoch) {
		return fmt.Errorf("%w: the epoch of a welcome", errBadFrame)
	}
	n.epoch = epoch
	if replay && (n.pic == nil || epoch != n.at.Epoch) {
		n.forget()
		return errHole
	}
	if n.pic != nil {
		n.upTo = n.at.Seq
	}
	return nil
}

// forget has the next connection begin with a snapshot. The picture stays to be
// looked at.
func (n *intake) forget() { n.at.Epoch = "" }

// frame takes one frame of the log.
func (n *intake) frame(f envelope, now time.Time) (took, error) {
	if f.Epoch != n.epoch {
		n.forget()
		return took{}, fmt.Errorf("%w: epoch", errHole)
	}
	var got took
	var err error
	switch f.Type {
	case typeSnapshot:
		got, err = n.snapshot(f, now)
	case typeHeart:
		got, err = n.heart(f)
	case typeEvents:
		got, err = n.events(f)
	}
	if n.coming != nil && err == nil && now.After(n.coming.until) {
		err = fmt.Errorf("%w: a snapshot without end", errBadFrame)
	}
	if err != nil {
		n.forget()
	}
	return got, err
}

// heart is a heartbeat: it says where the log is, and that has to be here.
func (n *intake) heart(f envelope) (took, error) {
	var h heartData
	if err := unmarshal(f.Data, &h); err != nil {
		return took{}, fmt.Errorf("%w: heartbeat", errBadFrame)
	}
	at := n.upTo
	if n.coming != nil {
		at = n.coming.at.Seq
	}
	if f.Seq != at {
		return took{}, errHole
	}
	return took{theirs: h.Now}, nil
}

// events takes a run of the log: what is known already is skipped, the rest has
// to begin with the next.
func (n *intake) events(f envelope) (took, error) {
	var d eventsData
	if err := unmarshal(f.Data, &d); err != nil || len(d.Events) == 0 || f.Seq < uint64(len(d.Events)) {
		return took{}, fmt.Errorf("%w: events", errBadFrame)
	}
	if n.pic == nil || n.at.Epoch != f.Epoch || n.coming != nil {
		return took{}, errHole
	}
	first := f.Seq - uint64(len(d.Events)) + 1
	if first > n.upTo+1 || f.Seq <= n.upTo {
		return took{}, errHole
	}
	for _, text := range d.Events[n.upTo+1-first:] {
		e, known, err := readEvent(text)
		if err != nil {
			return took{}, err
		}
		if !known {
			n.skipped++
		}
		n.batch = append(n.batch, e)
	}
	n.upTo = f.Seq
	if len(n.batch) > maxBatch {
		return took{}, fmt.Errorf("%w: a batch without end", errBadFrame)
	}
	if d.More {
		return took{theirs: d.At}, nil
	}
	return n.fold(d.At)
}

// fold applies a whole batch.
func (n *intake) fold(theirs time.Time) (took, error) {
	events := n.batch
	if err := letInEvents(n.pic, events); err != nil {
		return took{}, fmt.Errorf("%w: %w", errBadFrame, err)
	}
	n.pic.Apply(events...)
	n.at.Seq = n.upTo
	got := took{events: events, theirs: theirs, skipped: n.skipped}
	n.batch, n.skipped = nil, 0
	return got, nil
}

// readEvent reads one event. One whose values this version does not know is
// skipped like one of a kind it does not know: the next event of that thing
// puts it right (E1).
func readEvent(text json.RawMessage) (e model.Event, known bool, err error) {
	if json.Unmarshal(text, &e) == nil && e.Kind() != "" {
		_, skipped := e.Body.(model.Skipped)
		return e, !skipped, nil
	}
	var shape struct {
		At    time.Time       `json:"at"`
		Kind  model.EventKind `json:"kind"`
		Chain int             `json:"chain"`
		Who   string          `json:"who"`
	}
	if err := json.Unmarshal(text, &shape); err != nil || shape.Kind == "" {
		return e, false, fmt.Errorf("%w: an event", errBadFrame)
	}
	return model.Event{At: shape.At, Chain: shape.Chain, Who: shape.Who, Body: model.Skipped{Kind: shape.Kind}}, false, nil
}

// snapshot takes the head or a part of a new picture, and swaps it in with the
// last.
func (n *intake) snapshot(f envelope, now time.Time) (took, error) {
	bad := func(what string) (took, error) { return took{}, fmt.Errorf("%w: snapshot: %s", errBadFrame, what) }
	var d snapshotData
	if err := unmarshal(f.Data, &d); err != nil {
		return bad("it cannot be read")
	}
	at := Cursor{Epoch: f.Epoch, Seq: f.Seq}
	if d.Part == 0 {
		if d.Bytes < 2 || d.Bytes > maxSnapshot || d.Parts < 1 || d.Parts > d.Bytes {
			return bad("its size")
		}
		n.batch, n.skipped = nil, 0
		n.coming = &assembly{at: at, head: d, until: now.Add(snapshotWithin)}
		return took{}, nil
	}
	c := n.coming
	if c == nil || c.at != at || d.Part != c.part+1 || c.text.Len()+len(d.Text) > c.head.Bytes {
		return bad("a part that does not follow")
	}
	c.part++
	c.text.WriteString(d.Text)
	if c.part < c.head.Parts {
		return took{}, nil
	}
	if c.text.Len() != c.head.Bytes {
		return bad("its size")
	}
	pic, err := readPicture(c.text.String(), f.Epoch)
	if err != nil {
		return bad(err.Error())
	}
	n.pic, n.at, n.upTo, n.coming = pic, at, at.Seq, nil
	n.round++
	return took{anew: true}, nil
}

func readPicture(text, epoch string) (*model.Instance, error) {
	pic := new(model.Instance)
	if err := unmarshal([]byte(text), pic); err != nil {
		return nil, err
	}
	if pic.Epoch != epoch {
		return nil, errNoPicture
	}
	return pic, letIn(pic)
}
