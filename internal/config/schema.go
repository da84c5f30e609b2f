package config

import (
	"log/slog"
	"reflect"
	"time"

	promconfig "github.com/prometheus/common/config"

	"chaintop/model"
)

// The types of the file. A field is here when something reads it: a key that
// nobody reads would be a lie.

type document struct {
	Instance  instance `yaml:"instance"`
	Listen    listen   `yaml:"listen"`
	Log       logging  `yaml:"log"`
	Ready     ready    `yaml:"ready"`
	Drain     drain    `yaml:"drain"`
	Feed      feed     `yaml:"feed"`
	Defaults  paces    `yaml:"defaults"` // before Chains: they begin with it
	Chains    []chain  `yaml:"chains"`
	Instances remotes  `yaml:"instances"`
}

type instance struct {
	Name    string `yaml:"name"`    // empty: the host's
	Version string `yaml:"version"` // empty: the build's
}

type logging struct {
	File   string `yaml:"file"`
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

type paces struct {
	Probe   probe   `yaml:"probe"`
	Check   check   `yaml:"check"`
	Gateway gateway `yaml:"gateway"`
}

type probe struct {
	Tries             int           `yaml:"tries"`
	Timeout           time.Duration `yaml:"timeout"`
	HealthyInterval   time.Duration `yaml:"healthy_interval"`
	UnhealthyInterval time.Duration `yaml:"unhealthy_interval"`
	Soon              time.Duration `yaml:"soon"`
	MaxDefer          time.Duration `yaml:"max_defer"`
	Recovers          string        `yaml:"inconclusive_recovers"`
}

type check struct {
	Interval time.Duration `yaml:"interval"`
	Timeout  time.Duration `yaml:"timeout"`
	Fall     int           `yaml:"fall"`
}

type chain struct {
	Name      string     `yaml:"name"`
	Family    string     `yaml:"family"`
	Interface string     `yaml:"interface"` // empty: the family's
	ChainID   string     `yaml:"chain_id"`  // empty: any
	MaxLag    *uint64    `yaml:"max_lag"`   // nil: the family's
	Probe     probe      `yaml:"probe"`
	Check     check      `yaml:"check"`
	Gateway   gateway    `yaml:"gateway"`
	Upstreams []upstream `yaml:"upstreams"`
}

type upstream struct {
	Name    string                      `yaml:"name"`
	URL     string                      `yaml:"url"`
	URLFile string                      `yaml:"url_file"`
	WSURL   string                      `yaml:"ws_url"` // empty: none
	Tier    string                      `yaml:"tier"`
	HTTP    promconfig.HTTPClientConfig `yaml:"http"`

	secret Secret // the address, from URL or from what URLFile names
	ws     Secret // WSURL
	path   string
	line   int
}

// family is what a chain's family stands for where the chain says nothing.
type family struct {
	is      model.Family
	iface   string
	schemes []string // an upstream's address may have
	heads   bool     // its nodes tell heights and a chain id
}

var families = []family{
	{is: model.EVM, iface: "jsonrpc", schemes: []string{"http", "https", "ws", "wss"}, heads: true},
	{is: model.HTTP, iface: "http", schemes: []string{"http", "https"}},
}

func familyNames() (all []string) {
	for _, f := range families {
		all = append(all, string(f.is))
	}
	return all
}

func familyOf(name string) (family, bool) {
	for _, f := range families {
		if string(f.is) == name {
			return f, true
		}
	}
	return family{}, false
}

var (
	tierNames    = []string{model.Primary.String(), model.Backup.String()}
	recoverNames = []string{model.RecoversNone.String(), model.RecoversUnknown.String(), model.RecoversAll.String()}
	levelNames   = []string{"debug", "info", "warn", "error"}
	formatNames  = []string{"text", "json"}
)

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// defaults is a file without a field in it.
func defaults() document {
	s := model.DefaultSettings("")
	return document{
		Listen: listen{Gateway: "127.0.0.1:8640", Ops: "127.0.0.1:9640"},
		Log:    logging{Level: "info", Format: "text"},
		Ready:  ready{mode: ReadyAll},
		Drain:  drain{Mode: DrainIdle, Idle: 10 * time.Second},
		Defaults: paces{
			Probe: probe{
				Tries: s.Tries, Timeout: s.Timeout,
				HealthyInterval: s.HealthyInterval, UnhealthyInterval: s.UnhealthyInterval,
				Soon: s.Soon, MaxDefer: s.MaxDefer, Recovers: s.Recovers.String(),
			},
			Check: check{Interval: s.CheckInterval, Timeout: s.CheckTimeout, Fall: s.Fall},
			Gateway: gateway{
				Timeout: 30 * time.Second, HedgeAfter: hedge{auto: true},
				MaxBody: 1 << 20, MaxBatch: 100, FailbackAfter: s.FailbackAfter,
				Deny: []string{"admin_*", "personal_*", "miner_*", "engine_*"},
			},
		},
	}
}

// blank is what an element of a list begins with before it is decoded.
func (d *document) blank(t reflect.Type) (reflect.Value, bool) {
	switch t {
	case reflect.TypeFor[chain]():
		return reflect.ValueOf(chain{
			Family: string(model.EVM), Probe: d.Defaults.Probe, Check: d.Defaults.Check, Gateway: d.Defaults.Gateway,
		}), true
	case reflect.TypeFor[upstream]():
		return reflect.ValueOf(upstream{Tier: model.Primary.String(), HTTP: promconfig.DefaultHTTPClientConfig}), true
	}
	return reflect.Value{}, false
}

// model is the chain as it begins. It was found in order: each word is of its
// set.
func (c *chain) model() *model.Chain {
	set := model.DefaultSettings(model.Family(c.Family))
	set.Tries, set.Timeout = c.Probe.Tries, c.Probe.Timeout
	set.HealthyInterval, set.UnhealthyInterval = c.Probe.HealthyInterval, c.Probe.UnhealthyInterval
	set.Soon, set.MaxDefer = c.Probe.Soon, c.Probe.MaxDefer
	// Its rule took the word from the set, as it did the tier's.
	_ = set.Recovers.UnmarshalText([]byte(c.Probe.Recovers))
	set.CheckInterval, set.CheckTimeout, set.Fall = c.Check.Interval, c.Check.Timeout, c.Check.Fall
	set.FailbackAfter = c.Gateway.FailbackAfter
	if c.MaxLag != nil {
		set.MaxLag = *c.MaxLag
	}
	m := &model.Chain{
		Name: c.Name, Interface: c.Interface, Family: model.Family(c.Family),
		ExpectID: c.ChainID, Settings: set,
	}
	for _, u := range c.Upstreams {
		up := model.Upstream{Name: u.Name}
		_ = up.Tier.UnmarshalText([]byte(u.Tier))
		m.Upstreams = append(m.Upstreams, up)
	}
	return m
}
