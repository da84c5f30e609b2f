package feed

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// gate is where a picture and events from another machine enter (X2): text is
// made safe to show, and an index that points nowhere is refused, so that
// whoever folds and draws may rely on them as on our own.
type gate struct {
	upstreams []int // how many the chain at an index has
	here      int   // of the chain at hand; -1 = any
	err       error
}

var (
	typeTime     = reflect.TypeFor[time.Time]()
	typeEvent    = reflect.TypeFor[model.Event]()
	typeInstance = reflect.TypeFor[model.Instance]()
	typeLatency  = reflect.TypeFor[model.Latency]()
	typeServing  = reflect.TypeFor[model.Serving]()
	typeDone     = reflect.TypeFor[model.CommandDone]()
)

// letIn makes a picture safe, or says why it cannot be one.
func letIn(pic *model.Instance) error {
	g := gate{here: -1}
	g.instance(pic)
	return g.err
}

// letInEvents makes events after a picture safe, or says why they cannot be.
func letInEvents(pic *model.Instance, events []model.Event) error {
	g := gate{here: -1, upstreams: counts(pic)}
	for i := range events {
		g.event(&events[i])
		if b, ok := events[i].Body.(model.Started); ok && g.err == nil {
			g.upstreams = counts(&b.Instance)
		}
	}
	return g.err
}

func counts(pic *model.Instance) []int {
	n := make([]int, len(pic.Chains))
	for i, c := range pic.Chains {
		n[i] = len(c.Upstreams)
	}
	return n
}

func (g *gate) refuse(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *gate) instance(pic *model.Instance) {
	for i, c := range pic.Chains {
		if c == nil {
			g.refuse("chain %d is missing", i)
			return
		}
		if len(c.Upstreams) > model.MostUpstreams {
			g.refuse("chain %d has %d upstreams", i, len(c.Upstreams))
			return
		}
	}
	if len(pic.Recent) > model.RecentChanges {
		pic.Recent = pic.Recent[len(pic.Recent)-model.RecentChanges:]
	}
	inner := gate{here: -1, upstreams: counts(pic)}
	v := reflect.ValueOf(pic).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i).Name; f != "Chains" && f != "Recent" {
			inner.value(v.Field(i))
		}
	}
	for i, c := range pic.Chains {
		inner.here = inner.upstreams[i]
		inner.value(reflect.ValueOf(c).Elem())
	}
	for i := range pic.Recent {
		inner.event(&pic.Recent[i])
	}
	if g.err == nil {
		g.err = inner.err
	}
}

func (g *gate) event(e *model.Event) {
	if e.Chain < -1 || e.Chain >= len(g.upstreams) {
		g.refuse("an event of chain %d of %d", e.Chain, len(g.upstreams))
		return
	}
	if e.Body == nil {
		g.refuse("an event without a body")
		return
	}
	g.here = -1
	if e.Chain >= 0 {
		g.here = g.upstreams[e.Chain]
	}
	e.Who = cleaned(e.Who)
	g.value(reflect.ValueOf(&e.Body).Elem())
	g.here = -1
}

// value makes what can be set safe, all the way down.
func (g *gate) value(v reflect.Value) {
	if g.err != nil || !matters(v.Type()) {
		return
	}
	switch k := v.Kind(); {
	case k == reflect.String:
		if s := v.String(); !plain(s) {
			v.SetString(cleaned(s))
		}
	case k == reflect.Struct:
		g.fields(v)
	case k == reflect.Slice || k == reflect.Array:
		for i := range v.Len() {
			g.value(v.Index(i))
		}
	case k == reflect.Pointer:
		if !v.IsNil() {
			g.value(v.Elem())
		}
	case k == reflect.Interface:
		if !v.IsNil() { // what is inside cannot be set in place
			inside := reflect.New(v.Elem().Type()).Elem()
			inside.Set(v.Elem())
			g.value(inside)
			v.Set(inside)
		}
	case k == reflect.Map:
		g.entries(v)
	}
}

func (g *gate) entries(v reflect.Value) {
	safe := reflect.MakeMapWithSize(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(it.Key())
		val.Set(it.Value())
		g.value(key)
		g.value(val)
		safe.SetMapIndex(key, val)
	}
	if !v.IsNil() {
		v.Set(safe)
	}
}

func (g *gate) fields(v reflect.Value) {
	switch t := v.Type(); t {
	case typeTime:
		return
	case typeInstance:
		pic := v.Interface().(model.Instance)
		g.instance(&pic)
		v.Set(reflect.ValueOf(pic))
		return
	case typeEvent:
		e := v.Interface().(model.Event)
		g.event(&e)
		v.Set(reflect.ValueOf(e))
		return
	case typeLatency:
		if l := v.Interface().(model.Latency); l.Next < 0 || l.Next > len(l.Samples) || len(l.Samples) > 64 {
			g.refuse("latencies point at %d of %d", l.Next, len(l.Samples))
		}
		return
	}
	// A refused command may name what is not there; what was never set points
	// nowhere, but for where requests go.
	free := v.Type() == typeDone || (v.IsZero() && v.Type() != typeServing)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if !free {
			g.index(f, v.Field(i))
		}
		g.value(v.Field(i))
	}
}

// index refuses a field that points at an upstream or a chain there is not. By
// the words of the model a field of these names and this type is an index.
func (g *gate) index(f reflect.StructField, v reflect.Value) {
	check := func(n, most int) {
		if n < -1 || (most >= 0 && n >= most) {
			g.refuse("%s %d of %d", f.Name, n, most)
		}
	}
	switch {
	case f.Type.Kind() == reflect.Int && (f.Name == "Upstream" || f.Name == "From"):
		check(int(v.Int()), g.here)
	case f.Type.Kind() == reflect.Int && (strings.HasSuffix(f.Name, "Chain") || f.Name == "Cause"):
		check(int(v.Int()), max(len(g.upstreams), 1)) // 0 is also what was never set
	case f.Name == "TipBy":
		for i := range v.Len() {
			if v.Index(i).Int() < 0 {
				g.refuse("%s %d", f.Name, v.Index(i).Int())
			}
			check(int(v.Index(i).Int()), g.here)
		}
	}
}

// matters says whether there can be text or an index in a value of the type. It
// is asked for every value, and the types are few.
func matters(t reflect.Type) bool {
	if known, ok := mattering.Load(t); ok {
		return known.(bool)
	}
	yes := inspect(t, map[reflect.Type]bool{})
	mattering.Store(t, yes)
	return yes
}

var mattering sync.Map // reflect.Type → bool

func inspect(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch k := t.Kind(); {
	case k == reflect.String || k == reflect.Interface || k == reflect.Map:
		return true
	case k == reflect.Slice || k == reflect.Array || k == reflect.Pointer:
		return inspect(t.Elem(), seen)
	case k == reflect.Struct:
		if t == typeTime {
			return false
		}
		for i := range t.NumField() {
			f := t.Field(i)
			switch f.Name {
			case "Upstream", "From", "Chain", "OldChain", "Cause", "TipBy", "Samples":
				return true
			}
			if inspect(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

func cleaned(s string) string {
	if plain(s) {
		return s
	}
	return clean.Text(s, maxRunes)
}

// plain says that cleaning would change nothing, for the text that nearly all
// is: printable ASCII, not long, single spaces.
func plain(s string) bool {
	if len(s) > maxRunes {
		return false
	}
	space := true // none at the start
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || (c == ' ' && space) {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

var errNoPicture = errors.New("it is not a picture of an instance")
