// Package rpc carries one question to an upstream and says what came of it: the
// address nobody may print, the one HTTP client of an upstream, the kinds of
// failure a transport has, the grammar of JSON-RPC, and the judgement over the
// bytes of an answer (SPEC V1–V5).
//
// Law: what leaves this package holds no address and no secret. Its errors, its
// evidence and every printed form of its types are made of fixed words and of
// text that went through internal/clean (SPEC X1, X2). Every read is bounded:
// headers, bodies after inflation, JSON depth, websocket messages (SPEC X3).
//
// Probes, checks and the gateway share a Client and its connections, so that a
// check measures what clients feel (SPEC F4), and share Judge, so that a live
// answer and a probe's are judged alike.
package rpc
