package ui

import "chaintop/model"

// Marks of SCREENS.md. Each is one code point and one cell.
const (
	markHealthy      = "●"
	markUnhealthy    = "✖"
	markUnknown      = "◌"
	markPass         = "✓"
	markInconclusive = "~"
	markUnreachable  = "✗"
	markWarn         = "▲"
	markHalted       = "■"
	markHeld         = "‖"
	markCommand      = "$"
	markDraining     = "▼"
	markDrained      = "□"
	markAway         = "◇"

	unknownValue = "—"
)

// asciiOf is the sign that stands for another where only ASCII may be drawn:
// cell for cell, so that no layout changes. Every sign of ours is here.
var asciiOf = map[rune]byte{
	'●': '+', '✖': 'x', '◌': '?', '✓': '+', '✗': 'x', '▲': '!', '■': '#', '‖': '=', '⊘': '@',
	'▼': 'v', '□': '_', '◇': '%', '▸': '>', '→': '>', '←': '<', '↑': '^', '↓': 'v', '…': '>',
	'▰': '#', '▱': '-', '▁': '_', '▄': '=', '▇': '#', '·': '.', '×': '*', '—': '-', '–': '-',
	'≤': '<', '≥': '>', '≠': '!', '─': '-', '│': '|', '╭': '+', '╮': '+', '╰': '+', '╯': '+',
	'├': '+', '┤': '+', '“': '"', '”': '"', '‘': '\'', '’': '\'',
}

// isSign says that r is one of ours beyond Latin.
func isSign(r rune) bool {
	if r < 0x2010 || r > 0x27bf {
		return false
	}
	_, ok := asciiOf[r]
	return ok
}

// sign is a mark and the role it is drawn in.
type sign struct {
	mark string
	role role
}

// signs are the marks of the model's signs.
var signs = [...]sign{
	model.SignNone:         {"", text},
	model.SignHealthy:      {markHealthy, good},
	model.SignUnhealthy:    {markUnhealthy, bad},
	model.SignUnknown:      {markUnknown, hold},
	model.SignPass:         {markPass, good},
	model.SignInconclusive: {markInconclusive, hold},
	model.SignUnreachable:  {markUnreachable, bad},
	model.SignWarn:         {markWarn, warn},
	model.SignHalted:       {markHalted, warn},
	model.SignHeld:         {markHeld, hold},
	model.SignCommand:      {markCommand, accent},
	model.SignDraining:     {markDraining, drain},
	model.SignDrained:      {markDrained, drain},
	model.SignSimulated:    {markAway, drain},
}

func signOf(s model.Sign) sign {
	if int(s) < len(signs) {
		return signs[s]
	}
	return signs[model.SignNone]
}

// signOf is the mark of a health: of a picture that is old it says only that.
func (s scene) signOf(of model.Sign) sign {
	if s.remote.away {
		return sign{markAway, dim}
	}
	return signOf(of)
}

// outcomeRole is the colour of a try's outcome.
func outcomeRole(k model.OutcomeKind) role {
	switch k {
	case model.Result:
		return good
	case model.Answer:
		return hold
	case model.NoAnswer:
		return bad
	case model.NoOutcome:
	}
	return dim
}
