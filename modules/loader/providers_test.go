package loader_test

import (
	"slices"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/wire/payload"
)

// managers are three modules that could be pkg: the second one loads here.
func managers() loader.Listed {
	tells := func(file, name string) loader.Func {
		return loader.Fn(name, func(*loader.Call, struct{}) (string, error) { return file + "." + name, nil }, "x")
	}
	no := func(loader.Place) (bool, string) { return false, "another system" }
	return loader.Listed{
		{File: "apkpkg", Name: "pkg", Virtual: no, Funcs: func() []loader.Func {
			return []loader.Func{tells("apkpkg", "install"), tells("apkpkg", "hold")}
		}},
		{File: "aptpkg", Name: "pkg", Virtual: loader.Always, Funcs: func() []loader.Func {
			return []loader.Func{tells("aptpkg", "install"), tells("aptpkg", "purge")}
		}},
		{File: "pip", Virtual: no, Funcs: func() []loader.Func {
			return []loader.Func{tells("pip", "install"), tells("pip", "freeze")}
		}},
	}
}

// TestProviders: the option providers decides which file answers for a name, whatever __virtual__ says. What that file
// does not have stays with the module that loads here.
func TestProviders(t *testing.T) {
	for _, tt := range []struct {
		name      string
		providers any
		limits    loader.Limits
		want      map[string]string // "": not available
	}{
		{"none", nil, loader.Limits{}, map[string]string{"pkg.install": "aptpkg.install", "pkg.purge": "aptpkg.purge",
			"pkg.hold": "", "pip.install": ""}},
		{"the one that loads", payload.M("pkg", "aptpkg"), loader.Limits{},
			map[string]string{"pkg.install": "aptpkg.install", "pkg.hold": ""}},
		{"one that would not load", payload.M("pkg", "apkpkg"), loader.Limits{},
			map[string]string{"pkg.install": "apkpkg.install", "pkg.hold": "apkpkg.hold", "pkg.purge": "aptpkg.purge",
				"apkpkg.install": ""}},
		{"of another name", payload.M("pkg", "pip"), loader.Limits{}, map[string]string{"pkg.install": "pip.install",
			"pkg.freeze": "pip.freeze", "pkg.purge": "aptpkg.purge", "pip.freeze": ""}},
		{"of no other file", payload.M("venv", "pip"), loader.Limits{}, map[string]string{"venv.freeze": "pip.freeze",
			"pkg.install": "aptpkg.install"}},
		{"disabled", payload.M("pkg", "apkpkg"), loader.Limits{Disabled: []string{"apkpkg"}},
			map[string]string{"pkg.install": "aptpkg.install", "pkg.hold": ""}},
		{"not here", payload.M("pkg", "yumpkg"), loader.Limits{}, map[string]string{"pkg.install": "",
			"pkg.purge": ""}},
		{"after what is no name", payload.M("cloud", payload.M("a", 1), "pkg", "pip"), loader.Limits{},
			map[string]string{"pkg.install": "aptpkg.install"}},
		{"no map", "pip", loader.Limits{}, map[string]string{"pkg.install": "aptpkg.install"}},
	} {
		for _, listed := range []bool{false, true} {
			env := &loader.Env{Registry: loader.NewRegistry()}
			env.Registry.Offer(managers())
			env.Registry.Limit(tt.limits)
			env.Registry.Provide(loader.ProvidersOf(payload.M("providers", tt.providers)))
			env.Registry.On(env)
			if listed {
				env.Registry.Names()
			} else {
				env.Registry.Lookup("aptpkg.install") // by its file
			}
			for range 2 {
				for name, want := range tt.want {
					v, err := loader.NewCall(t.Context(), env, "x.y", nil).Call(name, nil, nil)
					if want == "" && err == nil || want != "" && v != want {
						t.Errorf("%s: %s is %v, %v, want %q", tt.name, name, v, err, want)
					}
				}
				env.Registry.Reload()
			}
		}
	}
}

// TestProvidersTold: lists tell what can be called, and a file that is not here is named.
func TestProvidersTold(t *testing.T) {
	reg := loader.NewRegistry()
	reg.Offer(managers())
	reg.Provide(loader.ProvidersOf(payload.M("providers", payload.M("pkg", "pip"))))
	reg.On(&loader.Env{Registry: reg})
	if got := reg.Names(); !slices.Equal(got, []string{"pkg.freeze", "pkg.install", "pkg.purge"}) {
		t.Error(got)
	}
	if f, _ := reg.Lookup("pkg.install"); f.Source != "pip.py" {
		t.Errorf("pkg.install is of %s", f.Source)
	}
	lacking := loader.NewRegistry()
	lacking.Offer(managers())
	lacking.Provide(loader.ProvidersOf(payload.M("providers", payload.M("pkg", "yumpkg"))))
	if got := lacking.MissingText("pkg.install"); !strings.Contains(got, "providers") ||
		!strings.Contains(got, "yumpkg") {
		t.Error(got)
	}
}
