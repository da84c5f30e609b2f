package rpc

import "testing"

// What Calls takes apart was sent by a stranger.
func FuzzCalls(f *testing.F) {
	for _, s := range []string{`{"id":1,"method":"m"}`, `[{"id":1},2,[],"x"]`, `[]`, `{"method":"a","METHOD":"b"}`, `[[[`, "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		calls, _, err := Calls(b, 10)
		if err == nil && (len(calls) == 0 || len(calls) > 10) {
			t.Errorf("%d calls in %q", len(calls), b)
		}
	})
}
