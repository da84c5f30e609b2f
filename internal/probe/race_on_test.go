//go:build race

package probe_test

// raced says that the race detector multiplies what memory is used.
const raced = true
