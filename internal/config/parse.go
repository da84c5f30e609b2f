package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parse reads the one document of a YAML text. A fault of it has no file yet.
func parse(data []byte) (*yaml.Node, *Fault) {
	switch {
	case len(data) > maxFile:
		return nil, &Fault{Text: "larger than 1 MiB, the most a config may be"}
	case len(bytes.TrimSpace(data)) == 0:
		return nil, &Fault{Text: "empty: `chaintop config example` prints one to begin with"}
	}
	if fault := unreadable(data); fault != nil {
		return nil, fault
	}
	doc, next, err := documents(data)
	switch {
	case errors.Is(err, io.EOF):
		return nil, &Fault{Text: "empty but for comments: `chaintop config example` prints one to begin with"}
	case err != nil:
		return nil, syntax(data, err)
	case next != nil:
		return nil, &Fault{Line: next.Line, Text: "a second document begins here (---): a config is one"}
	}
	root := doc.Content[0]
	for root.Kind == yaml.AliasNode {
		root = root.Alias
	}
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, &Fault{Text: "empty: `chaintop config example` prints one to begin with"}
	}
	if root.Kind != yaml.MappingNode {
		return nil, &Fault{Line: root.Line, Text: "want keys and values at the top (chains: …), found " + kindName(root)}
	}
	return root, nil
}

var errGaveUp = errors.New("the YAML parser gave up: move or remove comments")

// documents reads the first document and says whether another follows. The
// parser panics on some arrangements of comments; that is an error here.
func documents(data []byte) (doc, next *yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			doc, next, err = nil, nil, errGaveUp
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, next = &yaml.Node{}, &yaml.Node{}
	if err := dec.Decode(doc); err != nil {
		return nil, nil, err
	}
	if err := dec.Decode(next); err == nil {
		return doc, next, nil
	} else if !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return doc, nil, nil
}

// unreadable finds bytes that no YAML text has; the parser names no line for
// them.
func unreadable(data []byte) *Fault {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			return &Fault{Line: line, Text: "not UTF-8 text"}
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7F && r <= 0x9F && r != 0x85, r == 0xFFFE, r == 0xFFFF:
			return &Fault{Line: line, Text: fmt.Sprintf("a control character (%U)", r)}
		}
		i += n
	}
	return nil
}

var (
	lineOf   = regexp.MustCompile(`^line (\d+): (.*)$`)
	noAnchor = regexp.MustCompile(`^unknown anchor '.*' referenced$`)
)

// words are the parser's own for the commonest slips, and what to do.
var words = map[string]string{
	"did not find expected '-' indicator":            `the indent of this line fits no line above it, or its "- " is missing`,
	"did not find expected key":                      "the indent of this line fits no line above it",
	"did not find expected ',' or '}'":               "the { of this line is not closed, or a comma is missing in it (a ${NAME} in it wants quotes)",
	"did not find expected ',' or ']'":               "the [ of this line is not closed, or a comma is missing in it (a ${NAME} in it wants quotes)",
	"mapping values are not allowed in this context": `a second "key: " in one line: quote the value, or look at the indent`,
	"could not find expected ':'":                    `a line without "key: "`,
	"found character that cannot start any token":    "a value cannot begin with @, % or a backquote: quote it",
	"found unexpected end of stream":                 "the quote that opens here is never closed",
}

// syntax is the parser's error as a fault. The parser counts lines from 0 where
// it speaks of what encloses the slip, from 1 elsewhere.
func syntax(data []byte, err error) *Fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := lineOf.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		text = m[2]
	}
	lines := bytes.Count(data, []byte("\n")) + 1
	switch {
	case noAnchor.MatchString(text):
		// What follows the * may be a key that wants quotes: it is not shown.
		return &Fault{
			Line: firstFailing(data, lines, err),
			Text: "not YAML: an alias (*…) without its anchor (&…): quote a value that begins with *",
		}
	case text == "did not find expected '-' indicator", text == "did not find expected key":
		line = firstFailing(data, lines, errors.New(text))
	case strings.HasPrefix(text, "did not find"):
		line++
	}
	line = min(line, lines)
	if w, ok := words[text]; ok {
		text = w
	}
	if indented(data, line) {
		text = "a tab in the indent: write spaces"
	}
	return &Fault{Line: line, Text: "not YAML: " + text}
}

// indented says whether there is a tab in the indent of a line.
func indented(data []byte, line int) bool {
	text := bytes.Split(data, []byte("\n"))[line-1]
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	return bytes.ContainsRune(indent, '\t')
}

// firstFailing is the first line with which data, cut after it, fails as all of
// it does.
func firstFailing(data []byte, lines int, want error) int {
	ends := make([]int, 0, lines)
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(data))
	n := sort.Search(len(ends), func(n int) bool {
		_, _, err := documents(data[:ends[n]])
		return err != nil && strings.HasSuffix(err.Error(), strings.TrimPrefix(want.Error(), "yaml: "))
	})
	return min(n+1, lines)
}

func kindName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}
