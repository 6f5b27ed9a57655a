package minion

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
)

// functions are what the jobs of these tests call, beside Salt's.
type functions struct {
	mu      lock
	runs    map[string]int // jid → how often a function began
	changed chan struct{}  // closed and made anew when one begins
	over    chan struct{}  // closed: t.block and t.deaf end
	release func()
}

func newFunctions() *functions {
	f := &functions{mu: newLock(), runs: map[string]int{}, changed: make(chan struct{}), over: make(chan struct{})}
	f.release = sync.OnceFunc(func() { close(f.over) })
	return f
}

func (f *functions) count(jid string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[jid]
}

// awaitBegun waits until the function of a job has begun, n times.
func (r *rig) awaitBegun(t testing.TB, jid string, n int) {
	t.Helper()
	f, limit := r.fun, time.After(patience)
	for {
		f.mu.Lock()
		runs, changed := f.runs[jid], f.changed
		f.mu.Unlock()
		if runs >= n {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%s has begun %d times, want %d", jid, runs, n)
		}
	}
}

func (f *functions) begin(c *loader.Call) {
	f.mu.Lock()
	f.runs[c.JID]++
	close(f.changed)
	f.changed = make(chan struct{})
	f.mu.Unlock()
}

func (f *functions) list() []loader.Func {
	return []loader.Func{
		{Name: "t.echo", Params: []loader.Param{loader.Req("text")}, Run: func(c *loader.Call, a loader.Args) (any,
			error) {
			f.begin(c)
			return a.Get("text"), nil
		}},
		{Name: "t.bulk", Params: []loader.Param{loader.Req("size")}, Run: func(c *loader.Call, a loader.Args) (any,
			error) {
			f.begin(c)
			n, err := a.Int("size")
			return strings.Repeat("x", int(n)), err
		}},
		{Name: "t.deep", Params: []loader.Param{loader.Req("lists")}, Run: func(c *loader.Call, a loader.Args) (any,
			error) {
			f.begin(c)
			n, err := a.Int("lists")
			var v any
			for range n {
				v = []any{v}
			}
			return v, err
		}},
		{Name: "t.block", Run: func(c *loader.Call, _ loader.Args) (any, error) { // until its context ends
			f.begin(c)
			select {
			case <-c.Ctx.Done():
				return nil, context.Cause(c.Ctx)
			case <-f.over:
				return "released", nil
			}
		}},
		{Name: "t.deaf", Run: func(c *loader.Call, _ loader.Args) (any, error) { // ignores its context
			f.begin(c)
			<-f.over
			return "released", nil
		}},
		{Name: "t.panic", Run: func(c *loader.Call, _ loader.Args) (any, error) {
			f.begin(c)
			var none *payload.Map
			none.Set("x", 1) // a nil map panics
			return nil, nil
		}},
		{Name: "t.odd", Run: func(c *loader.Call, _ loader.Args) (any, error) { // has no bytes
			f.begin(c)
			return make(chan int), nil
		}},
		{Name: "t.keywords", VarArgs: true, KWArgs: true, Run: func(_ *loader.Call, a loader.Args) (any, error) {
			return []any{a.Rest, a.KW.Keys()}, nil
		}},
		{Name: "t.pillar", Run: func(c *loader.Call, _ loader.Args) (any, error) { return c.Pillar(), nil }},
	}
}
