//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// pair is a primary, a, and its backup, b.
type pair struct {
	a, b *upstream
}

// upstream is a node in a process of its own that can be killed and started
// again at the same address.
type upstream struct {
	*process
	b       *brood
	name    string
	addr    string
	journal string
}

// startPair starts two nodes whose journals are in folder dir.
func startPair(b *brood, dir string) (*pair, error) {
	var p pair
	for _, u := range []struct {
		at   **upstream
		name string
	}{{&p.a, "a"}, {&p.b, "b"}} {
		*u.at = &upstream{b: b, name: u.name, addr: "127.0.0.1:0", journal: filepath.Join(dir, u.name+".journal")}
		if err := (*u.at).begin(); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// begin starts the node, at the address it had if it had one.
func (u *upstream) begin() (err error) {
	u.process, u.addr, err = u.b.again("upstream "+u.name, "upstream", "-listen", u.addr, "-journal", u.journal)
	return err
}

// counts asks the node what it counted, of the ids from one to before another.
func (u *upstream) counts(ctx context.Context, from, to int64) (c counts, err error) {
	resp, err := u.call(ctx, http.MethodGet, fmt.Sprintf("/counts?from=%d&to=%d", from, to))
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

// slow has every third call of clients take longer by so much.
func (u *upstream) slow(ctx context.Context, by time.Duration) error {
	return u.tell(ctx, "/slow?by="+by.String())
}

func (u *upstream) closeIdle(ctx context.Context, every time.Duration) error {
	return u.tell(ctx, "/close-idle?every="+every.String())
}

func (u *upstream) tell(ctx context.Context, path string) error {
	resp, err := u.call(ctx, http.MethodPost, path)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// control asks nodes about themselves. Its connections are not to be among those
// that are counted or closed as idle.
var control = http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}

func (u *upstream) call(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+u.addr+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := control.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // it is of no use
		err = fmt.Errorf("%s of upstream %s: HTTP %d", path, u.name, resp.StatusCode)
	}
	return resp, err
}

// written are the ids of the writes a pair was asked, with how often.
func (p *pair) written() (map[string]int, error) {
	ids := map[string]int{}
	for _, u := range []*upstream{p.a, p.b} {
		f, err := os.Open(u.journal)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			ids[lines.Text()]++
		}
		_ = f.Close() // it was read
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
