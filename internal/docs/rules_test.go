// Package docs_test holds the documents to what is there: a rule names tests
// that exist, a link leads somewhere, a command that is named can be given.
package docs_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const rulesFile = "docs/rules.md"

// The rules that the program keeps so far, in the order they are explained.
var kept = strings.Fields(`V1 V2 V3 V4 V5 V6 V7 V8 T1 T2 T3 T4 T5 H1 H2 H3 H4 H5 H6 H7
	U1 U2 U7 U8 U9 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 D1 D2 D3 D4 D5 D6 D7 D8
	E1 E2 E3 E4 E5 S1 S2 S3 S4 S5 S6 S7 S8 X1 X2 X3 X4`)

// rule is one section of docs/rules.md.
type rule struct {
	id    string
	words int // of its explanation
	held  []string
}

var (
	ruleHead = regexp.MustCompile(`^### ([A-Z][0-9]+) `)
	quoted   = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`^(.+)\.((?:Test|Fuzz|Example|Benchmark)\w*)$`)
)

// parseRules reads the sections `### V1 …`, each with a line `Held by: …`.
func parseRules(text string) []rule {
	var rules []rule
	var open bool
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			m := ruleHead.FindStringSubmatch(line)
			if open = m != nil; open {
				rules = append(rules, rule{id: m[1]})
			}
			continue
		}
		if !open {
			continue
		}
		r := &rules[len(rules)-1]
		if !strings.HasPrefix(line, "Held by: ") {
			r.words += len(strings.Fields(line))
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			r.held = append(r.held, m[1])
		}
	}
	return rules
}

func TestRulesAreComplete(t *testing.T) {
	for _, fault := range incomplete(readFile(t, rulesFile), kept) {
		t.Error(fault)
	}
}

// incomplete lists what is wrong with the rules text itself.
func incomplete(text string, want []string) []string {
	var ids, faults []string
	for _, r := range parseRules(text) {
		ids = append(ids, r.id)
		if r.words < 10 {
			faults = append(faults, r.id+" is not explained")
		}
		if len(r.held) == 0 {
			faults = append(faults, r.id+" names no test")
		}
	}
	if !slices.Equal(ids, want) {
		faults = append(faults, fmt.Sprintf("%s explains %v, want %v", rulesFile, ids, want))
	}
	return faults
}

func TestNamedTestsExist(t *testing.T) {
	for _, fault := range unheld(os.DirFS(root), readFile(t, rulesFile)) {
		t.Error(fault)
	}
}

// unheld lists the tests that text names and fsys has not. A name is a test and
// its folder (`model.TestJudge`), or a script or table a test reads
// (`cmd/chaintop/testdata/probe.txtar`).
func unheld(fsys fs.FS, text string) []string {
	var names []string
	for _, r := range parseRules(text) {
		names = append(names, r.held...)
	}
	names = append(names, brokenByHand(text)...)
	slices.Sort(names)
	var faults []string
	for _, name := range slices.Compact(names) {
		m := testName.FindStringSubmatch(name)
		if m == nil {
			if _, err := fs.Stat(fsys, name); err != nil {
				faults = append(faults, fmt.Sprintf("%q is neither a file nor folder.TestName", name))
			}
			continue
		}
		if found, err := hasTest(fsys, m[1], m[2]); err != nil || !found {
			faults = append(faults, fmt.Sprintf("no test %s in %s", m[2], m[1]))
		}
	}
	return faults
}

// brokenByHand lists the tests of the table that says which test went red when
// a rule was broken: those in the last cell of its rows.
func brokenByHand(text string) []string {
	_, table, _ := strings.Cut(text, "\n## Broken by hand\n")
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[len(cells)-2], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// hasTest says whether a _test.go file in folder dir declares the function name
// with something in it.
func hasTest(fsys fs.FS, dir, name string) (bool, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*_test.go"))
	for _, p := range files {
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			return false, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name == name && len(f.Body.List) > 0 {
				return true, nil
			}
		}
	}
	return false, err
}

func TestRulesChecksSeeFaults(t *testing.T) {
	const good = "### V1 · One outcome\n\nEvery try ends in exactly one of three ways, and it says why.\n\nHeld by: `model.TestA`.\n"
	const table = "\n## Broken by hand\n\n| broken | red |\n|---|---|\n| `x` | `model.TestB` |\n"
	fsys := fstest.MapFS{"model/a_test.go": {Data: []byte("package model\nfunc TestA() { x() }\nfunc TestEmpty() {}\nfunc (t T) TestMethod() { x() }")}}
	rows := []struct {
		name, text string
		want       int
	}{
		{"all is well", good, 0},
		{"a missing rule", "", 1},
		{"a rule twice", good + good, 1},
		{"no test", strings.Replace(good, "`model.TestA`", "nothing", 1), 1},
		{"no words", "### V1 · One outcome\n\nHeld by: `model.TestA`.\n", 1},
		{"an unknown test", strings.Replace(good, "TestA", "TestZ", 1), 1},
		{"a test elsewhere", strings.Replace(good, "model.", "feed.", 1), 1},
		{"an empty test", strings.Replace(good, "TestA", "TestEmpty", 1), 1},
		{"a method", strings.Replace(good, "TestA", "TestMethod", 1), 1},
		{"an unknown file", strings.Replace(good, "model.TestA", "model/x.txtar", 1), 1},
		{"an unknown test in the table", good + table, 1},
	}
	for _, r := range rows {
		faults := append(incomplete(r.text, []string{"V1"}), unheld(fsys, r.text)...)
		if len(faults) != r.want {
			t.Errorf("%s: found %q, want %d", r.name, faults, r.want)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(root), name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
