package supervisor

import (
	"time"
)

// halting is a running halt.
type halting struct {
	final    bool
	began    time.Time
	until    time.Time
	timers   []func() bool
	state    shutdown
	pending  []haltEvent
	stepping bool
	report   Report
}

// ended records a child that is down or gone.
func (h *halting) ended(rec *record) {
	if !rec.counted {
		rec.counted = true
		h.report.Stopped = append(h.report.Stopped, rec.ref.path)
	}
}

// abandoned records a child that did not end; name also lists its goroutines.
func (h *halting) abandoned(rec *record, name string) {
	if !rec.counted {
		rec.counted = true
		h.report.Abandoned = append(h.report.Abandoned, name)
	}
}

// onHalt begins a halt, or makes the running halt final.
func (c *core) onHalt(ctx Context, m *haltTree) {
	switch {
	case c.over:
	case c.halt == nil:
		c.begin(ctx, m)
	case m.final && !c.halt.final:
		c.halt.final = true
		for _, rec := range c.inOrder() {
			if rec.life.phase != up { // the others get it in their turn
				c.feed(ctx, rec, event{kind: evStop})
			}
		}
	}
}

func (c *core) begin(ctx Context, m *haltTree) {
	now := c.sup.opt.Clock.Now()
	h := &halting{final: m.final, began: now, until: now.Add(m.within)}
	c.halt, c.resting = h, true
	c.sup.dropCarried()
	var names []string
	for _, rec := range c.inOrder() {
		rec.counted, rec.heir = false, rec.life.next != remove
		names = append(names, rec.ref.spec.Name)
	}
	h.state = newShutdown(names)
	h.timers = []func() bool{
		c.after(m.within/2, &haltTimer{halt: h, kind: haltHalf}),
		c.after(m.within, &haltTimer{halt: h, kind: haltOver}),
	}
	c.step(ctx, haltEvent{kind: haltBegin})
}

// step gives events to the shutdown policy and carries out its orders, which may call step again.
func (c *core) step(ctx Context, e haltEvent) {
	h := c.halt
	h.pending = append(h.pending, e)
	if h.stepping {
		return
	}
	h.stepping = true
	finished := false
	for len(h.pending) > 0 {
		var o orders
		h.state, o = nextShutdown(h.state, h.pending[0])
		h.pending = h.pending[1:]
		c.carryOut(ctx, o)
		finished = o.finished
	}
	h.stepping = false
	if finished {
		c.finish(ctx)
	}
}

func (c *core) carryOut(ctx Context, o orders) {
	kind := evHalt
	if c.halt.final {
		kind = evStop
	}
	for _, name := range o.tell {
		if rec := c.named(name); rec != nil {
			c.feed(ctx, rec, event{kind: kind})
		}
	}
	for _, name := range o.abandon {
		if rec := c.named(name); rec != nil {
			c.feed(ctx, rec, event{kind: kind}) // it may not have been told yet
			c.feed(ctx, rec, event{kind: evGiveUp, n: rec.life.n})
		}
	}
}

func (c *core) named(name string) *record {
	ref, ok := c.sup.Lookup(name)
	if !ok {
		return nil
	}
	return c.records[ref]
}

// note adds the report of a subtree to the report of the current halt.
func (c *core) note(r Report) {
	if c.halt != nil {
		c.halt.report.Stopped = append(c.halt.report.Stopped, r.Stopped...)
		c.halt.report.Abandoned = append(c.halt.report.Abandoned, r.Abandoned...)
		return
	}
	if len(r.Abandoned) > 0 {
		c.sup.log.Warn("abandoned", "actor", r.Abandoned, "goroutines", r.Goroutines)
	}
}

func (c *core) finish(ctx Context) {
	h := c.halt
	c.halt = nil
	for _, stop := range h.timers {
		stop()
	}
	h.report.Took = c.sup.opt.Clock.Now().Sub(h.began)
	if len(h.report.Abandoned) > 0 {
		h.report.Goroutines = dump()
		if c.sup.parent == nil {
			c.sup.log.Warn("abandoned at the deadline", "actor", h.report.Abandoned, "goroutines", h.report.Goroutines)
		}
	}
	if h.final {
		c.over = true
		stopTimer(&c.sweeper)
		stopTimer(&c.watcher)
		ctx.Stop(ctx.Self())
	}
	c.sup.haltOver(h.final, h.report)
}
