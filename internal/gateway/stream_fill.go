package gateway

import (
	"encoding/json"
	"fmt"
	"slices"

	"chaintop/internal/rpc"
)

// Bounds of what is filled after a move (F12).
const (
	fillBlocks = 128
	fillDeeper = 8        // blocks that are looked at together, further back
	fillBytes  = 32 << 20 // of blocks
	fillHeader = 64 << 10 // of one header
	fillAgain  = 3        // times that it starts over, while the chain changes under it
	logsAgain  = 16       // blocks before the last one from which logs are asked for again: a reorg may have changed them
)

// fill is what a client missed during a move, being asked for. First the new
// upstream's head, to which everything is filled; what it sends by itself
// meanwhile waits. Then the blocks, back to one that the client has had, and
// from there on; then the logs.
type fill struct {
	known   bool // the head is
	target  uint64
	blocks  map[uint64]block
	wanted  map[uint64]bool
	left    int // answers that are not there yet
	bytes   int
	again   int
	forked  bool // heads were filled
	fork    uint64
	over    map[*sub]bool // filled, or a gap
	whole   map[*sub]bool // filled
	filled  int
	gaps    int
	settled bool
}

// block is a block by its number.
type block struct {
	head
	raw json.RawMessage // as a header
}

// covers says that a notification is of a block that was filled, or was no
// longer the chain's then.
func (f *fill) covers(l delayed) bool {
	if f == nil || !l.early || !f.whole[l.sub] || l.sub.kind != subHeads {
		return false
	}
	h, ok := headOf(l.frame.Notice())
	return ok && h.number <= f.target
}

// startFill begins to fill what the client missed. What cannot be filled is a
// gap.
func (s *session) startFill() {
	f := &fill{blocks: map[uint64]block{}, wanted: map[uint64]bool{}, over: map[*sub]bool{}, whole: map[*sub]bool{}}
	s.move.fill = f
	some := false
	for _, n := range s.subs {
		if n.kind == subOther {
			f.gap(n)
		} else {
			some = true
		}
	}
	if !some {
		s.endFill(f, false)
		return
	}
	s.askTip(f)
}

func (f *fill) gap(n *sub) {
	if !f.over[n] {
		f.over[n] = true
		f.gaps++
	}
}

func (f *fill) fine(n *sub) { f.over[n], f.whole[n] = true, true }

// ours says whether a fill is still the one that goes on.
func (s *session) ours(f *fill) bool { return s.move != nil && s.move.fill == f && !f.settled }

// askTip asks for the upstream's head.
func (s *session) askTip(f *fill) {
	f.known = false
	clear(f.blocks)
	clear(f.wanted)
	s.own("eth_getBlockByNumber", `["latest",false]`, func(r rpc.Frame) {
		if !s.ours(f) {
			return
		}
		b, ok := f.take(r)
		if !ok {
			s.endFill(f, true)
			return
		}
		f.known, f.target = true, s.until(b.number)
		s.askBlocks(f)
	})
}

// take keeps a block.
func (f *fill) take(r rpc.Frame) (b block, ok bool) {
	h, ok := headOf(r.Result)
	if r.Err != nil || !ok {
		return b, false
	}
	b = block{head: h, raw: headerOf(r.Result)}
	if f.bytes += len(b.raw); len(b.raw) > fillHeader || f.bytes > fillBytes {
		return b, false
	}
	f.blocks[h.number] = b
	return b, true
}

// until is the block to which everything is filled: the head, or, when the
// upstream has sent a later one by itself, the one before that.
func (s *session) until(head uint64) uint64 {
	first := uint64(0)
	for _, l := range s.move.held {
		if l.sub.kind != subHeads {
			continue
		}
		if h, ok := headOf(l.frame.Notice()); ok && h.number > head && (first == 0 || h.number < first) {
			first = h.number
		}
	}
	if first == 0 {
		return head
	}
	return first - 1
}

// askBlocks asks for the blocks that are needed to know what newHeads missed;
// with all of them there it hands them on.
func (s *session) askBlocks(f *fill) {
	var need []uint64
	for _, n := range s.subs {
		if n.kind != subHeads || f.over[n] {
			continue
		}
		_, missing, ok := f.common(n)
		if !ok {
			f.gap(n)
			continue
		}
		need = append(need, missing...)
	}
	for _, k := range need {
		if f.wanted[k] {
			continue
		}
		f.wanted[k] = true
		f.left++
		s.own("eth_getBlockByNumber", fmt.Sprintf(`["%s",false]`, quantityOf(k)), func(r rpc.Frame) { s.gotBlock(f, k, r) })
	}
	if f.left == 0 {
		s.fillHeads(f)
	}
}

func (s *session) gotBlock(f *fill, k uint64, r rpc.Frame) {
	if !s.ours(f) {
		return
	}
	f.left--
	if b, ok := f.take(r); !ok || b.number != k {
		for _, n := range s.subs {
			if n.kind == subHeads {
				f.gap(n)
			}
		}
	}
	if f.left == 0 {
		s.askBlocks(f)
	}
}

// common is the highest block up to the target that the client has had, and
// which blocks are missing to know it, or to go on from it. ok is false when it
// is too far back.
func (f *fill) common(n *sub) (at uint64, missing []uint64, ok bool) {
	last := n.memory.newest()
	if last == nil {
		if n.base == 0 || n.base >= f.target {
			return f.target, nil, true
		}
		return n.base, f.lacks(n.base+1, f.target), f.target-n.base <= fillBlocks
	}
	lowest, _ := n.memory.lowest()
	for k := min(last.number, f.target); ; k-- {
		if f.target-k > fillBlocks {
			return 0, nil, false
		}
		if k < lowest || k == 0 {
			return k, f.lacks(k+1, f.target), true
		}
		b, have := f.blocks[k]
		if !have {
			return 0, f.lacks(max(k, fillDeeper)-fillDeeper+1, f.target), true
		}
		if n.memory.all[b.Hash] != nil {
			return k, f.lacks(k+1, f.target), true
		}
	}
}

// lacks are the blocks from one to another that are not there.
func (f *fill) lacks(from, to uint64) (missing []uint64) {
	for k := from; k <= to; k++ {
		if _, have := f.blocks[k]; !have {
			missing = append(missing, k)
		}
	}
	return missing
}

// torn says that the blocks up to the target are not of one chain: it changed
// while they were asked for.
func (f *fill) torn(from uint64) bool {
	for k := from + 1; k <= f.target; k++ {
		before, have := f.blocks[k-1]
		if have && before.Hash != f.blocks[k].ParentHash {
			return true
		}
	}
	return false
}

// fillHeads hands on the blocks that newHeads missed.
func (s *session) fillHeads(f *fill) {
	for _, n := range s.subs {
		if n.kind != subHeads || f.over[n] {
			continue
		}
		at, missing, ok := f.common(n)
		switch {
		case !ok || len(missing) > 0:
			f.gap(n)
			continue
		case f.torn(at):
			if f.again++; f.again < fillAgain {
				s.askTip(f)
				return
			}
			f.gap(n)
			continue
		}
		for k := at + 1; k <= f.target; k++ {
			b := f.blocks[k]
			n.memory.keep(b.Hash, k, true, nil, rememberHeads)
			s.tell(notification(n.id, b.raw))
			f.filled++
		}
		n.upTo = max(n.upTo, f.target)
		f.fine(n)
		if !f.forked || at < f.fork {
			f.forked, f.fork = true, at
		}
	}
	s.askLogs(f)
}

func notification(id, result json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":%s,"result":%s}}`, id, result)
}

// askLogs asks for the logs that were missed, and for those of some blocks
// before them, which a reorg may have changed.
func (s *session) askLogs(f *fill) {
	for _, n := range s.subs {
		if n.kind != subLogs || f.over[n] {
			continue
		}
		if n.upTo == 0 {
			f.fine(n) // where it began is not known, and nothing came
			continue
		}
		if f.target > n.upTo+fillBlocks {
			f.gap(n)
			n.upTo = f.target
			continue
		}
		from := n.upTo - min(n.upTo, logsAgain)
		if f.forked {
			from = min(from, f.fork+1)
		}
		from = max(from, n.base+1, n.memory.lost+1, f.target-min(f.target, fillBlocks-1))
		if from > f.target {
			f.fine(n)
			continue
		}
		f.left++
		s.own("eth_getLogs", n.filter(from, f.target), func(r rpc.Frame) { s.gotLogs(f, n, from, r) })
	}
	if f.left == 0 {
		s.endFill(f, false)
	}
}

// filter is the subscription's, for the logs of some blocks.
func (n *sub) filter(from, to uint64) string {
	args := rpc.Elements(n.params)
	criteria := json.RawMessage(`{}`)
	if len(args) > 1 {
		criteria = args[1]
	}
	out := rebuilt(criteria, func(name string, value json.RawMessage) json.RawMessage {
		if name == "address" || name == "topics" {
			return value
		}
		return nil
	})
	sep := ","
	if len(out) == 2 {
		sep = ""
	}
	return fmt.Sprintf(`[%s%s"fromBlock":"%s","toBlock":"%s"}]`, out[:len(out)-1], sep, quantityOf(from), quantityOf(to))
}

// gotLogs hands on the logs that were missed. Those that the client has had and
// the chain no longer has are taken back first, the newest before the others.
func (s *session) gotLogs(f *fill, n *sub, from uint64, r rpc.Frame) {
	if !s.ours(f) {
		return
	}
	f.left--
	if r.Err != nil || len(r.Result) == 0 || r.Result[0] != '[' {
		f.gap(n)
	} else {
		s.fillLogs(f, n, from, rpc.Elements(r.Result))
		f.fine(n)
	}
	n.upTo = max(n.upTo, f.target)
	if f.left == 0 {
		s.endFill(f, false)
	}
}

func (s *session) fillLogs(f *fill, n *sub, from uint64, logs []json.RawMessage) {
	there := map[string]bool{}
	for _, raw := range logs {
		if e, ok := eventOf(raw); ok {
			there[e.key(false)] = true
		}
	}
	for _, m := range slices.Backward(slices.Clone(n.memory.order)) {
		if m.gone || m.raw == nil || m.number < from || m.number > f.target || there[m.key] {
			continue
		}
		if e, ok := eventOf(m.raw); ok {
			e.Removed = true
			s.tell(notification(n.id, takenBack(m.raw)))
			s.keepLog(n, e, true, nil)
			f.filled++
		}
	}
	for _, raw := range logs {
		e, ok := eventOf(raw)
		if !ok || n.memory.all[e.key(false)] != nil {
			continue
		}
		e.Removed = false
		s.keepLog(n, e, true, raw)
		s.tell(notification(n.id, raw))
		f.filled++
	}
}

// endFill ends the move; what was not filled by then is a gap.
func (s *session) endFill(f *fill, failed bool) {
	if failed {
		for _, n := range s.subs {
			f.gap(n)
		}
	}
	f.settled = true
	s.settled()
}
