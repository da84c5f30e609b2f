package config

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Bounds of what a gateway takes.
const (
	maxBody   = 1 << 30 // bytes
	maxBatch  = 10_000  // requests of a batch
	maxMethod = 128     // bytes of a method's name
)

// Gateway is what the gateway may do with the requests of one chain.
type Gateway struct {
	Timeout       time.Duration // of a client's request, all attempts together (SPEC F9)
	HedgeAuto     bool          // HedgeAfter is measured (F11)
	HedgeAfter    time.Duration // silence of an upstream after which the next is asked too; 0 = never, unless HedgeAuto
	MaxBody       int64         // of a request, in bytes
	MaxBatch      int           // requests in one batch
	FailbackAfter time.Duration // how long a primary must be fit again before it is preferred (F3); 0 = at once
	Deny          []string      // methods that are refused (F10): a name, or the beginning of one and *
}

// Gateways are how the gateway serves the chains, by chain as in the model's
// Instance.
func (c *Config) Gateways() []Gateway {
	chains := c.read().doc.Chains
	all := make([]Gateway, len(chains))
	for n := range chains {
		all[n] = chains[n].Gateway.public()
	}
	return all
}

// DefaultGateway is the `defaults.gateway` of the file: what counts for a chain
// that the file does not have.
func (c *Config) DefaultGateway() Gateway { return c.read().doc.Defaults.Gateway.public() }

type gateway struct {
	Timeout       time.Duration `yaml:"timeout"`
	HedgeAfter    hedge         `yaml:"hedge_after"`
	MaxBody       size          `yaml:"max_body"`
	MaxBatch      int           `yaml:"max_batch"`
	FailbackAfter time.Duration `yaml:"failback_after"`
	Deny          []string      `yaml:"deny"`
}

func (g *gateway) public() Gateway {
	return Gateway{
		Timeout: g.Timeout, HedgeAuto: g.HedgeAfter.auto, HedgeAfter: g.HedgeAfter.after,
		MaxBody: int64(g.MaxBody), MaxBatch: g.MaxBatch, FailbackAfter: g.FailbackAfter, Deny: slices.Clone(g.Deny),
	}
}

// hedge is a duration or the word auto.
type hedge struct {
	auto  bool
	after time.Duration
}

func (r *reading) hedge(n *yaml.Node, path, s string, out *hedge) {
	if s == "auto" {
		*out = hedge{auto: true}
		return
	}
	if _, err := time.ParseDuration(s); err != nil && !bareNumber.MatchString(s) {
		r.fault(path, "%s is neither auto nor a duration: want auto, 100ms, or 0s for never", shown(n))
		return
	}
	*out = hedge{}
	r.duration(n, path, s, &out.after)
}

// size is a number of bytes.
type size int64

var (
	sizeText  = regexp.MustCompile(`^([0-9]+)([KMG]iB)?$`)
	sizeUnits = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
)

func (r *reading) size(n *yaml.Node, path, s string, out *size) {
	m := sizeText.FindStringSubmatch(s)
	if m == nil {
		r.fault(path, "%s is no size: want bytes, or KiB, MiB or GiB, as in 65536 or 1MiB", shown(n))
		return
	}
	v, err := strconv.ParseInt(m[1], 10, 64)
	unit := sizeUnits[m[2]]
	switch {
	case errors.Is(err, strconv.ErrRange) || v > maxBody/unit:
		r.fault(path, "%s is more than 1GiB", shown(n))
	case v == 0:
		r.fault(path, "%s is not positive", shown(n))
	default:
		*out = size(v * unit)
	}
}

// A method's name, or the beginning of one.
var methodPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:-]*\*?$`)

func (r *reading) gateway(path string, g *gateway) {
	at := func(key string) string { return path + "." + key }
	r.positive(at("timeout"), g.Timeout)
	r.positiveOrNone(at("hedge_after"), g.HedgeAfter.after)
	r.between(at("max_batch"), g.MaxBatch, maxBatch)
	r.positiveOrNone(at("failback_after"), g.FailbackAfter)
	for i, method := range g.Deny {
		at := at("deny[" + strconv.Itoa(i) + "]")
		switch {
		case !r.given(at):
		case strings.Contains(strings.TrimSuffix(method, "*"), "*"):
			r.fault(at, "%s: a * stands only at the end, and once", shown(r.at[at]))
		case !methodPattern.MatchString(method) || len(method) > maxMethod:
			r.fault(at, "%s is no method: want a name, as in admin_peers, or the beginning of one and *, as in admin_*", shown(r.at[at]))
		}
	}
}
