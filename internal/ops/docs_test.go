package ops

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "rewrite docs/ops/metrics.md")

const docs = "../../docs/ops/"

// docs/ops/metrics.md is the list of families, so that it cannot be wrong.
func TestMetricsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Metrics

On ` + "`/metrics`" + ` of the ops listener. A number that is not known is absent, never 0; what is over is gone. The first label's value is the
chain as ` + "`name/interface`" + `. No label holds text from outside, and none an address. Beside these there are Go's and the process's own
(` + "`go_…`, `process_…`" + `) and ` + "`chaintop_build_info`" + `.

Gauges that are 1 or 0 by a label (` + "`health`, `verdict`, `why`, `state`" + `) have one series for each value of it. Counts of probes, tries and latencies begin at 0 with the
process.

| metric | type | labels | is |
|---|---|---|---|
`)
	for _, f := range families {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, typeOf(f), strings.Join(f.labels, " "), f.help)
	}
	path := docs + "metrics.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what is measured: go test ./internal/ops -run TestMetricsPage -update", path)
	}
}

func typeOf(f *family) string {
	switch f.kind {
	case prometheus.CounterValue:
		return "counter"
	case prometheus.UntypedValue:
		return "histogram"
	case prometheus.GaugeValue:
	}
	return "gauge"
}

// A scrape has no metric of ours that is not in the list, and gives each the
// type it has there.
func TestScrapeIsTheList(t *testing.T) {
	for name, got := range scraped(t, rich(t).counted()) {
		if !strings.HasPrefix(name, "chaintop_") || name == "chaintop_build_info" {
			continue
		}
		i := slices.IndexFunc(families, func(f *family) bool { return f.name == name })
		if i < 0 {
			t.Errorf("%s is not in the list", name)
			continue
		}
		if f := families[i]; !strings.EqualFold(got.GetType().String(), typeOf(f)) || got.GetHelp() != f.help {
			t.Errorf("%s is a %v: %q", name, got.GetType(), got.GetHelp())
		}
	}
}

// docs/ops/health.md lists each field of the bodies in their order, and its
// example is one.
func TestHealthPage(t *testing.T) {
	text, err := os.ReadFile(docs + "health.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	want := slices.Concat(fields(aliveBody{}), fields(readyBody{}), fields(chainBody{}), fields(drainBody{}))
	if !slices.Equal(listed, want) {
		t.Errorf("it lists\n%q\nthe bodies have\n%q", listed, want)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	dec := json.NewDecoder(strings.NewReader(example))
	dec.DisallowUnknownFields()
	var body readyBody
	if err := dec.Decode(&body); err != nil || len(body.Chains) != 1 {
		t.Errorf("the example: %v, %+v", err, body)
	}
}

func fields(v any) []string {
	var names []string
	typ := reflect.TypeOf(v)
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
