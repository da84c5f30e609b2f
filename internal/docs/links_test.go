package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// root is the project's, from this package.
const root = "../.."

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	target = regexp.MustCompile(`(?m)(?:^|[^\w-])make ([a-z][a-z-]*)`)
	run    = regexp.MustCompile(`go run (\./[\w/-]+)`)
)

func TestLinksLeadSomewhere(t *testing.T) {
	fsys := os.DirFS(root)
	pages := documents(t, fsys)
	if len(pages) < 8 {
		t.Fatalf("found only %v", pages)
	}
	for _, page := range pages {
		for _, fault := range dangling(fsys, page) {
			t.Error(fault)
		}
	}
}

// documents are the texts for people: those at the root, and docs.
func documents(t *testing.T, fsys fs.FS) []string {
	t.Helper()
	pages, err := fs.Glob(fsys, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(fsys, "docs", func(p string, _ fs.DirEntry, err error) error {
		if path.Ext(p) == ".md" {
			pages = append(pages, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestEveryPackageIsDescribed(t *testing.T) {
	text := readFile(t, "docs/ARCHITECTURE.md")
	files, err := fs.Glob(os.DirFS(root), "internal/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no package: %v", err)
	}
	said := map[string]bool{}
	for _, p := range files {
		dir := path.Dir(p)
		if !said[dir] && !describes(text, dir) {
			t.Errorf("docs/ARCHITECTURE.md does not say what %s is", dir)
		}
		said[dir] = true
	}
}

// describes says whether a page names a folder, whole or by its last part.
func describes(text, dir string) bool {
	return strings.Contains(text, "`"+dir+"`") || strings.Contains(text, "`"+path.Base(dir)+"`")
}

// dangling lists the links of a page that lead to no file or heading, and the
// commands it names that do not exist.
func dangling(fsys fs.FS, page string) []string {
	text, err := fs.ReadFile(fsys, page)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, m := range link.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		if why := leads(fsys, page, m[1]); why != "" {
			faults = append(faults, fmt.Sprintf("%s: link %s: %s", page, m[1], why))
		}
	}
	makefile, _ := fs.ReadFile(fsys, "Makefile") // none: no target exists
	for _, m := range target.FindAllStringSubmatch(code(string(text)), -1) {
		if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
			faults = append(faults, fmt.Sprintf("%s: the Makefile has no target %s", page, m[1]))
		}
	}
	for _, m := range run.FindAllStringSubmatch(string(text), -1) {
		if _, err := fs.Stat(fsys, path.Clean(m[1])); err != nil {
			faults = append(faults, fmt.Sprintf("%s: there is no %s to run", page, m[1]))
		}
	}
	return faults
}

// leads says why a link of page to to leads nowhere; empty when it does.
func leads(fsys fs.FS, page, to string) string {
	file, anchor, _ := strings.Cut(to, "#")
	p := page
	if file != "" {
		p = path.Join(path.Dir(page), file)
	}
	if !fs.ValidPath(p) {
		return "it leaves the project"
	}
	text, err := fs.ReadFile(fsys, p)
	if err != nil {
		if _, err := fs.Stat(fsys, p); err != nil || anchor != "" {
			return "no such file"
		}
		return "" // a folder
	}
	if anchor == "" {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if head := strings.TrimLeft(line, "#"); head != line && slug(head) == anchor {
			return ""
		}
	}
	return "no such heading"
}

// slug is the anchor of a heading, as code hosts make it.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// code is what stands in a page as code: between backticks, or indented.
func code(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "    ") {
			b.WriteString(line)
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			b.WriteString(m[1] + "\n")
		}
	}
	return b.String()
}

func TestLinkChecksSeeFaults(t *testing.T) {
	rows := []struct {
		name, text string
		want       int
	}{
		{"a file", "[a](docs/a.md)", 0},
		{"a folder", "[a](docs)", 0},
		{"a heading", "[a](docs/a.md#v1--one-outcome)", 0},
		{"a heading here", "# Here it is\n[a](#here-it-is)", 0},
		{"elsewhere", "[a](https://example.org/x)", 0},
		{"no file", "[a](docs/b.md)", 1},
		{"no picture", "![a](docs/b.svg)", 1},
		{"no heading", "[a](docs/a.md#v2)", 1},
		{"outside", "[a](../x.md)", 1},
		{"a target", "`make check`", 0},
		{"no target", "`make nothing`", 1},
		{"no target in a block", "```\nmake nothing\n```\n", 1},
		{"words", "tests make certain", 0},
		{"no command", "go run ./cmd/x", 1},
	}
	for _, r := range rows {
		fsys := fstest.MapFS{
			"README.md": {Data: []byte(r.text)},
			"docs/a.md": {Data: []byte("### V1 · One outcome\n")},
			"Makefile":  {Data: []byte("check: vet\n")},
		}
		if got := dangling(fsys, "README.md"); len(got) != r.want {
			t.Errorf("%s: found %q, want %d", r.name, got, r.want)
		}
	}
}
