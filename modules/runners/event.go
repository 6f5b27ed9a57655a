package runners

import (
	"errors"

	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/outputters"
	"brine/wire/payload"
)

func (r *runner) eventFuncs() []loader.Func {
	return []loader.Func{
		{Name: "event.send", Source: "salt/runners/event.py", Run: r.eventSend,
			Params: []loader.Param{loader.Req("tag"), loader.Opt("data", nil)},
			Doc:    "Fire an event on the master's bus.\n\nCLI Example:\n\n    salt-run event.send my/custom/event '{\"foo\": \"bar\"}'"},
		{Name: "state.event", Source: "salt/runners/state.py", Run: r.stateEvent,
			Params: []loader.Param{loader.Opt("tagmatch", "*"), loader.Opt("count", int64(-1)),
				loader.Opt("quiet", false), loader.Opt("sock_dir", nil), loader.Opt("pretty", false),
				loader.Opt("node", "master")},
			Doc: "Print the events whose tag matches a glob or regular expression, until count of them came.\n\nCLI Example:\n\n    salt-run state.event 'salt/minion/*/start' count=3"},
	}
}

func (r *runner) eventSend(c *loader.Call, a loader.Args) (any, error) {
	if r.Bus == nil {
		return nil, unavailable("event bus")
	}
	data, ok := a.Get("data").(*payload.Map)
	if !ok {
		if loader.Truthy(a.Get("data")) {
			return nil, loader.Raise("ValueError", "Dictionary object expected, not '%s'.", a.Str("data"))
		}
		data = payload.NewMap(0)
	}
	return r.Bus.Fire(c.Ctx, a.Str("tag"), data) == nil, nil
}

// stateEvent prints "TAG<TAB>JSON" for each event that matches.
func (r *runner) stateEvent(c *loader.Call, a loader.Args) (v any, err error) {
	if r.Bus == nil {
		return nil, unavailable("event bus")
	}
	count, err := a.Int("count")
	if err != nil {
		return nil, err
	}
	stream, err := r.Bus.Watch(c.Ctx, a.Str("node"), a.Str("sock_dir"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	wanted := a.Str("tagmatch")
	for count != 0 {
		tag, data, err := stream.Next(c.Ctx)
		if err != nil {
			return nil, err
		}
		if !matchers.ExprMatch(tag, wanted) {
			continue
		}
		if !a.Bool("quiet") {
			r.print(tag + "\t" + eventText(data, a.Bool("pretty")))
		}
		count--
	}
	return nil, nil
}

// eventText is an event's data as JSON: one line, or indented with sorted keys.
func eventText(data *payload.Map, pretty bool) string {
	if !pretty {
		return outputters.JSON(data)
	}
	text, ok := outputters.DumpJSON(data, outputters.JSONOptions{Indent: 4, Sort: true, Bytes: true})
	if !ok { // its keys cannot be sorted
		return outputters.JSON(data)
	}
	return text
}
