package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Listen is where the process listens, as host:port: an empty host is every
// address, port 0 any free one, and an empty text nowhere. serve takes both as
// they are; a screen listens only where the file says so.
type Listen struct {
	Gateway string // client requests, /healthz and /readyz
	Ops     string // /healthz, /readyz, /metrics and /feed

	GatewaySet, OpsSet bool // the file names it, be it as ""
}

// Listen is the `listen:` of the file.
func (c *Config) Listen() Listen {
	l := c.read().doc.Listen
	return Listen{Gateway: l.Gateway, Ops: l.Ops, GatewaySet: l.gatewaySet, OpsSet: l.opsSet}
}

type listen struct {
	Gateway string `yaml:"gateway"`
	Ops     string `yaml:"ops"`

	gatewaySet, opsSet bool
}

func (r *reading) listen(l *listen) {
	const gateway, ops = "listen.gateway", "listen.ops"
	l.gatewaySet, l.opsSet = r.given(gateway), r.given(ops)
	r.hostPort(gateway, l.Gateway)
	r.hostPort(ops, l.Ops)
	if r.bad[gateway] || r.bad[ops] || !clash(l.Gateway, l.Ops) {
		return
	}
	if l.opsSet {
		r.fault(ops, "the port of listen.gateway too: want another")
	} else {
		r.fault(gateway, "the port of listen.ops too, which is %s unless given: want another", l.Ops)
	}
}

func (r *reading) hostPort(path, text string) {
	if text == "" || !r.given(path) {
		return
	}
	if why := hostPortFault(text); why != "" {
		r.fault(path, "%s", why)
	}
}

// hostPortFault says what is wrong with a host:port to listen on; empty =
// nothing.
func hostPortFault(text string) string {
	host, port, err := net.SplitHostPort(text)
	n, notNumber := strconv.ParseUint(port, 10, 16)
	switch {
	case strings.Contains(text, "://"):
		return `a URL: want host:port, as in 127.0.0.1:8640`
	case err != nil:
		return `want host:port, as in 127.0.0.1:8640, or "" for no listener`
	case notNumber != nil || (n == 0 && port != "0"):
		return "want a port between 0 and 65535 after the last colon"
	case host != "" && !isHost(host):
		return "its host is neither a name nor an IP address"
	}
	return ""
}

var (
	hostLabels = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.?$`)
	lastNumber = regexp.MustCompile(`(^|\.)[0-9]+\.?$`) // of a mistyped IP address
)

// isHost says whether text is an IP address or may be a host's name.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return len(text) <= 253 && hostLabels.MatchString(text) && !lastNumber.MatchString(text)
}

// clash says whether two addresses that are in order want one port of one host:
// only the first would get it.
func clash(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	// Both are in order, so that there is a host and a port.
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	n, _ := strconv.Atoi(portA)
	m, _ := strconv.Atoi(portB)
	if n != m || n == 0 {
		return false
	}
	ipA, ipB := hostIP(hostA), hostIP(hostB)
	return strings.EqualFold(hostA, hostB) || ipA.IsValid() && ipA == ipB || covers(ipA, ipB) || covers(ipB, ipA)
}

// covers says whether what listens at a takes b's port too: a is every address,
// of both families as :: or of IPv4 as 0.0.0.0. The zero b is a name.
func covers(a, b netip.Addr) bool {
	return a.IsValid() && a.IsUnspecified() && (a.Is6() || !b.IsValid() || b.Is4())
}

// hostIP is the IP address a host stands for as far as that is certain; the
// zero one of any other name.
func hostIP(host string) netip.Addr {
	switch {
	case host == "":
		return netip.IPv6Unspecified() // of both families
	case strings.EqualFold(strings.TrimSuffix(host, "."), "localhost"):
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap()
}

// Loopback says whether only this host reaches what listens at a host:port:
// its host is localhost or a loopback address. What it cannot tell is none.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && hostIP(host).IsLoopback()
}

// originFault says what is wrong with an Origin; empty = nothing.
func originFault(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || !strings.EqualFold(u.Scheme+"://"+u.Host, text) {
		return "want scheme://host or scheme://host:port, as in https://status.example"
	}
	return namedHostFault(u.Host)
}

// namedHostFault says what is wrong with a host, with or without a port, that
// somebody names; empty = nothing.
func namedHostFault(text string) string {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]")
	}
	if _, err := netip.ParseAddr(text); err == nil {
		return ""
	}
	host, port := text, "1"
	if strings.Contains(text, ":") {
		var err error
		if host, port, err = net.SplitHostPort(text); err != nil {
			return "want a host or host:port, as in gw.example or gw.example:9640"
		}
	}
	switch n, err := strconv.ParseUint(port, 10, 16); {
	case !isHost(host):
		return "its host is neither a name nor an IP address"
	case err != nil || n == 0:
		return "its port is not between 1 and 65535"
	}
	return ""
}
