// Package demo is simulated chains to look at: a config file, the nodes it
// names, a script of what becomes of them, and clients of a gateway to them.
// Nothing else: it cannot make an event, a verdict or a frame, so what a screen
// shows of it was found out by probes and by requests, as it is for real nodes.
//
// Law: a seed and a scenario are a run. Heights, latencies and the times of
// the script follow from both and from the moment of Open; the same seed
// repeats them. A script is played over and over, in memory that does not grow.
//
// Not promised: which request of a client comes when, families other than evm,
// and the ports.
package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"chaintop/internal/config"
	"chaintop/internal/simnode"
)

// ErrOver says that nobody plays any more: the context of Run ended, or Close
// was called.
var ErrOver = errors.New("the demo is over")

// Options say which demo it is.
type Options struct {
	// Scenario is a name of Scenarios; "" is three chains of one node each:
	// one is quiet, one stalls its first request, one refuses and recovers.
	Scenario string
	Seed     int64
	// Listen opens the listener of one node; nil: a free port of loopback.
	Listen func() (net.Listener, error)
}

// Demo is nodes that serve, and the script of what becomes of them. It is safe
// for concurrent use.
type Demo struct {
	scenario scenario
	seed     int64
	stretch  float64 // of the script's times
	yaml     string
	config   *config.Config
	cast     [][]*actor // by chain and upstream, as in the config
	script   []step

	playing atomic.Bool
	orders  chan order
	over    chan struct{} // closed when nobody takes orders any more
	end     func()        // closes it, once

	// note is told what a node is set to, by the goroutine of Run. Tests listen.
	note func(a *actor, f simnode.Fault)
}

// actor is a node and what stands of the script. What changes is written only
// by Run once it runs.
type actor struct {
	*simnode.Node
	of     *chain
	name   string
	stands change
	hand   bool // somebody's own fault stands: the script leaves it
}

// key names the actor in scripts and errors.
func (a *actor) key() string { return a.of.name + ":" + a.name }

// Open starts the nodes of a scenario. They serve, with the faults it begins
// with, when it returns; the script is played by Run. An unknown scenario is an
// error that names the nearest and lists all.
func Open(o Options) (*Demo, error) {
	s, err := scenarioOf(o.Scenario)
	if err != nil {
		return nil, err
	}
	if o.Listen == nil {
		o.Listen = func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }
	}
	d := &Demo{
		scenario: s, seed: o.Seed,
		orders: make(chan order, mostOrders), over: make(chan struct{}),
	}
	d.end = sync.OnceFunc(func() { close(d.over) })
	if err := d.start(o.Listen); err != nil {
		return nil, errors.Join(fmt.Errorf("start the demo: %w", err), d.Close())
	}
	return d, nil
}

// start makes and serves the nodes, then the config that names them.
func (d *Demo) start(listen func() (net.Listener, error)) error {
	chance := rand.New(rand.NewPCG(uint64(d.seed), 0))
	d.stretch = 1 + float64(chance.IntN(mostStretch+1))/100
	d.cast = casting(d.scenario.chains, d.seed, chance, time.Now())
	for _, us := range d.cast {
		for _, a := range us {
			if err := serve(a, listen); err != nil {
				return fmt.Errorf("%s: %w", a.key(), err)
			}
		}
	}
	if err := d.rehearse(); err != nil {
		return err
	}
	d.yaml = d.write()
	var err error
	// A file of nobody's: it names no variable and no other file.
	d.config, err = config.Parse("demo.yml", []byte(d.yaml), config.Env{
		Getenv:   func(string) (string, bool) { return "", false },
		ReadFile: func(string) ([]byte, error) { return nil, errors.ErrUnsupported },
	})
	return err
}

func serve(a *actor, listen func() (net.Listener, error)) error {
	l, err := listen()
	if err != nil {
		return err
	}
	if err := a.Serve(l); err != nil {
		return errors.Join(err, l.Close())
	}
	return nil
}

// Config is the demo's file, read as a user's is: chains, tiers, names, chain
// ids, and the pace of the demo.
func (d *Demo) Config() *config.Config { return d.config }

// Banner is the line above every view of a demo.
func (d *Demo) Banner() string {
	b := "DEMO  simulated chains on loopback, faults in fast motion"
	if d.scenario.name != "" {
		b += " · scenario " + d.scenario.name
	}
	return fmt.Sprintf("%s · seed %d", b, d.seed)
}

// Close stops every node and returns when nothing of them runs. What was not
// played is not played any more.
func (d *Demo) Close() error {
	d.end()
	var errs []error
	for _, us := range d.cast {
		for _, a := range us {
			errs = append(errs, a.Close())
		}
	}
	return errors.Join(errs...)
}

// Run plays the script and what Fault asks for, until ctx ends, and returns its
// error; ErrOver after Close. It is run once.
func (d *Demo) Run(ctx context.Context) error {
	if d.playing.Swap(true) {
		return errors.New("the demo runs already, or did")
	}
	defer d.end()
	p := player{Demo: d, round: time.Now()}
	return p.run(ctx)
}
