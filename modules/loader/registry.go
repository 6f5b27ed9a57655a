package loader

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"brine/wire/payload"
)

// Registry holds the functions of one process. It is filled at start and read from many goroutines.
type Registry struct {
	mu      sync.RWMutex
	funcs   map[string]*Func
	refused map[string]string // module → why it did not load
	limits  Limits
	sources []Source // not yet listed
	offered []*offer // modules whose functions are made when one of them is first asked for
	place   *Env     // what they go by

	provided []provision // files that answer for names
	lacks    func(name string) string

	program Program
	loading sync.Mutex // held while they decide
	context contextStore
}

// Program is what functions tell of the program that they are part of.
type Program struct {
	Version  string              // the release of Salt that it answers as: "3008.3"
	Versions func() *payload.Map // further sections of the versions report; nil: none

	// States, Runners, Returners and Renderers are the other registries that the module sys tells about; nil: none.
	States, Runners, Returners, Renderers *Registry
}

// Of says which program the functions are part of. It is called before others see the registry.
func (r *Registry) Of(p Program) { r.program = p }

// Program is what Of was told.
func (r *Registry) Program() Program { return r.program }

// Limits say which modules a process may use at all.
type Limits struct {
	Disabled  []string // disable_modules and the like: names of modules, or of the files that Salt has them in
	Whitelist []string // whitelist_modules; empty: every module
}

// LimitsOf reads the options disable_modules and whitelist_modules, or with another word for what disable_runners,
// disable_wheels.
func LimitsOf(opts *payload.Map, what string) Limits {
	return Limits{Disabled: StringList(opts.Value("disable_" + what)),
		Whitelist: StringList(opts.Value("whitelist_" + what))}
}

// Limit takes away the functions that limits do not let be. Unlike Salt: a whitelist holds for calls of functions among
// each other, too, and a module is disabled by either of its names (cmd, cmdmod).
func (r *Registry) Limit(l Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = l
	for name, f := range r.funcs {
		if l.forbid(f.Module(), f.file()) {
			delete(r.funcs, name)
		}
	}
}

// Limits are what was taken away.
func (r *Registry) Limits() Limits {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.limits
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{funcs: map[string]*Func{}, refused: map[string]string{}}
}

// Register adds functions. A name without a dot, a missing body, a twice declared parameter or a name already
// taken is refused, and nothing after it is added.
func (r *Registry) Register(funcs ...Func) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range funcs {
		f := funcs[i]
		if err := f.check(); err != nil {
			return err
		}
		if _, taken := r.funcs[f.Name]; taken {
			return fmt.Errorf("register %s: name is taken", f.Name)
		}
		f.Run = attentive(f.Run)
		r.funcs[f.Name] = &f
	}
	return nil
}

func (f *Func) check() error {
	mod, name, ok := strings.Cut(f.Name, ".")
	if !ok || mod == "" || name == "" {
		return fmt.Errorf("register %q: not of the form module.function", f.Name)
	}
	if f.wrong != nil {
		return f.wrong
	}
	if f.Run == nil {
		return fmt.Errorf("register %s: no body", f.Name)
	}
	seen := map[string]bool{}
	optional := false
	for _, p := range f.Params {
		if p.Name == "" || seen[p.Name] {
			return fmt.Errorf("register %s: parameter %q declared twice or empty", f.Name, p.Name)
		}
		if p.Required && optional {
			return fmt.Errorf("register %s: parameter %q without default after one with", f.Name, p.Name)
		}
		seen[p.Name], optional = true, !p.Required
	}
	return nil
}

// Lookup finds a function by its full name.
func (r *Registry) Lookup(name string) (*Func, bool) {
	if f, ok := r.loaded(name); ok {
		return f, true
	}
	r.load(ModuleOf(name))
	return r.loaded(name)
}

func (r *Registry) loaded(name string) (*Func, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	f, ok := r.funcs[name]
	return f, ok
}

// Names are all function names, sorted.
func (r *Registry) Names() []string {
	r.load("")
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.funcs))
	for n := range r.funcs {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Modules are the names of all modules with a function, sorted.
func (r *Registry) Modules() []string {
	r.load("")
	r.mu.RLock()
	defer r.mu.RUnlock()
	var mods []string
	for n := range r.funcs {
		mods = append(mods, ModuleOf(n))
	}
	sort.Strings(mods)
	return slices.Compact(mods)
}

// HasModule tells whether a module has a function here.
func (r *Registry) HasModule(mod string) bool {
	r.load(mod)
	return r.has(mod)
}

// Lacks sets what is said of a function that is not here beside Salt's words; "" is nothing. It is called before others
// see the registry.
func (r *Registry) Lacks(say func(name string) string) { r.lacks = say }

// MissingText says that a function is not here, in Salt's words (LazyLoader.missing_fun_string), and more where Lacks
// knows more.
func (r *Registry) MissingText(name string) string {
	r.load(ModuleOf(name))
	r.mu.RLock()
	defer r.mu.RUnlock()
	mod := ModuleOf(name)
	reason, refused := r.refused[mod]
	switch {
	case !refused || r.hasModule(mod):
		text := fmt.Sprintf("'%s' is not available.", name)
		if r.lacks != nil {
			if more := r.lacks(name); more != "" {
				text += " " + more
			}
		}
		return text
	case reason == "":
		return fmt.Sprintf("'%s' __virtual__ returned False", mod)
	default:
		return fmt.Sprintf("'%s' __virtual__ returned False: %s", mod, reason)
	}
}

// has tells whether a module has a function.
func (r *Registry) has(mod string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.hasModule(mod)
}

func (r *Registry) hasModule(mod string) bool {
	for n := range r.funcs {
		if ModuleOf(n) == mod {
			return true
		}
	}
	return false
}
