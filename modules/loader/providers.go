package loader

import (
	"fmt"
	"slices"
	"strings"

	"brine/wire/payload"
)

// Provider says which file answers for a name of modules: aptpkg for pkg.
type Provider struct{ Name, File string }

// ProvidersOf reads the option providers. As in Salt it ends at what names no file (providers of clouds have maps).
func ProvidersOf(opts *payload.Map) []Provider {
	var out []Provider
	for name, file := range opts.Map("providers").All() {
		switch file.(type) {
		case *payload.Map, []any:
			return out
		}
		out = append(out, Provider{Text(name), Text(file)})
	}
	return out
}

// Provide has files answer for names, whatever __virtual__ says of them; functions that such a file lacks stay those of
// the module that loads here. It is called before others see the registry. Source: salt/loader/__init__.py, minion_mods
// and raw_mod.
//
// Unlike Salt: where a file is not here no other module takes its place, and a module that is disabled stays so.
func (r *Registry) Provide(providers []Provider) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.provided = make([]provision, len(providers))
	for i, p := range providers {
		r.provided[i].Provider = p
	}
}

// Providers are what Provide was told.
func (r *Registry) Providers() []Provider {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]Provider, len(r.provided))
	for i, p := range r.provided {
		out[i] = p.Provider
	}
	return out
}

// provision is a provider and whether it was looked for.
type provision struct {
	Provider
	asked, lacking bool
	funcs          []string // the names of what is there through it
}

// provide adds the functions of files that answer for a name, "" for all, before those of modules of that name. Whoever
// calls it holds the lock of loading.
func (r *Registry) provide(mod string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.provided {
		p := &r.provided[i]
		if p.asked || mod != "" && mod != p.Name {
			continue
		}
		p.asked = true
		at := slices.IndexFunc(r.offered, func(m *offer) bool { return m.File == p.File })
		if p.lacking = at < 0; p.lacking {
			r.refuse(p.Name, fmt.Sprintf("the option providers names the module %s, which brine does not have", p.File))
			continue
		}
		m := r.offered[at]
		m.make()
		for _, f := range m.funcs {
			_, rest, _ := strings.Cut(f.Name, ".")
			f.Name = p.Name + "." + rest
			p.funcs = append(p.funcs, f.Name)
			r.add(&f)
		}
	}
}

// lacksProvider tells whether the file that is to answer for a name is not here. Whoever calls it holds the lock.
func (r *Registry) lacksProvider(name string) bool {
	return slices.ContainsFunc(r.provided, func(p provision) bool { return p.Name == name && p.lacking })
}

// withdraw takes away what providers have added, so that they are looked for again.
func (r *Registry) withdraw() {
	for i := range r.provided {
		p := &r.provided[i]
		for _, name := range p.funcs {
			delete(r.funcs, name)
		}
		delete(r.refused, p.Name)
		*p = provision{Provider: p.Provider}
	}
}
