package ui

import "github.com/charmbracelet/x/ansi"

// pen draws one line at a time, cell by cell. It is the only way of a text onto
// the screen: put cleans it, cuts it and counts its cells.
type pen struct {
	th    *theme
	buf   []byte
	style string // the SGR that is on
	picks bool   // the line is the selected row
	width int
	edge  int // where the open cell, or the line, ends
	cells int // drawn so far
}

// begin starts a line of w cells.
func (p *pen) begin(w int, selected bool) {
	p.buf, p.style, p.picks = p.buf[:0], "", selected
	p.width, p.edge, p.cells = w, w, 0
}

// end fills the line up and hands it over.
func (p *pen) end() string {
	p.edge = p.width
	p.blank(p.edge - p.cells)
	p.use("")
	return string(p.buf)
}

// put draws s, cut at the edge.
func (p *pen) put(r role, s string) {
	s, n := clean(s)
	if n == 0 {
		return
	}
	if n > p.edge-p.cells {
		s = cut(s, p.edge-p.cells)
		if n = width(s); n == 0 {
			return
		}
	}
	p.cells += n
	if p.th.ascii {
		s = ascii(s)
	}
	p.use(p.styleOf(r))
	p.buf = append(p.buf, s...)
}

// puts draws several texts.
func (p *pen) puts(spans ...span) {
	for _, s := range spans {
		p.put(s.role, s.text)
	}
}

// left draws s in exactly w cells.
func (p *pen) left(r role, s string, w int) {
	p.open(w)
	p.put(r, s)
	p.shut()
}

// right draws s at the right end of w cells.
func (p *pen) right(r role, s string, w int) {
	p.open(w)
	p.blank(min(w, p.edge-p.cells) - width(s))
	p.put(r, s)
	p.shut()
}

// open makes the next w cells a cell of a table: nothing is drawn beyond it
// until shut.
func (p *pen) open(w int) { p.edge = min(p.width, p.cells+max(w, 0)) }

// shut fills the open cell.
func (p *pen) shut() {
	p.blank(p.edge - p.cells)
	p.edge = p.width
}

// fill draws blanks of a role to the edge.
func (p *pen) fill(r role) {
	for p.room() > 0 {
		p.put(r, blanks[:min(p.room(), len(blanks))])
	}
}

// room is the cells left to the edge.
func (p *pen) room() int { return p.edge - p.cells }

const blanks = "                                                                "

// blank draws n blanks, none when n is negative.
func (p *pen) blank(n int) {
	if n = min(n, p.edge-p.cells); n <= 0 {
		return
	}
	p.use(p.styleOf(text))
	p.cells += n
	for n > 0 {
		k := min(n, len(blanks))
		p.buf = append(p.buf, blanks[:k]...)
		n -= k
	}
}

func (p *pen) styleOf(r role) string {
	if p.picks {
		return p.th.selected[r]
	}
	return p.th.plain[r]
}

// use switches to a style; the empty one is the terminal's own.
func (p *pen) use(style string) {
	if style == p.style {
		return
	}
	if p.style != "" {
		p.buf = append(p.buf, ansi.ResetStyle...)
	}
	p.buf = append(p.buf, style...)
	p.style = style
}

// span is a text and its role.
type span struct {
	role role
	text string
}

// widthOf is the cells that spans take.
func widthOf(spans []span) int {
	n := 0
	for _, s := range spans {
		n += width(s.text)
	}
	return n
}
