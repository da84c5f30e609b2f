package probe_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// corpusCase is one recorded behaviour; testdata/corpus/README.md says what each
// field means.
type corpusCase struct {
	ID     string
	Family string
	Probe  struct {
		Method     string
		HTTPMethod string `json:"http_method"`
		Path       string
		ID         json.RawMessage
		Params     json.RawMessage
		Batch      []string
	}
	Target struct {
		Scheme        string
		Host          string
		ExpectedChain json.RawMessage `json:"expected_chain"`
		Via           string
	}
	DeadlineMS int `json:"deadline_ms"`
	Tries      int
	ProbeAtS   []int `json:"probe_at_s"`
	Transport  struct {
		Layer       string
		Connections []struct{ Steps []step }
	}
	Expect expectation
}

type expectation struct {
	Outcome        string
	Head           *uint64
	Syncing        *bool
	Facts          map[string]any
	Degraded       []string
	Confidence     string
	AlsoAcceptable []string                 `json:"also_acceptable"`
	MustNot        []string                 `json:"must_not"`
	PerPoll        []struct{ Head *uint64 } `json:"per_poll"`
}

// step is one step of a connection's script; each op uses a few of the fields.
type step struct {
	Op             string
	Status         int
	Headers        headers
	Body           *string
	BodyB64        string      `json:"body_b64"`
	BodyRepeat     *bodyRepeat `json:"body_repeat"`
	Framing        string
	Encode         string
	OnlyIfAccepted bool `json:"only_if_accepted"`
	Version        string
	Text           *string
	B64            string
	MS             int
	Mode           string
	ALPN           string
	Errno          string
	Rcode          string
	Code           json.RawMessage
	Reason         string
	Debug          string
	LastStreamID   uint32 `json:"last_stream_id"`
	EndStream      bool   `json:"end_stream"`
}

type bodyRepeat struct {
	Prefix, Text, Suffix string
	Times                int
}

// headers keep the order they stand in.
type headers []struct{ name, value string }

func (h *headers) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		value, err := dec.Token()
		if err != nil {
			return err
		}
		*h = append(*h, struct{ name, value string }{fmt.Sprint(name), fmt.Sprint(value)})
	}
	return nil
}

func (h headers) has(name string) bool {
	return slices.ContainsFunc(h, func(e struct{ name, value string }) bool { return strings.EqualFold(e.name, name) })
}

// corpusDir is the corpus to play: the project's copy, or CHAINTOP_CORPUS.
func corpusDir() string {
	if dir := os.Getenv("CHAINTOP_CORPUS"); dir != "" {
		if s, err := os.Stat(filepath.Join(dir, "cases")); err == nil && s.IsDir() {
			return filepath.Join(dir, "cases")
		}
		return dir
	}
	return filepath.Join("testdata", "corpus", "cases")
}

func loadCorpus(t *testing.T) []corpusCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusDir(), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s (%v)", corpusDir(), err)
	}
	slices.Sort(files)
	var all []corpusCase
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c corpusCase
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, c)
	}
	return all
}

var placeholder = regexp.MustCompile(`\{\{(unix_hex|rfc3339):(-?\d+)\}\}`)

// render fills the placeholders of a text; id is the request's as JSON.
func render(text string, id json.RawMessage) string {
	quoted := string(id)
	if !strings.HasPrefix(quoted, `"`) {
		quoted = strconv.Quote(quoted)
	}
	text = strings.ReplaceAll(text, `"{{id}}"`, quoted)
	text = strings.ReplaceAll(text, "{{id}}", string(id))
	return placeholder.ReplaceAllStringFunc(text, func(s string) string {
		m := placeholder.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[2])
		at := time.Now().Add(time.Duration(n) * time.Second)
		if m[1] == "unix_hex" {
			return fmt.Sprintf("0x%x", at.Unix())
		}
		return at.UTC().Format("2006-01-02T15:04:05Z")
	})
}
