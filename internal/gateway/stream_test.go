package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"chaintop/model"
)

const logsParams = `["logs",{"address":"0xa","fromBlock":"0x0"}]`

// A client's subscriptions outlive a kill, a hang and a revival of what carries
// them: no block is missed and none comes twice, under the ids it first got, and
// what we ask for that is not seen (F12).
func TestStreamOutlivesItsUpstream(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		if got := c.header.Get("X-Served-By"); got != "a" {
			t.Errorf("served by %q", got)
		}
		heads, logs := c.subscribe("1", `["newHeads"]`), c.subscribe(`"two"`, logsParams)
		k := 100
		grow := func(seconds int) {
			for range seconds {
				k++
				r.grow("m", fmt.Sprintf("0xm%d", k-1), k)
				time.Sleep(time.Second)
			}
		}
		grow(3)
		r.a.kill()
		grow(5) // on b
		r.a.up()
		grow(10) // a is fit again, and pulls nobody back
		if n := r.b.count("eth_subscribe"); n != 2 {
			t.Errorf("b was asked for %d subscriptions", n)
		}
		r.b.stop(true)
		grow(40) // back on a, with what b did not say
		r.b.stop(false)
		grow(5)
		r.a.kill()
		r.b.kill() // nobody is there
		grow(6)
		r.b.up()
		grow(5)
		want := branch("m", "", 101, k)
		if diff := cmp.Diff(headsOf(want...), c.notices(heads)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
		if diff := cmp.Diff(logsOf("", want...), c.notices(logs)); diff != "" {
			t.Errorf("logs: %s", diff)
		}
		if got := c.replies(); len(got) != 2 {
			t.Errorf("replies: %q", got)
		}
		tr := r.traffic()
		if tr.Streams != 1 || tr.Moves != 3 || tr.Gaps != 0 || tr.Filled == 0 || tr.Upstreams[1].Streams != 1 || tr.Upstreams[0].Streams != 0 {
			t.Errorf("traffic: %+v", tr)
		}
		if got := c.ask("3", "eth_unsubscribe", `["`+heads+`"]`); !strings.Contains(got, `"result":true`) {
			t.Errorf("unsubscribe: %s", got)
		}
		before := len(c.notices(heads))
		grow(2)
		if n := len(c.notices(heads)); n != before {
			t.Errorf("%d notices after the end", n-before)
		}
	})
}

// A reorg in the gap: the blocks of the new branch come, as a node would send
// them, and logs of the old one are taken back.
func TestReorgInTheGap(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		heads, logs := c.subscribe("1", `["newHeads"]`), c.subscribe("2", logsParams)
		old := branch("m", "0xm100", 101, 105)
		for _, b := range old {
			r.a.grow(b)
			r.b.grow(b)
			time.Sleep(time.Second)
		}
		fork := branch("n", "0xm102", 103, 107)
		r.b.grow(fork...)
		r.a.kill()
		time.Sleep(time.Second)
		after := branch("n", "0xn107", 108, 109)
		for _, b := range after {
			r.b.grow(b)
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff(headsOf(slices.Concat(old, fork, after)...), c.notices(heads)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
		back := logsOf("-", old[2:]...)
		slices.Reverse(back)
		if diff := cmp.Diff(slices.Concat(logsOf("", old...), back, logsOf("", slices.Concat(fork, after)...)), c.notices(logs)); diff != "" {
			t.Errorf("logs: %s", diff)
		}
	})
}

// An upstream that is behind sends what the client had already: that is dropped.
func TestMoveToOneThatIsBehind(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		heads, logs := c.subscribe("1", `["newHeads"]`), c.subscribe("2", logsParams)
		all := branch("m", "0xm100", 101, 108)
		r.a.grow(all[:4]...)
		r.b.grow(all[0])
		time.Sleep(100 * time.Millisecond)
		r.a.kill()
		time.Sleep(time.Second)
		for _, b := range all[1:] {
			r.b.grow(b)
			time.Sleep(time.Second)
		}
		if diff := cmp.Diff(headsOf(all...), c.notices(heads)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
		if diff := cmp.Diff(logsOf("", all...), c.notices(logs)); diff != "" {
			t.Errorf("logs: %s", diff)
		}
		if tr := r.traffic(); tr.Filled != 0 || tr.Gaps != 0 {
			t.Errorf("traffic %+v", tr)
		}
	})
}

// Blocks that come while the gap is filled are not delivered twice, and not
// before those that are filled.
func TestBlocksDuringTheFill(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		heads := c.subscribe("1", `["newHeads"]`)
		all := branch("m", "0xm100", 101, 112)
		r.a.grow(all[:2]...)
		r.b.grow(all[:6]...)
		time.Sleep(100 * time.Millisecond)
		slow := make(chan struct{})
		n := 0
		r.b.answers(func(method string, _ json.RawMessage) string {
			if method == "eth_getBlockByNumber" {
				if n++; n == 1 {
					close(slow)
				}
			}
			return ""
		})
		r.a.kill()
		<-slow
		r.b.grow(all[6:9]...)
		time.Sleep(time.Second)
		r.b.grow(all[9:]...)
		time.Sleep(time.Second)
		if diff := cmp.Diff(headsOf(all...), c.notices(heads)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
	})
}

// What cannot be filled is a gap, and counted: more than 128 blocks, and
// transactions that wait.
func TestGaps(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		heads := c.subscribe("1", `["newHeads"]`)
		pending := c.subscribe("2", `["newPendingTransactions"]`)
		first := branch("m", "0xm100", 101, 101)
		r.a.grow(first...)
		r.b.grow(branch("m", "0xm100", 101, 101+129)...)
		time.Sleep(100 * time.Millisecond)
		r.a.kill()
		time.Sleep(time.Second)
		last := branch("m", "0xm230", 231, 231)
		r.b.grow(last...)
		time.Sleep(time.Second)
		if diff := cmp.Diff(headsOf(first[0], last[0]), c.notices(heads)); diff != "" {
			t.Errorf("heads: %s", diff)
		}
		c.await(pending, "0xtxb")
		if tr := r.traffic(); tr.Gaps != 2 || tr.Filled != 0 || tr.Moves != 1 {
			t.Errorf("traffic %+v", tr)
		}
	})
}

// A pause of 300 ms moves nobody; an upstream that is unfit for less than 2 s
// neither (F12).
func TestPauseMovesNobody(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		c.subscribe("1", `["newHeads"]`)
		// With HTTP requests to notice it, and make the primary suspect.
		r.a.stop(true)
		for range 6 {
			r.gw.noAnswer(r.gw.routes[0], 0, model.ReasonStalled)
		}
		time.Sleep(300 * time.Millisecond)
		if s := r.core.Picture().Chains[0].Upstreams[0].State.Suspect; !s.Active {
			t.Error("the pause was not noticed: this tests nothing")
		}
		r.a.stop(false)
		time.Sleep(10 * time.Second)
		if tr := r.traffic(); tr.Moves != 0 || tr.Upstreams[0].Streams != 1 || r.b.dials != 0 {
			t.Errorf("traffic %+v, %d dials", tr, r.b.dials)
		}
	})
}

// Every session of a killed primary is on the backup within 2 s.
func TestManyStreamsMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, stop := newStreamRig(t, nil)
		defer stop()
		r.known()
		const n = 500
		var all []*wsClient
		var ids []string
		for range n {
			c := r.dial()
			defer c.close()
			all = append(all, c)
			ids = append(ids, c.subscribe("1", `["newHeads"]`))
		}
		r.grow("m", "0xm100", 101)
		time.Sleep(time.Second)
		r.a.kill()
		r.b.grow(branch("m", "0xm101", 102, 102)...)
		time.Sleep(2 * time.Second)
		for i, c := range all {
			if diff := cmp.Diff([]string{"0xm101", "0xm102"}, c.notices(ids[i])); diff != "" {
				t.Fatalf("session %d: %s", i, diff)
			}
		}
		if tr := r.traffic(); tr.Streams != n || tr.Moves != n || tr.Upstreams[1].Streams != n {
			t.Errorf("traffic %+v", tr)
		}
	})
}

// A reorg in the gap, seen by a subscriber of logs alone.
func TestReorgWithLogsAlone(t *testing.T) {
	streaming(t, nil, func(t *testing.T, r *streamRig, c *wsClient) {
		logs := c.subscribe("1", logsParams)
		old, fork := branch("m", "0xm100", 101, 105), branch("n", "0xm102", 103, 106)
		r.a.grow(old...)
		r.b.grow(slices.Concat(old[:2], fork)...)
		time.Sleep(6 * time.Second) // a check says the head
		r.a.kill()
		time.Sleep(time.Second)
		back := logsOf("-", old[2:]...)
		slices.Reverse(back)
		if diff := cmp.Diff(slices.Concat(logsOf("", old...), back, logsOf("", fork...)), c.notices(logs)); diff != "" {
			t.Error(diff)
		}
	})
}

// What an upstream sends before it says its head, to which blocks are filled: a
// block that is not the chain's any more by then is not handed on, and one above
// that head is, with those before it.
func TestNoticesBeforeTheHeadIsKnown(t *testing.T) {
	all := branch("m", "0xm100", 101, 106)
	for _, tt := range []struct {
		name  string
		sends [][]blk
		head  blk // as it says
		want  []blk
	}{
		{"of another branch", [][]blk{branch("n", "0xm102", 103, 103), all[2:4]}, all[3], all[:4]},
		{"above the head", [][]blk{all[4:5]}, all[2], all[:5]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, stop := newStreamRig(t, nil)
				defer stop()
				r.known()
				c := r.dial()
				defer c.close()
				heads := c.subscribe("1", `["newHeads"]`)
				r.a.grow(all[0])
				if r.b.grow(all[:2]...); len(tt.sends) == 1 {
					r.b.grow(all[2:4]...)
				}
				time.Sleep(100 * time.Millisecond)
				r.b.answers(func(_ string, id json.RawMessage) string {
					if string(id) == `"ct-2"` { // its head
						return "-"
					}
					return ""
				})
				r.a.kill()
				time.Sleep(100 * time.Millisecond)
				for _, blocks := range tt.sends {
					r.b.grow(blocks...)
				}
				h, _ := json.Marshal(tt.head.header("b", true))
				r.b.tellAll(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ct-2","result":%s}`, h))
				time.Sleep(time.Second)
				if diff := cmp.Diff(headsOf(tt.want...), c.notices(heads)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
