package model

import (
	"fmt"
	"time"
)

// DiagnoseDrain says of an instance's drain, real or simulated or none, what an
// engineer asks first (S1).
func DiagnoseDrain(i *Instance, now time.Time) Diagnosis {
	s := leaving{i: i, d: i.Drain, a: i.Drain.Activity, now: now}
	return Diagnosis{Chain: -1, Why: s.why(), Whose: s.whose(), Felt: s.felt(), Next: s.next(), Do: s.do()}
}

// leaving is the drain a diagnosis is of.
type leaving struct {
	i   *Instance
	d   Drain
	a   Activity
	now time.Time
}

// Awake is the client whose last request keeps the drain awake: of a simulation
// the last on an old connection. False: nobody asked for as long as idle is.
func (d Drain) Awake(now time.Time) (Client, bool) {
	last, addr, kind := d.Activity.Last, d.Activity.Client, d.Activity.Kind
	if d.Simulated {
		last, addr, kind = d.Activity.OldLast, d.Activity.OldClient, d.Activity.OldKind
	}
	if addr == "" || last.Before(d.Since) || now.Sub(last) >= d.Settings.Idle {
		return Client{}, false
	}
	for _, c := range d.Activity.Clients {
		if c.Addr == addr && c.Kind == kind {
			return c, true
		}
	}
	return Client{Addr: addr, Kind: kind, Last: last}, true
}

// Awake is the index of the chain whose client keeps the drain awake, -1 when
// none does.
func (i *Instance) Awake(now time.Time) int {
	d := i.Drain
	chain := d.Activity.Chain
	if d.Simulated {
		chain = d.Activity.OldChain
	}
	if _, awake := d.Awake(now); !awake || d.State != Draining || chain < 0 || chain >= len(i.Chains) {
		return -1
	}
	return chain
}

// holds says whether a client can go on keeping the drain awake: of a simulation
// only while a connection of its is open that is older.
func (s leaving) holds(c Client) bool { return !s.d.Simulated || c.Old }

// askers is how many clients of the list asked within the last idle time and can
// go on to, and the shortest period of theirs.
func (s leaving) askers() (n int, every time.Duration) {
	for _, c := range s.a.Clients {
		last := c.Last
		if s.d.Simulated {
			last = c.OldLast
		}
		if last.IsZero() || s.now.Sub(last) >= s.d.Settings.Idle || !s.holds(c) {
			continue
		}
		n++
		if c.Every > 0 && (every == 0 || c.Every < every) {
			every = c.Every
		}
	}
	return n, every
}

// why is what keeps the drain from its end, or what ended it.
func (s leaving) why() Sentence {
	d := s.d
	switch {
	case d.State == DrainServing:
		return s.whyServing()
	case d.State == Drained:
		return s.whyDrained()
	case d.Settings.Mode == DrainImmediate:
		return same("why.drain_immediate", "mode immediate: every request gets a 503 until the exit")
	}
	idle := Every(d.Settings.Idle)
	n, every := s.askers()
	client, awake := d.Awake(s.now)
	switch {
	case d.Settings.CountMessages && s.messages().After(s.requests()) && s.now.Sub(s.messages()) < d.Settings.Idle:
		return same("why.drain_messages", fmt.Sprintf("a client wrote on a stream %s ago; messages count (drain.count_messages)", Age(s.now.Sub(s.messages()))))
	case awake && n <= 1 && s.holds(client) && client.Every > 0 && client.Every < d.Settings.Idle:
		return same("why.drain_one", fmt.Sprintf("one %s client asks every %s, so %s without a request never come", client.Kind, Took(client.Every), idle))
	case awake && n > 1 && every > 0 && every < d.Settings.Idle:
		return same("why.drain_many", fmt.Sprintf("%d clients ask, one every %s, so %s without a request never come", n, Took(every), idle))
	case awake:
		return same("why.drain_asked", fmt.Sprintf("the last request came %s ago; %s without one end it", Age(s.now.Sub(s.requests())), idle))
	}
	return same("why.drain_quiet", fmt.Sprintf("nobody asks: quiet for %s of the %s it takes", Age(s.now.Sub(later(d.Since, s.requests()))), idle))
}

func (s leaving) requests() time.Time {
	if s.d.Simulated {
		return s.a.OldLast
	}
	return s.a.Last
}

func (s leaving) messages() time.Time {
	if s.d.Simulated {
		return s.a.OldMessage
	}
	return s.a.Message
}

func (s leaving) whyServing() Sentence {
	switch {
	case !s.i.Gateway:
		return same("why.drain_no_gateway", "no gateway runs here: a drain sees no client and takes "+Every(s.d.Settings.Idle))
	case s.a.Last.IsZero():
		return same("why.drain_unused", "it serves, and no client has asked yet")
	}
	return same("why.drain_serving", fmt.Sprintf("it serves: last request %s ago, %s open", Age(s.now.Sub(s.a.Last)), plural(s.a.Streams, "stream")))
}

func (s leaving) whyDrained() Sentence {
	switch d := s.d; {
	case d.Code != 0:
		return same("why.drain_forced", "a second signal ended it at once, with exit code 1")
	case d.End == DrainEndMax:
		return same("why.drain_max", "its bound was reached: drain.max "+Every(d.Settings.Max))
	case d.End == DrainEndImmediate:
		return same("why.drain_refused", "mode immediate: it refused for "+Every(d.Settings.Immediate))
	}
	return same("why.drain_idle", s.d.ended())
}

// whose is who keeps it awake.
func (s leaving) whose() Sentence {
	client, awake := s.d.Awake(s.now)
	fresh := s.now.Sub(s.a.NewConn) < s.d.Settings.Idle && s.a.NewConn.Sub(s.d.Since) > s.d.Settings.LetsGo()
	n, _ := s.askers()
	switch {
	case s.d.State != Draining || s.d.Settings.Mode == DrainImmediate:
		return same("whose.drain_nobody", "nobody's: "+s.d.State.String())
	case awake && !s.d.Simulated && fresh:
		return same("whose.drain_readers", fmt.Sprintf("somebody still sends new clients: one came %s after /readyz went 503", Age(s.a.NewConn.Sub(s.d.Since))))
	case awake && n > 1:
		return same("whose.drain_clients", fmt.Sprintf("%d clients that keep their connections, the last one %s", n, client.Addr))
	case awake && client.Count > 0 && !s.holds(client):
		return same("whose.drain_left", "nobody's any more: "+client.Addr+" has left its old connection")
	case awake && client.Since.IsZero():
		return same("whose.drain_gone", "the client "+client.Addr+", whose connection is closed")
	case awake:
		return same("whose.drain_client", fmt.Sprintf("the client %s: it keeps a connection of %s, not the drain", client.Addr, Age(s.now.Sub(client.Since))))
	}
	return same("whose.drain_quiet", "nobody's: no request holds it")
}

// felt is what clients notice of it.
func (s leaving) felt() Sentence {
	d := s.d
	switch {
	case d.State == DrainServing:
		return same("felt.drain_serving", "nothing: it serves")
	case d.Simulated:
		return same("felt.drain_simulated", "nothing: a simulation changes nothing outside, readiness stays what it is")
	case d.State == Drained && !d.Exited.IsZero():
		return same("felt.drain_exited", d.Cut.words())
	case d.State == Drained:
		return same("felt.drain_closing", "listeners close; "+Cut{s.a.InFlight, s.a.Streams}.open()+" were open")
	case d.Settings.Mode == DrainImmediate:
		return same("felt.drain_refused", "every request is refused with 503, /healthz too")
	case s.a.NewConn.After(d.Since):
		return same("felt.drain_new", "nobody new since "+s.a.NewConn.UTC().Format("15:04:05")+"; what is asked is answered as ever")
	}
	return same("felt.drain_old", "nobody new since it began; what is asked is answered as ever")
}

// next is when it ends.
func (s leaving) next() Sentence {
	d := s.d
	switch {
	case d.State == DrainServing:
		return s.nextServing()
	case d.State == Drained && !d.Exited.IsZero():
		return same("next.drain_exited", fmt.Sprintf("exit %d", d.Code))
	case d.State == Drained:
		return same("next.drain_closing", "listeners close, in flight finish, streams get 1001, exit 0")
	case d.Settings.Mode == DrainImmediate:
		return same("next.drain_immediate", "exit in "+Countdown(d.Due(), s.now))
	case d.Simulated && d.Forecast.Known():
		text := d.Forecast.sum()
		return Sentence{ID: "next.drain_forecast", Long: text + "; it goes on until all traffic is quiet too", Short: text}
	case d.Simulated:
		text := "a forecast in " + Countdown(d.OldIdleAt(), s.now) + ", unless an old connection asks before"
		return Sentence{ID: "next.drain_simulated", Long: text + s.bound(), Short: text}
	}
	if _, awake := d.Awake(s.now); awake {
		return same("next.drain_awake", "drained "+Every(d.Settings.Idle)+" after it stops"+s.bound())
	}
	text := "drained in " + Countdown(d.IdleAt(), s.now) + ", unless somebody asks before"
	return Sentence{ID: "next.drain_quiet", Long: text + s.bound(), Short: text}
}

func (s leaving) bound() string {
	if at := s.d.BoundAt(); !at.IsZero() {
		return "; at " + at.UTC().Format("15:04:05") + " at the latest (drain.max " + Every(s.d.Settings.Max) + ")"
	}
	return "; no bound (drain.max 0s)"
}

func (s leaving) nextServing() Sentence {
	set := s.d.Settings
	switch f := s.d.Forecast; {
	case set.Mode == DrainImmediate:
		return same("next.drain_mode", "a drain refuses everything for "+Every(set.Immediate)+", then exits (mode immediate)")
	case f.Known():
		return same("next.drain_simulated_before", f.sum()+", by the simulation "+Age(s.now.Sub(f.Over))+" ago")
	}
	return same("next.drain_unknown", "d simulates a drain on this traffic and says when it would have ended")
}

// do is what helps, with its key.
func (s leaving) do() Sentence {
	d := s.d
	_, awake := d.Awake(s.now)
	switch {
	case d.State == DrainServing:
		return same("do.drain_serving", "nothing · d simulate a drain · D drain…")
	case d.Simulated && d.Forecast.Known():
		return same("do.drain_forecast", "a drain now takes about "+Age(d.Forecast.Takes())+" and cuts "+plural(d.Forecast.Streams, "stream")+" · D drain… · d stop")
	case d.Simulated:
		return same("do.drain_simulated", "wait for the forecast · d stop")
	case d.State == Drained:
		return same("do.drain_over", "nothing: it ends by itself")
	case d.Settings.Mode == DrainImmediate:
		return same("do.drain_refusing", "nothing: it exits by itself")
	}
	out := " · U undrain…"
	if d.Final {
		out = " · a 2nd " + d.Who + " exits now, cuts " + plural(s.a.Streams, "stream")
	}
	if awake {
		return same("do.drain_awake", "ask its owner to reconnect"+out)
	}
	return same("do.drain_wait", "wait"+out)
}
