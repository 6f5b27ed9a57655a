// Package multi_returner is the returner multi_returner: it hands a return to several others. Answers to
// salt/returners/multi_returner.py.
package multi_returner

import (
	"errors"
	"fmt"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/wire/payload"
)

// Module is the returner multi_returner. It calls the returners of the registry that the options name.
func Module(o returners.Options) loader.Module {
	return loader.Module{File: returners.Multi, Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{functions.Returner(returners.Multi,
			"Hand the return to all returners of the option multi_returner.", each(o.Registry))}
	}}
}

// each calls the returners of the option multi_returner one after the other.
func each(reg *loader.Registry) func(c *loader.Call, ret *payload.Map) error {
	return func(c *loader.Call, ret *payload.Map) error {
		var all []error
		for _, name := range returners.Expand([]string{returners.Multi}, c.Opts()) {
			if name == returners.Multi {
				return returners.Refuse("the option multi_returner names no returners")
			}
			if err := returners.Return(c, reg, name, ret); err != nil {
				all = append(all, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(all...)
	}
}
