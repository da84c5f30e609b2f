package gateway

import (
	"cmp"
	"slices"
	"time"

	"chaintop/model"
)

// snapshot is the activity at now, its counts since since, or of the last minute
// when that is zero. It is core's Options.Activity.
func (a *activity) snapshot(now, since time.Time) model.Activity {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(now)
	if !since.Equal(a.since) {
		a.mark(since)
	}
	out := model.Activity{
		At: now, Since: since,
		Last: a.last.at, Method: a.last.method, Kind: a.last.kind, Chain: a.last.chain, Client: a.last.client,
		OldLast: a.old.at, OldMethod: a.old.method, OldKind: a.old.kind, OldChain: a.old.chain, OldClient: a.old.client,
		Message: a.message, MessageClient: a.messageBy, OldMessage: a.oldMessage,
		InFlight: a.inFlight, Streams: len(a.streams), NewConn: a.newConn,
		Requests: a.requests, OldRequests: a.oldRequests, Quiet: now.Sub(a.quietFrom()),
	}
	all := out.Requests
	if since.IsZero() {
		out.Window, all = a.window(now), a.total.sum(now)
		a.turn(now)
		for _, gap := range a.quiets {
			out.Quiet = max(out.Quiet, gap)
		}
	} else {
		out.Quiet = max(out.Quiet, a.quiet)
	}
	out.Oldest = a.look()
	rows := make([]*asker, 0, len(a.askers))
	for _, by := range a.askers {
		if by.oldCount > 0 {
			out.OldClients++
		}
		if a.counted(by, now) > 0 || by.streams > 0 {
			rows = append(rows, by)
		}
	}
	out.Clients = a.list(rows, now)
	out.Others = a.others(rows, len(out.Clients), all, now)
	return out
}

// look counts the open connections and streams of each client, and is when the
// oldest stream was accepted.
func (a *activity) look() (oldest time.Time) {
	for _, by := range a.askers {
		by.conns, by.streams, by.oldest, by.hasOld = 0, 0, time.Time{}, false
	}
	see := func(by *asker, accepted time.Time) {
		by.conns++
		if by.oldest.IsZero() || accepted.Before(by.oldest) {
			by.oldest = accepted
		}
		by.hasOld = by.hasOld || a.isOld(accepted)
	}
	for _, ci := range a.conns {
		if ci.by != nil {
			see(ci.by, ci.accepted)
		}
	}
	for s := range a.streams {
		see(s.by, s.accepted)
		s.by.streams++
		if oldest.IsZero() || s.accepted.Before(oldest) {
			oldest = s.accepted
		}
	}
	return oldest
}

// counted is how often the client asked, in what a snapshot covers.
func (a *activity) counted(by *asker, now time.Time) int {
	if a.since.IsZero() {
		return by.recent.sum(now)
	}
	return by.count
}

// list is the clients to show, the first of rows by then: the busiest; while a
// drain is marked the latest, half of the places kept for those on connections
// older than it.
func (a *activity) list(rows []*asker, now time.Time) []model.Client {
	latest := func(x, y *asker) int {
		return cmp.Or(later(y.last, y.message).Compare(later(x.last, x.message)), cmp.Compare(x.key.addr, y.key.addr), cmp.Compare(x.key.kind, y.key.kind))
	}
	slices.SortFunc(rows, latest)
	if a.since.IsZero() {
		slices.SortStableFunc(rows, func(x, y *asker) int { return a.counted(y, now) - a.counted(x, now) })
	} else if len(rows) > model.AwakeClients {
		slices.SortStableFunc(rows, func(x, y *asker) int { return y.oldLast.Compare(x.oldLast) })
		kept := model.AwakeClients / 2
		slices.SortFunc(rows[kept:], latest)
		slices.SortFunc(rows[:model.AwakeClients], latest)
	}
	var out []model.Client
	for _, by := range rows[:min(len(rows), model.AwakeClients)] {
		out = append(out, a.client(by, now))
	}
	return out
}

func (a *activity) client(by *asker, now time.Time) model.Client {
	c := model.Client{
		Addr: by.key.addr, Kind: by.key.kind, Method: by.method, Chain: by.chain, Count: a.counted(by, now),
		Last: by.last, Since: by.oldest, Conns: by.conns, Streams: by.streams, Message: by.message,
		Old: by.hasOld, OldCount: by.oldCount, OldLast: by.oldLast,
	}
	if by.conns == 0 {
		c.Closed = by.closed
	}
	if n := min(by.asked, lastAsks); n > 1 && c.Closed.IsZero() {
		c.Every = by.last.Sub(by.asks[(by.asked-n)%lastAsks]) / time.Duration(n-1)
	}
	return c
}

// others sums those that are not among the first listed of rows. Who was
// forgotten is in the count alone.
func (a *activity) others(rows []*asker, listed, all int, now time.Time) model.Others {
	o := model.Others{Clients: len(rows) - listed, Count: all}
	for n, by := range rows {
		if n < listed {
			o.Count -= a.counted(by, now)
		} else {
			o.Last = later(o.Last, by.last)
		}
	}
	return o
}
