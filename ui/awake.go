package ui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// flowFocus is which table of Drain the arrows move in.
type flowFocus uint8

const (
	focusTraffic flowFocus = iota
	focusClients
)

// awakeRow is a row of the table of clients: one of them, or all that have none.
type awakeRow struct {
	client model.Client
	others *model.Others
}

// awakeRows are who keeps the instance awake, or would: of a simulation those
// with a connection that is older than it.
func (m *Model) awakeRows() []awakeRow {
	a := m.inst.Drain.Activity
	var rows []awakeRow
	for _, c := range a.Clients {
		if m.inst.Drain.Simulated {
			if !c.Old && c.OldCount == 0 {
				continue
			}
			c.Count, c.Last = c.OldCount, c.OldLast
		}
		rows = append(rows, awakeRow{client: c})
	}
	if a.Others.Clients > 0 && !m.inst.Drain.Simulated {
		rows = append(rows, awakeRow{others: &a.Others})
	}
	return rows
}

// awakeColumns are the columns of the table of clients; since has the rest.
type awakeColumns struct{ client, kind, count, method, every, last, chain, since int }

func awakeColumnsAt(w int) awakeColumns {
	c := awakeColumns{client: 14, kind: 4, count: 7, method: 17, every: 6, last: 6}
	switch {
	case w < 74:
		c.method, c.every = 14, 0
	case w >= 120:
		c.client, c.method, c.chain = 24, 24, 18
	case w >= wideHeader:
		c.client, c.method = 24, 24
	}
	c.since = w - 1
	for _, n := range []int{c.client, c.kind, c.count, c.method, c.every, c.last, c.chain} {
		if n > 0 {
			c.since -= n + 1
		}
	}
	return c
}

// awakeTable appends who keeps it awake: rule, heading and n rows.
func (m *Model) awakeTable(s scene, lines []string, n int) []string {
	d := s.inst.Drain
	title, says, count := "WHO WOULD KEEP IT AWAKE", "", "COUNT"
	switch phaseOf(d) {
	case phaseSimulated:
		title, says = "KEPT AWAKE BY", "old connections"
	case phaseDraining:
		title, says = "KEPT AWAKE BY", "since the drain began"
		if d.State == model.Drained || d.Settings.Mode == model.DrainImmediate {
			title = "CLIENTS"
		}
	case phaseServing:
		if w := d.Activity.Window; w > 0 {
			says, count = "last "+model.Every(w.Round(1e9)), "REQ/S"
		}
	}
	c := awakeColumnsAt(s.w)
	lines = append(lines, s.ruleOf(m.flow.focus == focusClients && m.flow.plan.traffic > 0, says, span{text, title}), s.awakeHeading(c, count))
	rows := m.flow.awake
	for k := range n {
		at := m.flow.clientTop + k
		if at >= len(rows) {
			lines = append(lines, s.plain())
			continue
		}
		lines = append(lines, s.awakeRow(c, rows[at], m.flow.focus == focusClients && at == m.flow.client))
	}
	return lines
}

func (s scene) awakeHeading(c awakeColumns, count string) string {
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, "CLIENT", c.client+1)
	p.left(dim, "KIND", c.kind)
	s.headOf(count, c.count)
	p.blank(1)
	p.left(dim, "LAST METHOD", c.method)
	s.headOf("EVERY", c.every)
	s.headOf("LAST", c.last)
	p.blank(1)
	if c.chain > 0 {
		p.left(dim, "CHAIN", c.chain+1)
	}
	p.left(dim, "SINCE", c.since)
	return p.end()
}

func (s scene) awakeRow(c awakeColumns, r awakeRow, selected bool) string {
	d := s.inst.Drain
	k := r.client
	name, last := k.Addr, k.Last
	if r.others != nil {
		name, last = strconv.Itoa(r.others.Clients)+" more", r.others.Last
		k = model.Client{Count: r.others.Count, Chain: -1}
	}
	p := s.pen
	p.begin(s.w, selected)
	s.rowMark(selected)
	p.left(text, cutMiddle(name, c.client), c.client+1)
	p.left(text, string(k.Kind), c.kind)
	count := heightIn(uint64(max(k.Count, 0)), c.count)
	if w := d.Activity.Window; w > 0 {
		count = model.PerSecond(float64(k.Count) / w.Seconds())
	}
	s.number(count, c.count)
	p.blank(1)
	p.left(text, k.Method, c.method)
	every, ago := unknownValue, unknownValue
	if k.Every > 0 {
		every = model.Took(k.Every)
	}
	if !last.IsZero() {
		ago = tenths(max(0, s.now.Sub(last)))
	}
	if r.others != nil {
		every = ""
	}
	s.number(every, c.every)
	s.number(ago, c.last)
	p.blank(1)
	if c.chain > 0 {
		key := ""
		if k.Chain >= 0 && k.Chain < len(s.keys) {
			key = s.keys[k.Chain]
		}
		p.left(text, key, c.chain+1)
	}
	if r.others == nil {
		p.left(text, s.connected(k), c.since)
	}
	return p.end()
}

// connected is how a client is connected, and since when.
func (s scene) connected(k model.Client) string {
	age := func() string { return model.Age(s.now.Sub(k.Since)) }
	switch {
	case k.Since.IsZero() && !k.Closed.IsZero():
		return "closed " + model.Age(s.now.Sub(k.Closed)) + " ago"
	case k.Since.IsZero():
		return unknownValue
	case k.Streams > 1 || k.Streams == k.Conns && k.Streams > 0:
		return countOf(k.Streams, "stream") + atMost(k.Streams) + age()
	case k.Conns == 1:
		return "keep-alive " + age()
	}
	return countOf(k.Conns, "conn") + atMost(k.Conns) + age()
}

// atMost stands before the age of the oldest of several.
func atMost(n int) string {
	if n > 1 {
		return ", ≤ "
	}
	return ", "
}

// otherTable gives the arrows to the other table of Drain.
func otherTable(m *Model) tea.Cmd {
	f := &m.flow
	f.focus = focusTraffic + focusClients - f.focus
	return nil
}

// has says whether a table is shown.
func (f *flow) has(t flowFocus) bool {
	if t == focusClients {
		return f.plan.awake > 0
	}
	return f.plan.traffic > 0
}

// pageRows is how many rows of the table with the arrows show at once.
func (f *flow) pageRows() int {
	if f.focus == focusClients {
		return f.plan.awake
	}
	return f.plan.rows()
}

// arrangeClients keeps the selection of a client where it belongs: it follows
// the client.
func (m *Model) arrangeClients() {
	f, rows := &m.flow, m.flow.awake
	if !f.has(f.focus) {
		f.focus = focusTraffic + focusClients - f.focus
	}
	if f.client < len(rows) && f.clientKey != "" && keyOfClient(rows[f.client]) != f.clientKey {
		for i, r := range rows {
			if keyOfClient(r) == f.clientKey {
				f.client = i
			}
		}
	}
	f.client = max(0, min(f.client, len(rows)-1))
	f.clientTop = scroll(f.clientTop, f.client, f.plan.awake, len(rows))
}

func keyOfClient(r awakeRow) string { return r.client.Addr + " " + string(r.client.Kind) }

// pickClient selects the client in row i.
func (m *Model) pickClient(i int) {
	rows := m.flow.awake
	if len(rows) == 0 {
		return
	}
	f := &m.flow
	f.focus, f.client = focusClients, max(0, min(i, len(rows)-1))
	f.clientKey = keyOfClient(rows[f.client])
}

// openFlow opens the chain of the selected row.
func openFlow(m *Model) tea.Cmd {
	if m.flow.focus == focusClients {
		rows := m.flow.awake
		if m.flow.client >= len(rows) || rows[m.flow.client].others != nil || rows[m.flow.client].client.Chain < 0 || rows[m.flow.client].client.Chain >= len(m.inst.Chains) {
			m.say(text, "it asks no one chain", m.now.Add(flashShort))
			return nil
		}
		m.choose(rows[m.flow.client].client.Chain)
	}
	return open(m)
}
