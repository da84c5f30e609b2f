package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/model"
)

// skimmer is a viewer that looks at the beginning of frames only: a thousand of
// them cost less than the server they look at.
type skimmer struct {
	s     *socket
	buf   []byte
	parts int64
}

func skim(ctx context.Context, addr, secret string, resume *place) (*skimmer, error) {
	header := http.Header{}
	if secret != "" {
		header.Set("Authorization", "Bearer "+secret)
	}
	s, _, err := dialing{url: "ws://" + addr + "/feed", header: header, dial: new(net.Dialer).DialContext}.open(ctx)
	if err != nil {
		return nil, err
	}
	s.onControl(func() bool { return true }, func(string) {})
	text, err := encode(typeHello, Cursor{}, "", helloData{Client: "skimmer", Resume: resume})
	if err != nil {
		return nil, err
	}
	return &skimmer{s: s, buf: make([]byte, 16<<10)}, s.write(text, 5*time.Second)
}

// next is the next frame; of a snapshot's its beginning.
func (k *skimmer) next() ([]byte, error) {
	_, r, err := k.s.conn.NextReader()
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(r, k.buf)
	for err == nil && bytes.HasPrefix(k.buf, []byte(`{"t":"events"`)) {
		k.buf = append(k.buf, make([]byte, len(k.buf))...)
		var m int
		m, err = io.ReadFull(r, k.buf[n:])
		n += m
	}
	if err == nil { // there may be more, which nobody looks at
		rest := rests.Get().(*[]byte)
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, *rest)
		rests.Put(rest)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return k.buf[:n], err
}

var rests = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// number is the number after a key in the beginning of a frame; -1 = none.
func number(text []byte, key string) int64 {
	i := bytes.Index(text, []byte(`"`+key+`":`))
	if i < 0 {
		return -1
	}
	n := int64(0)
	for _, c := range text[i+len(key)+3:] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// toLive reads until the picture is whole, or replay begins.
func (k *skimmer) toLive() error {
	for {
		text, err := k.next()
		if err != nil {
			return err
		}
		switch {
		case bytes.HasPrefix(text, []byte(`{"t":"snapshot"`)):
			if n := number(text, "parts"); n > 0 {
				k.parts = n
			} else if number(text, "part") == k.parts {
				return nil
			}
		case bytes.HasPrefix(text, []byte(`{"t":"events"`)), bytes.HasPrefix(text, []byte(`{"t":"hb"`)):
			return nil
		}
	}
}

// delays is how long events took from their append to those who read them, in
// milliseconds.
type delays struct {
	bins  [10_000]atomic.Int64
	total atomic.Int64
	known sync.Map // seq of a frame → []time.Time, read once for all
}

func (d *delays) note(text []byte) error {
	now := time.Now()
	seq := number(text, "s")
	ats, ok := d.known.Load(seq)
	if !ok {
		var e struct {
			D struct {
				Events []struct{ At time.Time }
			}
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("frame %d: %w", seq, err)
		}
		var list []time.Time
		for _, ev := range e.D.Events {
			list = append(list, ev.At)
		}
		ats, _ = d.known.LoadOrStore(seq, list)
	}
	for _, at := range ats.([]time.Time) {
		ms := min(max(now.Sub(at).Milliseconds(), 0), int64(len(d.bins)-1))
		d.bins[ms].Add(1)
		d.total.Add(1)
	}
	return nil
}

// quantile is in milliseconds.
func (d *delays) quantile(q float64) int64 {
	left := int64(math.Ceil(q * float64(d.total.Load())))
	for ms := range d.bins {
		if left -= d.bins[ms].Load(); left <= 0 {
			return int64(ms)
		}
	}
	return int64(len(d.bins))
}

// follow reads events until the connection ends.
func (k *skimmer) follow(d *delays) error {
	for {
		text, err := k.next()
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte(`{"t":"events"`)) {
			if err := d.note(text); err != nil {
				return err
			}
		}
	}
}

// reading is what a core says most: one upstream of one chain.
func (p *plant) reading(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	chain := n % len(p.inst.Chains)
	c := p.inst.Chains[chain]
	up := n % len(c.Upstreams)
	now := time.Now().UTC().Round(0)
	st := c.Upstreams[up].State
	st.Health, st.Facts.Head = model.Healthy, model.Fact[uint64]{Know: model.Known, Value: uint64(n), At: now}
	e := model.Event{At: now, Chain: chain, Body: model.UpstreamRead{Checks: c.Checks,
		Reads: []model.UpstreamIndex{{Upstream: up, State: st, Asked: 1, Sample: 40 * time.Millisecond}}}}
	p.inst.Apply(e)
	p.log.Append(p.inst.Clone(), []model.Event{e})
}
