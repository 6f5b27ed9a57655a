// Package absent knows which functions of Salt 3008.3 brine does not have yet, by name, so that whoever calls one or
// names one in a configuration hears that, and not that there is no such thing. The list is absent.txt: a line for each
// function, or one for all of a module. A test compares it with what there is. It knows nothing of how functions are
// called.
package absent

import (
	_ "embed"
	"strings"
	"sync"
)

// The kinds of functions.
const (
	Execution = "execution"
	Runner    = "runner"
	State     = "state"
	Wheel     = "wheel"
)

//go:embed absent.txt
var list string

// lines holds what is absent: "execution pkg.install", "execution acl".
var lines = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(list) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			out[line] = true
		}
	}
	return out
})

// Sentence says that a function of Salt is not here yet: "brine does not have the execution function 'pkg.install'
// yet." It is empty for names that Salt does not have, or brine has. A name without a dot is a module.
func Sentence(kind, name string) string {
	mod, _, dotted := strings.Cut(name, ".")
	switch {
	case lines()[kind+" "+mod]:
		return "brine does not have the " + kind + " module '" + mod + "' yet."
	case dotted && lines()[kind+" "+name]:
		return "brine does not have the " + kind + " function '" + name + "' yet."
	}
	return ""
}

// Of is Sentence for one kind.
func Of(kind string) func(name string) string {
	return func(name string) string { return Sentence(kind, name) }
}
