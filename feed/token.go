package feed

import (
	"crypto/sha256"
	"crypto/subtle"
	"time"
)

// Role is what a viewer of the feed may do (E5).
type Role string

// The roles.
const (
	RoleViewer   Role = "viewer"   // looks
	RoleOperator Role = "operator" // looks, and gives commands
)

// Token lets its bearer in under a name. Who asks for something is this name,
// never what a client says.
type Token struct {
	Name    string
	Role    Role
	Secret  string
	Expires time.Time // zero = never
}

// identity is who a connection is: the token it came in with, by its digest.
// The zero identity is anybody on a feed without tokens.
type identity struct {
	name   string
	role   Role
	digest [sha256.Size]byte
}

// find is the token with that digest which is good at now. Every token is
// looked at, in constant time each, whichever it is.
func find(tokens []Token, digest [sha256.Size]byte, now time.Time) (identity, bool) {
	var who identity
	found := false
	for _, t := range tokens {
		own := sha256.Sum256([]byte(t.Secret))
		same := subtle.ConstantTimeCompare(own[:], digest[:]) == 1
		if !same || t.Secret == "" || (!t.Expires.IsZero() && !now.Before(t.Expires)) {
			continue
		}
		who, found = identity{name: t.Name, role: RoleViewer, digest: digest}, true
		if t.Role == RoleOperator {
			who.role = RoleOperator
		}
	}
	return who, found
}
