package ops

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"go.yaml.in/yaml/v3"

	"chaintop/model"
)

type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(docs + "alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var file ruleFile
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, g := range file.Groups {
		if g.Name == "" {
			t.Error("a group has no name")
		}
		all = append(all, g.Rules...)
	}
	return all
}

func TestAlertRules(t *testing.T) {
	book, err := os.ReadFile(docs + "runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	anchors := anchorsOf(string(book))
	got := scraped(t, rich(t).counted())
	var names []string
	for _, r := range rules(t) {
		names = append(names, r.Alert)
		if _, err := time.ParseDuration(r.For); err != nil {
			t.Errorf("%s: for: %v", r.Alert, err)
		}
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		if r.Annotations["summary"] == "" {
			t.Errorf("%s: no summary", r.Alert)
		}
		file, anchor, _ := strings.Cut(r.Annotations["runbook"], "#")
		if file != "runbook.md" || !slices.Contains(anchors, anchor) {
			t.Errorf("%s: the runbook has no %q", r.Alert, r.Annotations["runbook"])
		}
		expr, err := metricsql.Parse(r.Expr)
		if err != nil {
			t.Errorf("%s: %v", r.Alert, err)
			continue
		}
		for _, fault := range unknownIn(expr, got) {
			t.Errorf("%s: %s", r.Alert, fault)
		}
	}
	for _, want := range []string{
		"ChainUnreachable", "ChainNotReady", "AllUpstreamsUnhealthy", "FailoverLasting", "UpstreamErroring", "ChainInconclusive",
		"RateLimited", "Halted", "DrainStuck", "InstanceNotScraped", "NoProbes",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no alert %s", want)
		}
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			t.Errorf("%s is there twice", n)
		}
	}
}

// The check sees what it is for.
func TestAlertCheckSeesFaults(t *testing.T) {
	got := scraped(t, rich(t).counted())
	for expr, want := range map[string]int{
		`chaintop_chain_health{health="healthy"} == 0`: 0,
		`up == 0`: 0,
		`chaintop_upstream_finding{finding=~"erroring|gateway"}`:   0,
		`chaintop_chain_helth == 0`:                                1,
		`chaintop_chain_health{health="sick"} == 0`:                1,
		`chaintop_chain_health{state="healthy"} == 0`:              1,
		`chaintop_upstream_finding{finding=~"erroring|behindd"}`:   1,
		`rate(chaintop_nothing[5m]) / rate(chaintop_neither[5m])`:  2,
		`chaintop_ready == 0 unless on (job) chaintop_drain_stage`: 1,
	} {
		e, err := metricsql.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if faults := unknownIn(e, got); len(faults) != want {
			t.Errorf("%s: found %q, want %d", expr, faults, want)
		}
	}
}

// unknownIn lists the metrics and the label values of an expression that no
// scrape has. Prometheus makes `up`, `job` and `instance` itself; a finding may
// be any of the model's.
func unknownIn(expr metricsql.Expr, got numbers) []string {
	var faults []string
	metricsql.VisitAll(expr, func(e metricsql.Expr) {
		m, ok := e.(*metricsql.MetricExpr)
		if !ok {
			return
		}
		for _, filters := range m.LabelFilterss {
			name := filters[0].Value
			if name == "up" {
				continue
			}
			family := got[name]
			if family == nil {
				faults = append(faults, name+" is no metric")
				continue
			}
			for _, f := range filters[1:] {
				var values []string
				for _, series := range family.GetMetric() {
					values = append(values, labelOf(series, f.Label))
				}
				if f.Label == "finding" {
					values = findings()
				}
				for _, v := range strings.Split(f.Value, "|") {
					if !slices.Contains(values, v) {
						faults = append(faults, name+" has no "+f.Label+" "+v)
					}
				}
			}
		}
	})
	return faults
}

func findings() []string {
	var all []string
	for f := model.Finding(0); !strings.Contains(f.String(), " "); f++ {
		all = append(all, f.String())
	}
	return all
}

func anchorsOf(markdown string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(markdown, -1) {
		word := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(word, " ", "-"))
	}
	return all
}

func TestRunbookLinks(t *testing.T) {
	book, err := os.ReadFile(docs + "runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	anchors := anchorsOf(string(book))
	links := regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(string(book), -1)
	if len(links) < 5 {
		t.Fatalf("%d links: this checks nothing", len(links))
	}
	for _, l := range links {
		file, anchor, _ := strings.Cut(l[1], "#")
		if file != "" {
			if _, err := os.Stat(docs + file); err != nil {
				t.Errorf("%s: %v", l[1], err)
			}
		} else if !slices.Contains(anchors, anchor) {
			t.Errorf("%s leads nowhere", l[1])
		}
	}
	for name := range strings.FieldsSeq(string(book)) {
		name = strings.Trim(name, "`.,;()")
		if strings.HasPrefix(name, "chaintop_") && !slices.ContainsFunc(families, func(f *family) bool { return strings.HasPrefix(name, f.name) }) {
			t.Errorf("the runbook names %s, which is not measured", name)
		}
	}
}

// S1: what an alert says of fault and help, the screen says in the same words.
func TestAlertsSpeakTheModelsWords(t *testing.T) {
	said := sentences(t)
	checked := 0
	for _, r := range rules(t) {
		for _, what := range []string{"whose", "do"} {
			words := r.Annotations[what]
			if words == "" {
				continue
			}
			pattern := regexp.QuoteMeta(words)
			pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("{{ $labels.upstream }}"), "[a-z]+")
			re := regexp.MustCompile(pattern)
			if !slices.ContainsFunc(said, re.MatchString) {
				t.Errorf("%s: %s: the model never says %q", r.Alert, what, words)
			}
			checked++
		}
	}
	if checked < 8 {
		t.Errorf("%d annotations: this checks little", checked)
	}
}

// sentences is what the model says of fault and help in the pictures alerts are
// about.
func sentences(t *testing.T) []string {
	var all []string
	add := func(r *rig) {
		fleet := model.Fleet{Now: r.now, Instances: []*model.Instance{r.pic.Load()}}
		for _, d := range append(model.Diagnose(fleet), model.DiagnoseDrain(r.pic.Load(), r.now)) {
			all = append(all, d.Whose.Short, d.Whose.Long, d.Do.Short, d.Do.Long)
		}
	}
	one := func(do func(r *rig)) {
		c := chainOn("c", primaries("a", "b")...)
		c.ExpectID = "1"
		r := newRig(t, model.ReadyAll, model.DrainSettings{}, c)
		r.probe(0, head(100))
		do(r)
		add(r)
	}
	add(rich(t))
	one(func(r *rig) { r.probe(0, times(6, answered(500))...) })
	one(func(r *rig) { r.probe(0, limited(time.Minute), limited(time.Minute)) })
	one(func(r *rig) {
		other := head(5)
		other.Facts.ChainID = model.Say("137")
		r.round(0, other, head(100))
	})
	one(func(r *rig) {
		old := head(100)
		old.Facts.Block = model.Say(model.Block{Number: 100, Time: epoch0.Add(-time.Hour)})
		r.round(0, old, old)
		if v, _ := scraped(t, New(r.options())).value("chain_halted"); v != 1 {
			t.Errorf("chain_halted is %v", v)
		}
	})
	one(func(r *rig) {
		begin(r)
		client := model.Client{Addr: "10.0.0.1", Kind: model.ClientHTTP, Last: r.now, Count: 9, Conns: 1, Every: time.Second}
		r.in(model.Sums{At: r.now, Activity: &model.Activity{
			At: r.now, Last: r.now, Kind: model.ClientHTTP, Client: client.Addr, Clients: []model.Client{client},
		}})
	})
	return all
}
