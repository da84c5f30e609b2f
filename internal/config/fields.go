package config

import (
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"chaintop/model"
)

// fields are the keys a struct takes, by the yaml tags of its fields.
type fields struct {
	list  []field
	byKey map[string]field
	rest  []int // of the inline map that takes every other key; nil = none
}

type field struct {
	key   string
	index []int // for FieldByIndex
	typ   reflect.Type
}

func (r *reading) fieldsOf(t reflect.Type) *fields {
	if f, ok := r.known[t]; ok {
		return f
	}
	f := &fields{byKey: map[string]field{}}
	f.add(t, nil)
	r.known[t] = f
	return f
}

func (f *fields) add(t reflect.Type, at []int) {
	for i := range t.NumField() {
		s := t.Field(i)
		tag, ok := s.Tag.Lookup("yaml")
		if !ok || !s.IsExported() {
			continue
		}
		index := append(at[:len(at):len(at)], i)
		key, options, _ := strings.Cut(tag, ",")
		switch {
		case strings.Contains(options, "inline") && s.Type.Kind() == reflect.Map:
			f.rest = index
		case strings.Contains(options, "inline"):
			f.add(s.Type, index)
		case strings.HasSuffix(key, refSuffix):
			// Of a secret manager's, and there is none.
		default:
			added := field{key: key, index: index, typ: s.Type}
			f.list = append(f.list, added)
			f.byKey[key] = added
		}
	}
}

// How keys end that name a secret of a secret manager's, and a file.
const (
	refSuffix  = "_ref"
	fileSuffix = "_file"
)

// entry is one key of a map and its value.
type entry struct {
	name       string
	key, value *yaml.Node
}

// entries are what a map holds once merges (<<) are written out: its own keys,
// then those that only what it merges has, the first of several counting.
func (r *reading) entries(n *yaml.Node, path, want string) []entry {
	if n.Kind != yaml.MappingNode {
		r.faultAt(n, path, "%s, found %s", want, kindName(n))
		return nil
	}
	seen := map[string]int{}
	var all []entry
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			r.faultAt(k, path, "a key must be a word, found %s", kindName(k))
			continue
		}
		if line, ok := seen[k.Value]; ok {
			r.faultAt(k, path+keyed(path, k.Value), "a key given twice: the first is in line %d", line)
			continue
		}
		seen[k.Value] = k.Line
		if k.ShortTag() == "!!merge" {
			merges = append(merges, v)
			continue
		}
		all = append(all, entry{name: k.Value, key: k, value: v})
	}
	for _, m := range merges {
		for _, e := range r.merged(m, path) {
			if _, ok := seen[e.name]; !ok {
				seen[e.name] = e.key.Line
				all = append(all, e)
			}
		}
	}
	return all
}

// merged is what the value of one << brings.
func (r *reading) merged(n *yaml.Node, path string) []entry {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case !r.spend(1+len(n.Content)/2, n, path):
		return nil
	case r.merging[n]:
		r.faultAt(n, path, "<< merges this into itself")
		return nil
	}
	r.merging[n] = true
	defer delete(r.merging, n)
	if n.Kind != yaml.SequenceNode {
		return r.entries(n, path, "<< wants an alias (*…) of keys and values, or a list of such")
	}
	var all []entry
	for _, m := range n.Content {
		all = append(all, r.merged(m, path)...)
	}
	return all
}

// A key as a path shows it. What looks otherwise may be a value that slipped
// into the place of a key.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,29}$`)

// keyed is how a key ends a path, nothing if it is not shown.
func keyed(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return ""
	case path == "":
		return key
	}
	return "." + key
}

// unknown notes a key that no field has, with the field that may be meant.
func (r *reading) unknown(key *yaml.Node, path string, f *fields) {
	at := path + keyed(path, key.Value)
	if at == path {
		r.faultAt(key, path, "a key that is no field's name; %s", f.known())
		return
	}
	name := key.Value
	secret, isRef := strings.CutSuffix(name, refSuffix)
	if isRef {
		_, isRef = f.byKey[secret+fileSuffix]
	}
	switch meant := f.below(name); {
	case isRef:
		r.faultAt(key, at, "there is no secret manager here: want %s", secret+fileSuffix)
	case len(meant) > 0:
		r.faultAt(key, at, "unknown key; did you mean %s?", strings.Join(meant, " or "))
	default:
		hint := f.known()
		if near := model.Nearest(name, f.names()); near != "" {
			hint = "did you mean " + near + "?"
		}
		r.faultAt(key, at, "unknown key; %s", hint)
	}
}

func (f *fields) names() []string {
	all := make([]string, len(f.list))
	for i, own := range f.list {
		all[i] = own.key
	}
	return all
}

func (f *fields) known() string { return "want one of " + strings.Join(f.names(), ", ") }

// below are the paths of the fields of that name one level deeper.
func (f *fields) below(name string) (all []string) {
	for _, own := range f.list {
		t := own.typ
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			continue
		}
		inner := &fields{byKey: map[string]field{}}
		inner.add(t, nil)
		if _, ok := inner.byKey[name]; ok {
			all = append(all, own.key+"."+name)
		}
	}
	return all
}
