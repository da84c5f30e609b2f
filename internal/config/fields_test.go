package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
	"go.yaml.in/yaml/v3"

	"chaintop/model"
)

// observed is all that the rest of the program sees of a file.
type observed struct {
	Instance  model.Instance
	Endpoints [][]seen
	Log       Log
	Listen    Listen
	Ready     Ready
	Drain     Drain
	Feed      Feed
	Gateways  []Gateway
	Gateway   Gateway
	Instances [][3]string
}

type seen struct {
	Name, URL, WSURL string
	HTTP             promconfig.HTTPClientConfig
}

func observe(text []byte) (observed, error) {
	files := map[string]string{"one": "http://one.example", "two": "http://two.example"}
	env := Env{ReadFile: func(path string) ([]byte, error) {
		if content, ok := files[path]; ok {
			return []byte(content), nil
		}
		return nil, errNoFile
	}}
	c, err := Parse("c.yml", text, env)
	if err != nil {
		return observed{}, err
	}
	o := observed{
		Instance: c.Instance("host", "build"), Log: c.Log(), Listen: c.Listen(), Ready: c.Ready(), Drain: c.Drain(),
		Feed: c.Feed(), Gateways: c.Gateways(), Gateway: c.DefaultGateway(),
	}
	for _, i := range c.Instances() {
		o.Instances = append(o.Instances, [3]string{i.Alias, i.URL.Reveal(), i.TokenFile})
	}
	for _, chain := range c.Endpoints() {
		var all []seen
		for _, e := range chain {
			all = append(all, seen{e.Name, e.URL.Reveal(), e.WSURL.Reveal(), e.HTTP})
		}
		o.Endpoints = append(o.Endpoints, all)
	}
	return o, nil
}

// leaf is one field of the file that holds a value, by the keys on the way to
// it; a list is entered by its first element.
type leaf struct {
	path []string
	typ  reflect.Type
}

func (l leaf) String() string { return strings.Join(l.path, ".") }

// leaves walks the schema: a field that is added to it is found here.
func leaves(t reflect.Type, path []string) (all []leaf) {
	down := func(t reflect.Type, key string) []leaf {
		return leaves(t, append(path[:len(path):len(path)], key))
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[promconfig.URL]() || t.Kind() == reflect.Interface:
		return []leaf{{path, reflect.TypeFor[string]()}}
	case t == reflect.TypeFor[ready]() || t == reflect.TypeFor[hedge]() || t == reflect.TypeFor[time.Time]():
		return []leaf{{path, t}}
	case t == reflect.TypeFor[remotes]():
		return down(t.Elem(), "X-Any")
	case t.Kind() == reflect.Slice:
		return down(t.Elem(), "0")
	case t.Kind() == reflect.Map:
		return down(t.Elem(), "X-Any")
	case t.Kind() != reflect.Struct:
		return []leaf{{path, t}}
	}
	f := (&reading{known: map[reflect.Type]*fields{}}).fieldsOf(t)
	for _, own := range f.list {
		all = append(all, down(own.typ, own.key)...)
	}
	if f.rest != nil {
		all = append(all, down(t.FieldByIndex(f.rest).Type.Elem(), "X-Any")...)
	}
	return all
}

// two are two values of a leaf, both in order.
func (l leaf) two() (a, b any) {
	key := l.path[len(l.path)-1]
	if words, ok := map[string][2]any{
		"listen.gateway": {"127.0.0.1:1", ""}, "listen.ops": {"127.0.0.1:1", ""}, "ready": {"any", []string{"base/jsonrpc"}},
		"drain.mode": {"idle", "immediate"}, "feed.tokens.0.role": {"viewer", "operator"},
		"feed.tokens.0.expires": {"2030-01-01T00:00:00Z", ""}, "feed.origins.0": {"http://one.example", "http://two.example"},
		"instances.X-Any.url": {"ws://one.example", "ws://two.example"},
	}[l.String()]; ok {
		return words[0], words[1]
	}
	if words, ok := map[string][2]any{
		"level": {"debug", "error"}, "format": {"text", "json"}, "family": {"evm", "http"},
		"inconclusive_recovers": {"unknown", "all"}, "tier": {"primary", "backup"}, "chain_id": {"1", "2"},
		"url": {"http://one.example", "http://two.example"}, "token_url": {"http://one.example", "http://two.example"},
		"proxy_url": {"http://one.example", "http://two.example"}, "ws_url": {"ws://one.example", "ws://two.example"},
		"hedge_after": {"auto", "7s"},
		// Said or not: redirects are never followed.
		"follow_redirects": {false, nil},
	}[key]; ok {
		return words[0], words[1]
	}
	switch l.typ {
	case reflect.TypeFor[time.Duration]():
		return "7s", "8s"
	case reflect.TypeFor[promconfig.TLSVersion]():
		return "TLS12", "TLS13"
	}
	switch kind := l.typ.Kind(); {
	case kind == reflect.Bool:
		return true, false
	case kind == reflect.String:
		return "one", "two"
	}
	return 7, 8
}

// with are the fields a leaf cannot stand without, or stands beside instead of
// what the file has.
func (l leaf) with() map[string]any {
	key := l.path[len(l.path)-1]
	add := map[string]any{}
	dir := strings.Join(l.path[:len(l.path)-1], ".") + "."
	switch l.path[0] {
	case "drain":
		add["drain.idle"] = "1s" // max is not below it
	case "feed":
		if l.path[1] == "tokens" {
			add[dir+"name"], add[dir+"role"], add[dir+"token_file"] = "oncall", "viewer", "one"
		}
		if l.path[1] == "tls" {
			add[dir+"cert_file"], add[dir+"key_file"] = "one", "one"
		}
		return add
	case "instances":
		add[dir+"url"] = "ws://base.example"
		return add
	}
	switch key {
	case "url_file":
		add[dir+"url"] = nil
	case "cert", "cert_file":
		add[dir+"key"] = "k"
	case "key", "key_file":
		add[dir+"cert"] = "c"
	case "no_proxy":
		add[dir+"proxy_url"] = "http://p.example"
	}
	if i := slices.Index(l.path, "proxy_connect_header"); i >= 0 {
		add[strings.Join(l.path[:i], ".")+".proxy_url"] = "http://p.example"
	}
	if i := slices.Index(l.path, "oauth2"); i >= 0 {
		dir := strings.Join(l.path[:i+1], ".")
		add[dir+".client_id"], add[dir+".token_url"] = "id", "http://t.example"
	}
	return add
}

// text is a file in which l has that value.
func (l leaf) text(value any) []byte {
	doc := map[string]any{}
	put(doc, strings.Split("chains.0.name", "."), "base")
	put(doc, strings.Split("chains.0.upstreams.0.name", "."), "up")
	put(doc, strings.Split("chains.0.upstreams.0.url", "."), "http://base.example")
	for path, v := range l.with() {
		put(doc, strings.Split(path, "."), v)
	}
	put(doc, l.path, value)
	out, err := yaml.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return out
}

// put sets the value at path, nil to take it away; lists have one element.
func put(at map[string]any, path []string, value any) {
	key := path[0]
	if len(path) == 1 {
		if value == nil {
			delete(at, key)
		} else {
			at[key] = value
		}
		return
	}
	if path[1] == "0" {
		if len(path) == 2 {
			at[key] = []any{value}
			return
		}
		list, _ := at[key].([]any)
		if list == nil {
			list = []any{map[string]any{}}
			at[key] = list
		}
		put(list[0].(map[string]any), path[2:], value)
		return
	}
	inner, _ := at[key].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
		at[key] = inner
	}
	put(inner, path[1:], value)
}

// ignored are the fields of which look does not see whether they are set to one
// value or another.
func ignored(t *testing.T, look func([]byte) (observed, error)) (names []string) {
	t.Helper()
	for _, l := range leaves(reflect.TypeFor[document](), nil) {
		a, b := l.two()
		was, err := look(l.text(a))
		if err != nil {
			t.Errorf("%v = %v: %v", l, a, err)
			continue
		}
		is, err := look(l.text(b))
		if err != nil {
			t.Errorf("%v = %v: %v", l, b, err)
			continue
		}
		if reflect.DeepEqual(was, is) {
			names = append(names, l.String())
		}
	}
	return names
}

// A field nobody reads is a lie.
func TestEachFieldCounts(t *testing.T) {
	all := leaves(reflect.TypeFor[document](), nil)
	if len(all) < 120 {
		t.Errorf("found %d fields: %v", len(all), all)
	}
	for _, name := range ignored(t, observe) {
		t.Errorf("%s: nothing changes with its value", name)
	}
}

// The test above sees a field that is forgotten, and names it.
func TestEachFieldCountsSeesAForgottenOne(t *testing.T) {
	rows := []struct {
		forget func(*observed)
		want   []string
	}{
		{func(o *observed) { o.Listen.OpsSet, o.Listen.Ops = false, "" }, []string{"listen.ops"}},
		{func(o *observed) { o.Ready, o.Instance.Policy = Ready{}, "" }, []string{"ready"}},
		{func(o *observed) { o.Drain.Max = 0 }, []string{"drain.max"}},
		{func(o *observed) { o.Feed.Tokens = nil },
			[]string{"feed.tokens.0.name", "feed.tokens.0.role", "feed.tokens.0.token_file", "feed.tokens.0.expires"}},
		{func(o *observed) { o.Gateway = Gateway{}; o.Gateways[0].Deny = nil }, []string{"defaults.gateway.deny.0", "chains.0.gateway.deny.0"}},
		{func(o *observed) { o.Instances = nil }, []string{"instances.X-Any.url", "instances.X-Any.token_file"}},
		{func(o *observed) { o.Log.Format = "" }, []string{"log.format"}},
		{func(o *observed) { o.Instance.Version = "" }, []string{"instance.version"}},
		{func(o *observed) { o.Instance.Chains[0].Settings.Fall = 3 }, []string{"defaults.check.fall", "chains.0.check.fall"}},
		{func(o *observed) { o.Instance.Chains[0].Upstreams[0].Tier = 0 }, []string{"chains.0.upstreams.0.tier"}},
		{func(o *observed) { o.Endpoints[0][0].URL = "" }, []string{"chains.0.upstreams.0.url", "chains.0.upstreams.0.url_file"}},
		{func(o *observed) { o.Endpoints[0][0].HTTP.EnableHTTP2 = true }, []string{"chains.0.upstreams.0.http.enable_http2"}},
	}
	for _, r := range rows {
		got := ignored(t, func(text []byte) (observed, error) {
			o, err := observe(text)
			if err == nil {
				r.forget(&o)
			}
			return o, err
		})
		if !slices.Equal(got, r.want) {
			t.Errorf("forgotten: %v; named: %v", r.want, got)
		}
	}
	blind := ignored(t, func([]byte) (observed, error) { return observed{}, nil })
	if got, want := fmt.Sprint(blind), fmt.Sprint(leaves(reflect.TypeFor[document](), nil)); got != want {
		t.Errorf("blind, it names %s", got)
	}
}
