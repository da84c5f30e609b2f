package model

import "time"

// Pin prefers one upstream of a chain for a time, while it is fit (F8).
type Pin struct {
	On       bool      `json:"on"`
	Upstream int       `json:"upstream"`
	Since    time.Time `json:"since,omitzero"`
	Until    time.Time `json:"until,omitzero"`
	Who      string    `json:"who,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// How long a pin lasts.
const (
	PinFor  = 30 * time.Minute // unless the command says otherwise
	PinMost = 24 * time.Hour
)

// Holds says whether the pin counts at now.
func (p Pin) Holds(now time.Time) bool { return p.On && now.Before(p.Until) }

// pin pins a chain to an upstream, or renews a pin.
func (i *Instance) pin(in Command, done *CommandDone) ([]Event, []Effect) {
	done.Upstream = in.Upstream
	switch {
	case !i.names(in):
		done.refuse(404, "no such upstream")
	case in.For < 0 || in.For > PinMost:
		done.refuse(400, "a pin lasts at most "+PinMost.String())
	default:
		return i.chain(in.Chains[0], in)
	}
	return nil, nil
}

func (i *Instance) unpin(in Command, done *CommandDone) ([]Event, []Effect) {
	switch {
	case len(in.Chains) != 1 || in.Chains[0] < 0 || in.Chains[0] >= len(i.Chains):
		done.refuse(404, "no such chain")
	case !i.Chains[in.Chains[0]].State.Pin.On:
		done.refuse(409, "it is not pinned")
	default:
		done.Upstream = i.Chains[in.Chains[0]].State.Pin.Upstream
		return i.chain(in.Chains[0], in)
	}
	return nil, nil
}

func (d *decider) pin(in Command) {
	lasts := in.For
	if lasts == 0 {
		lasts = PinFor
	}
	st := d.c.State
	st.Pin = Pin{On: true, Upstream: in.Upstream, Since: d.now, Until: d.now.Add(lasts), Who: in.Who, Reason: in.Reason}
	d.emit(in.Who, ChainChanged{What: ChangePinned, From: st.Health, State: st})
}

func (d *decider) unpin(who string) {
	st := d.c.State
	st.Pin.On = false
	d.emit(who, ChainChanged{What: ChangeUnpinned, From: st.Health, State: st})
}
