package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prometheus/common/config"

	"chaintop/internal/core"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// target is an address to watch: a chain of one upstream.
type target struct {
	name string // of chain and upstream
	url  rpc.URL
}

// targetsOf reads the URLs of a command line. A chain is named by its host and
// port, for the rest of a URL may hold a key.
func targetsOf(urls []string) ([]target, error) {
	seen := map[string]int{}
	var all []target
	for i, raw := range urls {
		t, err := targetOf("", raw)
		if err != nil {
			return nil, usage("URL %d: %v", i+1, err)
		}
		name := t.url.Host()
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		if t, err = targetOf(name, raw); err != nil {
			return nil, usage("URL %d: %v", i+1, err)
		}
		all = append(all, t)
	}
	return all, nil
}

func targetOf(name, raw string) (target, error) {
	u, err := rpc.ParseURL(name, raw)
	return target{name: name, url: u}, err
}

// watch is what a core needs to watch targets.
type watch struct {
	instance model.Instance
	prober   core.Prober
	clients  []*rpc.Client
}

// wire makes a chain of each target. It dials nothing.
func wire(name string, targets []target, set model.Settings, chainID string) (*watch, error) {
	w := &watch{instance: model.Instance{
		Name: name, Version: buildVersion(), Epoch: epoch(), Policy: model.ReadyAll,
	}}
	var probes probe.Set
	for _, t := range targets {
		client, err := rpc.NewClient(t.url, rpc.Options{HTTP: config.DefaultHTTPClientConfig})
		if err != nil {
			w.Close()
			return nil, usage("%s: %v", t.url, err)
		}
		w.clients = append(w.clients, client)
		probes = append(probes, []probe.Target{{Family: model.EVM, Client: client}})
		w.instance.Chains = append(w.instance.Chains, &model.Chain{
			Name: t.name, Interface: "jsonrpc", Family: model.EVM, ExpectID: chainID, Settings: set,
			Upstreams: []model.Upstream{{Name: t.name}},
		})
	}
	w.prober = probes
	return w, nil
}

// Close ends the connections.
func (w *watch) Close() {
	for _, c := range w.clients {
		c.Close()
	}
}

// instanceName is the host's name.
func instanceName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "local"
	}
	name, _, _ := strings.Cut(host, ".")
	return name
}

// epoch names this start of the process.
func epoch() string { return fmt.Sprintf("%x", time.Now().UnixMilli()&0xffffffffff) }
