package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"chaintop/model"
)

// Which chains count for readiness (SPEC D2).
const (
	ReadyAll       = "all"       // every chain
	ReadyAny       = "any"       // one healthy chain is enough
	ReadyConsensus = "consensus" // consensus groups only
	ReadyChains    = "chains"    // those listed
)

var readyNames = []string{ReadyAll, ReadyAny, ReadyConsensus}

// ready is a word or a list of chains.
type ready struct {
	mode   string
	chains []string
}

// policy is the same as the model has it: its words are ours.
func (r ready) policy() model.Policy {
	if r.mode == ReadyChains {
		return model.Policy(strings.Join(r.chains, ","))
	}
	return model.Policy(r.mode)
}

// wordOrChains decodes a ready.
func (r *reading) wordOrChains(n *yaml.Node, path string, out *ready) {
	switch kind := n.Kind; {
	case kind == yaml.SequenceNode:
		*out = ready{mode: ReadyChains}
		r.list(n, path, reflect.ValueOf(&out.chains).Elem())
	case kind == yaml.ScalarNode:
		r.scalar(n, path, reflect.ValueOf(&out.mode).Elem())
	default:
		r.fault(path, "want all, any, consensus or a list of chains ([ethereum/jsonrpc, …]), found %s", kindName(n))
	}
}

func (r *reading) ready(doc *document) {
	const path = "ready"
	is := &doc.Ready
	if is.mode != ReadyChains || !r.listed(path) {
		if r.given(path) && !slices.Contains(readyNames, is.mode) {
			r.fault(path, "%s is not known: want all, any, consensus or a list of chains ([ethereum/jsonrpc, …])", shown(r.at[path]))
		}
		return
	}
	if len(is.chains) == 0 {
		r.fault(path, "an empty list: want all, any, consensus or the chains that count ([ethereum/jsonrpc, …])")
		return
	}
	keys, certain := chainKeys(doc.Chains)
	first := map[string]int{}
	for i, key := range is.chains {
		at := path + "[" + strconv.Itoa(i) + "]"
		if !r.given(at) {
			continue
		}
		if other, ok := first[key]; ok {
			r.fault(at, "given twice: it is ready[%d] already", other)
			continue
		}
		first[key] = i
		if slices.Contains(keys, key) || !certain {
			continue
		}
		r.fault(at, "%s is no chain here: %s", shown(r.at[at]), meantChain(key, keys))
	}
}

// listed says whether the file gives a list at path.
func (r *reading) listed(path string) bool {
	return r.at[path] != nil && r.at[path].Kind == yaml.SequenceNode
}

// chainKeys are the keys of the chains, and whether that is all of them: a
// chain whose name is at fault may be the one that is meant.
func chainKeys(chains []chain) (keys []string, certain bool) {
	certain = true
	for i := range chains {
		c := &chains[i]
		if c.Name == "" || c.Interface == "" {
			certain = false
			continue
		}
		keys = append(keys, c.Name+"/"+c.Interface)
	}
	return keys, certain
}

// meantChain says which of the keys may be meant.
func meantChain(key string, keys []string) string {
	for _, k := range keys {
		if name, _, _ := strings.Cut(k, "/"); name == key {
			return "did you mean " + k + "?"
		}
	}
	if near := model.Nearest(key, keys); near != "" {
		return "did you mean " + near + "?"
	}
	return "want name/interface of one of chains"
}
