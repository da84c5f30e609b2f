//go:build linux

// Command gatewaybench measures the gateway of a built chaintop: beside a stock
// httputil.ReverseProxy and nginx, and through kills, hangs and abuse. It is
// `make bench-gateway` (SPEC P4, F5, F11).
//
//	go run ./internal/gatewaybench [-short] [-only steady,kill,…] [-chaintop FILE]
//
// Upstreams, proxies and chaintop are processes of their own, on loopback. Load
// is open loop unless said otherwise: a request has a time at which it is meant
// to be sent, and its latency counts from there. Every answer is compared, byte
// by byte, with the one that belongs to its id.
//
// Law: what is compared is measured in one run, in turns, and the median of the
// rounds is what counts; no scenario inherits a process from the one before;
// every process that is started here ends here, by its id, on ctrl-C too.
//
// The exit code is 0, 1 when a hard bar was missed, 2 when something could not be
// measured. Hard are: no failed request at a kill, no write asked twice, no
// failover from a node that is merely slow or closes idle connections, hedges
// within a tenth. All other bars are printed beside what was measured: they move
// with the machine.
package main
