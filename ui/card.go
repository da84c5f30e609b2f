package ui

import (
	"chaintop/model"
)

// cardKey is what a card is drawn from. A diagnosis looks at the whole picture,
// so any change in it is a reason to say it anew; a reading elsewhere is not.
type cardKey struct {
	era     uint64
	changes uint64
	second  int64
	chain   *model.Chain // nil = the card is the drain's
	seen    uint64       // of what clients ask
	rows    int
}

// drainsCard says whether the card of Chains is the drain's: while there is one,
// until a row is picked.
func (m *Model) drainsCard() bool {
	return m.view == viewChains && m.drains() && m.pick.chain < 0
}

// card appends the card of the selected chain, or of the drain: n lines, the most telling ones
// where there are fewer than five, blank ones where the model has no sentence.
func (m *Model) card(s scene, lines []string, n int) []string {
	if m.drainsCard() {
		key := cardKey{m.draw.era, m.changes, m.asOf.Unix(), nil, m.seen, n}
		return append(lines, m.draw.card.of(key, func(l []string) []string {
			return s.card(l, model.DiagnoseDrain(s.inst, s.now), n)
		})...)
	}
	i := m.selected()
	if i < 0 {
		return s.pad(lines, n)
	}
	key := cardKey{m.draw.era, m.changes, m.asOf.Unix(), m.inst.Chains[i], 0, n}
	return append(lines, m.draw.card.of(key, func(l []string) []string {
		fleet := model.Fleet{Now: s.now, Instances: []*model.Instance{s.inst}}
		return s.card(l, fleet.Chain(0, i), n)
	})...)
}

// sentence is a line of the card: its label, and how early it is given up when
// rows are few.
type sentence struct {
	label string
	says  model.Sentence
	rank  int // 0 and 1 never go
}

// card appends a diagnosis in exactly n lines.
func (s scene) card(lines []string, d model.Diagnosis, n int) []string {
	if s.remote.away {
		const says = "not known: nothing is heard"
		d.Next.Long, d.Next.Short = says, says
	}
	all := [...]sentence{
		{"WHY", d.Why, 0}, {"WHOSE", d.Whose, 2}, {"FELT", d.Felt, 3}, {"NEXT", d.Next, 4}, {"DO", d.Do, 1},
	}
	said := 0
	for rank := range all {
		for k := range all {
			if all[k].rank != rank || all[k].empty() {
				continue
			}
			if said == n {
				all[k].says = model.Sentence{}
				continue
			}
			said++
		}
	}
	for k := range all {
		if !all[k].empty() {
			lines = append(lines, s.sentence(all[k]))
		}
	}
	return s.pad(lines, n-said)
}

func (l sentence) empty() bool { return l.says.Long == "" && l.says.Short == "" }

// sentence is one line of the card: the long form where it fits, else the short.
func (s scene) sentence(l sentence) string {
	label := 6
	if s.w >= 120 {
		label = 7
	}
	p := s.pen
	p.begin(s.w, false)
	p.blank(1)
	p.left(dim, l.label, label)
	words := l.says.Long
	if words == "" || width(words) > p.room() && l.says.Short != "" {
		words = l.says.Short
	}
	p.put(text, words)
	return p.end()
}

// pad appends n blank lines.
func (s scene) pad(lines []string, n int) []string {
	for range n {
		lines = append(lines, s.plain())
	}
	return lines
}
