package probe_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chaintop/internal/probe"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// sample is a recorded exchange: the request that was sent, the answer's bytes.
type sample struct {
	method  string
	params  json.RawMessage
	batch   []string
	body    string // of the request
	verb    string
	respond string
}

func readSample(t *testing.T, name string) sample {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "samples", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	request, response, _ := strings.Cut(text, "\n\n")
	s := sample{}
	for line := range strings.SplitSeq(request, "\n") {
		line = strings.TrimPrefix(line, "### ")
		switch {
		case strings.HasPrefix(line, "{") || strings.HasPrefix(line, "["):
			s.body = line
		case strings.HasPrefix(line, "GET ") || strings.HasPrefix(line, "POST "):
			s.verb, _, _ = strings.Cut(line, " ")
		}
	}
	type call struct {
		Method string
		Params json.RawMessage
	}
	var one call
	var many []call
	if json.Unmarshal([]byte(s.body), &many) == nil {
		for _, c := range many {
			s.batch = append(s.batch, c.Method)
		}
	} else if json.Unmarshal([]byte(s.body), &one) == nil {
		s.method, s.params = one.Method, one.Params
	}
	head, body, _ := strings.Cut(response, "\n\n")
	body = strings.TrimSuffix(body, "\n") // the recorder's own
	for line := range strings.SplitSeq(head, "\n") {
		// The recording is of the body as it was read, with paths taken out.
		if name, _, _ := strings.Cut(strings.ToLower(line), ":"); name != "content-length" && name != "transfer-encoding" {
			s.respond += line + "\r\n"
		}
	}
	s.respond += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	return s
}

// replayed asks what was asked, of a server that answers as the node did.
func replayed(t *testing.T, name string) model.Outcome {
	t.Helper()
	s := readSample(t, name)
	srv, err := rpctest.Serve(func(_ int, c *rpctest.Conn) {
		if _, _, ok := c.Request(); ok {
			c.Say(s.respond)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	target := evmTarget(t, srv.URL(), nil)
	t.Cleanup(target.Client.Close)
	o, err := probe.Ask(t.Context(), target, probe.Question{Method: s.method, Params: s.params, Batch: s.batch, ID: 1, HTTPMethod: s.verb})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRecordedAnswersSayTheRightFacts(t *testing.T) {
	block := func(n uint64, at int64) model.Fact[model.Block] {
		return model.Say(model.Block{Number: n, Time: time.Unix(at, 0).UTC()})
	}
	head := func(n uint64) model.Facts { return model.Facts{Head: model.Say(n)} }
	for name, want := range map[string]model.Facts{
		"geth/eth_blockNumber":       head(4),
		"geth/eth_chainId":           {ChainID: model.Say("1337")},
		"geth/eth_syncing":           {Syncing: model.Say(false)},
		"geth/net_peerCount":         {Peers: model.Say(uint64(0))},
		"geth/web3_clientVersion":    {Client: model.Say("Geth/v1.17.10-stable/linux-amd64/go1.26.8")},
		"geth/getBlock":              {Head: model.Say(uint64(5)), Block: block(5, 0x6b0cd518)},
		"geth/safe":                  {Safe: model.Say(uint64(5))},
		"geth/finalized":             {Finalized: model.Say(uint64(0))},
		"geth/batch":                 head(5),
		"geth/eth_gasPrice":          {},
		"geth/net_version":           {},
		"geth/rpc_modules":           {},
		"anvil/eth_blockNumber":      head(3),
		"anvil/eth_chainId":          {ChainID: model.Say("31337")},
		"anvil/eth_syncing":          {Syncing: model.Say(false)},
		"anvil/web3_clientVersion":   {Client: model.Say("anvil/v1.7.1")},
		"anvil/getBlock":             {Head: model.Say(uint64(3)), Block: block(3, 0x6b0cd2ee)},
		"anvil/batch":                head(3),
		"hardhat/eth_blockNumber":    head(3),
		"hardhat/eth_chainId":        {ChainID: model.Say("31337")},
		"hardhat/eth_syncing":        {Syncing: model.Say(false)},
		"hardhat/net_peerCount":      {Peers: model.Say(uint64(0))},
		"hardhat/web3_clientVersion": {Client: model.Say("HardhatNetwork/2.29.1/@nomicfoundation/edr/0.3.8")},
		"ganache/eth_blockNumber":    head(3),
		"ganache/eth_chainId":        {ChainID: model.Say("1337")},
		"ganache/eth_syncing":        {Syncing: model.Say(false)},
		"ganache/net_peerCount":      {Peers: model.Say(uint64(0))},
		"ganache/web3_clientVersion": {Client: model.Say("Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js")},
	} {
		o := replayed(t, name)
		if o.Kind != model.Result || o.Findings != 0 {
			t.Errorf("%s: %s %s %s %v", name, o.Kind, o.Reason, o.Evidence, o.Findings.Words())
		}
		if diff := cmp.Diff(want, o.Facts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRecordedErrorsAreAnswers(t *testing.T) {
	for name, want := range map[string]string{
		"geth/badjson":          `answer node_error HTTP 200 · -32700 "parse error"`,
		"geth/nope_method":      `answer node_error HTTP 200 · -32601 "the method nope_method does not exist/is not available"`,
		"geth/get":              "no_answer empty HTTP 200 · no body",
		"anvil/net_peerCount":   `answer node_error HTTP 200 · -32601 "Method not found"`,
		"anvil/get":             "answer http_status HTTP 400 · Connection header did not include 'upgrade'",
		"hardhat/txpool_status": `answer node_error HTTP 200 · -32004 "Method txpool_status is not supported"`,
		"ganache/txpool_status": `answer node_error HTTP 200 · -32700 "The method txpool_status does not exist/is not available"`,
	} {
		o := replayed(t, name)
		if got := o.Kind.String() + " " + string(o.Reason) + " " + o.Evidence.String(); got != want || o.Findings != 0 {
			t.Errorf("%s: %s %v, want %s", name, got, o.Findings.Words(), want)
		}
	}
}
