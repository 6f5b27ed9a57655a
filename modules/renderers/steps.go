package renderers

import (
	"context"
	"errors"
	"strings"

	"brine/modules/loader"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// typeName is the name of the data's type in Python's complaints.
func typeName(in Input) string {
	if m, ok := in.Data.(*payload.Map); ok && m.Len() > 0 && m.Ordered() {
		return "collections.OrderedDict"
	}
	return python.Type(in.Data)
}

// textOf is the text that a renderer reads, or Python's complaint that data is none.
func textOf(in Input) (string, error) {
	if text, ok := in.Data.(string); ok {
		return text, nil
	}
	return "", loader.Raise("AttributeError", "'%s' object has no attribute 'read'", typeName(in))
}

func renderYAML(_ context.Context, in Input) (any, error) {
	text, err := textOf(in)
	if err != nil {
		return nil, err
	}
	return saltyaml.Render(text)
}

func renderYamlex(_ context.Context, in Input) (any, error) {
	text, err := textOf(in)
	if err != nil {
		return nil, err
	}
	return saltyaml.RenderYamlex(text)
}

// renderJSON reads JSON behind a first line with a pipe.
func renderJSON(_ context.Context, in Input) (any, error) {
	text, err := textOf(in)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "#!") {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	if strings.TrimSpace(text) == "" {
		return payload.NewMap(0), nil
	}
	v, err := pyjson.Load(text)
	return v, jsonError(err)
}

// jsonError gives an error of JSON its class in Python.
func jsonError(err error) error {
	var deep *pyjson.DepthError
	var long *pyjson.LimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &deep):
		return loader.Raise("RecursionError", "%s", err)
	case errors.As(err, &long):
		return loader.Raise("ValueError", "%s", err)
	}
	return loader.Raise("json.decoder.JSONDecodeError", "%s", err)
}

// renderJinja hands a text to the engine. Its only argument says that the template is a text, which brine knows.
func renderJinja(ctx context.Context, engine Templater, in Input) (any, error) {
	if in.Arguments != "" && in.Arguments != "-s" {
		return nil, renderError("Unknown renderer option: %s", in.Arguments)
	}
	if _, err := textOf(in); err != nil {
		return nil, err
	}
	return engine.Render(ctx, in)
}
