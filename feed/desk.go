package feed

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// desk takes commands: it knows who may ask for what, what was asked before
// under the same key, and hands the rest to the sink.
type desk struct {
	s *Server

	mu      sync.Mutex         // held for a few lines, never across IO
	keys    map[string]*act    // by token name and key
	order   []string           // of keys, oldest first
	ids     map[string]bool    // of acts whose answer is awaited in the log
	buckets map[string]*bucket // by token name
}

// keysKept bounds the keys that are remembered.
const keysKept = 1024

func newDesk(s *Server) *desk {
	return &desk{s: s, keys: map[string]*act{}, ids: map[string]bool{}, buckets: map[string]*bucket{}}
}

// operations are what a command may ask for. Whatever is not here is refused.
var operations = []model.Op{
	model.OpProbe, model.OpCheck, model.OpFault, model.OpPin, model.OpUnpin,
	model.OpDrain, model.OpSimulate, model.OpUndrain,
}

// ofUpstreams are the operations that name a chain and one of its upstreams.
var ofUpstreams = []model.Op{model.OpCheck, model.OpPin, model.OpFault}

// command answers a frame that asks for something. What it begins goes on
// without the viewer.
func (d *desk) command(v *viewer, frame envelope) {
	id := frame.ID
	if id == "" || len(id) > maxWord || clean.Text(id, maxWord) != id {
		v.reply(typeError, "", *refuse(CodeBadRequest, "", "a command has an id of at most %d bytes", maxWord))
		return
	}
	who, ok := d.s.still(v)
	if !ok {
		v.bye(CloseUnauthenticated, 0)
		return
	}
	if !d.bucket(who.name).take(d.s.o.Now()) {
		v.reply(typeError, id, *refuse(CodeRateLimited, "", "more than %d commands a second", commandsEvery))
		return
	}
	var data cmdData
	if err := unmarshal(frame.Data, &data); err != nil || len(data.Op) > maxWord || len(data.Key) > maxWord {
		v.reply(typeError, id, *refuse(CodeBadRequest, "", "a command that cannot be read"))
		return
	}
	a, budget, replayed, refused := d.take(who, id, data)
	if refused != nil {
		v.reply(typeError, id, *refused)
		return
	}
	d.s.inside.Go(func() { a.tell(v, id, budget, replayed) })
}

func (d *desk) bucket(name string) *bucket {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.buckets[name]
	if b == nil {
		b = newBucket(commandsEvery, commandsBurst)
		d.buckets[name] = b
	}
	return b
}

// take finds the act of a command's key, or begins one.
func (d *desk) take(who identity, id string, data cmdData) (a *act, budget time.Duration, replayed bool, refused *Answer) {
	if who.role != RoleOperator {
		return nil, 0, false, refuse(CodeForbidden, "", "a viewer may not %q: this needs a token of role operator", clean.Text(data.Op, maxWord))
	}
	if !slices.Contains(operations, model.Op(data.Op)) {
		return nil, 0, false, refuse(CodeUnknown, "unknown_op", "there is no operation %q", clean.Text(data.Op, maxWord))
	}
	if d.s.o.Sink == nil {
		return nil, 0, false, refuse(CodeUnavailable, "", "this instance takes no commands")
	}
	budget, refused = budgetOf(data.Budget)
	if refused != nil {
		return nil, 0, false, refused
	}
	print := fingerprint(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	key := who.name + "\x00" + data.Key
	if data.Key != "" {
		if before := d.keys[key]; before != nil {
			if before.print != print {
				return nil, 0, false, refuse(CodeConflict, "key_mismatch", "another command was given under this key")
			}
			return before, budget, true, nil
		}
	}
	cmd, refused := d.resolve(who, id, data)
	if refused != nil {
		return nil, 0, false, refused
	}
	if d.ids[id] {
		return nil, 0, false, refuse(CodeBadRequest, "", "a command with this id is under way")
	}
	if data.Key != "" && !d.room() {
		return nil, 0, false, refuse(CodeRateLimited, "", "too many commands are under way")
	}
	a = &act{desk: d, print: print, cmd: cmd, told: make(chan struct{}), over: make(chan struct{})}
	d.ids[id] = true
	if data.Key != "" {
		a.key = key
		d.keys[key] = a
		d.order = append(d.order, key)
	}
	d.s.awake.Go(func() { a.perform(d.s.ctx) })
	return a, budget, false, nil
}

// room makes room for one more key; the oldest that is over goes. The caller
// holds the lock.
func (d *desk) room() bool {
	if len(d.order) < keysKept {
		return true
	}
	i := slices.IndexFunc(d.order, func(key string) bool { return d.keys[key].isOver() })
	if i < 0 {
		return false
	}
	delete(d.keys, d.order[i])
	d.order = slices.Delete(d.order, i, i+1)
	return true
}

// undo forgets the key of an act that did nothing, so that it may be tried
// again.
func (d *desk) undo(a *act) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.key != "" && d.keys[a.key] == a {
		delete(d.keys, a.key)
		d.order = slices.DeleteFunc(d.order, func(key string) bool { return key == a.key })
	}
}

func (d *desk) release(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.ids, id)
}

// fingerprint is the same for commands that ask for the same.
func fingerprint(data cmdData) [sha256.Size]byte {
	text, _ := json.Marshal(cmdData{Op: data.Op, Args: data.Args}) // strings always can be
	return sha256.Sum256(text)
}

// budgetOf is how long the sender waits for its answer.
func budgetOf(given string) (time.Duration, *Answer) {
	if given == "" {
		return budgetDefault, nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d <= 0 {
		return 0, refuse(CodeBadRequest, "", "budget: not a duration above 0s")
	}
	return min(d, budgetMost), nil
}

// resolve turns names into a command about the picture as it is. Who asks is
// the token's name.
func (d *desk) resolve(who identity, id string, data cmdData) (model.Command, *Answer) {
	pic, _, _ := d.s.o.Log.Snapshot(d.s.ctx) // a Log's never fails
	args := data.Args
	cmd := model.Command{
		ID: id, Op: model.Op(data.Op), Who: who.name,
		Kind: clean.Text(args.Kind, maxRunes), Reason: clean.Text(args.Reason, maxRunes),
		Confirm: clean.Text(args.Confirm, maxRunes), IfState: clean.Text(args.IfState, maxRunes),
	}
	for _, name := range args.Chains {
		n := pic.Find(name)
		if n < 0 {
			return cmd, refuse(CodeUnknown, "unknown_chain", "there is no chain %q", clean.Text(name, maxRunes))
		}
		if !slices.Contains(cmd.Chains, n) {
			cmd.Chains = append(cmd.Chains, n)
		}
	}
	if args.Upstream != "" {
		if len(cmd.Chains) != 1 {
			return cmd, refuse(CodeBadRequest, "", "an upstream is named with its one chain")
		}
		c := pic.Chains[cmd.Chains[0]]
		cmd.Upstream = slices.IndexFunc(c.Upstreams, func(u model.Upstream) bool { return u.Name == args.Upstream })
		if cmd.Upstream < 0 {
			return cmd, refuse(CodeUnknown, "unknown_upstream", "%s has no upstream %q", c.Key(), clean.Text(args.Upstream, maxRunes))
		}
	} else if slices.Contains(ofUpstreams, cmd.Op) {
		return cmd, refuse(CodeBadRequest, "", "%s names a chain and its upstream", cmd.Op)
	}
	if cmd.Op == model.OpUnpin && len(cmd.Chains) != 1 {
		return cmd, refuse(CodeBadRequest, "", "%s names a chain", cmd.Op)
	}
	if args.For != "" {
		lasts, err := time.ParseDuration(args.For)
		if err != nil || lasts <= 0 {
			return cmd, refuse(CodeBadRequest, "", "for: not a duration above 0s")
		}
		cmd.For = lasts
	}
	return cmd, nil
}

// argsOf is what resolve undoes: the command with names instead of indexes.
func argsOf(pic *model.Instance, c model.Command) (cmdArgs, bool) {
	args := cmdArgs{Kind: c.Kind, Reason: c.Reason, Confirm: c.Confirm, IfState: c.IfState}
	for _, n := range c.Chains {
		if n < 0 || n >= len(pic.Chains) {
			return args, false
		}
		args.Chains = append(args.Chains, pic.Chains[n].Key())
	}
	if slices.Contains(ofUpstreams, c.Op) {
		if len(c.Chains) != 1 || c.Upstream < 0 || c.Upstream >= len(pic.Chains[c.Chains[0]].Upstreams) {
			return args, false
		}
		args.Upstream = pic.Chains[c.Chains[0]].Upstreams[c.Upstream].Name
	}
	if c.For != 0 {
		args.For = c.For.String()
	}
	return args, true
}
