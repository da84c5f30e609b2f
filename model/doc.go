// Package model is what chaintop knows and how it judges: the words, the rules
// about one chain at a time, the events that say what became of it, and the
// fold that turns events back into the picture.
//
// It is pure. It reads no clock, dials nothing, locks nothing and logs nothing;
// every input carries the time it happened at. Same inputs, same events, same
// bytes.
//
// # Words
//
//	instance    one running core; has chains, a readiness, a name and a version
//	chain       what is judged: a name and an interface (ethereum/jsonrpc), with upstreams
//	upstream    one endpoint of a node or provider, of tier primary or backup
//	try         one question to one upstream: the head question and the fact questions then due
//	outcome     what happened in a try: result, answer or no_answer, with a reason
//	probe       up to N tries over a chain's upstreams; ends in one verdict
//	verdict     what a probe concludes: healthy, inconclusive, unreachable
//	health      what we believe of a chain or an upstream: unknown, healthy, unhealthy
//	check       the per-upstream health request; moves the upstream's streak and health
//	round       the checks of one chain that started together, so that heads can be compared
//	facts       what a node says of itself: head, chain id, syncing, peers, safe, finalized
//	findings    facts that matter: shown, used in routing, never turned into a verdict
//	fit         may be given a client's request now (F1)
//	hold        the pause a rate limit asked for (F6)
//	suspect     unfit because clients' requests got no answer, until a later check passes (F5)
//	pin         one upstream is preferred for a while, while it is fit (F8)
//	serving     the upstream a request would go to now, and why that one
//	failover    a backup serves because no primary is fit
//	drain       the walk from ready to exit: serving → draining → drained, real or simulated
//	activity    who uses the instance's gateway: what keeps a drain awake
//	traffic     what clients asked of a chain, and what came of it
//	activity    who uses the instance: what keeps a drain awake (D5)
//	drain       the walk from ready to exit: serving, draining, drained
//	change      an event: something happened; kept
//	reading     an event: a number moved; not kept
//	picture     an Instance: the fold of its events
//
// Outcome is what happened, verdict is what we conclude, health is what we
// believe: three words, three types.
//
// # Where to read
//
// Chain.Decide is every rule about a chain, Drain.Decide every rule about the
// instance's way out. Advance is the step of an upstream's health, Route picks
// who serves, Ready says whether the instance should get traffic, Diagnose says
// all of it in words. Instance.Apply is the fold: it assigns and never judges.
package model
