package jinja

import (
	"context"
	"errors"

	"brine/modules/outputters"
	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
)

func toPayload(v any) (any, error) { return py.To(py.Free(), v) }

// testYAML is YAML as the renderers give it to templates.
type testYAML struct{}

func (testYAML) Load(text string) (any, error) { return saltyaml.Load(text) }

func (testYAML) Dump(v any, flow bool) (string, error) {
	style := outputters.FlowNever
	if flow {
		style = outputters.FlowAlways
	}
	return outputters.DumpYAMLBy(v, outputters.YAMLOptions{Flow: style, Ordered: true}), nil
}

// stopper is a function that ends the context of its caller.
func stopper(cancel context.CancelCauseFunc) Func {
	return func(context.Context, []any, *payload.Map) (any, error) {
		cancel(errors.New("enough of it"))
		return "", nil
	}
}
