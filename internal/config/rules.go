package config

import (
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"

	"chaintop/internal/clean"
	"chaintop/model"
)

// The bounds of values. The last three keep a slip of the finger from costing
// memory, a processor or an overflow.
const (
	maxName      = 64 // runes of any name
	maxUpstreams = model.MostUpstreams
	maxTries     = 100  // of a probe
	maxFall      = 1000 // failures in a row
	maxLag       = 1e9  // blocks
	shortest     = time.Millisecond
	longest      = 365 * 24 * time.Hour
)

const namePattern = "[A-Za-z0-9][A-Za-z0-9._-]*"

var goodName = regexp.MustCompile("^" + namePattern + "$")

// Names that are paths of our own beside /NAME.
var reserved = []string{"healthz", "readyz", "metrics", "feed"}

// rules checks what was decoded, all of it.
func (r *reading) rules(doc *document) {
	r.name("instance.name", doc.Instance.Name)
	if v := doc.Instance.Version; clean.Text(v, maxName) != v {
		r.fault("instance.version", "want one line of at most %d printable characters", maxName)
	}
	r.word("log.level", doc.Log.Level, levelNames)
	r.word("log.format", doc.Log.Format, formatNames)
	doc.Log.File = promconfig.JoinDir(r.dir, doc.Log.File)
	r.listen(&doc.Listen)
	r.drain(&doc.Drain, &doc.Listen)
	r.feed(&doc.Feed)
	r.paces("defaults", &doc.Defaults.Probe, &doc.Defaults.Check)
	r.gateway("defaults.gateway", &doc.Defaults.Gateway)

	keys := map[string]int{}
	for i := range doc.Chains {
		path := "chains[" + strconv.Itoa(i) + "]"
		if r.at[path] == nil {
			continue
		}
		c := &doc.Chains[i]
		r.chain(path, c)
		if c.Name == "" || c.Interface == "" {
			continue
		}
		key := c.Name + "/" + c.Interface
		if first, ok := keys[key]; ok {
			other := "chains[" + strconv.Itoa(first) + "]"
			r.fault(path+".name", "%s is chains[%d] already (line %d): name or interface must differ", key, first, r.line(other))
			continue
		}
		keys[key] = i
	}
	r.ready(doc)
	r.instances(doc.Instances)
	r.present()
}

func (r *reading) chain(path string, c *chain) {
	at := func(key string) string { return path + "." + key }
	if r.required(at("name"), c.Name, "the chain's name, as in ethereum") && !r.name(at("name"), c.Name) {
		c.Name = ""
	}
	if slices.Contains(reserved, c.Name) {
		r.fault(at("name"), "%s is a path of chaintop's own: take another name", c.Name)
	}
	fam, known := familyOf(c.Family)
	if !known {
		r.word(at("family"), c.Family, familyNames())
		fam = families[0]
	}
	switch {
	case c.Interface != "":
		r.name(at("interface"), c.Interface)
	case known:
		c.Interface = fam.iface
	}
	r.chainID(at("chain_id"), c)
	if c.MaxLag != nil && *c.MaxLag > maxLag {
		r.fault(at("max_lag"), "%s is more than %d blocks", shown(r.at[at("max_lag")]), uint64(maxLag))
	}
	if !fam.heads {
		for _, key := range []string{"chain_id", "max_lag"} {
			if r.at[at(key)] != nil {
				r.fault(at(key), "family %s asks for no head and no chain id: remove it", fam.is)
			}
		}
	}
	r.paces(path, &c.Probe, &c.Check)
	r.gateway(at("gateway"), &c.Gateway)
	r.upstreams(at("upstreams"), c, fam)
}

// chainID makes the configured id decimal, as nodes' ids are compared.
func (r *reading) chainID(path string, c *chain) {
	s := strings.ToLower(strings.TrimSpace(c.ChainID))
	if s == "" {
		c.ChainID = ""
		return
	}
	digits, isHex := strings.CutPrefix(s, "0x")
	base := 10
	if isHex {
		base = 16
	}
	var id big.Int
	plain := len(digits) <= 78 && !strings.ContainsAny(digits, "+-_") && (isHex || !strings.HasPrefix(digits, "0"))
	if _, ok := id.SetString(digits, base); !plain || !ok || id.Sign() <= 0 || id.BitLen() > 256 {
		r.fault(path, `want a chain id, decimal ("1") or hex ("0x1"); leave it out for any`)
		return
	}
	c.ChainID = id.String()
}

func (r *reading) paces(path string, p *probe, k *check) {
	at := func(key string) string { return path + "." + key }
	r.between(at("probe.tries"), p.Tries, maxTries)
	r.positive(at("probe.timeout"), p.Timeout)
	r.positive(at("probe.healthy_interval"), p.HealthyInterval)
	r.positive(at("probe.unhealthy_interval"), p.UnhealthyInterval)
	r.positive(at("probe.soon"), p.Soon)
	r.positiveOrNone(at("probe.max_defer"), p.MaxDefer)
	r.word(at("probe.inconclusive_recovers"), p.Recovers, recoverNames)
	r.positive(at("check.interval"), k.Interval)
	r.positive(at("check.timeout"), k.Timeout)
	r.between(at("check.fall"), k.Fall, maxFall)
}

func (r *reading) upstreams(path string, c *chain, fam family) {
	switch n := len(c.Upstreams); {
	case r.bad[path]:
		return
	case n == 0:
		r.fault(path, "a chain needs at least one upstream (name, and url or url_file)")
	case n > maxUpstreams:
		r.fault(path, "%d upstreams: a chain has at most %d", n, maxUpstreams)
		return
	}
	first := map[string]int{}
	for i := range c.Upstreams {
		u := &c.Upstreams[i]
		u.path = path + "[" + strconv.Itoa(i) + "]"
		if r.at[u.path] == nil {
			continue
		}
		u.line = r.line(u.path)
		name := u.path + ".name"
		if r.required(name, u.Name, "the upstream's name, as in alchemy") && r.name(name, u.Name) {
			if at, ok := first[u.Name]; ok {
				r.fault(name, "%s is upstreams[%d] of this chain already (line %d)", u.Name, at, r.line(c.Upstreams[at].path))
			} else {
				first[u.Name] = i
			}
		}
		r.word(u.path+".tier", u.Tier, tierNames)
		r.address(u, fam)
		r.socket(u)
		r.client(u.path+".http", &u.HTTP)
	}
}

// required says whether the field has a value, of any kind.
func (r *reading) required(path, value, what string) bool {
	if value == "" && !r.bad[path] {
		r.fault(path, "required: %s", what)
	}
	return value != ""
}

// given says whether the file gives the field a value that was decoded: what is
// inherited had its fault where it is written.
func (r *reading) given(path string) bool { return r.at[path] != nil && !r.bad[path] }

func (r *reading) name(path, value string) bool {
	switch {
	case value == "" || !r.given(path):
	case !goodName.MatchString(value):
		r.fault(path, "%s is no name: want letters, digits, . _ and -, first a letter or digit (%s)", shown(r.at[path]), namePattern)
	case len(value) > maxName:
		r.fault(path, "longer than %d characters", maxName)
	}
	return !r.bad[path]
}

func (r *reading) word(path, value string, list []string) {
	if !r.given(path) || slices.Contains(list, value) {
		return
	}
	hint := "want " + either(list)
	if near := model.Nearest(value, list); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	r.fault(path, "%s is not known: %s", shown(r.at[path]), hint)
}

func either(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

func (r *reading) positive(path string, d time.Duration) {
	switch {
	case !r.given(path):
	case d <= 0:
		r.fault(path, "%s is not positive", shown(r.at[path]))
	case d < shortest:
		r.fault(path, "%s is shorter than %s", shown(r.at[path]), shortest)
	case d > longest:
		r.fault(path, "%s is longer than a year", shown(r.at[path]))
	}
}

// positiveOrNone is positive where 0 stands for none.
func (r *reading) positiveOrNone(path string, d time.Duration) {
	if d != 0 {
		r.positive(path, d)
	}
}

func (r *reading) between(path string, n, most int) {
	switch {
	case !r.given(path):
	case n < 1:
		r.fault(path, "%s is less than 1", shown(r.at[path]))
	case n > most:
		r.fault(path, "%s is more than %d", shown(r.at[path]), most)
	}
}

func (r *reading) line(path string) int {
	if n := r.at[path]; n != nil {
		return n.Line
	}
	return 0
}

// present checks that the files that fields name are there and hold something.
// Those whose content has a rule are read there.
func (r *reading) present() {
	for _, f := range r.files {
		if !strings.HasSuffix(f.path, ".url_file") && !strings.HasSuffix(f.path, tokenSuffix) {
			r.read(f.path, f.file)
		}
	}
}

// read is the content of the file that the field at path names.
func (r *reading) read(path, file string) (string, bool) {
	if strings.Contains(file, "://") {
		r.fault(path, "a URL: want the name of a file that holds it")
		return "", false
	}
	data, err := r.env.ReadFile(promconfig.JoinDir(r.dir, file))
	// The name as the file has it: a variable in it may be the secret itself.
	name := clean.Text(r.at[path].Value, maxPath)
	if !filepath.IsAbs(file) {
		name = filepath.Join(r.dir, name)
	}
	switch {
	case err != nil:
		r.fault(path, "%s: %s", name, unread(err))
	case len(data) > maxFile:
		r.fault(path, "%s: larger than 1 MiB", name)
	case strings.TrimSpace(string(data)) == "":
		r.fault(path, "%s: empty", name)
	default:
		return strings.TrimSpace(string(data)), true
	}
	return "", false
}
