package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The pace of a method, for hedges (F11).
const (
	paceCalls = 512 // the last of a method that count
	paceKnown = 20  // from so many on it is known
	paceEvery = 32  // calls between two looks
	hedgeMin  = 50 * time.Millisecond
	hedgeMax  = 300 * time.Millisecond

	mostMethods = 64 // of a chain; the others share one pace
	methodRunes = 64 // a longer name is nobody's
	otherMethod = ""
)

// pace is how long the last calls of a method took.
type pace struct {
	mu    sync.Mutex
	took  []time.Duration
	next  int
	calls int
	hedge atomic.Int64 // twice the p95, within bounds; 0 = not known
}

func (p *pace) add(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.took) < paceCalls {
		p.took = append(p.took, d)
	} else {
		p.took[p.next] = d
	}
	p.next = (p.next + 1) % paceCalls
	p.calls++
	if p.calls < paceKnown || (p.calls != paceKnown && p.calls%paceEvery != 0) {
		return
	}
	sorted := slices.Clone(p.took)
	slices.Sort(sorted)
	p95 := sorted[(len(sorted)*95-1)/100]
	p.hedge.Store(int64(min(max(2*p95, hedgeMin), hedgeMax)))
}

// methods are the paces of a chain's methods.
type methods struct {
	mu  sync.RWMutex
	all map[string]*pace
	top atomic.Pointer[pace] // of the method called last: what is shown
}

func (m *methods) of(method string) *pace {
	if len(method) > methodRunes {
		method = otherMethod
	}
	m.mu.RLock()
	p, full := m.all[method], len(m.all) >= mostMethods
	m.mu.RUnlock()
	if p != nil {
		return p
	}
	if full {
		method = otherMethod
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p = m.all[method]; p == nil {
		if m.all == nil {
			m.all = map[string]*pace{}
		}
		p = &pace{}
		m.all[method] = p
	}
	return p
}

// took adds a call that got a result.
func (m *methods) took(method string, d time.Duration) {
	p := m.of(method)
	p.add(d)
	m.top.Store(p)
}

// hedgeAfter is twice the method's p95, within 50 and 300 ms; 300 ms until 20
// calls are known.
func (m *methods) hedgeAfter(method string) time.Duration { return m.of(method).after() }

func (p *pace) after() time.Duration {
	if d := p.hedge.Load(); d > 0 {
		return time.Duration(d)
	}
	return hedgeMax
}

// hedgeShown is hedge_after of the method called last.
func (r *route) hedgeShown() time.Duration {
	if !r.set.HedgeAuto {
		return r.set.HedgeAfter
	}
	if p := r.methods.top.Load(); p != nil {
		return p.after()
	}
	return hedgeMax
}
