package reacting

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"brine/modules/reactor"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/payload"
)

// tally counts events and reactions. It outlives the actors.
type tally struct {
	events, reacted, calls, failures, dropped, doubtful atomic.Int64

	last   atomic.Pointer[lastError]
	noDisk atomic.Bool // a failure to write events to disk has been logged
}

// lastError is the last error.
type lastError struct{ text, at string }

// ruleTally counts the reactions of one rule.
type ruleTally struct {
	hits, calls, failures atomic.Int64

	last atomic.Pointer[lastError]
}

// talliesOf returns the tallies for rules. A rule that existed before keeps its tally.
func talliesOf(rules *reactor.Rules, before *ruleSet) []*ruleTally {
	known := map[string]*ruleTally{}
	if before != nil {
		for i, r := range before.Tags() {
			known[keyOf(r)] = before.tallies[i]
		}
	}
	var out []*ruleTally
	for _, r := range rules.Tags() {
		t := known[keyOf(r)]
		if t == nil {
			t = &ruleTally{}
		}
		out = append(out, t)
	}
	return out
}

func keyOf(r reactor.Rule) string { return r.Tag + "\x00" + strings.Join(r.SLS, "\x00") }

func (t *tally) note(text string) *lastError {
	e := &lastError{payload.Show(text), time.Now().UTC().Format(stats.StampForm)}
	t.last.Store(e)
	return e
}

func (t *tally) failed(text string) {
	t.failures.Add(1)
	t.note(text)
}

func (t *tally) drop(tag, why string) int64 {
	t.note("dropped " + tag + ": " + why)
	return t.dropped.Add(1)
}

// outcome is the result of one event, or of one of its calls.
type outcome struct {
	tag      string
	compiled bool // the calls for the event were computed
	calls    int64
	err      error
	doubtful bool // an earlier process had begun the call
}

// count counts an outcome, also for the rules that match its tag.
func (p *Part) count(o outcome) {
	t, set := &p.tally, p.rules.Load()
	var last *lastError
	t.calls.Add(o.calls)
	if o.compiled {
		t.reacted.Add(1)
	}
	if o.doubtful {
		t.doubtful.Add(1)
	}
	if o.err != nil {
		t.failures.Add(1)
		last = t.note(o.tag + ": " + o.err.Error())
	}
	set.Hits(o.tag, func(place int) {
		c := set.tallies[place]
		if o.compiled {
			c.hits.Add(1)
		}
		c.calls.Add(o.calls)
		if last != nil {
			c.failures.Add(1)
			c.last.Store(last)
		}
	})
}

// Show describes the Reactor for an operator.
func (p *Part) Show() control.Reactor {
	events, bytes := p.back.Waiting() // read first, so that a settled event is also counted
	set, t := p.rules.Load(), &p.tally
	out := control.Reactor{Running: true, Leader: p.Leads(), File: set.file, Events: t.events.Load(),
		Reacted: t.reacted.Load(), Calls: t.calls.Load(), Failures: t.failures.Load(), Dropped: t.dropped.Load(),
		Doubtful: t.doubtful.Load()}
	out.Waiting, out.WaitingBytes = int64(events), bytes
	if e := t.last.Load(); e != nil {
		out.LastError, out.LastErrorAt = e.text, e.at
	}
	for i, r := range set.Tags() {
		c := set.tallies[i]
		one := control.ReactorRule{Tag: r.Tag, SLS: slices.Clone(r.SLS), Hits: c.hits.Load(), Calls: c.calls.Load(),
			Failures: c.failures.Load()}
		if e := c.last.Load(); e != nil {
			one.LastError, one.LastErrorAt = e.text, e.at
		}
		out.Rules = append(out.Rules, one)
	}
	return out
}
