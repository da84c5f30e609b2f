package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
)

// knock makes a handshake by hand and returns the response to it.
func knock(t *testing.T, l *memnet.Listener, edit func(*http.Request)) (int, Answer, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/feed", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": Protocol,
		"Authorization": "Bearer " + opSecret,
	} {
		req.Header.Set(k, v)
	}
	edit(req)
	tr := &http.Transport{DialContext: l.DialContext, DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var a Answer
	if res.StatusCode != http.StatusSwitchingProtocols {
		if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
			t.Errorf("the body of a %d: %v", res.StatusCode, err)
		}
	}
	return res.StatusCode, a, res.Header
}

func set(key, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(key, value) }
}

func host(name string) func(*http.Request) {
	return func(r *http.Request) { r.Host = name }
}

const open = http.StatusSwitchingProtocols

func TestDoorWithTokens(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // a bubble's first moment
	tokens := func() []Token {
		return append(someTokens(), Token{Name: "old", Role: RoleOperator, Secret: "ct_old", Expires: now},
			Token{Name: "empty", Role: RoleOperator})
	}
	for _, row := range []struct {
		name string
		edit func(*http.Request)
		want int
	}{
		{"the token", func(*http.Request) {}, open},
		{"a viewer's", set("Authorization", "Bearer "+viewSecret), open},
		{"of any Host, for pods are reached by address", host("10.4.0.7:9640"), open},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"a wrong one", set("Authorization", "Bearer ct_guess"), 401},
		{"an expired one", set("Authorization", "Bearer ct_old"), 401},
		{"an empty one", set("Authorization", "Bearer "), 401},
		{"another kind", set("Authorization", "Basic "+opSecret), 401},
		{"in the URL", func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + opSecret }, 401},
		{"an evil page", set("Origin", "https://evil.example"), 403},
		{"no page at all", set("Origin", "null"), 403},
		{"our own address as a page", set("Origin", "http://127.0.0.1"), 403},
		{"a page that is listed", set("Origin", "https://ops.example"), open},
		{"in other case", set("Origin", "HTTPS://Ops.Example"), open},
		{"of another scheme", set("Origin", "http://ops.example"), 403},
		{"of another port", set("Origin", "https://ops.example:8443"), 403},
		{"a longer name", set("Origin", "https://ops.example.evil"), 403},
		{"two pages", func(r *http.Request) { r.Header["Origin"] = []string{"https://ops.example", "https://evil.example"} }, 403},
		{"another version", set("Sec-WebSocket-Protocol", "chaintop.feed.v9"), 426},
		{"several, one of them ours", set("Sec-WebSocket-Protocol", "chaintop.feed.v9, "+Protocol), open},
		{"none", func(r *http.Request) { r.Header.Del("Sec-WebSocket-Protocol") }, 426},
		{"no websocket", func(r *http.Request) { r.Header.Del("Upgrade") }, 426},
		{"a bad key", set("Sec-WebSocket-Key", "x"), 400},
		{"POST", func(r *http.Request) { r.Method = http.MethodPost }, 405},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			h := newHouse(t, l, newPlant("e1", 1, 1), func(o *ServerOptions) {
				o.Tokens, o.Origins = tokens, []string{"https://ops.example/"}
			})
			defer h.shut(context.Background())
			code, a, header := knock(t, l, row.edit)
			if code != row.want {
				t.Errorf("%s: %d, want %d (%+v)", row.name, code, row.want, a)
			}
			if code != open && (a.Words == "" || (a.Code != code && code != 400)) {
				t.Errorf("%s: the body says %+v", row.name, a)
			}
			if code == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s: %v", row.name, header)
			}
		})
	}
}

// The default of the library let a page through whose name was made to point at
// us.
func TestDoorWithoutTokens(t *testing.T) {
	for _, row := range []struct {
		host     string
		insecure bool
		want     int
	}{
		{"127.0.0.1:9640", false, open}, {"127.9.9.9", false, open}, {"localhost:9640", false, open}, {"LocalHost", false, open},
		{"localhost.", false, open}, {"[::1]:9640", false, open}, {"[::ffff:127.0.0.1]", false, open}, {"gw.internal:9640", false, open},
		{"rebound.evil.example:9640", false, 403}, {"localhost.evil.example", false, 403}, {"127.0.0.1.evil.example", false, 403},
		{"10.4.0.7:9640", false, 403}, {"0.0.0.0:9640", false, 403},
		{"10.4.0.7:9640", true, open}, {"rebound.evil.example", true, 403},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			h := newHouse(t, l, newPlant("e1", 1, 1), func(o *ServerOptions) {
				o.Tokens, o.Hosts, o.Insecure = nil, []string{"gw.internal"}, row.insecure
			})
			defer h.shut(context.Background())
			code, _, _ := knock(t, l, func(r *http.Request) { r.Host = row.host; r.Header.Del("Authorization") })
			if code != row.want {
				t.Errorf("Host %s, insecure %v: %d, want %d", row.host, row.insecure, code, row.want)
			}
		})
	}
}

func TestWhatMustNotBeServedIsRefusedByItsField(t *testing.T) {
	log := newPlant("e1", 1, 1).log
	some := func() []Token { return nil }
	for _, row := range []struct {
		o    ServerOptions
		want string
	}{
		{ServerOptions{}, "no log"},
		{ServerOptions{Log: log}, "feed.tokens"},
		{ServerOptions{Log: log, TLS: true}, "feed.tokens"},
		{ServerOptions{Log: log, Tokens: some}, "feed.tls"},
		{ServerOptions{Log: log, Tokens: some, TLS: true}, ""},
		{ServerOptions{Log: log, Insecure: true}, ""},
		{ServerOptions{Log: log, Loopback: true}, ""},
	} {
		_, err := NewServer(row.o)
		if (err == nil) != (row.want == "") || (err != nil && !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%+v: %v, want %q", row.o, err, row.want)
		}
	}
	for url, want := range map[string]string{
		"wss://host/feed": "", "ws://127.0.0.1:9640/feed": "", "ws://localhost/feed": "",
		"http://host/feed": "ws://", "host": "URL", "wss://token@host/feed": "token file", "wss://host/feed?token=x": "token file",
		"ws://host/feed": "clear",
	} {
		_, err := NewClient(ClientOptions{URL: url, Token: func() (string, error) { return "x", nil }})
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "x") && strings.Contains(err.Error(), "token=") {
			t.Errorf("the error says the token: %v", err)
		}
	}
}

// A token file that is empty for a moment once opened the feed to everybody.
func TestNoTokensLeftIsNobodyAndNotEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 1, 1), func(o *ServerOptions) { o.Tokens = func() []Token { return nil } })
		defer h.shut(context.Background())
		if code, _, _ := knock(t, l, func(r *http.Request) {}); code != 401 {
			t.Errorf("%d", code)
		}
	})
}

func TestRevokedOrExpiredTokenEndsItsConnectionsWithinAHeartbeat(t *testing.T) {
	for _, how := range []string{"revoked", "expired", "made a viewer's"} {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			var gone atomic.Bool
			h := newHouse(t, l, newPlant("e1", 1, 1), func(o *ServerOptions) {
				o.Tokens = func() []Token {
					ts := someTokens()
					switch {
					case !gone.Load():
					case how == "revoked":
						ts = ts[1:]
					case how == "expired":
						ts[0].Expires = time.Now()
					default:
						ts[0].Role = RoleViewer
					}
					return ts
				}
			})
			defer h.shut(context.Background())
			c, other := follow(t, l.DialContext, opSecret, nil), follow(t, l.DialContext, viewSecret, nil)
			defer c.stop()
			defer other.stop()
			time.Sleep(12 * time.Second)
			if st := c.Status(); st.Phase != Live {
				t.Fatalf("%+v", st)
			}
			gone.Store(true)
			time.Sleep(heartbeat)
			synctest.Wait()
			if st := c.Status(); st.Phase != Refused || st.Code != int(CloseUnauthenticated) {
				t.Errorf("%s: %+v", how, st)
			}
			if st := other.Status(); st.Phase != Live {
				t.Errorf("another: %+v", st)
			}
		})
	}
}

func TestCommandWithARevokedTokenIsNotTaken(t *testing.T) {
	var gone atomic.Bool
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, func(o *ServerOptions) {
			o.Tokens = func() []Token {
				if gone.Load() {
					return nil
				}
				return someTokens()
			}
		})
		defer h.shut(context.Background())
		r := greeted(t, l, opSecret)
		defer r.close()
		gone.Store(true)
		r.say(t, typeCmd, "c", probeOf(""))
		if _, err := r.end(); fmt.Sprint(err) != fmt.Sprint(&closedError{CloseUnauthenticated}) {
			t.Errorf("%v", err)
		}
		if n := p.acts(); n != 0 {
			t.Errorf("it acted %d times", n)
		}
	})
}

func TestSixtyFiveConnectionsOfOneTokenAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 1, 1), nil)
		defer h.shut(context.Background())
		var all []raw
		for range maxPerToken {
			all = append(all, greeted(t, l, viewSecret))
		}
		more := dialRaw(t, l.DialContext, viewSecret)
		byes, err := more.end()
		if fmt.Sprint(err) != fmt.Sprint(&closedError{CloseLimit}) || len(byes) != 1 {
			t.Errorf("%v, goodbyes %v", err, byes)
		}
		more.close()
		greeted(t, l, opSecret).close() // another token has its own
		for _, r := range all {
			r.close()
		}
		time.Sleep(time.Second)
		greeted(t, l, viewSecret).close()
	})
}

func TestStrangersKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 1, 1), nil)
		defer h.shut(context.Background())
		codes := map[int]int{}
		for range 500 {
			code, _, header := knock(t, l, set("Authorization", "Bearer ct_guess"))
			codes[code]++
			if code == 429 && header.Get("Retry-After") != "1" {
				t.Errorf("%v", header)
			}
		}
		if codes[401] != 2*strangersEvery || codes[429] != 500-2*strangersEvery {
			t.Errorf("%v", codes)
		}
		greeted(t, l, opSecret).close()
	})
}

func TestHandshakesAreFiftyASecondAfterAFullHouse(t *testing.T) {
	b, now := newBucket(handshakesEvery, maxViewers), time.Unix(0, 0)
	took := 0
	for range 2000 {
		if b.take(now) {
			took++
		}
	}
	for range 100 {
		if b.take(now.Add(time.Second)) {
			took++
		}
	}
	if took != maxViewers+handshakesEvery {
		t.Errorf("%d handshakes in a second", took)
	}
}

func TestClientTurnedDownAtTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		h := newHouse(t, l, newPlant("e1", 1, 1), nil)
		defer h.shut(context.Background())
		c := follow(t, l.DialContext, "ct_guess", nil)
		defer c.stop()
		time.Sleep(time.Hour)
		synctest.Wait()
		if st := c.Status(); st.Phase != Refused || st.Code != 401 || !strings.Contains(st.Words, "token") || st.Try != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestNothingIsEncodedForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		for range 100 {
			p.tick(0)
			time.Sleep(time.Second)
		}
		if n := h.feed.sealer.encoded.Load(); n != 0 {
			t.Errorf("%d events were encoded", n)
		}
		c := follow(t, l.DialContext, opSecret, nil)
		time.Sleep(time.Second)
		p.tick(0)
		time.Sleep(time.Second)
		same(t, p, c)
		c.stop()
		time.Sleep(time.Second)
		was := h.feed.sealer.encoded.Load()
		for range 100 {
			p.tick(0)
		}
		time.Sleep(time.Minute)
		if n := h.feed.sealer.encoded.Load(); n != was || was != 1 {
			t.Errorf("%d events were encoded, then %d", was, n)
		}
		c = follow(t, l.DialContext, opSecret, nil) // and it wakes again
		defer c.stop()
		time.Sleep(time.Second)
		p.tick(0)
		time.Sleep(time.Second)
		same(t, p, c)
	})
}
