package grains

import (
	"slices"
	"sync"

	"brine/modules/matchers"
	"brine/modules/text/dicts"
	"brine/wire/payload"
)

// Options say for which minion the grains are.
type Options struct {
	// the minion's options; read: id, master, conf_file, cachedir, grains_*, enable_*, append_domain, ...
	Opts       *payload.Map
	Static     *payload.Map // grains: of the configuration; wins over everything
	Version    string       // Salt release the program answers as: "3008.3"
	ZMQVersion string       // "" leaves the grain out
	Root       string       // directory that stands for / when files are read; "" is /
	Refresh    bool         // do not use the cache file
}

// Module is one file of the reference, with its groups in their order.
type Module struct {
	File   string // its name among the files: "core"
	Groups func(h *Host) []Group
}

// Group is a set of grains that are found together.
type Group struct {
	Name string
	Keys []string // every grain it may hold
	Any  bool     // it may hold grains of any name, without Keys
	Slow bool     // it may wait for a program or a name server
	Run  func() *payload.Map
}

// Collector computes grains when they are asked for. It may be used from many goroutines.
type Collector struct {
	opt    Options
	groups []*lazyGroup
	byKey  map[string][]int // places among groups, by the names of grains
	open   []int            // places of groups that may hold any grain
	all    func() *payload.Map
}

type lazyGroup struct {
	Group
	get func() *payload.Map
}

// New prepares the collection of what the modules find, and computes nothing. Of two groups with one grain the later
// one counts, as in Salt.
func New(opt Options, modules []Module) *Collector {
	c := &Collector{opt: opt, byKey: map[string][]int{}}
	h := NewHost(opt)
	for _, m := range modules {
		for _, g := range m.Groups(h) {
			c.add(g)
		}
	}
	c.all = sync.OnceValue(c.collect)
	return c
}

func (c *Collector) add(g Group) {
	place := len(c.groups)
	c.groups = append(c.groups, &lazyGroup{g, sync.OnceValue(func() *payload.Map { return c.filtered(g.Run()) })})
	if g.Any {
		c.open = append(c.open, place)
	}
	for _, k := range g.Keys {
		c.byKey[k] = append(c.byKey[k], place)
	}
}

// Map is all grains, in Salt's order. The result is shared: it is only read.
func (c *Collector) Map() *payload.Map { return c.all() }

// Get is one grain. It computes the groups that the grain may belong to, the strongest first, until one has it.
func (c *Collector) Get(name string) (any, bool) {
	if v, ok := c.opt.Static.Get(name); ok {
		return v, true
	}
	if c.flag("skip_grains") {
		return nil, false
	}
	if c.flag("grains_cache") || c.flag("grains_deep_merge") {
		return c.Map().Get(name)
	}
	places := slices.Sorted(slices.Values(slices.Concat(c.byKey[name], c.open)))
	for _, place := range slices.Backward(places) {
		if v, ok := c.groups[place].get().Get(name); ok {
			return v, true
		}
	}
	return nil, false
}

// flag is the truth of an option.
func (c *Collector) flag(name string) bool {
	v, _ := c.opt.Opts.Value(name).(bool)
	return v
}

func (c *Collector) collect() *payload.Map {
	if !c.opt.Refresh && c.flag("grains_cache") {
		if cached := c.loadCache(); cached != nil {
			return cached
		}
	}
	out := payload.NewMap(128)
	if c.flag("skip_grains") {
		return out
	}
	c.startSlow()
	deep := c.flag("grains_deep_merge")
	for _, g := range c.groups {
		if deep {
			dicts.Update(out, dicts.Clone(g.get()).(*payload.Map), false)
		} else {
			out.Update(g.get())
		}
	}
	out.Update(c.opt.Static)
	if c.flag("grains_cache") {
		c.saveCache(out)
	}
	return out
}

// startSlow computes the groups that wait for programs or names at the same time as the others. One that panics does so
// again for whoever asks for it: here it would end the process.
func (c *Collector) startSlow() {
	for _, g := range c.groups {
		if g.Slow {
			go func() {
				defer func() { _ = recover() }()
				g.get()
			}()
		}
	}
}

// filtered drops what grains_blacklist forbids.
func (c *Collector) filtered(m *payload.Map) *payload.Map {
	for _, k := range m.Keys() {
		if name, ok := k.(string); ok && c.blocked(name) {
			m.Delete(k)
		}
	}
	return m
}

func (c *Collector) blocked(name string) bool {
	for _, b := range c.opt.Opts.List("grains_blacklist") {
		if expr, ok := b.(string); ok && matchers.ExprMatch(name, expr) {
			return true
		}
	}
	return false
}
