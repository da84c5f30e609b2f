package clean

import (
	"strings"
	"testing"
)

func TestDeeper(t *testing.T) {
	for _, tt := range []struct {
		json string
		deep int
	}{
		{"", 0}, {"1", 0}, {"[]", 1}, {`{"a":[1,{"b":[]}]}`, 4}, {"[][][]", 1}, {`"[[["`, 0}, {`["\"[[",[]]`, 2}, {`["\\",[[]]]`, 3},
		{"]]][", 0}, {"{}", 1}, {`{"a":[{}]}`, 3}, {`["\"[[[",{}]`, 2}, {strings.Repeat("[", 1000), 1000}, {`{"open":"`, 1},
	} {
		for most := range 6 {
			if got, want := Deeper([]byte(tt.json), most), tt.deep > most; got != want {
				t.Errorf("%.40q deeper than %d: %v", tt.json, most, got)
			}
		}
	}
}

func TestBracketsSeesWhatIsOutsideStrings(t *testing.T) {
	var got strings.Builder
	Brackets([]byte(`[{"a,[":1},"x]",{}]`), func(c byte, depth int) bool {
		got.WriteByte(c)
		got.WriteByte(byte('0' + depth))
		return true
	})
	if want := "[1{2}2,1,1{2}2]1"; got.String() != want {
		t.Errorf("%s, want %s", got.String(), want)
	}
}
