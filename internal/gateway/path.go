package gateway

import (
	"net/url"
	"strings"
)

// find is the chain a path names, and what of the path is the upstream's:
// /name/interface/…, /name/… where the name has one interface, / where there is
// one chain. Nil: there is none.
func (g *Gateway) find(u *url.URL) (*route, *url.URL) {
	path := u.EscapedPath()
	if climbs(path) {
		return nil, nil
	}
	first, rest := segment(path)
	named := g.names[first]
	if len(named) == 0 {
		if len(g.routes) == 1 && (path == "" || path == "/" || !g.routes[0].rpc) {
			return g.routes[0], beyond(path, u.RawQuery)
		}
		return nil, nil
	}
	second, after := segment(rest)
	for _, r := range named {
		if r.face == second {
			return r, beyond(after, u.RawQuery)
		}
	}
	if len(named) == 1 {
		return named[0], beyond(rest, u.RawQuery)
	}
	return nil, nil
}

// segment is the first segment of a path, and what follows.
func segment(path string) (first, rest string) {
	path = strings.TrimPrefix(path, "/")
	i := strings.IndexByte(path, '/')
	if i < 0 {
		return path, ""
	}
	return path[:i], path[i:]
}

// beyond is the upstream's part of an address.
func beyond(path, query string) *url.URL {
	if path == "/" {
		path = ""
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	return &url.URL{Path: plain, RawPath: path, RawQuery: query}
}

// climbs says that a path leaves what it begins in: an upstream's own path may
// hold its key.
func climbs(path string) bool {
	if !strings.Contains(path, ".") && !strings.Contains(path, "%") {
		return false
	}
	for s := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(s); err != nil || plain == ".." || plain == "." || strings.ContainsAny(plain, "/\\") {
			return true
		}
	}
	return false
}
