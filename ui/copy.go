package ui

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"chaintop/model"
)

// copyMenu offers what can be copied of what is selected.
func copyMenu(m *Model) tea.Cmd {
	switch m.view {
	case viewEvents:
		return m.copyEvent()
	case viewDrain:
		return m.copyDrain()
	case viewChains, viewChain:
	}
	i := m.selected()
	if i < 0 {
		m.say(text, "no chain is selected", m.now.Add(flashShort))
		return nil
	}
	c := m.inst.Chains[i]
	name := m.keys[i]
	items := []item{
		copies("name", name, name),
		copies("card", "its five lines", m.cardText(i)),
		copies("evidence", "of its last probe, whole", strings.Join(evidenceText(c), "\n")),
		copies("row as JSON", "heights and durations as numbers", m.rowJSON(i)),
	}
	if m.o.Config != "" {
		items = append(items, m.copiesCommand(name))
	}
	if m.view == viewChain && m.pick.upstream < len(c.Upstreams) {
		u := c.Upstreams[m.pick.upstream].Name
		items[0] = copies("name", name+":"+u, name+":"+u)
	}
	return m.openMenu("Copy of "+name, items...)
}

// copyDrain offers what can be copied of the drain, for whoever owns the client
// that keeps it awake.
func (m *Model) copyDrain() tea.Cmd {
	name := m.inst.Name
	var lines []string
	s := scene{inst: m.inst, keys: m.keys, now: m.asOf, w: 400, zone: time.UTC}
	for _, l := range m.drainLines(s) {
		parts := ""
		for _, sp := range l {
			parts += sp.text
		}
		lines = append(lines, strings.TrimSpace(parts))
	}
	var who []string
	for _, r := range m.awakeRows() {
		if r.others == nil {
			who = append(who, m.clientText(s, r.client))
		}
	}
	items := []item{
		copies("name", name, name),
		copies("card", "its five lines", unspaced(name+" · "+m.asOf.UTC().Format("2006-01-02T15:04:05Z")+"\n"+diagnosisText(model.DiagnoseDrain(m.inst, m.asOf)))),
		copies("state", "as it stands there", strings.Join(lines, "\n")),
	}
	if len(who) > 0 {
		items = append(items, copies("clients", "who would keep it awake", strings.Join(who, "\n")))
	}
	if m.flow.focus == focusClients && m.flow.client < len(m.awakeRows()) && m.awakeRows()[m.flow.client].others == nil {
		addr := m.awakeRows()[m.flow.client].client.Addr
		items = append(items, copies("client", addr, addr))
	}
	return m.openMenu("Copy of the drain of "+name, items...)
}

func (m *Model) clientText(s scene, k model.Client) string {
	words := []string{k.Addr, string(k.Kind), k.Method}
	if k.Chain >= 0 && k.Chain < len(m.keys) {
		words = append(words, "on "+m.keys[k.Chain])
	}
	if k.Every > 0 {
		words = append(words, "every "+model.Took(k.Every))
	}
	return strings.Join(append(words, strconv.Itoa(k.Count)+" requests", s.connected(k)), "  ")
}

// copyEvent offers what can be copied of the selected event.
func (m *Model) copyEvent() tea.Cmd {
	e, l := m.readEvent(), m.read()
	if e == nil {
		m.say(text, "no event is selected", m.now.Add(flashShort))
		return nil
	}
	whole := wholeOf(m.inst, e, l.line)
	line := strings.Join([]string{l.line.At.UTC().Format("2006-01-02T15:04:05Z"), l.line.Subject, l.line.What, l.line.Detail}, "  ")
	asJSON, err := json.Marshal(e)
	if err != nil {
		asJSON = []byte(`{}`)
	}
	items := []item{
		copies("name", l.line.Subject, l.line.Subject),
		copies("line", "as it stands there", unspaced(line)),
		copies("evidence", "everything that is known of it", strings.Join(whole, "\n")),
		copies("event as JSON", "as a recording carries it", string(asJSON)),
	}
	if i := m.chainOfEvent(); i >= 0 && m.o.Config != "" {
		items = append(items, m.copiesCommand(m.keys[i]))
	}
	return m.openMenu("Copy of "+l.line.Subject+" "+l.line.What, items...)
}

// copies is the item that sends a text to the clipboard. No terminal says
// whether it took it, so neither do we.
func copies(word, says, what string) item {
	return item{word, says, func(m *Model) tea.Cmd {
		m.say(text, "sent to clipboard: "+word, m.now.Add(flashShort))
		return tea.SetClipboard(cleanLines(what))
	}}
}

// cleanLines is a text of lines as it may leave through the terminal.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		var parts []string
		// A line is bounded where it is drawn, not where it is copied.
		for r := []rune(l); len(r) > 0; {
			n := min(len(r), maxText/4)
			part, _ := clean(string(r[:n]))
			parts, r = append(parts, part), r[n:]
		}
		lines[i] = strings.Join(parts, "")
	}
	return strings.Join(lines, "\n")
}

// cardText is the card as text.
func (m *Model) cardText(i int) string {
	d := model.Fleet{Now: m.asOf, Instances: []*model.Instance{m.inst}}.Chain(0, i)
	c := m.inst.Chains[i]
	lines := []string{strings.Join([]string{
		m.keys[i], c.State.Health.String(), "verdict " + orDash(c.State.Verdict.String()), "on " + m.inst.Name, m.asOf.UTC().Format("2006-01-02T15:04:05Z"),
	}, " · ")}
	return unspaced(strings.Join(append(lines, diagnosisText(d)), "\n"))
}

// diagnosisText is a diagnosis as text.
func diagnosisText(d model.Diagnosis) string {
	var lines []string
	for _, l := range []struct {
		label string
		says  model.Sentence
	}{{"WHY  ", d.Why}, {"WHOSE", d.Whose}, {"FELT ", d.Felt}, {"NEXT ", d.Next}, {"DO   ", d.Do}} {
		if l.says.Long != "" {
			lines = append(lines, l.label+" "+l.says.Long)
		}
	}
	return strings.Join(lines, "\n")
}

func orDash(s string) string {
	if s == "" {
		return unknownValue
	}
	return s
}

var grouped = regexp.MustCompile(`\b\d{1,3}(?: \d{3})+\b`)

// unspaced writes heights without spaces, so that what is pasted is a number.
func unspaced(s string) string {
	return grouped.ReplaceAllStringFunc(s, func(n string) string { return strings.ReplaceAll(n, " ", "") })
}

// evidenceText is what the last probe of a chain brought, whole.
func evidenceText(c *model.Chain) []string {
	p := c.Last
	if c.Probe != nil && len(c.Probe.Tries) > 0 {
		p = c.Probe
	}
	if p == nil {
		return []string{c.Key() + ": no probe has ended yet"}
	}
	return append([]string{c.Key() + ", probe of " + p.Started.UTC().Format("2006-01-02T15:04:05Z")}, triesInWords(c, p)...)
}

// rowOf is a row of the table of chains for machines.
type rowOf struct {
	Chain      string   `json:"chain"`
	Instance   string   `json:"instance"`
	At         string   `json:"at"`
	Health     string   `json:"health"`
	Verdict    string   `json:"verdict,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	NotAsMeant string   `json:"not_as_meant,omitempty"`
	Next       string   `json:"next,omitempty"`
	Serving    string   `json:"serving,omitempty"`
	Failover   bool     `json:"failover,omitempty"`
	Head       *uint64  `json:"head,omitempty"`
	Lag        *int64   `json:"lag,omitempty"`
	P50        *float64 `json:"p50_ms,omitempty"`
}

// rowJSON is the row of chain i as JSON.
func (m *Model) rowJSON(i int) string {
	const stamp = "2006-01-02T15:04:05Z"
	c := m.inst.Chains[i]
	why := model.WhyOf(c, m.asOf)
	r := rowOf{
		Chain: m.keys[i], Instance: m.inst.Name, At: m.asOf.UTC().Format(stamp),
		Health: c.State.Health.String(), Verdict: c.State.Verdict.String(),
		NotAsMeant: strings.TrimSpace(why.Word + " " + why.Detail), Failover: c.Serving.Failover,
	}
	for _, k := range why.Reasons {
		r.Reasons = append(r.Reasons, k.Word)
	}
	if at := c.State.Next.At; !at.IsZero() {
		r.Next = at.UTC().Format(stamp)
	}
	if h := c.Head(); h.Known() {
		r.Head = &h.Value
	}
	if u := servingUpstream(c); u != nil {
		r.Serving = u.Name
		if u.State.Lag.Known {
			r.Lag = &u.State.Lag.Blocks
		}
	}
	if d, ok := latencyOf(c, m.asOf); ok {
		ms := float64(d.Microseconds()) / 1000
		r.P50 = &ms
	}
	b, err := json.Marshal(r)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// copiesCommand is the item of the command line that asks a chain what the
// screen asks.
func (m *Model) copiesCommand(chain string) item {
	cmd := commandFor(m.o.Config, chain)
	return copies("command", cmd, cmd)
}

func commandFor(file, chain string) string {
	return "chaintop probe --config " + quoted(file) + " " + quoted(chain)
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
