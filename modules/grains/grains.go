package grains

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"brine/modules/host/links"
	"brine/modules/matchers"
	"brine/modules/text/dicts"
	"brine/wire/payload"
)

// programTimeout bounds each external program.
const programTimeout = 5 * time.Second

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

// Collector computes grains when they are asked for. It may be used from many goroutines.
type Collector struct {
	opt    Options
	host   *host
	groups []*lazyGroup
	byKey  map[string][]*lazyGroup // in order of precedence, weakest first
	all    func() *payload.Map
}

type lazyGroup struct {
	group
	get func() *payload.Map
}

// New prepares the collection and computes nothing.
func New(opt Options) *Collector {
	c := &Collector{opt: opt, host: newHost(opt), byKey: map[string][]*lazyGroup{}}
	for _, g := range table() {
		lg := &lazyGroup{group: g}
		lg.get = sync.OnceValue(func() *payload.Map { return c.filtered(g.run(c.host)) })
		c.groups = append(c.groups, lg)
		for _, k := range g.keys {
			c.byKey[k] = append(c.byKey[k], lg)
		}
	}
	c.all = sync.OnceValue(c.collect)
	return c
}

// Map is all grains, in Salt's order. The result is shared: it is only read.
func (c *Collector) Map() *payload.Map { return c.all() }

// Get is one grain. It computes the group that grain belongs to and no other.
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
	groups := c.byKey[name]
	for i := len(groups) - 1; i >= 0; i-- {
		if groups[i].name == fileGroup {
			continue
		}
		if v, ok := groups[i].get().Get(name); ok && !c.fromFileLater(groups[i], name) {
			return v, true
		}
	}
	if c.blocked(name) {
		return nil, false
	}
	return c.host.staticFile().Get(name)
}

// fromFileLater tells whether the static file, which is read after the core groups, sets the grain as well.
func (c *Collector) fromFileLater(g *lazyGroup, name string) bool {
	return g.core && c.host.staticFile().Has(name) && !c.blocked(name)
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
		if g.slow {
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

// host holds what several groups need, each computed once.
type host struct {
	opt        Options
	root       string
	ifaces     func() []links.Interface
	fqdn       func() string
	distro     func() *payload.Map
	kernel     func() kernelNames
	hardware   func() *payload.Map
	virtual    func() *payload.Map
	staticFile func() *payload.Map
}

func newHost(opt Options) *host {
	h := &host{opt: opt, root: opt.Root}
	if h.root == "" {
		h.root = "/"
	}
	h.ifaces = sync.OnceValue(links.All)
	h.fqdn = sync.OnceValue(h.lookupFQDN)
	h.distro = sync.OnceValue(h.readDistro)
	h.kernel = sync.OnceValue(readKernel)
	h.hardware = sync.OnceValue(h.readHardware)
	h.virtual = sync.OnceValue(h.detectVirtual)
	h.staticFile = sync.OnceValue(h.readStaticFile)
	return h
}

func (h *host) path(name string) string { return filepath.Join(h.root, name) }

// read is the content of a file, "" when it cannot be read.
func (h *host) read(name string) string {
	b, err := os.ReadFile(h.path(name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (h *host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}

func (h *host) isDir(name string) bool {
	fi, err := os.Stat(h.path(name))
	return err == nil && fi.IsDir()
}

func (h *host) isFile(name string) bool {
	fi, err := os.Stat(h.path(name))
	return err == nil && fi.Mode().IsRegular()
}

// enabled is an option that counts as true unless it says False.
func (h *host) enabled(name string) bool {
	v, ok := h.opt.Opts.Value(name).(bool)
	return v || !ok
}

// output runs a program and gives its standard output, trimmed at the end; ok is exit code 0.
func output(name string, args ...string) (text string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), programTimeout)
	defer cancel()
	return runProgram(ctx, name, args...)
}

// readable tells whether a file can be opened for reading.
func (h *host) readable(name string) bool {
	f, err := os.Open(h.path(name))
	if err != nil {
		return false
	}
	return f.Close() == nil
}
