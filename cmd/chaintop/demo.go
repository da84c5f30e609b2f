package main

import (
	"context"
	"errors"
	"sync"

	promconfig "github.com/prometheus/common/config"

	"chaintop/internal/rpc"
	"chaintop/internal/simnode"
	"chaintop/model"
)

// demoSeed makes the demo's heights and hashes.
const demoSeed = 7

type demoFlags struct {
	screenFlags
	seed int64
}

// demoScreen shows simulated nodes on loopback. They are reached by their URLs,
// as a user's are.
func demoScreen(ctx context.Context, s streams, f demoFlags) (err error) {
	nodes, err := simnode.OpenDemo(f.seed)
	if err != nil {
		return err
	}
	script, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = nodes.Run(script) }) // its only end is ours
	defer func() {
		stop()
		wg.Wait()
		err = errors.Join(err, nodes.Close())
	}()
	instance := model.Instance{Name: "demo", Version: buildVersion(), Policy: model.ReadyAll}
	var endpoints [][]endpoint
	for _, n := range nodes.Nodes {
		u, err := rpc.ParseURL(n.Name(), n.URL())
		if err != nil {
			return err
		}
		instance.Chains = append(instance.Chains, &model.Chain{
			Name: n.Name(), Interface: "jsonrpc", Family: model.EVM, Settings: model.DefaultSettings(model.EVM),
			Upstreams: []model.Upstream{{Name: n.Name()}},
		})
		endpoints = append(endpoints, []endpoint{{url: u, http: promconfig.DefaultHTTPClientConfig, at: n.Name()}})
	}
	w, err := wire(instance, endpoints)
	if err != nil {
		return err
	}
	defer w.Close()
	return show(ctx, s, w, f.screenFlags, shown{banner: "DEMO  simulated chains on loopback, nothing outside is asked"})
}
