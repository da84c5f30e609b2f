#!/usr/bin/env bash
# The built program against real nodes: geth --dev and anvil, each probed,
# watched in tmux, killed and started again. Frames go to dist/check-nodes.
# Needs tmux, go and npm; geth and anvil are installed into a cache of their own
# when they are missing. Every wait is bounded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

GETH_VERSION=v1.17.10
ANVIL_VERSION=1.7.1
tools=$(go env GOCACHE)/tools/nodes
out=dist/check-nodes
work=$(mktemp -d)
pids=()
export TMUX_TMPDIR=$work LC_ALL=C.UTF-8
unset TMUX

mux() { tmux -L private -f /dev/null -u "$@"; }
cleanup() {
	mux kill-server 2>/dev/null || true
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null || true; done
	rm -rf "$work"
}
trap cleanup EXIT
fail() {
	echo "check-nodes: $1"
	exit 1
}

geth=$(command -v geth || echo "$(go env GOPATH)/bin/geth")
if [ ! -x "$geth" ]; then
	geth=$tools/geth
	[ -x "$geth" ] || GOBIN=$tools go install "github.com/ethereum/go-ethereum/cmd/geth@$GETH_VERSION"
fi
anvil=$tools/anvil/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil
if [ ! -x "$anvil" ]; then
	mkdir -p "$tools/anvil"
	(cd "$tools/anvil" && npm i --silent "@foundry-rs/anvil@$ANVIL_VERSION" "@foundry-rs/anvil-linux-amd64@$ANVIL_VERSION")
fi
rm -rf "$out"
mkdir -p "$out"
go build -o "$work/chaintop" ./cmd/chaintop

start_geth() {
	"$geth" --dev --dev.period 1 --http --http.addr 127.0.0.1 --http.port 18645 --http.api eth,net,web3 --ipcdisable \
		--port 0 --nodiscover --authrpc.addr 127.0.0.1 --authrpc.port 18648 >"$work/geth.log" 2>&1 &
	node=$!
	pids+=("$node")
}
start_anvil() {
	"$anvil" --host 127.0.0.1 --port 18545 --block-time 1 --silent >"$work/anvil.log" 2>&1 &
	node=$!
	pids+=("$node")
}

# stop kills a node of ours and waits for its end, so that bash says nothing of it.
stop() {
	kill -9 "$1"
	wait "$1" 2>/dev/null || true
}

# until_probe NAME URL CODE: probe until the exit code is CODE, 30 s at most.
until_probe() {
	for ((i = 0; i < 60; i++)); do
		code=0
		"$work/chaintop" probe "$2" -o json --tries 2 --timeout 2s >"$out/$1.json" || code=$?
		[ "$code" != "$3" ] || return 0
		sleep 0.5
	done
	cat "$out/$1.json"
	fail "$1: exit code $code, want $3"
}

# until_frame NAME PATTERN…: wait until the screen has them all, 60 s at most,
# and keep the frame.
until_frame() {
	local name=$1 missing
	shift
	for ((i = 0; i < 120; i++)); do
		mux capture-pane -p -t screen >"$out/$name.txt" || fail "$name: the screen is gone"
		missing=
		for p in "$@"; do grep -qE -- "$p" "$out/$name.txt" || missing=$p; done
		[ -n "$missing" ] || return 0
		sleep 0.5
	done
	cat "$out/$name.txt"
	fail "$name: no '$missing' on the screen within 60 s"
}

check() {
	local name=$1 url=$2 id=$3 first
	echo "check-nodes: $name"
	"start_$name"
	first=$node
	until_probe "$name-probe" "$url" 0
	grep -q '"verdict": "healthy"' "$out/$name-probe.json" || fail "$name: verdict"
	grep -A1 '"chain_id"' "$out/$name-probe.json" | grep -q "\"value\": \"$id\"" || fail "$name: chain id is not $id"
	grep -A1 '"head": {' "$out/$name-probe.json" | grep -qE '"value": [0-9]+' || fail "$name: no head"

	mux new-session -d -s screen -x 120 -y 40 "'$work/chaintop' $url; echo \$? >'$work/$name.exit'"
	until_frame "$name-1-before" 'READY' '● healthy +✓ healthy' 'healthy, every 5m'
	stop "$first"
	until_frame "$name-2-down" 'NOT READY' '✖ unhealthy +✗ unreachable' 'refused'
	until_probe "$name-down" "$url" 1
	"start_$name"
	until_frame "$name-3-after" ' ● READY' '● healthy +✓ healthy' 'healthy, every 5m'
	mux send-keys -t screen q
	for ((i = 0; i < 20; i++)); do [ ! -s "$work/$name.exit" ] || break; sleep 0.1; done
	[ "$(cat "$work/$name.exit" 2>/dev/null)" = 0 ] || fail "$name: q did not end the screen with 0"
	stop "$node"
	echo "check-nodes: $name ok: $(ls "$out" | grep -c "^$name") files in $out"
}

check anvil http://127.0.0.1:18545 31337
check geth http://127.0.0.1:18645 1337
echo "check-nodes: ok"
