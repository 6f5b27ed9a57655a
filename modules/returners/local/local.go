// Package local is the returner local: it prints to the terminal of the daemon, as Python prints a map. Answers to
// salt/returners/local.py.
package local

import (
	"fmt"
	"io"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the returner local.
func Module(o returners.Options) loader.Module {
	w := o.Stdout
	if w == nil {
		w = io.Discard
	}
	show := func(v any) error {
		_, err := fmt.Fprintln(w, python.Repr(v))
		return err
	}
	return loader.Module{File: "local", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			functions.Returner("local", "Print the return on the terminal of the minion, to see that returners are called.",
				func(_ *loader.Call, ret *payload.Map) error { return show(ret) }),
			functions.EventReturn("local", "Print events on the terminal of the master.",
				func(_ *loader.Call, events []any) error { return show(events) }),
		}
	}}
}
