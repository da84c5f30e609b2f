package feed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

// talking runs a test that speaks to a server frame by frame, after the
// welcome.
func talking(t *testing.T, secret string, test func(t *testing.T, p *plant, h *house, l *memnet.Listener, r raw)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 3, 2)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		r := greeted(t, l, secret)
		defer r.close()
		test(t, p, h, l, r)
	})
}

func greeted(t *testing.T, l *memnet.Listener, secret string) raw {
	t.Helper()
	r := dialRaw(t, l.DialContext, secret)
	r.say(t, typeHello, "", helloData{Resume: &place{Epoch: "e1", Seq: 1}})
	r.until(t, typeWelcome)
	return r
}

// reply is the next answer to a command.
func (r raw) reply(t *testing.T, id string) (string, Answer) {
	t.Helper()
	for {
		f := r.next(t)
		switch f.Type {
		case typeAccepted, typeError, typeResult:
			var a Answer
			r.data(t, f, &a)
			if f.ID != id {
				t.Fatalf("%s for %q, want %q", f.Type, f.ID, id)
			}
			return f.Type, a
		}
	}
}

func probeOf(key string, chains ...string) cmdData {
	return cmdData{Op: "probe", Args: cmdArgs{Chains: chains}, Key: key}
}

func TestProbeIsAcceptedAndThenHasItsVerdicts(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		r.say(t, typeCmd, "c1", probeOf("", "chain1/jsonrpc"))
		kind, a := r.reply(t, "c1")
		if kind != typeAccepted || a.Code != CodeAccepted || a.Seq == 0 || a.Replayed {
			t.Fatalf("%s %+v", kind, a)
		}
		if got := p.first(); got.Who != "oncall" || len(got.Chains) != 1 || got.Chains[0] != 1 || got.ID != "c1" {
			t.Errorf("the instance got %+v", got)
		}
		p.land(100)
		kind, a = r.reply(t, "c1")
		want := []End{{Chain: "chain1/jsonrpc", Probe: 1, Verdict: model.VerdictHealthy, Health: model.Healthy}}
		if kind != typeResult || a.Code != CodeOK || fmt.Sprint(a.Ended) != fmt.Sprint(want) {
			t.Errorf("%s %+v, want %+v", kind, a, want)
		}
	})
}

func TestProbeOfAllAndCheckAndPin(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		r.say(t, typeCmd, "all", probeOf(""))
		r.reply(t, "all")
		p.land(100)
		if _, a := r.reply(t, "all"); a.Code != CodeOK || len(a.Ended) != 3 {
			t.Errorf("%+v", a)
		}
		r.say(t, typeCmd, "check", cmdData{Op: "check", Args: cmdArgs{Chains: []string{"chain2/jsonrpc"}, Upstream: "node1"}})
		if kind, a := r.reply(t, "check"); kind != typeAccepted {
			t.Fatalf("%s %+v", kind, a)
		}
		p.land(100)
		_, a := r.reply(t, "check")
		want := []End{{Chain: "chain2/jsonrpc", Upstream: "node1", Outcome: model.Result, Health: model.Healthy}}
		if a.Code != CodeOK || fmt.Sprint(a.Ended) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", a, want)
		}
		r.say(t, typeCmd, "pin", cmdData{Op: "pin", Args: cmdArgs{Chains: []string{"chain0/jsonrpc"}, Upstream: "node1", For: "5m", Reason: "INC\x1b[31m-7"}})
		if kind, a := r.reply(t, "pin"); kind != typeAccepted || a.Code != CodeAccepted {
			t.Fatalf("%s %+v", kind, a)
		}
		if kind, a := r.reply(t, "pin"); kind != typeResult || a.Code != CodeOK {
			t.Errorf("%s %+v", kind, a)
		}
		if pin := p.chain(0).State.Pin; !pin.On || pin.Upstream != 1 || pin.Who != "oncall" || pin.Reason != "INC-7" {
			t.Errorf("%+v", pin)
		}
	})
}

func TestRefusedCommands(t *testing.T) {
	for _, row := range []struct {
		name string
		data cmdData
		code int
		word string
	}{
		{"no such operation", cmdData{Op: "rm"}, 404, "unknown_op"},
		{"no such chain", probeOf("", "chain9/jsonrpc"), 404, "unknown_chain"},
		{"a URL for a chain", probeOf("", "http://169.254.169.254/"), 404, "unknown_chain"},
		{"no such upstream", cmdData{Op: "check", Args: cmdArgs{Chains: []string{"chain0/jsonrpc"}, Upstream: "x"}}, 404, "unknown_upstream"},
		{"an upstream of two chains", cmdData{Op: "check", Args: cmdArgs{Chains: []string{"chain0/jsonrpc", "chain1/jsonrpc"}, Upstream: "node0"}}, 400, "bad_request"},
		{"a check of nothing", cmdData{Op: "check", Args: cmdArgs{Chains: []string{"chain0/jsonrpc"}}}, 400, "bad_request"},
		{"a budget of nothing", cmdData{Op: "probe", Budget: "-1s"}, 400, "bad_request"},
		{"a time that is none", cmdData{Op: "pin", Args: cmdArgs{Chains: []string{"chain0/jsonrpc"}, Upstream: "node0", For: "soon"}}, 400, "bad_request"},
		{"not pinned", cmdData{Op: "unpin", Args: cmdArgs{Chains: []string{"chain0/jsonrpc"}}}, 409, "state_moved"},
		{"a key too long", probeOf(strings.Repeat("k", 200)), 400, "bad_request"},
		{"a drain without the name", cmdData{Op: "drain.start"}, 412, "confirm_required"},
	} {
		talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
			r.say(t, typeCmd, "c", row.data)
			kind, a := r.reply(t, "c")
			if kind != typeError || a.Code != row.code || a.Name != row.word || a.Words == "" {
				t.Errorf("%s: %s %+v, want %d %s", row.name, kind, a, row.code, row.word)
			}
		})
	}
}

func TestViewerIsRefusedEveryOperation(t *testing.T) {
	talking(t, viewSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		for i, op := range append([]model.Op{"rm"}, operations...) {
			id := fmt.Sprint("c", i)
			r.say(t, typeCmd, id, cmdData{Op: string(op)})
			kind, a := r.reply(t, id)
			if kind != typeError || a.Code != CodeForbidden || !strings.Contains(a.Words, string(op)) {
				t.Errorf("%s: %s %+v", op, kind, a)
			}
		}
		if n := p.acts(); n != 0 {
			t.Errorf("%d commands reached the instance", n)
		}
	})
}

func TestSixteenCommandsAtOnceAreTooMany(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		limited := func(n int) (out int) {
			for i := range n {
				r.say(t, typeCmd, fmt.Sprint("c", i), cmdData{Op: "rm"})
				if _, a := r.reply(t, fmt.Sprint("c", i)); a.Code == CodeRateLimited && a.Retry {
					out++
				}
			}
			return out
		}
		if got := limited(16); got != 6 {
			t.Errorf("%d of 16 are limited, want all but the burst of 10", got)
		}
		time.Sleep(time.Second)
		if got := limited(16); got != 11 {
			t.Errorf("a second later %d of 16 are limited, want all but 5", got)
		}
	})
}

func TestReplayedKeyActsOnce(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, h *house, l *memnet.Listener, r raw) {
		r.say(t, typeCmd, "c1", probeOf("K", "chain0/jsonrpc"))
		_, first := r.reply(t, "c1")
		r.close() // before its result
		time.Sleep(time.Second)
		p.land(100)
		r = greeted(t, l, opSecret)
		defer r.close()
		r.say(t, typeCmd, "c2", probeOf("K", "chain0/jsonrpc"))
		kind, a := r.reply(t, "c2")
		if kind != typeAccepted || !a.Replayed || a.Seq != first.Seq {
			t.Errorf("%s %+v, want %+v again", kind, a, first)
		}
		if kind, a := r.reply(t, "c2"); kind != typeResult || !a.Replayed || len(a.Ended) != 1 {
			t.Errorf("%s %+v", kind, a)
		}
		r.say(t, typeCmd, "c3", probeOf("K", "chain1/jsonrpc"))
		if kind, a := r.reply(t, "c3"); kind != typeError || a.Code != CodeConflict || a.Name != "key_mismatch" {
			t.Errorf("other arguments: %s %+v", kind, a)
		}
		if n := p.acts(); n != 1 {
			t.Errorf("it acted %d times", n)
		}
	})
}

func TestKeyOfAnotherTokenIsAnotherKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, func(o *ServerOptions) {
			o.Tokens = func() []Token {
				return append(someTokens(), Token{Name: "other", Role: RoleOperator, Secret: "x"})
			}
		})
		defer h.shut(context.Background())
		for _, secret := range []string{opSecret, "x"} {
			r := greeted(t, l, secret)
			r.say(t, typeCmd, "c"+secret, probeOf("K"))
			if _, a := r.reply(t, "c"+secret); a.Replayed {
				t.Errorf("%+v", a)
			}
			r.close()
		}
		if n := p.acts(); n != 2 {
			t.Errorf("it acted %d times, want twice", n)
		}
	})
}

func TestBudgetEndsTheWaitAndNotTheProbe(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		start := time.Now()
		data := probeOf("K", "chain0/jsonrpc")
		data.Budget = "2s"
		r.say(t, typeCmd, "c1", data)
		r.reply(t, "c1")
		kind, a := r.reply(t, "c1")
		if took := time.Since(start); kind != typeResult || a.Code != CodeDeadline || !a.Retry || took != 2*time.Second {
			t.Errorf("%s %+v after %v", kind, a, took)
		}
		p.land(100)
		data.Budget = ""
		r.say(t, typeCmd, "c2", data)
		r.reply(t, "c2")
		if _, a := r.reply(t, "c2"); a.Code != CodeOK || len(a.Ended) != 1 || !a.Replayed {
			t.Errorf("it did not go on: %+v", a)
		}
	})
}

func TestInstanceThatTakesNoCommands(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		p.silence(true)
		r.say(t, typeCmd, "c1", probeOf("K"))
		if kind, a := r.reply(t, "c1"); kind != typeError || a.Code != CodeUnavailable || !a.Retry {
			t.Errorf("%s %+v", kind, a)
		}
		p.silence(false) // nothing was done: the key is free
		r.say(t, typeCmd, "c2", probeOf("K"))
		if kind, a := r.reply(t, "c2"); kind != typeAccepted || a.Replayed {
			t.Errorf("%s %+v", kind, a)
		}
	})
}

func TestStoppedInstanceCancelsTheWait(t *testing.T) {
	talking(t, opSecret, func(t *testing.T, p *plant, _ *house, _ *memnet.Listener, r raw) {
		r.say(t, typeCmd, "c1", probeOf(""))
		r.reply(t, "c1")
		p.log.Close()
		if kind, a := r.reply(t, "c1"); kind != typeResult || a.Code != CodeCanceled {
			t.Errorf("%s %+v", kind, a)
		}
	})
}

func TestBadFramesAndBigOnes(t *testing.T) {
	for _, row := range []struct {
		text string
		code CloseCode
	}{
		{`{`, CloseBadFrame}, {`[]`, CloseBadFrame}, {`{"t":""}`, CloseBadFrame}, {`"cmd"`, CloseBadFrame},
		{`{"t":"cmd","d":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, CloseBadFrame},
		{`{"t":"cmd","d":"` + strings.Repeat("x", maxClientFrame) + `"}`, CloseTooBig},
	} {
		talking(t, opSecret, func(t *testing.T, _ *plant, _ *house, _ *memnet.Listener, r raw) {
			r.text(t, row.text)
			byes, err := r.end()
			if fmt.Sprint(err) != fmt.Sprint(&closedError{row.code}) || len(byes) != 1 || byes[0] != row.code {
				t.Errorf("%.40s: %v, goodbyes %v, want %v", row.text, err, byes, row.code)
			}
		})
	}
	talking(t, opSecret, func(t *testing.T, _ *plant, _ *house, _ *memnet.Listener, r raw) {
		r.text(t, `{"t":"of a version to come","d":{"x":1}}`) // skipped
		r.say(t, typeCmd, "c", cmdData{Op: "rm"})
		r.reply(t, "c")
		r.text(t, `{"t":"cmd","id":"c","d":[]}`)
		if _, a := r.reply(t, "c"); a.Code != CodeBadRequest {
			t.Errorf("%+v", a)
		}
	})
}

func TestHelloHasFiveSecondsAndFourKiB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		r := dialRaw(t, l.DialContext, opSecret)
		start := time.Now()
		_, err := r.end()
		if took := time.Since(start); fmt.Sprint(err) != fmt.Sprint(&closedError{CloseHeartbeat}) || took != helloWithin {
			t.Errorf("%v after %v", err, took)
		}
		r.close()
		for text, code := range map[string]CloseCode{
			`{"t":"hello","d":{"client":"` + strings.Repeat("x", maxHello) + `"}}`: CloseTooBig,
			`{"t":"cmd","id":"c","d":{"op":"probe"}}`:                              CloseBadFrame,
			`{"t":"hello","d":{"resume":7}}`:                                       CloseBadFrame,
		} {
			r := dialRaw(t, l.DialContext, opSecret)
			r.text(t, text)
			if _, err := r.end(); fmt.Sprint(err) != fmt.Sprint(&closedError{code}) {
				t.Errorf("%.60s: %v", text, err)
			}
			r.close()
		}
	})
}
