package ui

import (
	"flag"
	"os"
	"strings"
	"testing"
)

const keysPage = "../docs/keys.md"

// docs/keys.md is what the key table says; -update writes it.
func TestKeysDoc(t *testing.T) {
	want := keysDoc()
	if u := flag.Lookup("update"); u != nil && u.Value.String() == "true" {
		if err := os.WriteFile(keysPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(keysPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the key table says: go test ./ui -run TestKeysDoc -update", keysPage)
	}
	for _, k := range filterKeys {
		if !strings.Contains(want, k.name) {
			t.Errorf("the page does not name the filter's key %s", k.name)
		}
	}
}
