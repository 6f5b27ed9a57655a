package supervisor

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// manager is ProcessManager as its rules say: a map of processes that is checked after every step, without phases,
// effects or answers. It has one addition to Salt: the pause after quick deaths.
type manager struct {
	now        time.Time
	processes  map[string]*process0
	restarting bool
	closed     bool
	strays     int
	deaths     int
}

// process0 is one entry of the map.
type process0 struct {
	n       int
	alive   bool
	born    time.Time
	quick   int
	due     time.Time // when it is restarted; zero: never
	missing int       // 1: it is gone without notice; 2: a sweep has also missed it
}

func (m *manager) start(p *process0) {
	p.n++
	p.alive, p.born, p.due, p.missing = true, m.now, time.Time{}, 0
}

func (m *manager) add(name string) bool {
	if _, taken := m.processes[name]; taken || m.closed {
		return false
	}
	p := &process0{}
	m.processes[name] = p
	m.start(p)
	return true
}

// died is the result of a death.
func (m *manager) died(name string, asked bool) {
	p := m.processes[name]
	m.deaths++
	p.alive = false
	delay := time.Duration(0)
	switch {
	case m.now.Sub(p.born) >= time.Second:
		p.quick = 0
	case !asked:
		p.quick++
		if p.quick > 3 {
			delay = min(2*time.Millisecond*(1<<min(p.quick-4, 20)), 10*time.Second)
		}
	}
	switch {
	case !m.restarting:
	case delay == 0:
		m.start(p)
	default:
		p.due = m.now.Add(delay)
	}
}

func (m *manager) forget(name string) {
	if p := m.processes[name]; p != nil && p.alive {
		m.deaths++
	}
	delete(m.processes, name)
}

func (m *manager) restart(name string) {
	p := m.processes[name]
	switch {
	case !m.restarting:
	case p.alive:
		m.died(name, true)
	default: // it waits, or it is dead because restarting was off
		m.start(p)
	}
}

// pass lets time pass, in which waiting processes are started.
func (m *manager) pass(d time.Duration) {
	end := m.now.Add(d)
	for {
		next := ""
		for name, p := range m.processes {
			if !p.due.IsZero() && !p.due.After(end) && (next == "" || p.due.Before(m.processes[next].due)) {
				next = name
			}
		}
		if next == "" {
			break
		}
		p := m.processes[next]
		m.now = p.due
		p.due = time.Time{}
		if m.restarting {
			m.start(p)
		}
	}
	m.now = end
}

func (m *manager) sweep() {
	for _, name := range slices.Sorted(maps.Keys(m.processes)) {
		switch p := m.processes[name]; p.missing {
		case 1:
			p.missing = 2
		case 2:
			p.missing = 0
			m.died(name, false)
		}
	}
}

func (m *manager) String() string {
	text := fmt.Sprintf("strays %d, deaths %d\n", m.strays, m.deaths)
	for _, name := range slices.Sorted(maps.Keys(m.processes)) {
		p := m.processes[name]
		text += fmt.Sprintf("%s#%d alive %v", name, p.n, p.alive)
		if !p.due.IsZero() {
			text += fmt.Sprintf(" due in %s", p.due.Sub(m.now))
		}
		text += "\n"
	}
	return text
}

// crew carries out the effects of the policy for several children at once. The test compares it with the manager.
type crew struct {
	t       *rapid.T
	now     time.Time
	lives   map[string]*life
	alive   map[string]int       // incarnation that runs
	due     map[string]time.Time // running back-off
	missed  map[string]int       // incarnation that the last sweep missed
	vanish  map[string]bool
	frozen  bool
	stopped bool
	strays  int
	deaths  int
}

func (c *crew) env() env {
	return env{now: c.now, restarting: !c.frozen && !c.stopped, delayMax: 10 * time.Second}
}

func (c *crew) feed(name string, first event) {
	l := c.lives[name]
	for queue := []event{first}; len(queue) > 0; queue = queue[1:] {
		var effects []effect
		*l, effects = next(*l, queue[0], c.env())
		for _, f := range effects {
			queue = append(queue, c.do(name, f)...)
		}
	}
}

func (c *crew) do(name string, f effect) []event {
	switch f.kind {
	case doSpawn:
		if n, runs := c.alive[name]; runs {
			c.t.Fatalf("%s#%d starts beside %d", name, f.n, n)
		}
		c.alive[name] = f.n
		delete(c.vanish, name)
	case doDrain:
		return []event{{evDrained, f.n}}
	case doStop:
		delete(c.alive, name)
		return []event{{evTerminated, f.n}}
	case doRelease:
		return []event{{evReleased, f.n}}
	case doBury:
		c.deaths++
	case doDelay:
		c.due[name] = c.now.Add(f.delay)
	case doUndelay:
		delete(c.due, name)
	case doForget:
		delete(c.lives, name)
		delete(c.missed, name)
		delete(c.vanish, name)
	case doStray:
		c.strays++
	}
	return nil
}

func (c *crew) pass(d time.Duration) {
	end := c.now.Add(d)
	for {
		next := ""
		for name, at := range c.due {
			if !at.After(end) && (next == "" || at.Before(c.due[next])) {
				next = name
			}
		}
		if next == "" {
			break
		}
		c.now = c.due[next]
		delete(c.due, next)
		c.feed(next, event{evTimer, c.lives[next].n})
	}
	c.now = end
}

func (c *crew) sweep() {
	for _, name := range slices.Sorted(maps.Keys(c.lives)) {
		if !c.vanish[name] || c.lives[name].phase != up {
			continue
		}
		if n := c.lives[name].n; c.missed[name] != n {
			c.missed[name] = n
			continue
		}
		delete(c.alive, name)
		c.feed(name, event{evMissing, c.lives[name].n})
	}
}

func (c *crew) String() string {
	text := fmt.Sprintf("strays %d, deaths %d\n", c.strays, c.deaths)
	for _, name := range slices.Sorted(maps.Keys(c.lives)) {
		_, alive := c.alive[name]
		text += fmt.Sprintf("%s#%d alive %v", name, c.lives[name].n, alive)
		if at, waits := c.due[name]; waits {
			text += fmt.Sprintf(" due in %s", at.Sub(c.now))
		}
		text += "\n"
	}
	return text
}

// duel gives both the same events.
type duel struct {
	t *rapid.T
	m *manager
	c *crew
}

func newDuel(t *rapid.T) *duel {
	return &duel{t: t,
		m: &manager{now: t0, processes: make(map[string]*process0), restarting: true},
		c: &crew{t: t, now: t0, lives: make(map[string]*life), alive: make(map[string]int),
			due: make(map[string]time.Time), missed: make(map[string]int), vanish: make(map[string]bool)},
	}
}

// one picks a child for which ok holds.
func (d *duel) one(ok func(p *process0) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.m.processes)) {
		if ok(d.m.processes[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		d.t.Skip("nobody")
	}
	return rapid.SampledFrom(names).Draw(d.t, "child")
}

func anybody(*process0) bool    { return true }
func living0(p *process0) bool  { return p.alive && p.missing == 0 }
func present(p *process0) bool  { return !p.alive || p.missing == 0 }
func restless(p *process0) bool { return present(p) && p.n > 0 }

func (d *duel) add() {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(d.t, "name")
	if d.m.add(name) {
		d.c.lives[name] = &life{}
		d.c.feed(name, event{kind: evAdd})
	}
}

func (d *duel) death() {
	name := d.one(living0)
	delete(d.c.alive, name)
	d.c.feed(name, event{evTerminated, d.c.lives[name].n})
	d.m.died(name, false)
}

func (d *duel) stray() {
	name := d.one(anybody)
	d.c.feed(name, event{evTerminated, d.c.lives[name].n + rapid.SampledFrom([]int{-1, 1}).Draw(d.t, "off by")})
	d.m.strays++
}

func (d *duel) done() {
	name := d.one(present)
	d.c.feed(name, event{kind: evDone})
	d.m.forget(name)
}

func (d *duel) restart() {
	name := d.one(restless)
	d.c.feed(name, event{kind: evRestart})
	d.m.restart(name)
}

// lose makes a child vanish: the registry has lost it, and no message about its death comes.
func (d *duel) lose() {
	name := d.one(living0)
	d.c.vanish[name] = true
	d.m.processes[name].missing = 1
}

func (d *duel) sweep() { d.c.sweep(); d.m.sweep() }

func (d *duel) pass() {
	ms := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, 3000), rapid.Just(15000)).Draw(d.t, "ms")
	d.c.pass(time.Duration(ms) * time.Millisecond)
	d.m.pass(time.Duration(ms) * time.Millisecond)
}

func (d *duel) stopRestarting() {
	if rapid.IntRange(0, 9).Draw(d.t, "rarely") == 0 {
		d.c.frozen, d.m.restarting = true, false
	}
}

// stop is kill_children: every child is told, none is restarted, and none can be added.
func (d *duel) stop() {
	if rapid.IntRange(0, 9).Draw(d.t, "rarely") != 0 {
		return
	}
	d.c.stopped, d.m.closed, d.m.restarting = true, true, false
	for _, name := range slices.Sorted(maps.Keys(d.m.processes)) {
		d.c.feed(name, event{kind: evStop})
		d.m.forget(name)
	}
}

// crashLoop makes the back-off grow, which the random mix seldom does.
func (d *duel) crashLoop() {
	name := d.one(living0)
	for range rapid.IntRange(1, 20).Draw(d.t, "deaths") {
		p := d.m.processes[name]
		if !p.alive {
			break
		}
		delete(d.c.alive, name)
		d.c.feed(name, event{evTerminated, d.c.lives[name].n})
		d.m.died(name, false)
		if !p.due.IsZero() {
			wait := p.due.Sub(d.m.now)
			d.c.pass(wait)
			d.m.pass(wait)
		}
	}
}

// TestPolicyAgainstProcessManager runs thousands of random histories of several children. After each step the policy
// must have the result of ProcessManager's rules.
func TestPolicyAgainstProcessManager(t *testing.T) {
	const rounds = 30 // of 100 histories each
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			d := newDuel(t)
			step := func(f func()) func(*rapid.T) { return func(t *rapid.T) { d.t, d.c.t = t, t; f() } }
			t.Repeat(map[string]func(*rapid.T){
				"": func(t *rapid.T) {
					if got, want := d.c.String(), d.m.String(); got != want {
						t.Fatalf("the policy leads to\n%sthe rules to\n%s", got, want)
					}
				},
				"add": step(d.add), "death": step(d.death), "stray death": step(d.stray), "done": step(d.done),
				"restart": step(d.restart), "vanish": step(d.lose), "sweep": step(d.sweep), "timer": step(d.pass),
				"crash loop": step(d.crashLoop), "stop restarting": step(d.stopRestarting), "stop": step(d.stop),
			})
		})
	}
}
