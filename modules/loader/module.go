package loader

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Module is one file of the reference, a set of functions. Several may have one name, of which each host loads one: pkg
// is aptpkg here and yumpkg there.
type Module struct {
	File string // its name among the files: "aptpkg". disable_modules may name it, and a refusal is told under it
	Name string // the name under which its functions are called (__virtualname__): "pkg"; "": File

	// Aliases are further names of the module (__virtual_aliases__).
	Aliases []string

	// Virtual tells whether the module loads here, and if not, why; "" is Salt's bare False. It is asked once, when a
	// function of that name or a list of functions is first wanted, and must not call functions. nil: it loads
	// everywhere.
	Virtual func(Place) (loads bool, why string)

	// Funcs makes the functions, when Virtual lets them be. Their names go without the module's.
	Funcs func() []Func
}

// Always is the Virtual of a module that loads everywhere.
func Always(Place) (loads bool, why string) { return true, "" }

// Source is where modules come from. Modules is called once, when a function is first wanted; what it returns counts in
// this order: of two functions with one name the first is there.
type Source interface{ Modules() []Module }

// Table is a Source of modules that are written in Go, a line for each.
type Table []func() Module

// Listed is a Source of modules that are there already.
type Listed []Module

// Later is a Source that is made when its modules are first wanted.
type Later func() Source

// Modules are those of the source.
func (l Later) Modules() []Module { return l().Modules() }

// Modules are those of the list.
func (l Listed) Modules() []Module { return l }

// Modules are those of the table.
func (t Table) Modules() []Module {
	out := make([]Module, len(t))
	for i, m := range t {
		out[i] = m()
	}
	return out
}

// Place is what a module may go by; at programs and files of the host it looks itself.
type Place interface {
	Grain(name string) (any, bool)
	// Has tells whether there is an execution function of that name. Only modules of another kind may ask.
	Has(name string) bool
}

// Offer adds the modules of a source. Nothing of them is made before a function is asked for.
func (r *Registry) Offer(from Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, from)
}

// list asks the sources for their modules.
func (r *Registry) list() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, from := range r.sources {
		for _, m := range from.Modules() {
			if m.Name == "" {
				m.Name = m.File
			}
			r.offered = append(r.offered, &offer{Module: m})
		}
	}
	r.sources = nil
}

// offer is a module and whether it was asked.
type offer struct {
	Module
	asked bool
	funcs []Func // nil before it has loaded
}

// On says on which host the functions run. Without a word modules load everywhere: that is how a program that runs none
// lists them all.
func (r *Registry) On(env *Env) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.place = env
}

// Reload forgets what modules said, so that they are asked again, and what functions keep (Call.Context).
func (r *Registry) Reload() {
	if r == nil {
		return
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	r.context.clear()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.offered {
		m.asked = false
		delete(r.refused, m.File)
		delete(r.refused, m.Name)
		for i := range m.funcs {
			delete(r.funcs, m.funcs[i].Name)
		}
	}
	r.withdraw()
}

// load asks the modules that were not asked: those of a name first, and the others when that name is not there, as
// the reference does. "" is all of them.
func (r *Registry) load(mod string) {
	if !r.waiting() {
		return
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	r.list()
	r.provide(mod)
	for _, m := range r.offered {
		if mod != "" && (m.File == mod || m.called(mod)) {
			r.ask(m)
		}
	}
	if mod != "" && r.has(mod) {
		return
	}
	r.provide("")
	for _, m := range r.offered {
		r.ask(m)
	}
}

// waiting tells whether a module was not asked.
func (r *Registry) waiting() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.sources) > 0 || slices.ContainsFunc(r.provided, func(p provision) bool { return !p.asked }) {
		return true
	}
	return slices.ContainsFunc(r.offered, func(m *offer) bool { return !m.asked })
}

// ask lets a module decide. Whoever calls it holds the lock of loading, so that it is asked once.
func (r *Registry) ask(m *offer) {
	r.provide(m.Name)
	r.mu.RLock()
	asked, off, place := m.asked, r.limits.forbid(m.Name, m.File) || r.lacksProvider(m.Name), r.place
	r.mu.RUnlock()
	if asked {
		return
	}
	loads, why := !off, ""
	if loads && place != nil {
		loads, why = m.decide(place)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m.asked = true
	switch {
	case off: // as if it were not there
	case !loads:
		r.refuse(m.File, why)
		if m.Name != m.File {
			r.refuse(m.Name, why)
		}
	default:
		m.make()
		for i := range m.funcs {
			r.add(&m.funcs[i])
		}
	}
}

// called tells whether the functions of a module are called under a name.
func (m *Module) called(name string) bool { return m.Name == name || slices.Contains(m.Aliases, name) }

// make makes the functions, once, under each name of the module.
func (m *offer) make() {
	if m.funcs != nil || m.Funcs == nil {
		return
	}
	m.funcs = m.Funcs()
	for i := range m.funcs {
		f := &m.funcs[i]
		if !strings.Contains(f.Name, ".") {
			f.Name = m.Name + "." + f.Name
		}
		if f.Source == "" {
			f.Source = m.File + ".py"
		}
	}
	own := m.funcs
	for _, alias := range m.Aliases {
		for _, f := range own {
			f.Name = alias + strings.TrimPrefix(f.Name, m.Name)
			m.funcs = append(m.funcs, f)
		}
	}
}

// Check loads every module and tells what is wrong with its functions: it is for a test. On a host such a function is
// not there.
func (r *Registry) Check() error {
	r.load("")
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []error
	for _, m := range r.offered {
		for i := range m.funcs {
			if err := m.funcs[i].check(); err != nil {
				all = append(all, err)
			} else if !m.called(m.funcs[i].Module()) {
				all = append(all, fmt.Errorf("function %s: not of the module %s", m.funcs[i].Name, m.Name))
			} else if !m.funcs[i].typed {
				all = append(all, fmt.Errorf("function %s: its parameters are no struct (Fn)", m.funcs[i].Name))
			}
		}
	}
	return errors.Join(all...)
}

// decide calls Virtual. One that panics does not load.
func (m *Module) decide(place Place) (loads bool, why string) {
	defer func() {
		if p := recover(); p != nil {
			loads, why = false, fmt.Sprintf("Exception raised when processing __virtual__ function for "+
				"salt.loaded.int.module.%s. "+
				"Module will not be loaded: %v", m.File, p)
		}
	}()
	if m.Virtual == nil {
		return true, ""
	}
	return m.Virtual(place)
}

// refuse notes a refusal beside those of other modules of that name.
func (r *Registry) refuse(name, why string) {
	before := r.refused[name]
	switch {
	case before == "":
		r.refused[name] = why
	case why != "" && !slices.Contains(strings.Split(before, "; "), why):
		r.refused[name] = before + "; " + why
	}
}

// add adds a function unless its name is taken: the first module that has it counts.
func (r *Registry) add(f *Func) {
	if _, taken := r.funcs[f.Name]; taken || f.check() != nil || r.limits.forbid(f.Module(), f.file()) {
		return
	}
	own := *f
	r.funcs[own.Name] = &own
}

// file is the name of the file that a function answers to.
func (f *Func) file() string { return strings.TrimSuffix(path.Base(f.Source), ".py") }

// forbid tells whether a module must not be there, by either of its names.
func (l Limits) forbid(mod, file string) bool {
	return slices.Contains(l.Disabled, mod) || slices.Contains(l.Disabled, file) || len(l.Whitelist) > 0 &&
		!slices.Contains(l.Whitelist, mod)
}
