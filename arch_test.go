// Package chaintop_test holds the shape of the project: which package may import
// which, what the model may not touch, and where a file may lie.
//
// The checks read the source tree and nothing else; each is also run here on a
// made-up tree that breaks it.
package chaintop_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "chaintop"

// source is one Go file.
type source struct {
	path string // from the root, with slashes
	file *ast.File
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) imports() []string {
	var all []string
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser took it
		}
		all = append(all, name)
	}
	return all
}

// tree is a source tree without what git does not keep.
type tree struct {
	entries []string // names at the root
	sources []source
}

func read(fsys fs.FS) (tree, error) {
	var t tree
	ignored := ignores(fsys)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == ".":
			return nil
		case p == ".git" || ignored(p):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.Contains(p, "/") {
			t.entries = append(t.entries, p)
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(p) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
		t.sources = append(t.sources, source{p, file})
		return err
	})
	return t, err
}

// ignores says what .gitignore leaves out, as far as ours uses its grammar.
func ignores(fsys fs.FS) func(string) bool {
	text, _ := fs.ReadFile(fsys, ".gitignore") // none: nothing is ignored
	patterns := strings.Fields(string(text))
	return func(p string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			name := path.Base(p)
			if strings.HasPrefix(pattern, "/") {
				name = "/" + p
			}
			ok, _ := path.Match(strings.TrimSuffix(pattern, "/"), name)
			return ok
		})
	}
}

func TestArrows(t *testing.T)    { check(t, arrows) }
func TestModelPure(t *testing.T) { check(t, impurities) }
func TestLayout(t *testing.T)    { check(t, misplaced) }

func check(t *testing.T, faults func(tree) []string) {
	t.Helper()
	all, err := read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.sources) < 2 {
		t.Fatalf("read %d Go files: this checks nothing", len(all.sources))
	}
	for _, fault := range faults(all) {
		t.Error(fault)
	}
}

// arrows lists the imports that point the wrong way.
func arrows(t tree) []string {
	var faults []string
	for _, s := range t.sources {
		for _, imp := range s.imports() {
			if why := forbidden(s.dir(), s.isTest(), imp); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", s.path, imp, why))
			}
		}
	}
	return faults
}

// Beside model, feed and internal/clean, which every internal package may import.
var inside = map[string][]string{
	"internal/core":    {"internal/store"},
	"internal/probe":   {"internal/rpc"},
	"internal/gateway": {"internal/rpc"},
	"internal/watch/*": {"internal/watch/promtext"},
	"internal/demo":    {"internal/simnode", "internal/config"},
	"internal/rpctest": {"internal/simnode"},
}

var (
	testHelpers = []string{"internal/memnet", "internal/rpctest", "internal/termtest"}
	testLibs    = []string{"testing", "go.uber.org/goleak", "pgregory.net/rapid", "github.com/google/go-cmp",
		"github.com/rogpeppe/go-internal", "github.com/charmbracelet/x/exp/golden"}
)

// forbidden says why the package in folder from may not import imp; empty when
// it may. Tests may also import what they are tested with.
func forbidden(from string, test bool, imp string) string {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return imp == p || strings.HasPrefix(imp, p+"/") })
	}
	to, ours := strings.CutPrefix(imp, module+"/")
	if !ours {
		switch {
		case !test && in(testLibs):
			return "it is for tests"
		case !test && part(from) == "model" && strings.Contains(strings.Split(imp, "/")[0], "."):
			return "model stands on the standard library alone"
		}
		return ""
	}
	from, to = part(from), part(to)
	helper := slices.Contains(testHelpers, to)
	switch {
	case from == to:
		return ""
	case to == "ui" && from != "cmd", to == "cmd":
		return "nothing stands on a screen or a command"
	case helper && !test:
		return "it is for tests"
	case from == "cmd", test && (helper || to == "internal/simnode"):
		return ""
	case test && strings.HasPrefix(from, "internal/"):
		return ""
	case slices.Contains(allowed(from), to):
		return ""
	}
	return fmt.Sprintf("%s may import of ours only %v", from, allowed(from))
}

func allowed(from string) []string {
	switch from {
	case "model", "internal/clean":
		return nil
	case "feed":
		return []string{"model", "internal/clean"}
	case "ui":
		return []string{"model", "feed"}
	}
	if strings.HasPrefix(from, "internal/watch/") {
		from = "internal/watch/*"
	}
	return append([]string{"model", "feed", "internal/clean"}, inside[from]...)
}

// part is what a folder belongs to: internal/core, internal/watch/proxyd, ui.
func part(dir string) string {
	parts := strings.Split(dir, "/")
	n := 1
	if parts[0] == "internal" {
		n = 2
		if len(parts) > 1 && parts[1] == "watch" {
			n = 3
		}
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}

// impurities lists where the model touches the world: SPEC has no clock, no
// network and no lock in a rule.
func impurities(t tree) []string {
	var faults []string
	for _, s := range t.sources {
		if part(s.dir()) != "model" || s.isTest() {
			continue
		}
		for _, imp := range s.imports() {
			if slices.Contains([]string{"net", "os", "io", "sync", "context", "log", "syscall", "runtime", "unsafe", "C"}, strings.Split(imp, "/")[0]) ||
				imp == "math/rand" || imp == "crypto/rand" {
				faults = append(faults, fmt.Sprintf("%s imports %s: the model is pure", s.path, imp))
			}
		}
		faults = append(faults, impure(s)...)
	}
	return faults
}

var (
	clock  = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}
	seeded = []string{"New", "NewPCG", "NewChaCha8", "Rand", "PCG", "ChaCha8", "Source"}
)

// impure lists the uses of a clock, of chance without a seed, of a goroutine.
func impure(s source) []string {
	var faults []string
	names := map[string]string{} // local name → package
	for _, spec := range s.file.Imports {
		pkg, _ := strconv.Unquote(spec.Path.Value)
		if pkg != "time" && pkg != "math/rand/v2" {
			continue
		}
		switch {
		case spec.Name == nil && pkg == "time":
			names["time"] = pkg
		case spec.Name == nil:
			names["rand"] = pkg
		case spec.Name.Name == ".":
			faults = append(faults, fmt.Sprintf("%s: import of %s without its name", s.path, pkg))
		default:
			names[spec.Name.Name] = pkg
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			faults = append(faults, s.path+": go: the model starts nothing")
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			pkg, use := names[id.Name], n.Sel.Name
			if (pkg == "time" && slices.Contains(clock, use)) || (pkg == "math/rand/v2" && !slices.Contains(seeded, use)) {
				faults = append(faults, fmt.Sprintf("%s: %s.%s: every input carries its time, every chance its seed", s.path, pkg, use))
			}
		}
		return true
	})
	return faults
}

// The top level is fixed. Each entry is there for a reader who has just arrived.
var top = []string{
	"cmd", "docs", "feed", "internal", "model", "ui", "arch_test.go", "go.mod", "go.sum", "Makefile", "LICENSE",
	"README.md", "CHANGELOG.md", "CONTRIBUTING.md", ".ci", ".gitignore", ".golangci.yml",
}

var badNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "base", "shared"}

// misplaced lists what lies where it may not, and names that say nothing.
func misplaced(t tree) []string {
	var faults []string
	for _, name := range t.entries {
		if !slices.Contains(top, name) {
			faults = append(faults, name+": the top level is fixed")
		}
	}
	for _, s := range t.sources {
		home := strings.Split(s.path, "/")[0]
		if s.path != "arch_test.go" && !slices.Contains([]string{"cmd", "ui", "feed", "model", "internal"}, home) {
			faults = append(faults, s.path+": Go code lives in cmd, ui, feed, model and internal")
		}
		for _, name := range []string{path.Base(s.dir()), strings.TrimSuffix(s.file.Name.Name, "_test")} {
			if slices.Contains(badNames, name) {
				faults = append(faults, fmt.Sprintf("%s: %q names no idea", s.path, name))
			}
		}
	}
	return faults
}

func TestForbiddenRows(t *testing.T) {
	const ok, bad = true, false
	rows := []struct {
		from string
		test bool
		imp  string
		want bool
	}{
		{"model", false, "time", ok},
		{"model", false, "chaintop/feed", bad},
		{"model", true, "chaintop/internal/core", bad},
		{"model", false, "example.org/x", bad},
		{"feed", false, "chaintop/model", ok},
		{"feed", false, "chaintop/internal/clean", ok},
		{"feed", false, "chaintop/internal/rpc", bad},
		{"ui", false, "chaintop/feed", ok},
		{"ui/theme", false, "chaintop/ui", ok},
		{"ui", false, "chaintop/internal/core", bad},
		{"ui", true, "chaintop/internal/core", bad},
		{"ui", true, "chaintop/internal/termtest", ok},
		{"feed", false, "chaintop/ui", bad},
		{"internal/core", true, "chaintop/ui", bad},
		{"internal/core", false, "chaintop/cmd/chaintop", bad},
		{"ui", false, "chaintop/cmd/chaintop", bad},
		{"internal/core", false, "chaintop/internal/store", ok},
		{"internal/core", false, "chaintop/internal/probe", bad},
		{"internal/core", true, "chaintop/internal/probe", ok},
		{"internal/core", false, "chaintop/internal/memnet", bad},
		{"internal/core", true, "chaintop/internal/memnet", ok},
		{"internal/probe", false, "chaintop/internal/rpc", ok},
		{"internal/gateway", false, "chaintop/internal/rpc", ok},
		{"internal/rpc", false, "chaintop/internal/probe", bad},
		{"internal/rpc", false, "chaintop/internal/clean", ok},
		{"internal/clean", false, "chaintop/model", bad},
		{"internal/watch/proxyd", false, "chaintop/internal/watch/promtext", ok},
		{"internal/watch/proxyd", false, "chaintop/internal/watch/vixy", bad},
		{"internal/demo", false, "chaintop/internal/simnode", ok},
		{"internal/probe", false, "chaintop/internal/simnode", bad},
		{"internal/rpctest", false, "chaintop/internal/simnode", ok},
		{"internal/ops", false, "chaintop/feed", ok},
		{"internal/ops", false, "testing", bad},
		{"internal/ops", false, "testing/fstest", bad},
		{"internal/ops", true, "testing", ok},
		{"internal/memnet", false, "testing", bad},
		{"cmd/chaintop", false, "chaintop/ui", ok},
		{"cmd/chaintop", false, "chaintop/internal/termtest", bad},
		{"cmd/chaintop", true, "chaintop/internal/termtest", ok},
		{"cmd/chaintop", false, "go.uber.org/goleak", bad},
	}
	for _, r := range rows {
		why := forbidden(r.from, r.test, r.imp)
		if (why == "") != r.want {
			t.Errorf("%s (test %v) imports %s: %q", r.from, r.test, r.imp, why)
		}
	}
}

func TestChecksSeeFaults(t *testing.T) {
	rows := []struct {
		name, path, text string
		faults           func(tree) []string
		want             int
	}{
		{"an arrow", "feed/x.go", "package feed\nimport _ \"chaintop/ui\"", arrows, 1},
		{"an arrow in a test", "feed/x_test.go", "package feed\nimport _ \"chaintop/ui\"", arrows, 1},
		{"no arrow", "feed/x.go", "package feed\nimport _ \"chaintop/model\"", arrows, 0},
		{"a network", "model/x.go", "package model\nimport _ \"net/url\"", impurities, 1},
		{"a lock", "model/sub/x.go", "package sub\nimport _ \"sync/atomic\"", impurities, 1},
		{"a test may wait", "model/x_test.go", "package model\nimport _ \"sync\"", impurities, 0},
		{"others may wait", "feed/x.go", "package feed\nimport _ \"sync\"", impurities, 0},
		{"a clock", "model/x.go", "package model\nimport \"time\"\nvar now = time.Now", impurities, 1},
		{"a clock by another name", "model/x.go", "package model\nimport t \"time\"\nvar x = t.Since(t.Time{})", impurities, 1},
		{"a clock without a name", "model/x.go", "package model\nimport . \"time\"\nvar x = Now()", impurities, 1},
		{"a time", "model/x.go", "package model\nimport \"time\"\nvar x = time.Unix(0, 0).After(time.Time{})", impurities, 0},
		{"chance", "model/x.go", "package model\nimport \"math/rand/v2\"\nvar x = rand.Float64()", impurities, 1},
		{"chance with a seed", "model/x.go", "package model\nimport \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2)).Float64()", impurities, 0},
		{"a goroutine", "model/x.go", "package model\nfunc f() { go f() }", impurities, 1},
		{"a new folder", "pkg/x.txt", "", misplaced, 1},
		{"code in a new folder", "docs/x.go", "package docs", misplaced, 1},
		{"code at the root", "main.go", "package main", misplaced, 2},
		{"the one file at the root", "arch_test.go", "package chaintop_test", misplaced, 0},
		{"an idle name", "internal/util/x.go", "package strings", misplaced, 1},
		{"an idle package", "internal/x/x_test.go", "package helpers_test", misplaced, 1},
		{"what git ignores", "dist/x.go", "package x", misplaced, 0},
	}
	for _, r := range rows {
		all, err := read(fstest.MapFS{".gitignore": {Data: []byte("/dist/\n*.prof\n")}, r.path: {Data: []byte(r.text)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.faults(all); len(got) != r.want {
			t.Errorf("%s: found %q, want %d", r.name, got, r.want)
		}
	}
}
