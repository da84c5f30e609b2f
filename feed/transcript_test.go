package feed

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// longText is the text of a snapshot's part, and what depends on its length.
var (
	longText = regexp.MustCompile(`"text":"((?:[^"\\]|\\.){60})(?:[^"\\]|\\.)*"`)
	lengths  = regexp.MustCompile(`"bytes":\d+`)
)

// TestTranscriptV1 is a whole session, word for word, as docs/feed.md shows it.
// A change of it is a change of the protocol. The golden of a released version
// stays when the next one comes.
func TestTranscriptV1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("p7c1", 1, 2)
		h := newHouse(t, l, p, nil)
		r := dialRaw(t, l.DialContext, opSecret)
		defer r.close()
		s := script{r: r}
		s.say(t, `{"t":"hello","d":{"client":"example 1.0"}}`)
		s.hear(t, 3) // the welcome, and the snapshot in two frames
		time.Sleep(time.Second)
		p.tick(0)
		s.hear(t, 1)
		p.tick(0)
		s.say(t, `{"t":"cmd","id":"c1","d":{"op":"probe","args":{"chains":["chain0/jsonrpc"]},"budget":"10s","key":"5c1e"}}`)
		s.hear(t, 2) // accepted, and its effect with the next frame
		time.Sleep(time.Second)
		p.tick(0)
		s.hear(t, 1)
		p.land(21034112)
		s.hear(t, 2) // the result, and its effect
		s.say(t, `{"t":"cmd","id":"c2","d":{"op":"probe","args":{"chains":["chain0/jsonrpc"]},"key":"5c1e"}}`)
		s.hear(t, 2) // the same again: nothing is done
		s.say(t, `{"t":"cmd","id":"c3","d":{"op":"check","args":{"chains":["chain0/jsonrpc"],"upstream":"nobody"}}}`)
		s.hear(t, 1)
		s.hear(t, 1) // five quiet seconds
		h.shut(context.Background())
		byes := s.end()
		if byes != 1 {
			t.Errorf("%d goodbyes", byes)
		}
		golden.RequireEqual(t, s.String())
	})
}

// script writes down a conversation.
type script struct {
	strings.Builder
	r raw
}

func (s *script) say(t *testing.T, text string) {
	t.Helper()
	s.r.text(t, text)
	s.WriteString(fmt.Sprintf("> %s\n", text))
}

func (s *script) hear(t *testing.T, n int) {
	t.Helper()
	for range n {
		text, err := s.r.read(maxServerFrame)
		if err != nil {
			t.Fatal(err)
		}
		s.note(string(text))
	}
	synctest.Wait()
}

func (s *script) note(text string) {
	text = longText.ReplaceAllString(text, `"text":"$1…"`)
	text = lengths.ReplaceAllString(text, `"bytes":…`)
	s.WriteString(fmt.Sprintf("< %s\n", text))
}

func (s *script) end() (byes int) {
	for {
		text, err := s.r.read(maxServerFrame)
		if err != nil {
			s.WriteString(fmt.Sprintf("< %v\n", err))
			return byes
		}
		s.note(string(text))
		if strings.Contains(string(text), `"t":"bye"`) {
			byes++
		}
	}
}

// An old screen on a new server, and the reverse: what a version does not know
// it skips, and both go on (E3). The golden's own frames are understood again.
func TestTranscriptIsUnderstood(t *testing.T) {
	n := &intake{}
	pic := newPlant("p7c1", 1, 2)
	n.pic, n.at = &pic.inst, Cursor{"p7c1", 1}
	if err := n.welcome("p7c1", true); err != nil {
		t.Fatal(err)
	}
	frames := 0
	for line := range strings.Lines(readGolden(t, "TestTranscriptV1")) {
		text, server := strings.CutPrefix(line, "< {")
		if !server {
			continue
		}
		f, err := decode([]byte("{" + strings.ReplaceAll(text, `"bytes":…`, `"bytes":2`)))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if f.Type == typeEvents || f.Type == typeHeart {
			if _, err := n.frame(f, time.Unix(0, 0)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			frames++
		}
	}
	if st := n.pic.Chains[0].State; frames != 5 || st.Health != model.Healthy {
		t.Errorf("%d frames lead to %+v", frames, st)
	}
}
