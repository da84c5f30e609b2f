package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"chaintop/model"
)

// snapshotFor is how long an encoded picture is good for whoever needs one.
const snapshotFor = time.Second

// snapshots encodes the published picture for those who need all of it: once,
// outside every lock, however many ask.
type snapshots struct {
	log *Log
	now func() time.Time

	encoded atomic.Uint64 // pictures encoded so far

	mu     sync.Mutex // held for a few assignments, never while encoding
	newest map[bool]*snapshot
}

// snapshot is one encoded picture.
type snapshot struct {
	at    Cursor
	taken time.Time
	ready chan struct{} // closed when what follows is there
	bytes int
	parts []*message
	err   error
}

// get is the newest picture as the role may see it; it is encoded if nobody did
// within the last second.
func (s *snapshots) get(ctx context.Context, role Role) (*snapshot, error) {
	pic, at, _ := s.log.Snapshot(ctx) // a Log's never fails
	masked := role != RoleOperator
	if masked {
		seen := maskPicture(pic)
		masked = seen != pic
		pic = seen
	}
	s.mu.Lock()
	shot := s.newest[masked]
	if shot == nil || s.now().Sub(shot.taken) >= snapshotFor || s.now().Before(shot.taken) {
		shot = &snapshot{at: at, taken: s.now(), ready: make(chan struct{})}
		if s.newest == nil {
			s.newest = map[bool]*snapshot{}
		}
		s.newest[masked] = shot
		s.encoded.Add(1)
		go shot.encode(pic)
	}
	s.mu.Unlock()
	select {
	case <-shot.ready:
		return shot, shot.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drop has the next one who asks get another than shot.
func (s *snapshots) drop(shot *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for masked, newest := range s.newest {
		if newest == shot {
			delete(s.newest, masked)
		}
	}
}

// forget lets go of what nobody is about to ask for.
func (s *snapshots) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = nil
}

func (s *snapshot) encode(pic *model.Instance) {
	defer close(s.ready)
	text, err := json.Marshal(pic)
	if err != nil {
		s.err = fmt.Errorf("encode the picture: %w", err)
		return
	}
	if len(text) > maxSnapshot {
		s.err = fmt.Errorf("the picture has %d bytes, more than %d", len(text), maxSnapshot)
		return
	}
	s.bytes = len(text)
	for part := 1; len(text) > 0; part++ {
		n := cutText(text, snapshotPart)
		var m *message
		if m, s.err = s.part(part, text[:n]); s.err != nil {
			return
		}
		s.parts = append(s.parts, m)
		text = text[n:]
	}
}

// cutText is where a text is cut to have at most n bytes, never within a rune.
func cutText(text []byte, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

func (s *snapshot) part(part int, text []byte) (*message, error) {
	var b bytes.Buffer
	b.Grow(len(text) * 5 / 4)
	head(&b, typeSnapshot, s.at)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the text is JSON, and has no need of it
	if err := enc.Encode(snapshotData{Part: part, Text: string(text)}); err != nil {
		return nil, err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	b.WriteByte('}')
	return prepare(b.Bytes())
}

// head is the frame before the parts: it says why, and what comes.
func (s *snapshot) head(why string) ([]byte, error) {
	return encode(typeSnapshot, s.at, "", snapshotData{Why: why, Parts: len(s.parts), Bytes: s.bytes})
}
