package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"chaintop/internal/clean"
)

// What a report is bounded by: faults in it, runes of one, runes of a path or
// a file's name.
const (
	maxFaults = 100
	maxFault  = 600
	maxPath   = 255
)

// Fault is one thing that is wrong in a file.
type Fault struct {
	File   string
	Line   int    // counts from 1; 0 = the file as a whole
	Column int    // counts from 1; 0 = the line as a whole
	Path   string // of the field: "chains[2].upstreams[0].url"; empty = the file
	Text   string // what is wrong, and what to write instead
}

// Error is one line: file:line: path: text.
func (f Fault) Error() string {
	parts := []string{clean.Text(f.File, maxPath)}
	if f.Line > 0 {
		parts[0] += ":" + strconv.Itoa(f.Line)
	}
	if f.Path != "" {
		parts = append(parts, clean.Text(f.Path, maxPath))
	}
	return clean.Text(strings.Join(append(parts, f.Text), ": "), maxFault)
}

// Errors are the faults of a file, in its order; never empty when returned.
type Errors []Fault

// Error is one line a fault.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults one by one.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, f := range e {
		all[i] = f
	}
	return all
}

// inOrder is e as the file called name has it, cut where nobody reads on.
func (e Errors) inOrder(name string) Errors {
	slices.SortStableFunc(e, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(e) - maxFaults; more > 0 {
		e = append(e[:maxFaults:maxFaults], Fault{Text: fmt.Sprintf("and %d more faults", more)})
	}
	for i := range e {
		e[i].File = name
	}
	return e
}

// unread says why a file could not be read, in words that hold nothing of it.
func unread(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.EISDIR):
		return "is a directory, not a file"
	}
	return "cannot be read"
}
