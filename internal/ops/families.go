package ops

import "github.com/prometheus/client_golang/prometheus"

// family is one metric: its name, what it means, its labels.
type family struct {
	name, help string
	labels     []string
	kind       prometheus.ValueType // of a histogram: UntypedValue
	desc       *prometheus.Desc
}

// families is every metric of ours, in the order of docs/ops/metrics.md.
var families []*family

func define(kind prometheus.ValueType, name, help string, labels []string) *family {
	f := &family{name: "chaintop_" + name, help: help, labels: labels, kind: kind}
	f.desc = prometheus.NewDesc(f.name, help, labels, nil)
	families = append(families, f)
	return f
}

func gauge(name, help string, labels ...string) *family {
	return define(prometheus.GaugeValue, name, help, labels)
}

func counter(name, help string, labels ...string) *family {
	return define(prometheus.CounterValue, name, help, labels)
}

// Of the instance.
var (
	instanceInfo = gauge("instance_info", "Always 1: the instance's name, its version and its readiness policy (all, any, consensus, list).", "name", "version", "policy")
	ready        = gauge("ready", "1 while /readyz answers 200, else 0.")
	readySince   = gauge("ready_changed_timestamp_seconds", "When readiness last turned.")
	eventGaps    = counter("metrics_gaps_total", "How often events were lost before they were counted; the counts of probes, tries and latencies are too low by those.")
)

// Of the drain, and who holds it.
var (
	drainState     = gauge("drain_state", "1 for the state the instance is in, else 0. A simulation is none.", "state")
	drainSimulated = gauge("drain_simulated", "1 while a simulated drain runs, else 0.")
	drainSince     = gauge("drain_started_timestamp_seconds", "When the drain or the simulation began; absent while there is none.")
	drainIdle      = gauge("drain_idle_seconds", "How long nobody asked, counted from the later of the start of the drain or simulation and the last request; absent unless one runs, in mode idle.")
	drainInFlight  = gauge("drain_in_flight_requests", "Requests of clients that are not answered yet; absent without a gateway.")
	drainStreams   = gauge("drain_open_streams", "Open websockets of clients; absent without a gateway.")
	lastRequest    = gauge("client_last_request_timestamp_seconds", "When a client's request last came, to any chain or none; absent until one does.")
)

// Of a chain.
var (
	chainHealth   = gauge("chain_health", "1 for the health that is believed of the chain, else 0.", "chain", "health")
	chainVerdict  = gauge("chain_verdict", "1 for what the chain's last probe concluded, else 0; all 0 until one has.", "chain", "verdict")
	chainCounted  = gauge("chain_counts_for_readiness", "1 when the readiness policy counts the chain, else 0.", "chain")
	chainProbes   = counter("chain_probes_total", "Probes that ended, by verdict.", "chain", "verdict")
	chainNext     = gauge("chain_next_probe_seconds", "Time to the next probe: negative when it is overdue, 0 while one is in flight.", "chain")
	chainFlying   = gauge("chain_probe_in_flight", "1 while a probe of the chain is in flight, else 0.", "chain")
	chainHeard    = gauge("chain_heard_timestamp_seconds", "When a result last came from the chain, to a probe or to a client; absent when none ever did.", "chain")
	chainHead     = gauge("chain_head", "Height of the chain's latest block by its upstreams; absent when nobody reported one.", "chain")
	chainHeadTime = gauge("chain_head_reported_timestamp_seconds", "When that height was reported.", "chain")
	chainLag      = gauge("chain_lag_blocks", "How far the upstream that serves is behind the corroborated tip, negative when ahead; absent when unknown.", "chain")
	chainHalted   = gauge("chain_halted", "1 while every head of the chain is old, else 0.", "chain")
	chainRoute    = gauge("chain_route", "1 for why a request would go where it would go now, else 0; none is a 503 to clients.", "chain", "why")
	chainFailover = gauge("chain_failover_active", "1 while a backup serves because no primary is fit, else 0.", "chain")
)

// Of an upstream.
var (
	upstreamInfo     = gauge("upstream_info", "Always 1: the upstream's tier.", "chain", "upstream", "tier")
	upstreamHealth   = gauge("upstream_health", "1 for the health that is believed of the upstream, else 0.", "chain", "upstream", "health")
	upstreamServing  = gauge("upstream_serving", "1 for the upstream a request would go to now, else 0.", "chain", "upstream")
	upstreamStreak   = gauge("upstream_streak", "Failed checks in a row.", "chain", "upstream")
	upstreamFinding  = gauge("upstream_finding", "1 for each finding the upstream has; absent for those it has not.", "chain", "upstream", "finding")
	upstreamHeld     = gauge("upstream_held_seconds", "What is left of the pause a rate limit asked for, else 0.", "chain", "upstream")
	upstreamSuspect  = gauge("upstream_suspect", "1 while clients' requests got no answer from it and no later check passed, else 0.", "chain", "upstream")
	upstreamPinned   = gauge("upstream_pinned", "1 while somebody prefers it, else 0.", "chain", "upstream")
	upstreamHead     = gauge("upstream_head", "Height it last reported; absent when it never did.", "chain", "upstream")
	upstreamHeadTime = gauge("upstream_head_reported_timestamp_seconds", "When it reported that height.", "chain", "upstream")
	upstreamLag      = gauge("upstream_lag_blocks", "How far it is behind the corroborated tip, negative when ahead; absent when unknown.", "chain", "upstream")
	upstreamTries    = counter("upstream_tries_total", "Tries of our probes and checks, by outcome.", "chain", "upstream", "by", "outcome")
	upstreamReasons  = counter("upstream_try_reasons_total", "Those of them without a result, by reason; absent until it was met.", "chain", "upstream", "outcome", "reason")
	upstreamProbing  = counter("upstream_probe_requests_total", "Requests that our probes and checks sent; no request of a client is one.", "chain", "upstream")
	upstreamLatency  = define(prometheus.UntypedValue, "upstream_latency_seconds", "Latency of the results of our probes and checks.", []string{"chain", "upstream"})
)

// Of the gateway; absent without one.
var (
	gatewayRequests = counter("gateway_requests_total", "Requests of clients that reached the chain.", "chain")
	gatewayFailed   = counter("gateway_failed_requests_total", "Those that the client saw fail, and not by the node's own answer to its question.", "chain")
	gatewayRefused  = counter("gateway_refused_requests_total", "Requests turned away as the client's own mistake: too large, denied, unreadable.", "chain")
	gatewayAttempts = counter("gateway_attempts_total", "Attempts at upstreams, of which a request may make several, by outcome.", "chain", "upstream", "outcome")
	gatewayStreams  = gauge("gateway_streams", "Websockets of clients open now.", "chain")
	gatewayMoves    = counter("gateway_stream_moves_total", "Moves of streams from one upstream to another.", "chain")
	gatewayFilled   = counter("gateway_stream_filled_total", "Notifications filled in after a move.", "chain")
	gatewayGaps     = counter("gateway_stream_gaps_total", "Gaps in streams that could not be filled.", "chain")
)
