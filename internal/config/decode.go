package config

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"
	"go.yaml.in/yaml/v3"
)

// Bounds on what a file unfolds to: an alias may stand for much, in many
// places.
const (
	maxValues = 100_000
	maxDepth  = 32
)

// reading is one reading of one file: the decoder, and what the rules need to
// name a place. A fault says what is wrong and never repeats a value that came
// from the environment or a file.
type reading struct {
	env    Env
	dir    string // of the file; relative paths begin there
	faults Errors

	at    map[string]*yaml.Node // values the file gives, by path
	keys  map[string]*yaml.Node // the keys of fields it names, by path
	bad   map[string]bool       // paths with a fault
	holds map[string]bool       // paths with a fault at or below them
	files []named               // files that must be there
	left  int                   // values that may still be decoded
	over  bool                  // there were more
	depth int

	merging map[*yaml.Node]bool // what a << on the way to here brings
	known   map[reflect.Type]*fields
	blank   func(reflect.Type) (reflect.Value, bool)
}

// named is a field that names a file.
type named struct{ path, file string }

// fault notes what is wrong at path. Where the file says nothing there, the
// line is that of what holds it.
func (r *reading) fault(path, format string, args ...any) {
	r.faultAt(r.place(path), path, format, args...)
}

// place is what the file has at path, or what holds it.
func (r *reading) place(path string) *yaml.Node {
	for p := path; ; p = above(p) {
		if n := cmp.Or(r.at[p], r.keys[p]); n != nil {
			return n
		}
	}
}

// faultAt is fault at a node that is no value of the schema.
func (r *reading) faultAt(n *yaml.Node, path, format string, args ...any) {
	r.faults = append(r.faults, Fault{Line: n.Line, Column: n.Column, Path: path, Text: fmt.Sprintf(format, args...)})
	r.bad[path] = true
	for p := path; p != ""; p = above(p) {
		r.holds[p] = true
	}
}

// above is the path of what holds path; the root's is empty.
func above(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// spend says whether n more values may be decoded.
func (r *reading) spend(n int, at *yaml.Node, path string) bool {
	r.left -= n
	if r.left < 0 && !r.over {
		r.over = true
		r.faultAt(at, path, "more than %d values once aliases are written out", maxValues)
	}
	return !r.over
}

// value decodes n, which stands at path, into out. A null leaves out as it is.
func (r *reading) value(n *yaml.Node, path string, out reflect.Value) {
	n, ok := r.enter(n, path)
	if !ok {
		return
	}
	defer func() { r.depth-- }()
	for out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	switch v := out.Addr().Interface().(type) {
	case *time.Duration, *time.Time, *hedge, *promconfig.URL, *promconfig.TLSVersion:
		r.scalar(n, path, out)
		return
	case *ready:
		r.wordOrChains(n, path, v)
		return
	case *remotes:
		r.aliased(n, path, v)
		return
	}
	switch kind := out.Kind(); {
	case kind == reflect.Struct:
		r.fields(n, path, out)
	case kind == reflect.Map:
		r.mapping(n, path, out)
	case kind == reflect.Slice:
		r.list(n, path, out)
	case kind == reflect.Interface:
		if v, ok := r.free(n, path); ok && v != nil {
			out.Set(reflect.ValueOf(v))
		}
	default:
		r.scalar(n, path, out)
	}
}

// enter follows aliases and says whether there is a value to decode; then the
// caller leaves by depth--.
func (r *reading) enter(n *yaml.Node, path string) (*yaml.Node, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case !r.spend(1, n, path):
		return nil, false
	case r.depth >= maxDepth:
		r.faultAt(n, path, "nested deeper than %d", maxDepth)
		return nil, false
	}
	tag := n.ShortTag()
	switch {
	case !slices.Contains(knownTags, tag):
		// What follows the ! may be a key that wants quotes: it is not shown.
		r.faultAt(n, path, "a tag (!…) that means nothing here: quote a value that begins with !")
		return nil, false
	case tag == "!!null" && n.Anchor != "":
		r.faultAt(n, path, "an anchor (&…) of nothing: quote a value that begins with &")
		return nil, false
	case tag == "!!null":
		return nil, false
	}
	r.at[path] = n
	r.depth++
	return n, true
}

var knownTags = []string{"!!null", "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge", "!!map", "!!seq"}

// fields decodes a map into a struct, in the order of the struct's fields.
func (r *reading) fields(n *yaml.Node, path string, out reflect.Value) {
	f := r.fieldsOf(out.Type())
	given := map[string]entry{}
	for _, e := range r.entries(n, path, `want keys and values ("key: value")`) {
		if _, ok := f.byKey[e.name]; ok {
			given[e.name] = e
			continue
		}
		if f.rest != nil {
			r.element(e, path, out.FieldByIndex(f.rest))
			continue
		}
		r.unknown(e.key, path, f)
	}
	for _, field := range f.list {
		if e, ok := given[field.key]; ok {
			at := join(path, field.key)
			r.keys[at] = e.key
			r.value(e.value, at, out.FieldByIndex(field.index))
		}
	}
}

// mapping decodes a map with keys of the file's own choice.
func (r *reading) mapping(n *yaml.Node, path string, out reflect.Value) {
	for _, e := range r.entries(n, path, `want keys and values ("key: value")`) {
		r.element(e, path, out)
	}
}

func (r *reading) element(e entry, path string, out reflect.Value) {
	if out.IsNil() {
		out.Set(reflect.MakeMap(out.Type()))
	}
	at := path + keyed(path, e.name)
	if at == path {
		at = join(path, "?")
	}
	v := reflect.New(out.Type().Elem()).Elem()
	r.value(e.value, at, v)
	out.SetMapIndex(reflect.ValueOf(e.name).Convert(out.Type().Key()), v)
}

// list decodes a list, each element beginning as its blank.
func (r *reading) list(n *yaml.Node, path string, out reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		r.fault(path, `want a list ("- …" or [ … ]), found %s`, kindName(n))
		return
	}
	all := reflect.MakeSlice(out.Type(), 0, min(len(n.Content), 1024))
	for i, c := range n.Content {
		if r.over {
			break
		}
		at := path + "[" + strconv.Itoa(i) + "]"
		v := reflect.New(out.Type().Elem()).Elem()
		if b, ok := r.blank(v.Type()); ok {
			v.Set(b)
		}
		r.value(c, at, v)
		if r.at[at] == nil && !r.bad[at] {
			r.faultAt(c, at, "an entry of the list that is empty")
		}
		all = reflect.Append(all, v)
	}
	out.Set(all)
}

// scalar decodes one value.
func (r *reading) scalar(n *yaml.Node, path string, out reflect.Value) {
	s, ok := r.text(n, path)
	if !ok {
		return
	}
	switch v := out.Addr().Interface().(type) {
	case *time.Duration:
		r.duration(n, path, s, v)
		return
	case *time.Time:
		r.moment(n, path, s, v)
		return
	case *hedge:
		r.hedge(n, path, s, v)
		return
	case *size:
		r.size(n, path, s, v)
		return
	case *promconfig.URL:
		// Its text may hold a password, and so may the parser's error.
		u, err := url.Parse(s)
		if err != nil {
			r.fault(path, "not a URL")
			return
		}
		v.URL = u
		return
	case *promconfig.TLSVersion:
		known, ok := promconfig.TLSVersions[s]
		if !ok {
			r.fault(path, "want TLS10, TLS11, TLS12 or TLS13")
			return
		}
		*v = known
		return
	}
	switch kind := out.Kind(); {
	case kind == reflect.String:
		out.SetString(s)
		if fileField(path) && s != "" {
			r.files = append(r.files, named{path: path, file: s})
		}
	case kind == reflect.Int:
		r.whole(n, path, s, out)
	case kind == reflect.Uint64:
		r.count(n, path, s, out)
	case kind == reflect.Bool:
		r.yesNo(path, s, out)
	default:
		panic("config: no rule for " + out.Type().String()) // TestEachFieldCounts decodes every field
	}
}

// join is the path of key in what stands at path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
