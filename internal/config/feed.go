package config

import (
	"crypto/sha256"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"
	"go.yaml.in/yaml/v3"
)

// What somebody with a token may do (SPEC E5).
const (
	RoleViewer   = "viewer"
	RoleOperator = "operator"
)

var roleNames = []string{RoleViewer, RoleOperator}

// The bounds of a token, in bytes: one that is shorter can be guessed.
const (
	minToken = 16
	maxToken = 4 << 10
)

// Feed is who may read the feed, and how it is protected (SPEC E5, X4). It
// holds no token.
type Feed struct {
	Configured        bool // the file has a feed of its own, be it {}
	Tokens            []Token
	CertFile, KeyFile string   // of its TLS; both or none
	Origins           []string // scheme://host[:port] that a browser may come from; lower case, no default port
	Hosts             []string // host or host:port that a request may name; lower case
}

// Token is one that the feed takes.
type Token struct {
	Name    string    // whose it is: commands and audit lines say it; unique
	Role    string    // RoleViewer or RoleOperator
	File    string    // holds it, see ReadToken
	Expires time.Time // zero = never
}

// Feed is the `feed:` of the file.
func (c *Config) Feed() Feed {
	f := c.read().doc.Feed
	out := Feed{
		Configured: f.configured, CertFile: f.TLS.CertFile, KeyFile: f.TLS.KeyFile,
		Origins: slices.Clone(f.Origins), Hosts: slices.Clone(f.Hosts),
	}
	for _, t := range f.Tokens {
		out.Tokens = append(out.Tokens, Token{Name: t.Name, Role: t.Role, File: t.TokenFile, Expires: t.Expires})
	}
	return out
}

// FeedOn says whether a feed is served at ops, a host:port or "": on loopback
// always, elsewhere when the file has one. There it refuses to be without a
// token or TLS, unless insecure (SPEC E5); that error is Errors, and names the
// fields.
func (c *Config) FeedOn(ops string, insecure bool) (served bool, err error) {
	in := c.read()
	f := in.doc.Feed
	switch {
	case ops == "":
		return false, nil
	case Loopback(ops):
		return true, nil
	case !f.configured || insecure:
		return f.configured, nil
	}
	var faults Errors
	if len(f.Tokens) == 0 {
		faults = append(faults, in.fault("feed.tokens", "required where the feed is not on loopback only: at least one token, or --insecure"))
	}
	if f.TLS.CertFile == "" {
		faults = append(faults, in.fault("feed.tls", "required where the feed is not on loopback only: cert_file and key_file, or --insecure"))
	}
	if len(faults) > 0 {
		return false, faults
	}
	return true, nil
}

// FeedAllowed is FeedOn for the address of Listen.
func (c *Config) FeedAllowed(insecure bool) error {
	_, err := c.FeedOn(c.read().doc.Listen.Ops, insecure)
	return err
}

type feed struct {
	Tokens  []feedToken `yaml:"tokens"`
	TLS     feedTLS     `yaml:"tls"`
	Origins []string    `yaml:"origins"`
	Hosts   []string    `yaml:"hosts"`

	configured bool
}

type feedToken struct {
	Name      string    `yaml:"name"`
	Role      string    `yaml:"role"`
	TokenFile string    `yaml:"token_file"`
	Expires   time.Time `yaml:"expires"` // "": never
}

type feedTLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

func (r *reading) feed(f *feed) {
	f.configured = r.at["feed"] != nil
	r.tokens("feed.tokens", f.Tokens)
	r.pair("feed.tls", &f.TLS)
	for i := range f.Origins {
		if at := "feed.origins[" + strconv.Itoa(i) + "]"; r.given(at) {
			if why := originFault(f.Origins[i]); why != "" {
				r.fault(at, "%s", why)
				continue
			}
			f.Origins[i] = asSent(f.Origins[i])
		}
	}
	for i := range f.Hosts {
		if at := "feed.hosts[" + strconv.Itoa(i) + "]"; r.given(at) {
			if why := namedHostFault(f.Hosts[i]); why != "" {
				r.fault(at, "%s", why)
			}
			f.Hosts[i] = strings.ToLower(f.Hosts[i])
		}
	}
}

// asSent is an origin as browsers send it: lower case, without the port its
// scheme stands for.
func asSent(origin string) string {
	origin = strings.ToLower(origin)
	u, err := url.Parse(origin)
	if err != nil {
		return origin // its rule took it
	}
	if scheme, port := u.Scheme, u.Port(); (scheme == "https" && port == "443") || (scheme == "http" && port == "80") {
		return strings.TrimSuffix(origin, ":"+port)
	}
	return origin
}

func (r *reading) tokens(path string, all []feedToken) {
	names, held := map[string]int{}, map[[sha256.Size]byte]int{}
	for i := range all {
		t := &all[i]
		entry := path + "[" + strconv.Itoa(i) + "]"
		at := func(key string) string { return entry + "." + key }
		if !r.given(entry) {
			continue
		}
		if r.required(at("name"), t.Name, "whose token it is, as in oncall") && r.name(at("name"), t.Name) {
			if other, ok := names[t.Name]; ok {
				r.fault(at("name"), "tokens[%d] has that name already (line %d)", other, r.line(path+"["+strconv.Itoa(other)+"]"))
			} else {
				names[t.Name] = i
			}
		}
		if r.required(at("role"), t.Role, "viewer or operator") {
			r.word(at("role"), t.Role, roleNames)
		}
		if !r.required(at("token_file"), t.TokenFile, "a file that holds the token") {
			continue
		}
		if content, ok := r.token(at("token_file"), &t.TokenFile); ok {
			// Whose it is could not be told.
			if other, ok := held[sha256.Sum256([]byte(content))]; ok {
				r.fault(at("token_file"), "holds the token of tokens[%d] too", other)
			} else {
				held[sha256.Sum256([]byte(content))] = i
			}
		}
	}
}

const tokenSuffix = ".token_file"

// token reads a token's file, which begins in the folder of the config.
func (r *reading) token(path string, file *string) (string, bool) {
	if r.bad[path] {
		return "", false
	}
	content, ok := r.read(path, *file)
	*file = promconfig.JoinDir(r.dir, *file)
	if !ok {
		return "", false
	}
	if why := tokenFault(content); why != "" {
		r.fault(path, "its content: %s", why)
		return "", false
	}
	return content, true
}

// ReadToken reads the file of a Token or an Instance as it is now, by the rule
// that it was checked by: token files may change while the process lives. Its
// error is a Fault that names the file and shows nothing of its content.
func ReadToken(file string) (Secret, error) {
	data, err := readBounded(file)
	if err != nil {
		return Secret{}, Fault{File: file, Text: unread(err)}
	}
	text := strings.TrimSpace(string(data))
	if why := tokenFault(text); why != "" {
		return Secret{}, Fault{File: file, Text: "its content: " + why}
	}
	return secretOf(text), nil
}

// tokenFault says what is wrong with a token; empty = nothing. It shows nothing
// of it.
func tokenFault(text string) string {
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return "more than one line"
	case len(text) < minToken:
		return "shorter than 16 bytes"
	case len(text) > maxToken:
		return "longer than 4096 bytes"
	case strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "a character that a token cannot have: want printable ASCII without spaces"
	}
	return ""
}

// pair checks a certificate and its key: both or none.
func (r *reading) pair(path string, t *feedTLS) {
	cert, key := path+".cert_file", path+".key_file"
	switch {
	case r.bad[cert] || r.bad[key]:
	case t.CertFile != "" && t.KeyFile == "":
		r.fault(key, "required: the key of cert_file")
	case t.CertFile == "" && t.KeyFile != "":
		r.fault(cert, "required: the certificate of key_file")
	}
	t.CertFile, t.KeyFile = promconfig.JoinDir(r.dir, t.CertFile), promconfig.JoinDir(r.dir, t.KeyFile)
}

// moment decodes a date and time; an empty text is none.
func (r *reading) moment(n *yaml.Node, path, s string, out *time.Time) {
	if s == "" {
		*out = time.Time{}
		return
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		r.fault(path, `%s is no date and time: want 2030-12-31T23:59:59Z, or "" for none`, shown(n))
		return
	}
	*out = t
}
