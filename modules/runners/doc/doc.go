// Package doc is the runner module doc: it shows the help of functions. Answers to salt/runners/doc.py.
package doc

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module doc.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "doc", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("runner", of(o.Runners), "Show the help of all runner functions.", "salt-run doc.runner"),
			loader.Fn("wheel", of(o.Wheel), "Show the help of all wheel functions.", "salt-run doc.wheel"),
			loader.Fn("execution", m.execution, "Collect the help of all execution functions of all minions.",
				"salt-run doc.execution"),
		}
	}}
}

type master struct{ runners.Options }

// of shows the functions of a registry; nil has none.
func of(reg *loader.Registry) func(*loader.Call, struct{}) (*payload.Map, error) {
	return func(*loader.Call, struct{}) (*payload.Map, error) {
		if reg == nil {
			return payload.NewMap(0), nil
		}
		return reg.Docs(), nil
	}
}

func (m *master) execution(c *loader.Call, _ struct{}) (*payload.Map, error) {
	got, err := m.Collect(c, runners.Job{Tgt: "*", Fun: "sys.doc"})
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for _, v := range got.Returns.All() {
		if ret, ok := v.(*payload.Map); ok {
			out.Update(ret.Map("return"))
		}
	}
	return out, nil
}
