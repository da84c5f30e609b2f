package config

import (
	_ "embed"
	"slices"
)

//go:embed example.yml
var example []byte

// Example is a config with every field, what it means and its default. Loaded
// as it is, it says nothing that Default does not; chains stand in comments.
func Example() []byte { return slices.Clone(example) }
