// Package gateway carries clients' requests to the upstreams of an instance's
// chains: it picks by model.Route on the published picture, moves a request on
// when an upstream gives no answer, and asks a second one when the first is
// silent. It tells the core what it saw through model.Live, Missed and Sums.
//
// Law: nothing here judges an upstream or a chain; a request reads one published
// picture a step and waits for nobody but upstreams; no request is asked twice
// that may change something (F10); what is ours to say has no address in it
// (F9).
//
// Not promised: that a long answer which is cut after its first 64 KiB can be
// repeated; the client's answer ends there.
package gateway
