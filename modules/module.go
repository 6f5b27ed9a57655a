package modules

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Module is a set of functions that is loaded on some hosts only: a file of the reference with a __virtual__. Several may
// have one name, of which each host loads one: pkg is aptpkg here and yumpkg there.
type Module struct {
	File string // its name among the files: "aptpkg". disable_modules may name it, and a refusal is told under it
	Name string // the name under which its functions are called (__virtualname__): "pkg"

	// Virtual tells whether the module loads here, and if not, why; "" is Salt's bare False. It is asked once, when a
	// function of that name or a list of functions is first wanted, and must not call functions.
	Virtual func(Place) (loads bool, why string)

	Funcs []Func // their names begin with Name
}

// Place is what a module may go by; at programs and files of the host it looks itself.
type Place interface {
	Grain(name string) (any, bool)
}

// Offer adds modules. Nothing of them is there before they are asked whether they load.
func (r *Registry) Offer(mods ...Module) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range mods {
		for i := range m.Funcs {
			if err := m.Funcs[i].check(); err != nil {
				return err
			}
			if m.Funcs[i].Module() != m.Name {
				return fmt.Errorf("register %s: not of the module %s", m.Funcs[i].Name, m.Name)
			}
		}
		if m.File == "" || m.Virtual == nil {
			return fmt.Errorf("register module %q: without a file or __virtual__", m.Name)
		}
		r.offered = append(r.offered, &offer{Module: m})
	}
	return nil
}

// offer is a module and whether it was asked.
type offer struct {
	Module
	asked bool
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
		for i := range m.Funcs {
			delete(r.funcs, m.Funcs[i].Name)
		}
	}
}

// load asks the modules that were not asked: those of a name first, and the others when that name is not there, as
// the reference does. "" is all of them.
func (r *Registry) load(mod string) {
	if !r.waiting() {
		return
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	for _, m := range r.offered {
		if mod != "" && (m.Name == mod || m.File == mod) {
			r.ask(m)
		}
	}
	if mod != "" && r.has(mod) {
		return
	}
	for _, m := range r.offered {
		r.ask(m)
	}
}

// waiting tells whether a module was not asked.
func (r *Registry) waiting() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.ContainsFunc(r.offered, func(m *offer) bool { return !m.asked })
}

// ask lets a module decide. Whoever calls it holds the lock of loading, so that it is asked once.
func (r *Registry) ask(m *offer) {
	r.mu.RLock()
	asked, off, place := m.asked, r.limits.forbid(m.Name, m.File), r.place
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
		for i := range m.Funcs {
			r.add(&m.Funcs[i])
		}
	}
}

// decide calls Virtual. One that panics does not load.
func (m *Module) decide(place Place) (loads bool, why string) {
	defer func() {
		if p := recover(); p != nil {
			loads, why = false, fmt.Sprintf("Exception raised when processing __virtual__ function for salt.loaded.int.module.%s. "+
				"Module will not be loaded: %v", m.File, p)
		}
	}()
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
	if _, taken := r.funcs[f.Name]; taken || r.limits.forbid(f.Module(), f.file()) {
		return
	}
	own := *f
	own.Run = attentive(own.Run)
	r.funcs[own.Name] = &own
}

// file is the name of the file that a function answers to.
func (f *Func) file() string { return strings.TrimSuffix(path.Base(f.Source), ".py") }

// forbid tells whether a module must not be there, by either of its names.
func (l Limits) forbid(mod, file string) bool {
	return slices.Contains(l.Disabled, mod) || slices.Contains(l.Disabled, file) || len(l.Whitelist) > 0 && !slices.Contains(l.Whitelist, mod)
}
