package demo

import (
	"slices"
	"strings"
	"time"

	"chaintop/internal/simnode"
)

// mostOrders is how many faults wait for Run before the next one waits too.
const mostOrders = 64

// limitPause is the Retry-After of a limit by hand: short, so that a countdown
// is seen to end.
const limitPause = 5 * time.Second

// kind is a fault that can be injected by hand.
type kind struct {
	name string
	on   func(c *chain) change
}

const heal = "heal"

// kinds are all of them, the cure last.
var kinds = []kind{
	{"kill", func(*chain) change { return refuses }},
	{"stall", func(*chain) change { return to(simnode.Stall()) }},
	{"limit", func(*chain) change { return to(simnode.RateLimit(0, limitPause)) }},
	{"wrongchain", func(c *chain) change { return reborn(simnode.WrongChain(c.id + 1)) }},
	{"lag", func(c *chain) change { return to(simnode.LagBy(3 * int64(c.maxLag))) }},
	{"halt", func(*chain) change { return still }},
	{"error", func(*chain) change { return to(simnode.ErrorAll(-32603, "internal error")) }},
	{heal, func(*chain) change { return well }},
}

// order is a fault by hand on its way to Run.
type order struct {
	who  *actor
	what change
	hand bool       // false: the script has the node again
	done chan error // takes one
}

// Faults are the kinds Fault takes, in the order of a menu.
func (d *Demo) Faults() []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = k.name
	}
	return all
}

// Fault turns an upstream to a fault of Faults, and returns when it has. A node
// that becomes one of another chain, or is one, is first taken down for 5 s;
// only that has happened by then. The script leaves the upstream alone until
// "heal". The chain is named by its key, or without its interface. What is not
// known is an error that lists what there is.
//
// It is done by Run, and waits for it; ErrOver when Run has ended. Another
// error is the node's, whose port was taken: it is tried again every second.
func (d *Demo) Fault(chain, upstream, kind string) error {
	o, err := d.order(chain, upstream, kind)
	if err != nil {
		return err
	}
	select {
	case d.orders <- o:
	case <-d.over:
		return ErrOver
	}
	select {
	case err := <-o.done:
		return err
	case <-d.over:
	}
	select {
	case err := <-o.done: // done in Run's last moment
		return err
	default:
		return ErrOver
	}
}

// Inject is Fault for whoever must not wait: by the indexes of the config, and
// without an answer. What is not known, or is more than can wait, is dropped.
func (d *Demo) Inject(chain, upstream int, kind string) {
	if chain < 0 || chain >= len(d.cast) || upstream < 0 || upstream >= len(d.cast[chain]) {
		return
	}
	a := d.cast[chain][upstream]
	o, err := d.order(a.of.name, a.name, kind)
	if err != nil {
		return
	}
	select {
	case d.orders <- o:
	default:
	}
}

// order finds what is meant.
func (d *Demo) order(chain, upstream, kind string) (order, error) {
	i := slices.IndexFunc(d.cast, func(us []*actor) bool { return us[0].of.name == chain || us[0].of.key() == chain })
	if i < 0 {
		var keys []string
		for _, us := range d.cast {
			keys = append(keys, us[0].of.key())
		}
		return order{}, unknown("chain", chain, keys)
	}
	n := slices.IndexFunc(d.cast[i], func(a *actor) bool { return a.name == upstream })
	if n < 0 {
		var names []string
		for _, a := range d.cast[i] {
			names = append(names, a.name)
		}
		return order{}, unknown("upstream of "+strings.TrimSuffix(chain, "/"+interfaceName), upstream, names)
	}
	k := slices.Index(d.Faults(), kind)
	if k < 0 {
		return order{}, unknown("fault", kind, d.Faults())
	}
	a := d.cast[i][n]
	return order{who: a, what: kinds[k].on(a.of), hand: kind != heal, done: make(chan error, 1)}, nil
}

func (p *player) obey(o order) error {
	o.who.hand = o.hand
	return p.change(o.who, o.what)
}
