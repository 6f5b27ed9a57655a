package loader

import (
	"strings"

	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Select lists the function names sys.doc and sys.argspec would take for these words: a glob where the word has
// a star, else the function of that name and every function of the module of that name. No words: all.
func (r *Registry) Select(words ...string) []string {
	all := r.Names()
	if len(words) == 0 {
		return all
	}
	var out []string
	for _, name := range all {
		for _, word := range words {
			if wordSelects(word, name) {
				out = append(out, name)
				break
			}
		}
	}
	return out
}

func wordSelects(word, name string) bool {
	switch {
	case strings.Contains(word, "*"):
		return fnmatch.Match(word, name)
	case word == "":
		return true
	case strings.HasSuffix(word, "."):
		return strings.HasPrefix(name, word)
	}
	return name == word || strings.HasPrefix(name, word+".")
}

// Docs are the doc texts of the selected functions, by name.
func (r *Registry) Docs(words ...string) *payload.Map {
	out := payload.NewMap(0)
	for _, name := range r.Select(words...) {
		if f, ok := r.Lookup(name); ok {
			out.Set(name, f.Doc)
		}
	}
	return out
}

// ArgSpec is what sys.argspec tells of one function: args, defaults, varargs, kwargs.
func (f *Func) ArgSpec() *payload.Map {
	names, defaults := []any{}, []any{}
	for _, p := range f.Params {
		names = append(names, p.Name)
		if !p.Required {
			defaults = append(defaults, p.Default)
		}
	}
	return payload.M("args", orNil(len(names) > 0, names), "defaults", orNil(len(defaults) > 0, defaults),
		"varargs", orNil(f.VarArgs, true), "kwargs", orNil(f.KWArgs, true))
}

func orNil(ok bool, v any) any {
	if ok {
		return v
	}
	return nil
}
