package jinja

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/wire/payload"
)

func toPayload(v any) (any, error) { return py.To(py.Free(), v) }

// testYAML reads the little YAML the templates of the tests hold: JSON, and lines "key: word".
type testYAML struct{}

func (testYAML) Load(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if v, err := readJSON(dec, 0); err == nil {
		return toPayload(v)
	}
	out := py.NewDict()
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		k, v, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("cannot read %q", line)
		}
		if n, err := py.ParseInt(v, 10); err == nil {
			out.SetStr(k, n)
		} else {
			out.SetStr(k, v)
		}
	}
	return toPayload(out)
}

func (testYAML) Dump(v any, _ bool) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}

// stopper is a function that ends the context of its caller.
func stopper(cancel context.CancelCauseFunc) Func {
	return func(context.Context, []any, *payload.Map) (any, error) {
		cancel(errors.New("enough of it"))
		return "", nil
	}
}
