package config

import "time"

// How an instance drains.
const (
	DrainIdle      = "idle"      // it serves on until nobody asks any more (SPEC D4)
	DrainImmediate = "immediate" // it refuses everything at once (SPEC D3)
)

var drainNames = []string{DrainIdle, DrainImmediate}

// Drain is how the process goes from serving to its exit.
type Drain struct {
	Mode          string        // DrainIdle or DrainImmediate
	Idle          time.Duration // how long nobody must ask before an idle drain ends (D4); positive with DrainIdle
	Max           time.Duration // the longest an idle drain may take (D5); 0 = no bound, else not shorter than Idle
	Immediate     time.Duration // how long an immediate drain refuses before the exit (D3); 0 = not at all
	CountMessages bool          // clients' messages on open websockets begin Idle anew (D5)
}

// Drain is the `drain:` of the file.
func (c *Config) Drain() Drain { return Drain(c.read().doc.Drain) }

type drain struct {
	Mode          string        `yaml:"mode"`
	Idle          time.Duration `yaml:"idle"`
	Max           time.Duration `yaml:"max"`
	Immediate     time.Duration `yaml:"immediate"`
	CountMessages bool          `yaml:"count_messages"`
}

func (r *reading) drain(d *drain, l *listen) {
	at := func(key string) string { return "drain." + key }
	r.word(at("mode"), d.Mode, drainNames)
	r.positiveOrNone(at("max"), d.Max)
	r.positiveOrNone(at("immediate"), d.Immediate)
	if d.Mode != DrainIdle {
		r.positiveOrNone(at("idle"), d.Idle)
		return
	}
	r.positive(at("idle"), d.Idle)
	if d.Max > 0 && d.Max < d.Idle && !r.bad[at("max")] && !r.bad[at("idle")] {
		r.fault(at("max"), "shorter than drain.idle (%s): the drain would be cut before anybody could be idle", d.Idle)
	}
	if l.gatewaySet && l.opsSet && l.Gateway == "" && l.Ops == "" && !r.bad[at("mode")] {
		r.fault(at("mode"), "idle wants a listener where /readyz is read: listen.gateway or listen.ops; or take immediate")
	}
}

// Warnings are what is legal and may hurt, a line each as errors have it, in
// the order of the file: an idle drain without a bound (SPEC D8).
func (c *Config) Warnings() []string {
	var lines []string
	for _, f := range c.read().warnings() {
		lines = append(lines, f.Error())
	}
	return lines
}

func (c *content) warnings() (all Errors) {
	if d := c.doc.Drain; d.Mode == DrainIdle && d.Max == 0 {
		all = append(all, c.fault("drain.max", "0s: a client that never stops asking holds a drain for ever"))
	}
	return all
}

// fault is one that shows only after the file was read, at one of later.
func (c *content) fault(path, text string) Fault {
	f := Fault{File: c.file, Line: c.lines[path], Path: path, Text: text}
	if f.File == "" {
		f.File = "defaults"
	}
	return f
}
