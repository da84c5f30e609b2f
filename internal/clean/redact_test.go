package clean_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"chaintop/internal/clean"
)

// everyByte writes s with each byte as %XX.
func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

// spellings are the ways in which an upstream may echo a secret.
func spellings(s string) map[string]string {
	return map[string]string{
		"as it is":         s,
		"in capitals":      strings.ToUpper(s),
		"path-escaped":     url.PathEscape(s),
		"query-escaped":    url.QueryEscape(s),
		"every byte":       everyByte(s),
		"escaped twice":    url.QueryEscape(everyByte(s)),
		"base64":           base64.StdEncoding.EncodeToString([]byte(s)),
		"base64 of a url":  base64.URLEncoding.EncodeToString([]byte("https://u:" + s + "@h/")),
		"base64, shifted1": base64.StdEncoding.EncodeToString([]byte("x" + s + "y")),
		"base64, shifted2": base64.StdEncoding.EncodeToString([]byte("xx" + s + "yy")),
		"base64 of basic":  base64.StdEncoding.EncodeToString([]byte("user:" + s)),
		"hex":              hex.EncodeToString([]byte(s)),
		"json slash":       strings.ReplaceAll(s, "/", `\/`),
		"json unicode":     strings.ReplaceAll(s, "k", `\u006b`),
	}
}

func TestScrubFindsEverySpelling(t *testing.T) {
	for _, secret := range []string{"sk_live-k3y/with+signs=", "K3y0123456789abcdef", "päßwort-ключ", "p%41ss w0rd"} {
		r := clean.NewRedactor("unrelated-secret", secret)
		for how, text := range spellings(secret) {
			if how == "in capitals" && strings.ContainsAny(secret, "äк") {
				continue // of ASCII only
			}
			got := r.Scrub("before " + text + " after")
			if !strings.Contains(got, clean.Hidden) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: %q", how, secret, got)
			}
			left := strings.TrimSuffix(strings.TrimPrefix(got, "before "), " after")
			if how == "as it is" && left != clean.Hidden {
				t.Errorf("%s: %q is left", how, left)
			}
		}
	}
}

func TestScrubLeavesOtherTextAlone(t *testing.T) {
	r := clean.NewRedactor("s3cr3t-token", "", "ab")
	const text = "abc: the request s3cr3t-toke was 100% \\ed, dG9rZW4="
	if got := r.Scrub(text); got != text {
		t.Errorf("%q", got)
	}
	if got := (*clean.Redactor)(nil).Scrub(text); got != text {
		t.Errorf("nil redactor: %q", got)
	}
}

func TestScrubTakesTheLongestSecret(t *testing.T) {
	r := clean.NewRedactor("user", "user:word", "word")
	if got := r.Scrub("at user:word and user"); got != "at *** and ***" {
		t.Errorf("%q", got)
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add("sk_live-k3y/with+signs=", "GET /", " HTTP/1.1")
	f.Add("p%41ss", "%", "1")
	f.Add("abc", `\u00`, "61")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 3 || len(secret) > 200 || len(before)+len(after) > 2000 || strings.Contains("***", secret) {
			t.Skip()
		}
		r := clean.NewRedactor(secret)
		for _, spelled := range []string{secret, everyByte(secret), url.QueryEscape(secret)} {
			got := r.Scrub(before + spelled + after)
			// The text around it may spell a part of it, so that it begins or
			// ends elsewhere; it is never left as it was.
			if strings.Contains(got, secret) && !strings.Contains(got, clean.Hidden) {
				t.Fatalf("%q is left in %q", secret, got)
			}
		}
		if got := r.Scrub(secret); strings.Contains(got, secret) {
			t.Fatalf("%q is left in %q", secret, got)
		}
	})
}
