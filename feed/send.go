package feed

import (
	"errors"
	"time"
)

// The writer of a viewer: it sends sealed frames from its spot, answers between
// them, and a snapshot where frames are gone. It alone writes data.

var (
	errLeaving = errors.New("it has to go")
	errSlow    = errors.New("it does not keep up")
)

// write sends until the connection ends or the viewer has to go.
func (v *viewer) write() {
	defer close(v.written)
	err := v.stream()
	switch {
	case errors.Is(err, errSlow):
		v.bye(CloseSlow, 0)
		fallthrough
	case errors.Is(err, errLeaving):
		v.rest()
		v.s.o.Logger.Debug("feed: goodbye", "who", v.who.name, "code", int(v.last.Code))
		v.farewell()
		return
	case isTimeout(err):
		v.s.o.Logger.Info("feed: a viewer took nothing within the write deadline", "who", v.who.name)
	}
	v.cancel() // the reads end with the socket
}

// rest sends what is sealed to a viewer of an instance that stops, so that it
// sees the end.
func (v *viewer) rest() {
	for v.last.Code == CloseShutdown {
		f, _, ok := v.s.sealer.ring.next(&v.spot)
		if !ok || f == nil || v.sock.send(f.as(v.who.role), writeWithin) != nil {
			return
		}
	}
}

func (v *viewer) stream() error {
	ping := time.NewTimer(pingEvery)
	defer ping.Stop()
	if err := v.answers(); err != nil { // the welcome
		return err
	}
	if v.start != "" {
		if err := v.snapshot(v.start); err != nil {
			return err
		}
	}
	for {
		f, wait, ok := v.s.sealer.ring.next(&v.spot)
		switch {
		case !ok:
			if err := v.fellBehind(); err != nil {
				return err
			}
		case f != nil:
			if err := v.frame(f.as(v.who.role)); err != nil {
				return err
			}
		}
		if wait == nil {
			wait = immediately
		}
		select {
		case text := <-v.out:
			if err := v.text(text); err != nil {
				return err
			}
		case <-ping.C:
			if err := v.sock.ping(""); err != nil {
				return err
			}
			ping.Reset(pingEvery)
		case <-v.leaving:
			return errLeaving
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-wait:
		}
	}
}

// immediately is what one waits for who does not wait.
var immediately = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// answers sends what waits, and no more.
func (v *viewer) answers() error {
	for {
		select {
		case <-v.leaving:
			return errLeaving
		default:
		}
		select {
		case text := <-v.out:
			if err := v.text(text); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (v *viewer) text(text []byte) error {
	if err := v.held(); err != nil {
		return err
	}
	v.flow.sent += int64(len(text))
	if err := v.sock.write(text, writeWithin); err != nil {
		return err
	}
	return v.ask()
}

// frame sends a shared frame.
func (v *viewer) frame(m *message) error {
	if err := v.held(); err != nil {
		return err
	}
	v.flow.sent += int64(m.size)
	if err := v.sock.send(m, writeWithin); err != nil {
		return err
	}
	return v.ask()
}

func (v *viewer) ask() error {
	if payload, ok := v.flow.due(time.Now()); ok {
		return v.sock.ping(payload)
	}
	return nil
}

// held waits while the viewer does not seem to read; one that took nothing for
// as long as a write may last is slow, and can still be told so.
func (v *viewer) held() error {
	if !v.flow.stopped(time.Now()) {
		return nil
	}
	timer := time.NewTimer(writeWithin)
	defer timer.Stop()
	for v.flow.stopped(time.Now()) {
		select {
		case <-v.flow.moved:
		case <-timer.C:
			return errSlow
		case <-v.leaving:
			return errLeaving
		case <-v.ctx.Done():
			return v.ctx.Err()
		}
	}
	return nil
}

// fellBehind gives a viewer whose frames are gone the whole picture, but not
// again and again.
func (v *viewer) fellBehind() error {
	if v.slow.again(v.s.o.Now()) {
		return errSlow
	}
	return v.snapshot(whySlow)
}

// snapshot sends the newest picture in parts, with answers and heartbeats
// between them, and sets the viewer's spot after it.
func (v *viewer) snapshot(why string) error {
	for range 2 {
		shot, err := v.s.snapshots.get(v.ctx, v.who.role)
		if err != nil {
			return err
		}
		next, ok := v.s.sealer.ring.at(shot.at.Seq)
		if !ok { // kept for others, and too old by now
			v.s.snapshots.drop(shot)
			continue
		}
		v.spot = next
		return v.parts(shot, why)
	}
	return errSlow
}

func (v *viewer) parts(shot *snapshot, why string) error {
	text, err := shot.head(why)
	if err != nil {
		return err
	}
	if err := v.text(text); err != nil {
		return err
	}
	hearts := time.Now()
	for _, part := range shot.parts {
		if err := v.frame(part); err != nil {
			return err
		}
		if err := v.answers(); err != nil {
			return err
		}
		if now := time.Now(); now.Sub(hearts) >= heartbeat {
			hearts = now
			beat, err := encode(typeHeart, shot.at, "", heartData{Now: v.s.o.Now().UTC()})
			if err != nil {
				return err
			}
			if err := v.text(beat); err != nil {
				return err
			}
		}
	}
	return nil
}
