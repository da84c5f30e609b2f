package feed

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// Every field of text in the model has to pass the gate, also those of types to
// come: each is set to an escape sequence, and none may be left.
func TestGateCleansEveryFieldOfThePicture(t *testing.T) {
	var pic model.Instance
	n := poison(reflect.ValueOf(&pic).Elem(), 0)
	if n < 40 {
		t.Fatalf("only %d fields of text were found: this checks nothing", n)
	}
	if err := letIn(&pic); err != nil {
		t.Fatal(err)
	}
	left := leftovers(reflect.ValueOf(pic), "Instance")
	if len(left) > 0 {
		t.Errorf("not cleaned: %v", left)
	}
	for _, body := range bodies() {
		v := reflect.New(reflect.TypeOf(body)).Elem()
		poison(v, 0)
		events := []model.Event{{Chain: 0, Who: poisoned, Body: v.Interface().(model.Body)}}
		if err := letInEvents(&pic, events); err != nil {
			t.Errorf("%T: %v", body, err)
		}
		if left := leftovers(reflect.ValueOf(events), "events"); len(left) > 0 {
			t.Errorf("%T: not cleaned: %v", body, left)
		}
	}
}

const poisoned = "a\x1b[31mb"

func bodies() []model.Body {
	return []model.Body{
		model.Started{}, model.ProbeStarted{}, model.TryEnded{}, model.ProbeEnded{}, model.ChainChanged{}, model.UpstreamChanged{},
		model.ServingChanged{}, model.ReadyChanged{}, model.ClientsFelt{}, model.DrainChanged{}, model.CommandDone{}, model.UpstreamRead{}, model.TrafficRead{},
	}
}

// poison sets every text in v, with one element in every list, and counts them.
func poison(v reflect.Value, deep int) (n int) {
	if deep > 12 {
		return 0
	}
	switch k := v.Kind(); {
	case k == reflect.String:
		v.SetString(poisoned)
		return 1
	case k == reflect.Struct:
		if v.Type() == typeTime {
			return 0
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += poison(v.Field(i), deep+1)
			}
		}
	case k == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		n = poison(v.Index(0), deep+1)
	case k == reflect.Array:
		for i := range v.Len() {
			n += poison(v.Index(i), deep+1)
		}
	case k == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		n = poison(v.Elem(), deep+1)
	case k == reflect.Interface:
		if v.Type() == reflect.TypeFor[model.Body]() {
			v.Set(reflect.ValueOf(model.CommandDone{ID: poisoned, Answer: poisoned}))
			n = 2
		}
	}
	return n
}

func leftovers(v reflect.Value, path string) (left []string) {
	switch k := v.Kind(); {
	case k == reflect.String:
		if s := v.String(); clean.Text(s, maxRunes) != s {
			return []string{path}
		}
	case k == reflect.Struct:
		if v.Type() == typeTime {
			return nil
		}
		for i := range v.NumField() {
			left = append(left, leftovers(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	case k == reflect.Slice || k == reflect.Array:
		for i := range v.Len() {
			left = append(left, leftovers(v.Index(i), path+"[]")...)
		}
	case k == reflect.Pointer || k == reflect.Interface:
		if !v.IsNil() {
			left = leftovers(v.Elem(), path)
		}
	}
	return left
}

// Every field that is an index by its name and type is refused when it points
// nowhere.
func TestGateRefusesEveryIndexThatPointsNowhere(t *testing.T) {
	p := newPlant("e1", 2, 2)
	found := 0
	for _, body := range bodies() {
		if _, ok := body.(model.CommandDone); ok {
			continue // a refused one may name what is not there
		}
		v := reflect.New(reflect.TypeOf(body)).Elem()
		each(v, "", func(f reflect.Value, path string) {
			name := path[strings.LastIndex(path, ".")+1:]
			switch {
			case f.Kind() == reflect.Int && (name == "Upstream" || name == "From" || name == "Cause" || strings.HasSuffix(name, "Chain")):
				for _, bad := range []int64{2, -2, 1 << 40} {
					f.SetInt(bad)
					check(t, p, v, path)
				}
				f.SetInt(0)
				found++
			case name == "TipBy":
				f.Set(reflect.ValueOf([]int{0, 7}))
				check(t, p, v, path)
				f.SetZero()
				found++
			}
		})
	}
	if found < 12 {
		t.Errorf("only %d indexes were found: this checks too little", found)
	}
}

func check(t *testing.T, p *plant, v reflect.Value, path string) {
	t.Helper()
	// A copy by way of the wire, so that one poisoned field is one event's.
	text, err := json.Marshal(model.Event{Chain: 0, Body: v.Interface().(model.Body)})
	if err != nil {
		t.Fatal(err)
	}
	e, known, err := readEvent(text)
	if err != nil || !known {
		t.Fatalf("%s: %v", path, err)
	}
	if err := letInEvents(&p.inst, []model.Event{e}); err == nil {
		t.Errorf("%T%s is let in with an index there is not", v.Interface(), path)
	}
}

// each visits every field that survives the wire; of lists and pointers the one
// element it puts there.
func each(v reflect.Value, path string, visit func(reflect.Value, string)) {
	switch k := v.Kind(); {
	case k == reflect.Struct:
		if v.Type() == typeTime || v.Type() == typeInstance || v.Type() == reflect.TypeFor[model.Chain]() {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Tag.Get("json") != "-" {
				visit(v.Field(i), path+"."+f.Name)
				each(v.Field(i), path+"."+f.Name, visit)
			}
		}
	case k == reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			each(v.Index(0), path, visit)
			v.SetZero()
		}
	case k == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		each(v.Elem(), path, visit)
		v.SetZero()
	}
}

func TestGateRefusesPicturesThatDoNotHoldTogether(t *testing.T) {
	for name, spoil := range map[string]func(*model.Instance){
		"a chain that is missing": func(i *model.Instance) { i.Chains[1] = nil },
		"an upstream there is not": func(i *model.Instance) {
			i.Chains[0].Serving.Upstream = 2
		},
		"serving by an upstream of none": func(i *model.Instance) {
			i.Chains[0].Upstreams, i.Chains[0].Serving = nil, model.Serving{}
		},
		"too many upstreams": func(i *model.Instance) { i.Chains[0].Upstreams = make([]model.Upstream, 65) },
		"latencies that overwrite": func(i *model.Instance) {
			i.Chains[0].Upstreams[0].Latency = model.Latency{Next: 64, Samples: make([]time.Duration, 3)}
		},
		"a change of no chain": func(i *model.Instance) { i.Recent = []model.Event{{Chain: 2, Body: model.CommandDone{}}} },
		"a try of nobody": func(i *model.Instance) {
			i.Chains[0].History = []model.Probe{{Tries: []model.Try{{Upstream: 5}}}}
		},
	} {
		p := newPlant("e1", 2, 2)
		if err := letIn(&p.inst); err != nil {
			t.Fatalf("as it was: %v", err)
		}
		spoil(&p.inst)
		if err := letIn(&p.inst); err == nil {
			t.Errorf("%s is let in", name)
		}
	}
}

func TestPlainIsWhatCleaningLeavesAlone(t *testing.T) {
	for _, s := range []string{"", "a", "a b", " a", "a ", "a  b", "a\tb", "é", "a\x7fb", "\x1b[m", strings.Repeat("x", 200), strings.Repeat("x", 201)} {
		if plain(s) && clean.Text(s, maxRunes) != s {
			t.Errorf("%q is no plain text", s)
		}
	}
}
