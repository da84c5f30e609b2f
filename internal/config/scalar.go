package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"chaintop/internal/clean"
)

// text is the text of a single value with its variables written out.
func (r *reading) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		r.fault(path, "want a single value, found %s", kindName(n))
		return "", false
	}
	return r.expand(n, path)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand writes out the environment variables of a value: ${NAME}. $${ is a ${
// that stays. Line ends at the end of a variable go, as in a shell.
func (r *reading) expand(n *yaml.Node, path string) (string, bool) {
	rest, ok := n.Value, true
	var out strings.Builder
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			out.WriteString(rest)
			return out.String(), ok
		}
		if text, escaped := strings.CutSuffix(before, "$"); escaped {
			out.WriteString(text + "${")
			rest = after
			continue
		}
		out.WriteString(before)
		name, next, closed := strings.Cut(after, "}")
		if !closed {
			r.fault(path, "a ${ that no } closes; write $${ for the text ${")
			return "", false
		}
		v, set := r.variable(name, path)
		if out.WriteString(v); out.Len() > maxFile {
			r.fault(path, "longer than 1 MiB once variables are written out")
			return "", false
		}
		rest, ok = next, ok && set
	}
}

func (r *reading) variable(name, path string) (string, bool) {
	if !variableName.MatchString(name) {
		r.fault(path, "a ${…} that names no environment variable: want ${NAME}; write $${ for the text ${")
		return "", false
	}
	v, set := r.env.Getenv(name)
	if !set {
		r.fault(path, "the environment variable %s is not set", clean.Text(name, maxName))
	}
	return strings.TrimRight(v, "\r\n"), set
}

// shown is the value as it stands in the file, before variables are written
// out: what they hold is never shown, nor what may be a key in the wrong field.
func shown(n *yaml.Node) string {
	if len(n.Value) > maxShown || strings.Contains(n.Value, "://") {
		return fmt.Sprintf("this value (%d characters)", utf8.RuneCountInString(n.Value))
	}
	return strconv.Quote(clean.Text(n.Value, maxShown))
}

// maxShown is the length from which a value or a key is not shown: a fault
// names its place, and what is long may be secret.
const maxShown = 24

var bareNumber = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?$`)

func (r *reading) duration(n *yaml.Node, path, s string, out *time.Duration) {
	d, err := time.ParseDuration(s)
	switch {
	case bareNumber.MatchString(s) && s == n.Value:
		r.fault(path, "%s has no unit: write %ss, or %sm", shown(n), s, s)
	case bareNumber.MatchString(s):
		r.fault(path, "%s has no unit: want 30s, 5m or 1h30m", shown(n))
	case err != nil:
		r.fault(path, "%s is no duration: want 30s, 5m or 1h30m", shown(n))
	default:
		*out = d
	}
}

func (r *reading) whole(n *yaml.Node, path, s string, out reflect.Value) {
	v, err := strconv.ParseInt(s, 10, out.Type().Bits())
	switch {
	case errors.Is(err, strconv.ErrRange):
		r.fault(path, "%s is out of range", shown(n))
	case err != nil:
		r.fault(path, "%s is no whole number", shown(n))
	default:
		out.SetInt(v)
	}
}

func (r *reading) count(n *yaml.Node, path, s string, out reflect.Value) {
	v, err := strconv.ParseUint(s, 10, out.Type().Bits())
	switch {
	case errors.Is(err, strconv.ErrRange):
		r.fault(path, "%s is out of range", shown(n))
	case strings.HasPrefix(s, "-") && bareNumber.MatchString(s):
		r.fault(path, "%s is negative: want 0 or more", shown(n))
	case err != nil:
		r.fault(path, "%s is no whole number", shown(n))
	default:
		out.SetUint(v)
	}
}

func (r *reading) yesNo(path, s string, out reflect.Value) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		out.SetBool(true)
	case "false", "no", "off":
		out.SetBool(false)
	default:
		r.fault(path, "want true or false")
	}
}

// free decodes a value of no fixed type, as JSON would have it.
func (r *reading) free(n *yaml.Node, path string) (any, bool) {
	switch {
	case n.Kind == yaml.MappingNode:
		out := map[string]any{}
		r.mapping(n, path, reflect.ValueOf(&out).Elem())
		return out, true
	case n.Kind == yaml.SequenceNode:
		out := []any{}
		r.list(n, path, reflect.ValueOf(&out).Elem())
		return out, true
	}
	s, ok := r.text(n, path)
	if !ok {
		return nil, false
	}
	var v any
	if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" || tag == "!!bool" {
		if json.Unmarshal([]byte(s), &v) == nil {
			return v, true
		}
	}
	return s, true
}

// fileField says whether the value at path names a file that must be there.
func fileField(path string) bool {
	return strings.HasSuffix(path, fileSuffix) || strings.Contains(path, ".files[")
}
