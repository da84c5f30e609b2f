package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"

	"chaintop/internal/config"
	"chaintop/internal/gateway"
	"chaintop/internal/probe"
	"chaintop/internal/rpc"
	"chaintop/model"
)

// watch is what a core needs to watch something: the chains, and a client of
// each upstream. Nothing is dialed before a core runs.
type watch struct {
	instance model.Instance
	targets  probe.Set // by chain and upstream of the instance
	log      config.Log
	config   *config.Config   // Default without a file
	gateways []config.Gateway // by chain
	sockets  [][]*rpc.Client  // of the upstreams with a ws_url, by chain; nil where there is none
	empty    string           // what an empty table says
}

// endpoint is how one upstream is reached.
type endpoint struct {
	url  rpc.URL
	ws   rpc.URL // for clients' websockets; zero = the same
	http promconfig.HTTPClientConfig
	at   string // where the user wrote it, for errors
}

// dialer makes the connections to upstreams; nil is the system's.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// wire makes a client of every endpoint of the instance's chains.
func wire(c *config.Config, instance model.Instance, endpoints [][]endpoint, dial dialer) (*watch, error) {
	w := &watch{instance: instance, config: c, log: c.Log()}
	w.instance.Drain.Settings = drainSettings(c.Drain())
	for n, row := range endpoints {
		var ts []probe.Target
		var sockets []*rpc.Client
		for _, e := range row {
			o := rpc.Options{HTTP: e.http, MaxIdle: mostIdle, Dial: dial, H2C: instance.Chains[n].Interface == "grpc"}
			client, err := rpc.NewClient(e.url, o)
			var socket *rpc.Client
			if err == nil && e.ws != (rpc.URL{}) {
				socket, err = rpc.NewClient(e.ws, o)
			}
			if client != nil {
				ts = append(ts, probe.Target{Family: instance.Chains[n].Family, Client: client})
			}
			sockets = append(sockets, socket)
			if err != nil {
				w.targets, w.sockets = append(w.targets, ts), append(w.sockets, sockets)
				w.Close()
				return nil, usage("%s: %v", e.at, err)
			}
		}
		w.targets, w.sockets = append(w.targets, ts), append(w.sockets, sockets)
		w.gateways = append(w.gateways, c.DefaultGateway())
	}
	w.instance.Epoch = epoch()
	return w, nil
}

// mostIdle bounds the connections that are kept to an upstream: as many as
// clients' requests needed at once. Probes alone need two.
const mostIdle = 256

// clients are the upstreams' clients, which traffic shares with probes (F4).
func (w *watch) clients() [][]*rpc.Client {
	all := make([][]*rpc.Client, len(w.targets))
	for n, row := range w.targets {
		for _, t := range row {
			all[n] = append(all[n], t.Client)
		}
	}
	return all
}

func (w *watch) gatewaySettings() []gateway.Settings {
	var all []gateway.Settings
	for _, g := range w.gateways {
		all = append(all, gateway.Settings{
			Timeout: g.Timeout, HedgeAuto: g.HedgeAuto, HedgeAfter: g.HedgeAfter,
			MaxBody: g.MaxBody, MaxBatch: g.MaxBatch, Deny: g.Deny,
		})
	}
	return all
}

func drainSettings(d config.Drain) model.DrainSettings {
	s := model.DefaultDrain()
	s.Idle, s.Max, s.Immediate, s.CountMessages = d.Idle, d.Max, d.Immediate, d.CountMessages
	if d.Mode == config.DrainImmediate {
		s.Mode = model.DrainImmediate
	}
	return s
}

// Close ends the connections.
func (w *watch) Close() {
	w.targets.Close()
	for _, row := range w.sockets {
		for _, c := range row {
			if c != nil {
				c.Close()
			}
		}
	}
}

// asked is what URLs on a command line are watched as.
type asked struct {
	family   model.Family
	chainID  string // decimal; empty = any
	settings model.Settings
}

func defaultAsked() asked {
	return asked{family: model.EVM, settings: model.DefaultSettings(model.EVM)}
}

// watchURLs makes a chain of each URL, with one upstream. It is named by host
// and port, for the rest of a URL may hold a key.
func watchURLs(urls []string, a asked) (*watch, error) {
	instance := model.Instance{Name: hostName(), Version: buildVersion(), Policy: model.ReadyAll}
	var endpoints [][]endpoint
	seen := map[string]int{}
	for i, raw := range urls {
		at := fmt.Sprintf("URL %d", i+1)
		u, err := rpc.ParseURL("", raw)
		if err != nil {
			return nil, usage("%s: %v", at, err)
		}
		if a.family == model.HTTP && !strings.HasPrefix(u.Scheme(), "http") {
			return nil, usage("%s: family http wants http:// or https://, not %s://", at, u.Scheme())
		}
		name := u.Host()
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		if u, err = rpc.ParseURL(name, raw); err != nil {
			return nil, usage("%s: %v", at, err)
		}
		instance.Chains = append(instance.Chains, &model.Chain{
			Name: name, Interface: interfaceOf(a.family), Family: a.family, ExpectID: a.chainID, Settings: a.settings,
			Upstreams: []model.Upstream{{Name: name}},
		})
		endpoints = append(endpoints, []endpoint{{url: u, http: promconfig.DefaultHTTPClientConfig, at: at}})
	}
	return wire(config.Default(), instance, endpoints, nil)
}

func interfaceOf(f model.Family) string {
	if f == model.HTTP {
		return "http"
	}
	return "jsonrpc"
}

// watchFile watches the chains of a config file.
func watchFile(path string) (*watch, error) {
	c, err := config.Load(path, config.Env{})
	if err != nil {
		return nil, usageError{err.Error()}
	}
	w, err := watchConfig(c, nil)
	if err != nil {
		return nil, err
	}
	w.empty = fmt.Sprintf("no chains in %s · chaintop config example prints one", c.File())
	if line := c.ChainsLine(); line > 0 {
		w.empty = fmt.Sprintf("no chains in %s (line %d, chains: []) · chaintop config example prints one", c.File(), line)
	}
	return w, nil
}

func watchConfig(c *config.Config, dial dialer) (*watch, error) {
	var endpoints [][]endpoint
	for _, chain := range c.Endpoints() {
		var row []endpoint
		for _, e := range chain {
			at := fmt.Sprintf("%s:%d: %s.url", c.File(), e.Line, e.Path)
			u, err := rpc.ParseURL(e.Name, e.URL.Reveal())
			if err != nil {
				return nil, usage("%s: %v", at, err)
			}
			one := endpoint{url: u, http: e.HTTP, at: at}
			if ws := e.WSURL.Reveal(); ws != "" {
				if one.ws, err = rpc.ParseURL(e.Name, ws); err != nil {
					return nil, usage("%s:%d: %s.ws_url: %v", c.File(), e.Line, e.Path, err)
				}
			}
			row = append(row, one)
		}
		endpoints = append(endpoints, row)
	}
	w, err := wire(c, c.Instance(hostName(), buildVersion()), endpoints, dial)
	if err != nil {
		return nil, err
	}
	w.gateways = c.Gateways()
	return w, nil
}

// only keeps the chains named, by name/interface or by a name only one has.
func (w *watch) only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	keep := map[int]bool{}
	for _, name := range names {
		found := -1
		for n, c := range w.instance.Chains {
			if c.Key() == name || c.Name == name {
				if found >= 0 {
					return usage("chain %q: more than one has that name; say %s or %s", short(name), w.instance.Chains[found].Key(), c.Key())
				}
				found = n
			}
		}
		if found < 0 {
			return usage("chain %q is not in the config; it has %s", short(name), strings.Join(w.chains(), ", "))
		}
		keep[found] = true
	}
	var chains []*model.Chain
	var targets probe.Set
	var gateways []config.Gateway
	for n, c := range w.instance.Chains {
		if keep[n] {
			chains, targets = append(chains, c), append(targets, w.targets[n])
			gateways = append(gateways, w.gateways[n])
		} else {
			w.targets[n : n+1].Close()
		}
	}
	w.instance.Chains, w.targets, w.gateways = chains, targets, gateways
	return nil
}

// chains are the keys, at most ten of them.
func (w *watch) chains() []string {
	var keys []string
	for _, c := range w.instance.Chains {
		keys = append(keys, c.Key())
	}
	if len(keys) > 10 {
		return append(slices.Clip(keys[:10]), fmt.Sprintf("and %d more", len(keys)-10))
	}
	if len(keys) == 0 {
		return []string{"none"}
	}
	return keys
}

// hostName is the host's name up to its first dot.
func hostName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "local"
	}
	name, _, _ := strings.Cut(host, ".")
	return name
}

// epoch names this start of the process.
func epoch() string { return fmt.Sprintf("%x", time.Now().UnixMilli()&0xffffffffff) }
