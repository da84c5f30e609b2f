package simnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// The pace of the demo's node that comes and goes.
const (
	demoUp   = 20 * time.Second
	demoDown = 40 * time.Second
)

// Demo is the nodes that stand in where nobody named any: one is quiet, one
// stalls its first request, one refuses and then recovers.
type Demo struct {
	Nodes  []*Node // they serve already; each has a name and a URL
	script Script  // of the one that comes and goes
}

// OpenDemo starts the demo's nodes on loopback. The seed makes their hashes
// and heights.
func OpenDemo(seed int64) (*Demo, error) {
	return openDemo(seed, func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
}

func openDemo(seed int64, listen func() (net.Listener, error)) (*Demo, error) {
	heights := uint64(seed) % 1_000_000
	quiet := New(Options{Name: "quiet", ChainID: 900_001, Start: 21_000_000 + heights,
		BlockTime: 2 * time.Second, Latency: 18 * time.Millisecond, Seed: seed, Client: "simnode/v1.0.0/quiet"})
	stalls := New(Options{Name: "stalls", ChainID: 900_002, Start: 8_400_000 + heights,
		BlockTime: 3 * time.Second, Latency: 50 * time.Millisecond, Seed: seed, Client: "simnode/v1.0.0/stalls"})
	refuses := New(Options{Name: "refuses", ChainID: 900_003, Start: 310_000_000 + heights,
		BlockTime: time.Second, Latency: 31 * time.Millisecond, Seed: seed, Client: "simnode/v1.0.0/refuses"})

	d := &Demo{
		Nodes: []*Node{quiet, stalls, refuses},
		script: Script{Node: refuses, Repeat: true, Steps: []Step{
			{After: demoUp, Fault: Refuse()},
			{After: demoDown, Fault: Quiet()},
		}},
	}
	err := stalls.Set(StallFirst())
	for _, n := range d.Nodes {
		if err == nil {
			err = n.listen(listen)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the demo: %w", err), d.Close())
	}
	return d, nil
}

func (n *Node) listen(listen func() (net.Listener, error)) error {
	l, err := listen()
	if err != nil {
		return err
	}
	if err := n.Serve(l); err != nil {
		return errors.Join(err, l.Close())
	}
	return nil
}

// Run plays what happens to the nodes until ctx ends, and returns its error.
func (d *Demo) Run(ctx context.Context) error { return d.script.Run(ctx) }

// Close stops every node.
func (d *Demo) Close() error {
	var errs []error
	for _, n := range d.Nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
