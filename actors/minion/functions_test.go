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
	type text struct {
		Text any `arg:"text"`
	}
	type size struct {
		Bytes int64 `arg:"size"`
	}
	type depth struct {
		Lists int64 `arg:"lists"`
	}
	type anything struct {
		Rest []any        `arg:"*args"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	return []loader.Func{
		loader.Fn("t.echo", func(c *loader.Call, a text) (any, error) {
			f.begin(c)
			return a.Text, nil
		}, ""),
		loader.Fn("t.bulk", func(c *loader.Call, a size) (any, error) {
			f.begin(c)
			return strings.Repeat("x", int(a.Bytes)), nil
		}, ""),
		loader.Fn("t.deep", func(c *loader.Call, a depth) (any, error) {
			f.begin(c)
			var v any
			for range a.Lists {
				v = []any{v}
			}
			return v, nil
		}, ""),
		loader.Fn("t.block", func(c *loader.Call, _ struct{}) (any, error) { // until its context ends
			f.begin(c)
			select {
			case <-c.Ctx.Done():
				return nil, context.Cause(c.Ctx)
			case <-f.over:
				return "released", nil
			}
		}, ""),
		loader.Fn("t.deaf", func(c *loader.Call, _ struct{}) (any, error) { // ignores its context
			f.begin(c)
			<-f.over
			return "released", nil
		}, ""),
		loader.Fn("t.panic", func(c *loader.Call, _ struct{}) (any, error) {
			f.begin(c)
			var none *payload.Map
			none.Set("x", 1) // a nil map panics
			return nil, nil
		}, ""),
		loader.Fn("t.odd", func(c *loader.Call, _ struct{}) (any, error) { // has no bytes
			f.begin(c)
			return make(chan int), nil
		}, ""),
		loader.Fn("t.keywords", func(_ *loader.Call, a anything) (any, error) {
			return []any{a.Rest, a.KW.Keys()}, nil
		}, ""),
		loader.Fn("t.pillar", func(c *loader.Call, _ struct{}) (any, error) { return c.Pillar(), nil }, ""),
	}
}
