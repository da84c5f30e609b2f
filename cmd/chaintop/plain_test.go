package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"chaintop/model"
)

// plate is the night that the screens are designed by, as they print it.
func plate(t *testing.T) (*model.Instance, time.Time) {
	t.Helper()
	b, err := os.ReadFile("../../ui/testdata/TestPlateAsJSON.golden")
	if err != nil {
		t.Fatal(err)
	}
	var i model.Instance
	if err := json.Unmarshal(b, &i); err != nil {
		t.Fatal(err)
	}
	return &i, time.Date(2026, 11, 30, 3, 12, 41, 0, time.UTC)
}

func TestOnceOfThePlate(t *testing.T) {
	i, now := plate(t)
	var out bytes.Buffer
	if err := writeSnapshot(&out, i, now); err != nil {
		t.Fatal(err)
	}
	golden.RequireEqual(t, out.Bytes())
}

func TestPlainOfThePlate(t *testing.T) {
	i, _ := plate(t)
	var out bytes.Buffer
	for _, e := range i.Recent {
		if err := printLine(&out, i, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range out.Bytes() {
		if b > 126 {
			t.Fatalf("%q is no ASCII:\n%s", b, out.String())
		}
	}
	golden.RequireEqual(t, out.Bytes())
}

// A value that holds a space, a quote or a sign of ours stays one word of ASCII.
func TestPlainWords(t *testing.T) {
	for in, want := range map[string]string{
		"healthy": "healthy", "": `""`, "refused x4, timeout x2": `"refused x4, timeout x2"`, `a"b`: `"a\"b"`, "a=b": `"a=b"`,
		"● healthy → ✖ unhealthy · 429×3": `"+ healthy -> x unhealthy, 429x3"`, "é": `\u00e9`, "a\nb": `a\nb`, "\x1b[2J": `\x1b[2J`,
	} {
		if got := word(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
