package model

import (
	"math"
	"slices"
	"time"
)

// saw is the state of upstream i after a try or a check ended: facts, findings
// and holds act at once, both ways (F1). Its record is moved by record only.
func (c *Chain) saw(i int, in TryDone) UpstreamState {
	s, o, now := c.Upstreams[i].State, in.Outcome, in.Ended
	s.Facts.take(o.Facts, now)
	switch o.Kind {
	case Result:
		s.Findings = s.Findings&^fromAnswer&^FindingSet(Erroring, Noncompliant) | o.Findings | s.Told
		s.Hold = Hold{}
	case Answer:
		s.Findings = s.Findings&^fromAnswer | o.Findings
		if o.Reason == ReasonRateLimit {
			s.Hold = c.hold(i, s.Hold, o, now)
		}
	case NoAnswer:
		s.Findings |= o.Findings
	case NoOutcome:
		return s
	}
	c.judgeFacts(&s, o.Facts)
	if o.Facts.Head.Known() {
		c.takeHead(&s, in)
	}
	return s
}

// told is the state after the fact questions of its last answered try.
func (c *Chain) told(s UpstreamState, in FactsDone) UpstreamState {
	s.Facts.take(in.Told.Facts, in.At)
	s.Findings = s.Findings&^s.Told | in.Told.Findings
	s.Told = in.Told.Findings
	c.judgeFacts(&s, in.Told.Facts)
	c.judgeAge(&s, in.At)
	return s
}

// judgeFacts sets the findings that the facts just said.
func (c *Chain) judgeFacts(s *UpstreamState, said Facts) {
	if said.ChainID.Know != Unheard {
		s.Findings = s.Findings.Set(WrongChain, said.ChainID.Known() && c.ExpectID != "" && said.ChainID.Value != c.ExpectID)
	}
	if said.Syncing.Know != Unheard {
		s.Findings = s.Findings.Set(Syncing, said.Syncing.Known() && said.Syncing.Value)
	}
	if said.Peers.Know != Unheard {
		s.Findings = s.Findings.Set(NoPeers, said.Peers.Known() && said.Peers.Value == 0)
	}
	if said.Head.Known() {
		s.Findings = s.Findings.Set(HeadZero, said.Head.Value == 0)
		if s.Facts.Syncing.Know != Known { // a node at its genesis that does not say it is done
			s.Findings = s.Findings.Set(Syncing, said.Head.Value == 0)
		}
	}
}

// Holds of F6.
const (
	holdFirst = 30 * time.Second
	holdMost  = 30 * time.Minute
	holdShare = 0.2 // jitter, upwards
)

// hold is the pause after a rate limit: what it asked for, else 30 s doubling
// with each in a row, a used-up quota the longest at once (F6).
func (c *Chain) hold(i int, was Hold, o Outcome, now time.Time) Hold {
	h := Hold{Active: true, From: now, Run: was.Run + 1, Asked: min(o.RetryAfter, holdMost), Quota: o.Findings.Has(Quota)}
	wait := h.Asked
	if wait <= 0 {
		wait = holdMost
		if n := h.Run - 1; n < 6 && !h.Quota {
			wait = holdFirst << n
		}
		share := 1 + holdShare*roll(c.Seed, uint64(i), uint64(h.Run), uint64(now.UnixNano()))
		wait = min(time.Duration(float64(wait)*share), holdMost)
	}
	h.Until = now.Add(wait)
	return h
}

// record moves an upstream's record by a check (U1, U2), with what follows from
// it: since when, recovered when, erroring or not.
func (c *Chain) record(s *UpstreamState, in TryDone) {
	was := s.Health
	s.Record = Advance(s.Record, CheckEnd{Started: in.Started, Ended: in.Ended, Pass: c.Family.passes(in.Outcome)}, c.Settings.Fall)
	s.Findings = s.Findings.Set(Erroring, s.Errors >= c.Settings.Fall)
	if s.Health == was {
		return
	}
	s.Since = in.Ended
	if s.Health == Healthy {
		s.Recovered = in.Ended
		// A node that comes back may begin elsewhere: what it said before is history.
		s.HighHead, s.Regressed = s.Facts.Head.Value, time.Time{}
		s.Findings = s.Findings.Without(HeadRegressed)
	}
}

// How old a head may be before it is stale: ten blocks of the chain's own
// pace, within bounds; without a measured pace, the guess.
const (
	staleBlocks = 10
	staleLeast  = time.Minute
	staleMost   = 3 * time.Hour
	staleGuess  = 3 * time.Minute
)

// StaleAfter is how old a head of this chain may be before it is stale.
func (c *Chain) StaleAfter() time.Duration {
	if c.Checks.BlockTime <= 0 {
		return staleGuess
	}
	return min(max(staleBlocks*c.Checks.BlockTime, staleLeast), staleMost)
}

// takeHead takes the head just said: since when it is what it is, whether it
// fell, whether it is old.
func (c *Chain) takeHead(s *UpstreamState, in TryDone) {
	now, head := in.Ended, s.Facts.Head.Value
	if was := c.Upstreams[in.Upstream].State.Facts.Head; !was.Known() || was.Value != head {
		s.HeadSince = now
	}
	s.Answered = in.Stamp
	if in.Probe == 0 { // a probe's answer, between two of a round, is of no round
		s.HeadRound, s.RoundHead = in.Stamp, head
	}

	switch fell := s.HighHead > head && s.HighHead-head > c.Settings.MaxLag; {
	case !fell:
		s.HighHead, s.Regressed = max(s.HighHead, head), time.Time{}
	case s.Regressed.IsZero():
		s.Regressed = now
	case now.Sub(s.Regressed) > c.StaleAfter():
		s.HighHead, s.Regressed = head, time.Time{} // it stays there: that is its head now
	}
	s.Findings = s.Findings.Set(HeadRegressed, !s.Regressed.IsZero())
	c.judgeAge(s, now)
}

// judgeAge says whether the head is old: by when it was first seen here,
// corrected by its header, or by the newest header's own time, since a node
// that imports old blocks moves and is stale all the same.
func (c *Chain) judgeAge(s *UpstreamState, now time.Time) {
	if !s.Facts.Head.Known() {
		return
	}
	b, limit := s.Facts.Block, c.StaleAfter()
	if b.Known() && b.Value.Number == s.Facts.Head.Value && b.Value.Time.Before(s.HeadSince) {
		s.HeadSince = b.Value.Time
	}
	oldHeader := b.Known() && b.At.Sub(b.Value.Time) > limit
	s.Findings = s.Findings.Set(StaleHead, oldHeader || now.Sub(s.HeadSince) > limit)
}

// blockTime is the chain's pace from two headers of one upstream, a minute or
// so apart; what was known where they do not tell.
func blockTime(known time.Duration, was, is Fact[Block]) time.Duration {
	if !was.Known() || !is.Known() || is.Value.Number <= was.Value.Number || !is.Value.Time.After(was.Value.Time) {
		return known
	}
	return is.Value.Time.Sub(was.Value.Time) / time.Duration(min(is.Value.Number-was.Value.Number, 1<<40))
}

// compare holds the heads of one round against a corroborated tip: the second
// highest of three or more, the highest of two; one head alone says nothing
// (F7). last is the upstream whose check ended the round. It returns every
// upstream that may have moved, and since when the chain is halted.
func (c *Chain) compare(k *Checks, last moved, now time.Time) ([]moved, time.Time) {
	all := make([]moved, len(c.Upstreams))
	var heads []uint64
	for i := range all {
		all[i] = moved{i, c.Upstreams[i].State, c.Upstreams[i].State}
		if i == last.upstream {
			all[i] = last
		}
		if s := &all[i].is; s.inRound(k.Round) {
			heads = append(heads, s.RoundHead)
		}
	}
	k.Tip, k.TipBy = Fact[uint64]{}, nil
	if len(heads) > 1 {
		slices.Sort(heads)
		k.Tip = Fact[uint64]{Know: Known, Value: heads[max(len(heads)-2, 1)], At: now}
	}
	for i := range all {
		s := &all[i].is
		s.Lag = Lag{}
		if !s.inRound(k.Round) {
			continue
		}
		if k.Tip.Known() {
			s.Lag = Lag{Known: true, Blocks: lag(k.Tip.Value, s.RoundHead)}
			if s.Lag.Blocks <= 0 {
				k.TipBy = append(k.TipBy, i)
			}
		}
		s.Findings = s.Findings.Set(Behind, s.Lag.Blocks > int64(min(c.Settings.MaxLag, math.MaxInt64)))
	}
	return all, halted(all)
}

// inRound says whether it said a head in that round, of this chain.
func (s *UpstreamState) inRound(round time.Time) bool {
	return !round.IsZero() && s.HeadRound.Equal(round) && !s.Findings.Has(WrongChain)
}

// lag is tip - head, within what an int64 holds: a rogue head may be any number.
func lag(tip, head uint64) int64 {
	if head > tip {
		return -int64(min(head-tip, math.MaxInt64))
	}
	return int64(min(tip-head, math.MaxInt64))
}

// halted is since when every head of the chain is old, by the newest of them;
// zero when one moves or none is known (F7).
func halted(all []moved) time.Time {
	var newest time.Time
	for i := range all {
		s := &all[i].is
		if s.Health == Unhealthy || !s.Facts.Head.Known() || s.Findings.Has(WrongChain) {
			continue
		}
		if !s.Findings.Has(StaleHead) {
			return time.Time{}
		}
		if s.HeadSince.After(newest) {
			newest = s.HeadSince
		}
	}
	return newest
}
