package admin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
	"unicode/utf8"

	"brine/config"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/payload"
)

// bundleMost is the longest time in seconds in which a bundle observes the daemon.
const bundleMost = 120

// bundle collects the data with which a developer elsewhere can see what the daemon did: the tree, looks at it
// over some seconds, deaths, profiles, the redacted configuration, limits. The answer maps file names to
// contents: bytes, or a value. errors lists the parts that could not be collected.
func (o *operator) bundle(ctx context.Context, q control.GetBundle) (*payload.Map, error) {
	files, errs := payload.NewMap(16), []any{}
	put := func(name string, v any, err error) {
		if err != nil {
			errs = append(errs, config.MaskText(name+": "+err.Error()))
			return
		}
		files.Set(name, maskedValue(v))
	}
	tree, err := o.tell(ctx, control.GetTree{})
	put("tree", tree, err)
	looks, err := o.looks(ctx, int(min(max(q.Seconds, 0), bundleMost)))
	if err != nil {
		return nil, err
	}
	put("tops", looks, nil)
	put("history", stats.List(o.tree.History()), nil)
	put("process", control.Encode(o.self()), nil)
	all, err := o.tree.Stack("")
	put("goroutines.txt", []byte(all), err)
	for _, name := range []string{"goroutine", "heap"} {
		b, err := profile(name)
		put(name+".pprof", b, err)
	}
	if o.config != nil {
		put("config", o.config(), nil)
	}
	for name, query := range o.asides {
		v, err := query(ctx)
		put(name, v, err)
	}
	if last := o.self().LastCrash; last != "" {
		b, err := os.ReadFile(last)
		put("crash.txt", b, err)
	}
	for _, name := range []string{"limits", "status"} {
		b, err := os.ReadFile("/proc/self/" + name)
		put(name+".txt", b, err)
	}
	return files.Set("errors", errs), nil
}

// looks collects the tree and the process once at the start and once per second. Only the file of the tree
// contains stacks.
func (o *operator) looks(ctx context.Context, seconds int) ([]any, error) {
	var list []any
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		child, err := o.tree.Look("")
		if err != nil {
			return nil, err
		}
		bare(&child)
		list = append(list, payload.M("time", stats.Stamp(time.Now()), "process", control.Encode(o.self()), "tree",
			child.Map()))
		if len(list) > seconds {
			return list, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// bare removes deaths, stacks and the like from a snapshot. The caller must own the snapshot.
func bare(c *stats.Child) {
	c.Deaths, c.LastDeath, c.LastSlow, c.Quarantine = nil, nil, nil, nil
	for i := range c.Children {
		bare(&c.Children[i])
	}
}

func profile(name string) ([]byte, error) {
	var b bytes.Buffer
	p := pprof.Lookup(name)
	if p == nil {
		return nil, fmt.Errorf("no such profile")
	}
	err := p.WriteTo(&b, 0)
	return b.Bytes(), err
}

// maskedValue removes passwords from the texts in a part of a bundle, such as reasons of deaths. Profiles are
// bytes and stay unchanged.
func maskedValue(v any) any {
	switch x := v.(type) {
	case string:
		return config.MaskText(x)
	case []byte:
		if utf8.Valid(x) {
			return []byte(config.MaskText(string(x)))
		}
	case []any:
		out := make([]any, len(x))
		for i, one := range x {
			out[i] = maskedValue(one)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for k, one := range x.All() {
			out.Set(k, maskedValue(one))
		}
		return out
	}
	return v
}
