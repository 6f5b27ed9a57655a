package outputters

import (
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// raw is Python's str of the data (salt/output/raw.py).
func raw(data any, _ *Options) (string, error) { return str(data), nil }

// quiet prints nothing (3006 and 3007).
func quiet(any, *Options) (string, error) { return "", nil }

// txt shows each key with each line of its text, or with the str of its value (salt/output/txt.py).
func txt(data any, _ *Options) (string, error) {
	m, ok := data.(*payload.Map)
	if !ok {
		if s, ok := data.(string); ok {
			return s, nil
		}
		return Pformat(data, 1), nil
	}
	var b strings.Builder
	for k, v := range m.All() {
		for _, line := range txtLines(v) {
			b.WriteString(str(k) + ": " + line + "\n")
		}
	}
	return b.String(), nil
}

func txtLines(v any) []string {
	switch x := v.(type) {
	case string:
		return splitLines(x, false)
	case []byte:
		var out []string
		unix := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(x))
		for line := range strings.Lines(unix) {
			out = append(out, python.Repr([]byte(strings.TrimSuffix(line, "\n"))))
		}
		return out
	}
	return []string{str(v)}
}

// newlineValuesOnly shows the values of each minion, the elements of lists one a line (3006 and 3007).
func newlineValuesOnly(data any, _ *Options) (string, error) {
	m, ok := data.(*payload.Map)
	if !ok {
		return "", errShape
	}
	var lines []string
	for _, v := range m.All() {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, item := range list {
			lines = append(lines, str(item))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// noReturn shows why a minion has no return (salt/output/no_return.py): text and maps of it, nothing else.
func noReturn(data any, o *Options) (string, error) {
	var b strings.Builder
	if err := writeNoReturn(&b, data, 0, o); err != nil {
		return "", err
	}
	return b.String(), nil
}

func writeNoReturn(b *strings.Builder, v any, indent int, o *Options) error {
	blanks := strings.Repeat(" ", indent)
	switch x := v.(type) {
	case string:
		for line := range strings.SplitSeq(x, "\n") {
			b.WriteString(o.color(red) + blanks + line + o.color(endColor) + "\n")
		}
	case *payload.Map:
		list, ok := sorted(x)
		if !ok {
			return errShape
		}
		for _, e := range list {
			b.WriteString(o.color(cyan) + blanks + str(e.key) + o.color(endColor) + ":\n")
			if err := writeNoReturn(b, e.value, indent+4, o); err != nil {
				return err
			}
		}
	}
	return nil
}
