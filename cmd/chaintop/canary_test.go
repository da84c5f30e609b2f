package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"chaintop/internal/termtest"
)

// canaries are secrets in each place where a key may be.
var canaries = map[string]string{
	"user":     "canaryUser5f1c2a",
	"password": "canary+Pass/9d77e1=",
	"path":     "canaryPath8c44b0",
	"query":    "canaryQuery+3b90/fd=",
	"header":   "canaryHeader17aa62",
	"bearer":   "canaryBearer66e0c4",
}

// sings says which canaries stand in text, in any spelling.
func sings(text string) []string {
	var found []string
	for place, secret := range canaries {
		for how, s := range map[string]string{
			"raw": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		} {
			if strings.Contains(text, strings.TrimRight(s, "=")) {
				found = append(found, place+" "+how)
			}
		}
	}
	if basic := base64.StdEncoding.EncodeToString([]byte(canaries["user"] + ":" + canaries["password"])); strings.Contains(text, basic) {
		found = append(found, "user:password base64")
	}
	return found
}

// echo sends back what it was sent, in the ways an upstream's trouble takes.
func echo(w http.ResponseWriter, r *http.Request) {
	said, _ := httputil.DumpRequest(r, true) // what of it there is
	text := strings.Join(strings.Fields(string(said)), " ")
	switch {
	case strings.HasPrefix(r.URL.Path, "/html"):
		_, _ = fmt.Fprintf(w, "<html>%s</html>", text)
	case strings.HasPrefix(r.URL.Path, "/rpc"):
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":%q}}`, text)
	case strings.HasPrefix(r.URL.Path, "/away"):
		http.Redirect(w, r, "http://elsewhere.example/"+canaries["path"]+"?k="+url.QueryEscape(canaries["query"]), http.StatusFound)
	default:
		http.Error(w, text, http.StatusForbidden)
	}
}

// X1: keys in a URL, in headers and in what an upstream echoes come out
// nowhere.
func TestCanary(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	hosts := map[string]string{"echo": strings.TrimPrefix(server.URL, "http://"), "gone": strings.TrimPrefix(deadPort(t), "http://")}
	user := url.UserPassword(canaries["user"], canaries["password"]).String()
	secret := func(host, way string) string {
		return fmt.Sprintf("http://%s@%s/%s/%s?key=%s", user, hosts[host], way, url.PathEscape(canaries["path"]), url.QueryEscape(canaries["query"]))
	}
	urls := []string{secret("echo", "html"), secret("echo", "rpc"), secret("echo", "away"), secret("echo", "403"), secret("gone", "x"),
		strings.Replace(secret("echo", "403"), "http", "https", 1), strings.Replace(secret("echo", "403"), "http", "ws", 1)}

	if len(sings(urls[0])) == 0 {
		t.Fatal("nobody would hear a canary")
	}

	dir := t.TempDir()
	file := filepath.Join(dir, "chaintop.yml")
	logFile := filepath.Join(dir, "chaintop.log")
	config := fmt.Sprintf("log: {file: %q, level: debug}\nchains:\n  - name: a\n    probe: {timeout: 1s, tries: 2}\n    upstreams:\n", logFile)
	for i, u := range urls {
		credentials := fmt.Sprintf("authorization: {credentials: %q}, ", canaries["bearer"])
		if strings.Contains(u, "@") && i%2 == 0 {
			credentials = ""
		}
		config += fmt.Sprintf("      - {name: u%d, url: %q, http: {%shttp_headers: {X-Key: {secrets: [%q]}}}}\n", i, u, credentials, canaries["header"])
	}
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}

	run := func(name string, args ...string) {
		out, _ := exec.Command(built(t), args...).CombinedOutput() // its exit code is another test's
		if len(out) == 0 {
			t.Errorf("%s printed nothing", name)
		}
		if found := sings(string(out)); len(found) > 0 {
			t.Errorf("%s shows %v:\n%s", name, found, out)
		}
	}
	run("probe table", append([]string{"probe", "--timeout", "1s", "--tries", "1"}, urls...)...)
	run("probe json", append([]string{"probe", "-o", "json", "--timeout", "1s", "--tries", "1"}, urls...)...)
	run("probe of a file", "probe", "--config", file)
	run("once", "--config", file, "--once")
	run("config check", "config", "check", file)
	for i, u := range urls[:2] {
		run(fmt.Sprint("a broken URL ", i), "probe", u, strings.Replace(u, "http://", "ftp://", 1))
		run(fmt.Sprint("a bad port ", i), "probe", strings.Replace(u, "/"+strings.Split(u, "/")[3], ":x/"+strings.Split(u, "/")[3], 1))
	}

	term := onTerminal(t, termtest.Program{Args: []string{"--config", file}, Columns: 200, Rows: 50})
	see(t, term, "a/jsonrpc", "inconclusive")
	press(t, term, "\r")
	see(t, term, "LAST PROBE", "-32000")
	press(t, term, "q")
	ended(t, term, 0)
	if found := sings(string(term.Output())); len(found) > 0 {
		t.Errorf("the screen shows %v", found)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range urls[:2] {
		crash := onTerminal(t, termtest.Program{Path: self, Env: termtest.Env("CHAINTOP_TEST_PANIC=keys", "CHAINTOP_TEST_URL="+u)})
		ended(t, crash, 1)
		if out := string(crash.Output()); !strings.Contains(out, "a bug with") {
			t.Errorf("no panic is told: %s", out)
		} else if found := sings(out); len(found) > 0 {
			t.Errorf("the panic shows %v:\n%s", found, out)
		}
	}
	text, err := os.ReadFile(logFile)
	if err != nil || len(text) == 0 {
		t.Fatalf("the log: %v, %d bytes", err, len(text))
	}
	if found := sings(string(text)); len(found) > 0 {
		t.Errorf("the log shows %v:\n%s", found, text)
	}
}
