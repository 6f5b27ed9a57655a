// Package state is the runner module state: it prints the events of a bus. Answers to salt/runners/state.py.
package state

import (
	"errors"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/outputters"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module state.
func Module(o runners.Options) loader.Module {
	m := &master{o}
	return loader.Module{File: "state", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("event", m.event,
				"Print the events whose tag matches a glob or regular expression, until count of them came.",
				"salt-run state.event 'salt/minion/*/start' count=3"),
		}
	}}
}

type master struct{ runners.Options }

type watched struct {
	Tags   string `arg:"tagmatch=*"`
	Count  any    `arg:"count=-1"`
	Quiet  bool   `arg:"quiet=False"`
	Dir    string `arg:"sock_dir=None"`
	Pretty bool   `arg:"pretty=False"`
	Node   string `arg:"node=master"`
}

// event prints "TAG<TAB>JSON" for each event that matches.
func (m *master) event(c *loader.Call, a watched) (v any, err error) {
	if m.Bus == nil {
		return nil, runners.Unavailable("event bus")
	}
	count, err := loader.ToInt(a.Count)
	if err != nil {
		return nil, err
	}
	stream, err := m.Bus.Watch(c.Ctx, a.Node, a.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for count != 0 {
		tag, data, err := stream.Next(c.Ctx)
		if err != nil {
			return nil, err
		}
		if !matchers.ExprMatch(tag, a.Tags) {
			continue
		}
		if !a.Quiet {
			m.Say(tag + "\t" + text(data, a.Pretty))
		}
		count--
	}
	return nil, nil
}

// text is an event's data as JSON: one line, or indented with sorted keys.
func text(data *payload.Map, pretty bool) string {
	if !pretty {
		return outputters.JSON(data)
	}
	text, ok := outputters.DumpJSON(data, outputters.JSONOptions{Indent: 4, Sort: true, Bytes: true})
	if !ok { // its keys cannot be sorted
		return outputters.JSON(data)
	}
	return text
}
