// Package memnet is a network in memory, for tests that run in a synctest
// bubble: a bubble cannot go idle while a goroutine sits in a real socket, but
// it can while one waits here.
//
// Law: to dialers, servers and net/http it behaves as loopback TCP does. A
// connection holds what was written until the peer reads it, keeps deadlines
// (by time, so by a bubble's clock), closes one way or both, and can be reset.
// A dial to nobody is refused.
//
// Not promised: the delay of a real network, a reset for bytes left unread at
// Close, and names: an address is a string and equals only itself.
//
// Make the Network inside the bubble that uses it.
package memnet
