package loader_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"brine/modules/loader"
	"brine/wire/payload"
)

// packages are two modules of one name, for two families of systems, as the reference has them.
func packages(asked *atomic.Int64) []loader.Module {
	of := func(file, family string) loader.Module {
		run := func(*loader.Call, loader.Args) (any, error) { return file, nil }
		return loader.Module{File: file, Name: "pkg",
			Virtual: func(p loader.Place) (bool, string) {
				asked.Add(1)
				if v, _ := p.Grain("os_family"); v == family {
					return true, ""
				}
				return false, file + " is for " + family
			},
			Funcs: func() []loader.Func { return []loader.Func{{Name: "version", Run: run}} }}
	}
	return []loader.Module{of("aptpkg", "Debian"), of("yumpkg", "RedHat")}
}

// onHost makes a registry of these packages and of test.ping, on a host of a family.
func onHost(t *testing.T, family string, opts *payload.Map) (reg *loader.Registry, asked *atomic.Int64) {
	t.Helper()
	reg, asked = loader.NewRegistry(), &atomic.Int64{}
	ping := loader.Func{Name: "test.ping", Run: func(*loader.Call, loader.Args) (any, error) { return true, nil }}
	if err := reg.Register(ping); err != nil {
		t.Fatal(err)
	}
	reg.Offer(loader.Listed(packages(asked)))
	reg.Limit(loader.LimitsOf(opts, "modules"))
	reg.On(&loader.Env{Registry: reg, Grains: func() *payload.Map { return payload.M("os_family", family) }})
	return reg, asked
}

// TestVirtual: of modules with one name the one that loads on this host is there, and nothing else of them. The texts
// are those of Salt 3008.3, which tells the refusals of all modules of a name together.
func TestVirtual(t *testing.T) {
	both := "'pkg' __virtual__ returned False: aptpkg is for Debian; yumpkg is for RedHat"
	for _, tt := range []struct {
		name, family string
		opts         *payload.Map
		file         string // whose pkg.version is there; "": none
		pkg, own     string // of calls of pkg.nosuch and aptpkg.version
	}{
		{"first", "Debian", nil, "aptpkg", "'pkg.nosuch' is not available.", "'aptpkg.version' is not available."},
		{"second", "RedHat", nil, "yumpkg", "'pkg.nosuch' is not available.",
			"'aptpkg' __virtual__ returned False: aptpkg is for Debian"},
		{"none", "Suse", nil, "", both, "'aptpkg' __virtual__ returned False: aptpkg is for Debian"},
		{"disabled by file", "Debian", payload.M("disable_modules", []any{"aptpkg"}), "",
			"'pkg' __virtual__ returned False: yumpkg is for RedHat", "'aptpkg.version' is not available."},
		{"disabled by name", "Debian", payload.M("disable_modules", []any{"pkg"}), "", "'pkg.nosuch' is not available.",
			"'aptpkg.version' is not available."},
		{"not in the whitelist", "Debian", payload.M("whitelist_modules", []any{"test"}), "",
			"'pkg.nosuch' is not available.", "'aptpkg.version' is not available."},
		{"in the whitelist", "Debian", payload.M("whitelist_modules", []any{"pkg"}), "aptpkg",
			"'pkg.nosuch' is not available.", "'aptpkg.version' is not available."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reg, _ := onHost(t, tt.family, tt.opts)
			f, ok := reg.Lookup("pkg.version")
			if ok != (tt.file != "") || ok && f.Source != tt.file+".py" {
				t.Errorf("pkg.version: %v %+v, want that of %q", ok, f, tt.file)
			}
			for fun, want := range map[string]string{"pkg.nosuch": tt.pkg, "aptpkg.version": tt.own} {
				if got := reg.MissingText(fun); got != want {
					t.Errorf("%s: %s\nwant %s", fun, got, want)
				}
			}
			if got := slices.Contains(reg.Names(), "pkg.version"); got != ok {
				t.Errorf("it is listed: %v", got)
			}
			if got := slices.Contains(reg.Modules(), "pkg"); got != ok {
				t.Errorf("its module is listed: %v", got)
			}
		})
	}
}

// TestVirtualAsked: a module is asked when it is wanted, once, by however many at a time, and again after a reload.
func TestVirtualAsked(t *testing.T) {
	reg, asked := onHost(t, "RedHat", nil)
	if _, ok := reg.Lookup("test.ping"); !ok || asked.Load() != 0 {
		t.Errorf("test.ping: %v, %d modules were asked", ok, asked.Load())
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, ok := reg.Lookup("pkg.version"); !ok {
				t.Error("pkg.version is not there")
			}
			reg.Names()
		})
	}
	all.Wait()
	if n := asked.Load(); n != 2 {
		t.Errorf("%d questions, want 2", n)
	}
	before := reg.MissingText("aptpkg.x")
	reg.Reload()
	if _, ok := reg.Lookup("pkg.version"); !ok || asked.Load() != 4 {
		t.Errorf("after a reload: %v, %d questions", ok, asked.Load())
	}
	if got := reg.MissingText("aptpkg.x"); got != before {
		t.Errorf("after a reload: %s, before %s", got, before)
	}
}

// TestVirtualPanics: a module that fails when it is asked does not load, and takes nothing with it.
func TestVirtualPanics(t *testing.T) {
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{{File: "bad", Virtual: func(loader.Place) (bool, string) { panic("boom") }}})
	reg.On(&loader.Env{Registry: reg})
	if got := reg.MissingText("bad.f"); !strings.HasPrefix(got, "'bad' __virtual__ returned False: Exception raised "+
		"when processing") || !strings.HasSuffix(got, "boom") {
		t.Error(got)
	}
}

// TestNoHost: a program that runs no functions lists all of them.
func TestNoHost(t *testing.T) {
	reg, asked := loader.NewRegistry(), &atomic.Int64{}
	reg.Offer(loader.Listed(packages(asked)))
	if got := reg.Names(); !slices.Equal(got, []string{"pkg.version"}) || asked.Load() != 0 {
		t.Errorf("%v, %d questions", got, asked.Load())
	}
}

// TestContext: what a function keeps is there for later calls of its module in whatever job, and for no other module.
func TestContext(t *testing.T) {
	reg := loader.NewRegistry()
	env := &loader.Env{Registry: reg}
	at := func(fun string) loader.Context { return loader.NewCall(t.Context(), env, fun, nil).Context() }
	at("pkg.list").Put("list", "x", 1)
	if v, ok := at("pkg.version").Get("list"); !ok || v != "x" {
		t.Errorf("another function of the module: %v %v", v, ok)
	}
	if v, ok := at("test.ping").Get("list"); ok {
		t.Errorf("another module: %v", v)
	}
	reg.Reload()
	if v, ok := at("pkg.version").Get("list"); ok {
		t.Errorf("after a reload: %v", v)
	}
	other := &loader.Env{Registry: loader.NewRegistry()}
	at("pkg.list").Put("list", "x", 1)
	if v, ok := loader.NewCall(t.Context(), other, "pkg.list", nil).Context().Get("list"); ok {
		t.Errorf("another process: %v", v)
	}
}

// TestContextIsBounded: neither many values nor large ones fill the memory; what was used last stays.
func TestContextIsBounded(t *testing.T) {
	reg := loader.NewRegistry()
	x := loader.NewCall(t.Context(), &loader.Env{Registry: reg}, "pkg.list", nil).Context()
	kept := func() (n int) {
		for i := range 2000 {
			if _, ok := x.Get(fmt.Sprint(i)); ok {
				n++
			}
		}
		return n
	}
	for i := range 2000 {
		x.Put(fmt.Sprint(i), i, 1)
		x.Get("0")
	}
	if _, ok := x.Get("0"); !ok || kept() > 256 {
		t.Errorf("the one in use is there: %v, of all %d", ok, kept())
	}
	for i := range 20 {
		x.Put(fmt.Sprint(i), i, 1<<20)
	}
	if n := kept(); n == 0 || n > 4 {
		t.Errorf("%d values of a MiB", n)
	}
	x.Put("huge", 1, 1<<30)
	if _, ok := x.Get("huge"); ok {
		t.Error("a value of a GiB was kept")
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				x.Put(fmt.Sprint(j%10), i, 1<<18)
				x.Get(fmt.Sprint(j % 7))
			}
		})
	}
	all.Wait()
}

// TestAliases: a module answers under its further names, too.
func TestAliases(t *testing.T) {
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{{File: "redis_return", Name: "redis", Aliases: []string{"redis_return"},
		Funcs: func() []loader.Func {
			return []loader.Func{loader.Fn("get", func(*loader.Call, struct{}) (bool, error) { return true, nil }, "x")}
		}}})
	if err := reg.Check(); err != nil {
		t.Error(err)
	}
	if got := reg.Names(); !slices.Equal(got, []string{"redis.get", "redis_return.get"}) {
		t.Error(got)
	}
	reg.Reload()
	for _, name := range []string{"redis_return.get", "redis.get"} {
		if _, ok := reg.Lookup(name); !ok {
			t.Errorf("%s is not there", name)
		}
	}
}
