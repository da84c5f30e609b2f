# `make check` is the whole gate, and CI runs only that. A Go toolchain is enough
# for it: a step that lacks something else says SKIPPED, and in CI (CI is set)
# it fails instead. `test` comes last, so that a log ends with go test's summary.

SHELL := bash
.NOTPARALLEL:
.DEFAULT_GOAL := check
.PHONY: check fmt vet lint smoke fuzz test build bench bench-gateway pictures check-nodes

LINT_VERSION := 2.15.0
FUZZTIME     ?= 5s
FUZZBUDGET   ?= 110
TESTFLAGS    ?=
BENCH        ?= .
BENCHPKGS    ?= ./...

# Prints what a step took, passed or not.
step = @TIMEFORMAT='check: $(1) %1Rs'; time

check: fmt vet lint smoke fuzz test

fmt:
	$(call step,fmt) { list=$$(gofmt -l .) && [ -z "$$list" ] || { echo "fmt: gofmt would change:" $$list; false; }; }

vet:
	$(call step,vet) go vet ./...

# The pinned version, from the Go bin folder or from a folder of its own in the
# Go cache: an installed one of another version is left alone.
define LINT
set -euo pipefail
fits() { [ -x "$$1" ] && v=$$("$$1" version --short) && [ "$${v#v}" = $(LINT_VERSION) ]; }
lint=$$(go env GOPATH)/bin/golangci-lint
if ! fits "$$lint"; then
  tools=$$(go env GOCACHE)/tools/golangci-lint-$(LINT_VERSION)
  lint=$$tools/golangci-lint
  if ! fits "$$lint"; then
    echo "lint: installing golangci-lint v$(LINT_VERSION), once; it takes some minutes"
    GOBIN=$$tools go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(LINT_VERSION)
    fits "$$lint"
  fi
fi
"$$lint" run --allow-parallel-runners ./...
endef
export LINT

lint:
	$(call step,lint) bash -c "$$LINT"

# Ends with the bare `chaintop` in a real terminal: it draws the demo, and q ends
# it. The tmux server has a socket folder of its own and ends with the script.
define SMOKE
set -euo pipefail
list=$$(go test -list '^TestTerminal' ./cmd/chaintop)
[[ $$list == TestTerminal* ]] || { echo "smoke: cmd/chaintop has no TestTerminal…"; exit 1; }
go test -count=1 -run '^(TestTerminal|TestServingIsWhoServes)' ./cmd/chaintop
if ! command -v tmux >/dev/null; then
  [ -z "$${CI:-}" ] || { echo "smoke: tmux is missing"; exit 1; }
  echo "smoke: tmux is missing: the run inside it is SKIPPED"
  exit 0
fi
dir=$$(mktemp -d)
export TMUX_TMPDIR=$$dir LC_ALL=C.UTF-8
unset TMUX
mux() { tmux -L private -f /dev/null -u "$$@"; }
trap 'mux kill-server 2>/dev/null || true; rm -rf "$$dir"' EXIT
go build -o "$$dir/chaintop" ./cmd/chaintop
mux new-session -d -x 80 -y 24 "'$$dir/chaintop'; echo \$$? >'$$dir/exit'"
frame=
for ((i = 0; i < 100; i++)); do
  frame=$$(mux capture-pane -p 2>/dev/null) || break
  [[ $$frame != *DEMO* ]] || break
  sleep 0.1
done
if [[ $$frame != *DEMO* ]]; then
  echo "smoke: no DEMO on the screen within 10s; exit code: $$(cat "$$dir/exit" 2>/dev/null || echo none). The screen:"
  echo "$$frame"
  exit 1
fi
mux send-keys q
for ((i = 0; i < 50; i++)); do
  [ ! -s "$$dir/exit" ] || break
  sleep 0.1
done
code=$$(cat "$$dir/exit" 2>/dev/null || echo "none: it still runs 5s after q")
echo "smoke: tmux 80x24: DEMO was drawn, exit code after q: $$code"
[ "$$code" = 0 ]
endef
export SMOKE

smoke:
	$(call step,smoke) bash -c "$$SMOKE"

# Each target gets FUZZTIME, less when all together would pass FUZZBUDGET
# seconds. A bare "context deadline exceeded" without a failing input is a race
# of the toolchain at the end of -fuzztime (go.dev/issue/75804, mended in Go
# 1.27), and not a finding.
define FUZZ
set -euo pipefail
targets=()
for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd feed internal model ui | xargs -n1 dirname | sort -u); do
  for name in $$(go test -list '^Fuzz' "./$$dir" | grep '^Fuzz'); do targets+=("$$dir $$name"); done
done
[ $${#targets[@]} -gt 0 ] || { echo "fuzz: found no target"; exit 1; }
each=$(FUZZTIME)
each=$${each%s}
most=$$(($(FUZZBUDGET) / $${#targets[@]}))
[ "$$each" -le "$$most" ] || each=$$most
[ "$$each" -ge 1 ] || each=1
echo "fuzz: $${#targets[@]} targets, $${each}s each"
log=$$(mktemp)
trap 'rm -f "$$log"' EXIT
for target in "$${targets[@]}"; do
  read -r dir name <<<"$$target"
  if go test -run '^$$' -fuzz "^$$name\$$" -fuzztime "$${each}s" -fuzzminimizetime 5s "./$$dir" >"$$log" 2>&1; then
    echo "fuzz: $$dir $$name: $$(grep '^fuzz: elapsed' "$$log" | tail -1 | sed 's/^fuzz: //')"
  elif grep -q 'context deadline exceeded' "$$log" && ! grep -Eqi 'failing input|failure while|panic|hung or terminated' "$$log"; then
    echo "fuzz: $$dir $$name: no failing input; ended by go.dev/issue/75804"
  else
    cat "$$log"
    exit 1
  fi
done
endef
export FUZZ

fuzz:
	$(call step,fuzz) bash -c "$$FUZZ"

# The race detector needs cgo, and so a C compiler.
define TEST
set -euo pipefail
race=-race
if [ "$$(go env CGO_ENABLED)" != 1 ] && [ -z "$${CI:-}" ]; then
  race=
  echo "test: no C compiler: the race detector is SKIPPED"
fi
go test $$race -timeout 8m $(TESTFLAGS) ./...
endef
export TEST

test:
	$(call step,test) bash -c "$$TEST"

build:
	go build -trimpath -o chaintop ./cmd/chaintop

# Three runs of each, then the medians.
define MEDIANS
/^(goos|goarch|cpu|pkg):|FAIL|panic/ { print; fflush() }
/^Benchmark/ {
	print; fflush()
	if (!($$1 in n)) order[++names] = $$1
	k = ++n[$$1]
	for (i = 3; i < NF; i += 2) { value[$$1, $$(i+1), k] = $$i; if (!(($$1, $$(i+1)) in seen)) { seen[$$1, $$(i+1)] = 1; units[$$1] = units[$$1] " " $$(i+1) } }
}
END {
	print "medians:"
	for (o = 1; o <= names; o++) {
		name = order[o]; line = sprintf("%-52s", name); m = split(units[name], unit, " ")
		for (u = 1; u <= m; u++) {
			for (i = 1; i <= n[name]; i++) {
				v = value[name, unit[u], i]
				for (j = i - 1; j >= 1 && s[j] > v; j--) s[j+1] = s[j]
				s[j+1] = v
			}
			line = line sprintf("%14s %s", s[int((n[name] + 1) / 2)], unit[u])
		}
		print line
	}
}
endef
export MEDIANS

bench:
	@set -euo pipefail; go test -run '^$$' -bench '$(BENCH)' -benchmem -count 3 $(BENCHPKGS) | awk "$$MEDIANS"

# The gateway beside nginx and a plain reverse proxy, its primary killed, hung and
# abused; not part of check. apt-get install nginx for the whole table.
bench-gateway:
	go run ./internal/gatewaybench $(BENCHFLAGS)

# The picture of the README: the demo in an xterm of 120x40 cells once it
# has something to show. apt-get install xvfb xterm ffmpeg tmux fonts-dejavu-core
define PICTURES
set -euo pipefail
dir=$$(mktemp -d)
export TMUX_TMPDIR=$$dir LC_ALL=C.UTF-8 COLORTERM=truecolor
unset TMUX NO_COLOR
mux() { tmux -L private -f /dev/null -u "$$@"; }
trap 'mux kill-server 2>/dev/null || true; kill $$(jobs -p) 2>/dev/null || true; rm -rf "$$dir"' EXIT
go build -o "$$dir/chaintop" ./cmd/chaintop
Xvfb -displayfd 3 -screen 0 1920x1200x24 3>"$$dir/display" >/dev/null 2>&1 &
for ((i = 0; i < 100; i++)); do [ ! -s "$$dir/display" ] || break; sleep 0.1; done
DISPLAY=:$$(cat "$$dir/display")
export DISPLAY
mux new-session -d -x 120 -y 40 "'$$dir/chaintop'"
mux set -g status off
mux set -ga terminal-overrides ',xterm*:Tc'
xterm -fa 'DejaVu Sans Mono' -fs 11 -b 0 -bg '#17171b' -fg '#d8d8dc' -geometry 120x40+0+0 -e tmux -L private -u attach >/dev/null 2>&1 &
for ((i = 0; i < 900; i++)); do
  frame=$$(mux capture-pane -p)
  [[ $$frame != *unreachable* ]] || break
  sleep 0.1
done
[[ $$frame == *unreachable* ]] || { echo "pictures: no chain was unreachable within 90s"; exit 1; }
sleep 2
read -r w h <<<"$$(mux list-clients -F '#{client_cell_width} #{client_cell_height}')"
mkdir -p docs/pictures
ffmpeg -nostdin -v error -y -f x11grab -draw_mouse 0 -video_size $$((120 * w))x$$((40 * h)) -i "$$DISPLAY" -frames:v 1 -update 1 docs/pictures/chains.png
ls -l docs/pictures
endef
export PICTURES

pictures:
	@bash -c "$$PICTURES"

# Real nodes (geth and anvil) killed and started again; not part of check.
check-nodes:
	bash internal/nodecheck/check-nodes.sh
