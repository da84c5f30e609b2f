package model

import (
	"slices"
	"strconv"
	"strings"
)

// Masked is the event as viewers, recordings and bundles may have it: clients'
// addresses are cut to their networks, /24 and IPv6 /48 (X1). It says whether
// that is another event. Folding masked events gives the masked picture.
func Masked(e Event) (Event, bool) {
	body, changed := e.Body, false
	switch b := e.Body.(type) {
	case Started:
		if i := b.Instance.Masked(); i != &b.Instance {
			body, changed = Started{Instance: *i}, true
		}
	case DrainChanged:
		b.Drain, changed = b.Drain.masked()
		body = b
	case TrafficRead:
		if b.Activity != nil {
			a, cut := b.Activity.masked()
			if changed = cut; cut {
				b.Activity = &a
			}
		}
		body = b
	case ProbeStarted, TryEnded, ProbeEnded, ChainChanged, UpstreamChanged, ServingChanged, ReadyChanged, ClientsFelt, CommandDone, UpstreamRead, Skipped:
	}
	if !changed {
		return e, false
	}
	e.Body = body
	return e, true
}

// Masked is the picture with clients' addresses cut to their networks, here and
// in the events it keeps; i itself where there is none to cut.
func (i *Instance) Masked() *Instance {
	m := i.Clone()
	drain, changed := i.Drain.masked()
	m.Drain = drain
	m.Recent = slices.Clone(i.Recent)
	for n, e := range i.Recent {
		cut, other := Masked(e)
		m.Recent[n] = cut
		changed = changed || other
	}
	if !changed {
		return i
	}
	return m
}

func (d Drain) masked() (Drain, bool) {
	a, changed := d.Activity.masked()
	client := network(d.Forecast.Client)
	changed = changed || client != d.Forecast.Client
	d.Activity, d.Forecast.Client = a, client
	return d, changed
}

func (a Activity) masked() (Activity, bool) {
	changed := false
	cut := func(addr *string) {
		if n := network(*addr); n != *addr {
			*addr, changed = n, true
		}
	}
	cut(&a.Client)
	cut(&a.OldClient)
	cut(&a.MessageClient)
	if len(a.Clients) > 0 {
		a.Clients = slices.Clone(a.Clients)
		for n := range a.Clients {
			cut(&a.Clients[n].Addr)
		}
	}
	return a, changed
}

// hidden stands where an address is none that can be cut.
const hidden = "…"

// network is the network of a client's address: 10.83.2.9 is of 10.83.2.0/24,
// 2001:db8:7:1::9 of 2001:db8:7::/48. A network stays what it is. What cannot
// be read is hidden whole.
func network(addr string) string {
	if addr == "" || addr == hidden {
		return addr
	}
	host, bits, isNetwork := strings.Cut(addr, "/")
	host, _, _ = strings.Cut(host, "%") // a zone names an interface of ours
	if v4 := host[strings.LastIndex(host, ":")+1:]; strings.Contains(v4, ".") {
		if host = v4; isNetwork && bits == "24" && strings.HasSuffix(host, ".0") {
			return addr
		}
		return network4(host)
	}
	cut := network6(host)
	if isNetwork && cut == addr {
		return addr
	}
	return cut
}

func network4(host string) string {
	parts := strings.Split(host, ".")
	if len(parts) != 4 {
		return hidden
	}
	for _, p := range parts {
		if n, err := strconv.ParseUint(p, 10, 8); err != nil || strconv.FormatUint(n, 10) != p {
			return hidden
		}
	}
	return strings.Join(parts[:3], ".") + ".0/24"
}

// network6 is the first three groups of an address, the longest run of zeros in
// it written out.
func network6(host string) string {
	head, tail, short := strings.Cut(host, "::")
	var groups []string
	if head != "" {
		groups = strings.Split(head, ":")
	}
	var after []string
	if tail != "" {
		after = strings.Split(tail, ":")
	}
	switch n := len(groups) + len(after); {
	case short && n < 8:
		groups = append(groups, slices.Repeat([]string{"0"}, 8-n)...)
		groups = append(groups, after...)
	case short || n != 8:
		return hidden
	}
	for _, g := range groups {
		if _, err := strconv.ParseUint(g, 16, 16); err != nil {
			return hidden
		}
	}
	kept := groups[:3]
	for len(kept) > 0 && strings.Trim(kept[len(kept)-1], "0") == "" {
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, ":") + "::/48"
}
