package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Each thing the code can complain of is complained of somewhere in testdata,
// or by the rows of what a small file cannot show.
func TestEveryComplaintIsShown(t *testing.T) {
	shown := strings.Builder{}
	files, err := filepath.Glob("testdata/invalid-*.err")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	for _, row := range unloadable(t) {
		shown.WriteString(row.want + "\n")
	}
	all := complaints(t)
	if len(all) < 100 {
		t.Fatalf("found %d complaints in the code", len(all))
	}
	for _, c := range all {
		pattern := regexp.MustCompile(`%[sdqU]`).ReplaceAllString(regexp.QuoteMeta(c), ".*")
		if !regexp.MustCompile(pattern).MatchString(shown.String()) {
			t.Errorf("no test shows %q", c)
		}
	}
}

// complaints are the texts of the code's faults: what fault and faultAt are
// called with, the Text of a Fault, the parser's words, and what the functions
// that say why return.
func complaints(t *testing.T) (all []string) {
	t.Helper()
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, _ := strconv.Unquote(lit.Value); s != "" && s != "%s" {
				all = append(all, s)
			}
		}
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "fault" || sel.Sel.Name == "faultAt") {
					for _, arg := range n.Args {
						add(arg)
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Text" {
					add(n.Value)
				}
			case *ast.ValueSpec:
				if n.Names[0].Name == "words" {
					for _, e := range n.Values[0].(*ast.CompositeLit).Elts {
						add(e.(*ast.KeyValueExpr).Value)
					}
				}
			case *ast.FuncDecl:
				switch n.Name.Name {
				case "urlFault", "parseHint", "unread", "hostPortFault", "originFault", "namedHostFault", "tokenFault", "feedURLFault", "meantChain":
					ast.Inspect(n, func(n ast.Node) bool {
						if ret, ok := n.(*ast.ReturnStmt); ok {
							add(ret.Results[0])
						}
						return true
					})
				}
			}
			return true
		})
	}
	return all
}
