package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"chaintop/model"
)

// maxURL bounds an address, in bytes.
const maxURL = 8 << 10

// address finds an upstream's URL, in the file or in the one it names, and
// checks it.
func (r *reading) address(u *upstream, fam family) {
	at, inFile := u.path+".url", u.path+".url_file"
	text, where := u.URL, at
	switch {
	case r.bad[at] || r.bad[inFile]:
		return
	case u.URL != "" && u.URLFile != "":
		r.fault(inFile, "url is given too: want one of url and url_file")
		return
	case u.URLFile != "":
		content, ok := r.read(inFile, u.URLFile)
		if !ok {
			return
		}
		text, where = content, inFile
	case u.URL == "":
		r.fault(at, "required: the address, as in https://eth.example/v2/${KEY}, or url_file: a file that holds it")
		return
	}
	text = strings.TrimSpace(text)
	if why := urlFault(text, fam.schemes); why != "" {
		if where == inFile {
			why = "its content: " + why
		}
		r.fault(where, "%s", why)
		return
	}
	u.secret = secretOf(text)
}

// socket checks the address of an upstream's websocket, which it may lack.
func (r *reading) socket(u *upstream) {
	at := u.path + ".ws_url"
	if !r.given(at) || u.WSURL == "" {
		return
	}
	text := strings.TrimSpace(u.WSURL)
	if why := urlFault(text, socketSchemes); why != "" {
		r.fault(at, "%s", why)
		return
	}
	u.ws = secretOf(text)
}

// urlFault says what is wrong with an address; empty = nothing. It shows
// nothing of it.
func urlFault(text string, schemes []string) string {
	want := make([]string, len(schemes))
	for i, s := range schemes {
		want[i] = s + "://"
	}
	scheme, _, found := strings.Cut(text, "://")
	switch {
	case text == "":
		return "an empty URL"
	case len(text) > maxURL:
		return fmt.Sprintf("a URL longer than %d bytes", maxURL)
	case strings.ContainsAny(text, "\r\n"):
		return "not a URL: more than one line"
	case !found:
		return "a URL without a scheme: want " + either(want)
	case !slices.Contains(schemes, strings.ToLower(scheme)):
		hint := "want " + either(want)
		if near := model.Nearest(scheme, schemes); near != "" {
			hint = "did you mean " + near + "://? " + hint
		}
		return "a URL with an unknown scheme: " + hint
	}
	u, err := url.Parse(text)
	if err != nil {
		return "not a URL" + parseHint(err)
	}
	if u.Hostname() == "" {
		return "a URL without a host"
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "a URL with a port that is not between 1 and 65535"
		}
	}
	return ""
}

// parseHint is the parser's error, whose text quotes the address, in words
// that do not.
func parseHint(err error) string {
	var escape url.EscapeError
	var host url.InvalidHostError
	switch text := err.Error(); {
	case errors.As(err, &escape):
		return ": a % that no code follows"
	case errors.As(err, &host):
		return ": a character that a host cannot have"
	case strings.Contains(text, "invalid port"):
		return ": its port is no number"
	case strings.Contains(text, "invalid userinfo"):
		return ": a character that a user name cannot have"
	case strings.Contains(text, "control character"):
		return ": a control character"
	}
	return ""
}

var socketSchemes = []string{"ws", "wss"}

var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// client checks how an upstream's client is made. Its files are checked with
// all others.
func (r *reading) client(path string, h *promconfig.HTTPClientConfig) {
	at := func(key string) string { return path + "." + key }
	if r.at[path] == nil || r.holds[path] {
		return // what is left of it may break rules that the whole kept
	}
	check := func(path string, err error) {
		if err != nil {
			r.fault(path, "%s", err)
		}
	}
	check(path, h.Validate())
	r.tls(at("tls_config"), &h.TLSConfig)
	r.url(at("proxy_url"), h.ProxyURL.URL, proxySchemes)
	if o := h.OAuth2; o != nil {
		check(at("oauth2"), o.ProxyConfig.Validate())
		r.tls(at("oauth2.tls_config"), &o.TLSConfig)
		r.url(at("oauth2.proxy_url"), o.ProxyURL.URL, proxySchemes)
		if r.given(at("oauth2.token_url")) {
			if why := urlFault(o.TokenURL, []string{"http", "https"}); why != "" {
				r.fault(at("oauth2.token_url"), "%s", why)
			}
		}
		o.ClientCertificateKeyFile = promconfig.JoinDir(r.dir, o.ClientCertificateKeyFile) // SetDirectory leaves it out
	}
	if h.FollowRedirects && r.given(at("follow_redirects")) {
		r.fault(at("follow_redirects"), "redirects are never followed: remove it")
	}
	h.SetDirectory(r.dir)
}

func (r *reading) tls(path string, t *promconfig.TLSConfig) {
	if err := t.Validate(); err != nil {
		r.fault(path, "%s", err)
	}
	if t.MaxVersion != 0 && t.MaxVersion < t.MinVersion {
		r.fault(path+".max_version", "lower than min_version")
	}
}

func (r *reading) url(path string, u *url.URL, schemes []string) {
	if u == nil || !r.given(path) {
		return
	}
	if why := urlFault(u.String(), schemes); why != "" {
		r.fault(path, "%s", why)
	}
}
