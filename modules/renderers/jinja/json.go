package jinja

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"

	"brine/modules/renderers/jinja/py"
	"brine/wire/python"
)

// jsonWriter writes JSON as Python's json.dumps does.
type jsonWriter struct {
	r         *run
	b         strings.Builder
	sortKeys  bool
	indent    string
	indented  bool
	ascii     bool
	item, key string // separators
	paid      int
}

func dumps(r *run, v any, sortKeys bool, indent any, ascii bool, separators any) (string, error) {
	w := &jsonWriter{r: r, sortKeys: sortKeys, ascii: ascii, item: ", ", key: ": "}
	if indent != nil {
		w.indented, w.item = true, ","
		if s, ok := py.Text(indent); ok {
			w.indent = s
		} else {
			n, err := py.Whole(indent)
			if err != nil {
				return "", err
			}
			if w.indent, err = py.Pad(r.work, " ", n); err != nil {
				return "", err
			}
		}
	}
	if t, ok := separators.(*py.Tuple); ok && len(t.Items) == 2 {
		w.item, _ = py.Text(t.Items[0])
		w.key, _ = py.Text(t.Items[1])
	}
	if err := w.write(v, 0); err != nil {
		return "", err
	}
	return w.b.String(), nil
}

func (w *jsonWriter) newline(depth int) error {
	if !w.indented {
		return nil
	}
	if err := w.r.work.Grow(len(w.indent) * depth); err != nil {
		return err
	}
	w.b.WriteString("\n" + strings.Repeat(w.indent, depth))
	return nil
}

func (w *jsonWriter) write(v any, depth int) error {
	if depth > 150 {
		return py.Errorf("ValueError", "Circular reference detected")
	}
	if n := w.b.Len() - w.paid; n > 4096 {
		w.paid = w.b.Len()
		if err := w.r.work.Grow(n); err != nil {
			return err
		}
	}
	switch x := v.(type) {
	case nil:
		w.b.WriteString("null")
	case bool:
		w.b.WriteString(strconv.FormatBool(x))
	case int64:
		w.b.WriteString(strconv.FormatInt(x, 10))
	case *big.Int:
		w.b.WriteString(x.String())
	case float64:
		w.b.WriteString(jsonFloat(x))
	case string:
		w.text(x)
	case py.Markup:
		w.text(string(x))
	case *py.List:
		return w.list(x.Items, depth)
	case *py.Tuple:
		return w.list(x.Items, depth)
	case *py.Dict:
		return w.dict(x, depth)
	default:
		if err := undefinedIn(v); err != nil {
			return err
		}
		return py.Errorf("TypeError", "Object of type %s is not JSON serializable", py.TypeName(v))
	}
	return nil
}

func jsonFloat(f float64) string {
	s := python.Float(f)
	switch s {
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	case "nan":
		return "NaN"
	}
	return s
}

func (w *jsonWriter) text(s string) {
	w.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b.WriteByte('\\')
			w.b.WriteRune(r)
		case r == '\n':
			w.b.WriteString(`\n`)
		case r == '\r':
			w.b.WriteString(`\r`)
		case r == '\t':
			w.b.WriteString(`\t`)
		case r == '\b':
			w.b.WriteString(`\b`)
		case r == '\f':
			w.b.WriteString(`\f`)
		case r >= 0x10000 && w.ascii:
			a, b := utf16.EncodeRune(r)
			fmt.Fprintf(&w.b, `\u%04x\u%04x`, a, b)
		case r < ' ' || r >= 0x7f && w.ascii:
			if r == 0x7f {
				w.b.WriteRune(r)
				continue
			}
			fmt.Fprintf(&w.b, `\u%04x`, r)
		default:
			w.b.WriteRune(r)
		}
	}
	w.b.WriteByte('"')
}

func (w *jsonWriter) list(items []any, depth int) error {
	if len(items) == 0 {
		w.b.WriteString("[]")
		return nil
	}
	w.b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.b.WriteString(w.item)
		}
		if err := w.newline(depth + 1); err != nil {
			return err
		}
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	err := w.newline(depth)
	w.b.WriteByte(']')
	return err
}

// jsonKey is the text of a key.
func jsonKey(k any) (string, error) {
	switch x := k.(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case *big.Int:
		return x.String(), nil
	case float64:
		return jsonFloat(x), nil
	}
	if s, ok := py.Text(k); ok {
		return s, nil
	}
	return "", py.Errorf("TypeError", "keys must be str, int, float, bool or None, not %s", py.TypeName(k))
}

func (w *jsonWriter) dict(d *py.Dict, depth int) error {
	if d.Len() == 0 {
		w.b.WriteString("{}")
		return nil
	}
	keys := d.Keys()
	if w.sortKeys {
		var err error
		if keys, err = py.Sorted(w.r.work, keys, keys, false); err != nil {
			return err
		}
	}
	w.b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			w.b.WriteString(w.item)
		}
		if err := w.newline(depth + 1); err != nil {
			return err
		}
		name, err := jsonKey(k)
		if err != nil {
			return err
		}
		w.text(name)
		w.b.WriteString(w.key)
		v, _, _ := d.Get(k)
		if err := w.write(v, depth+1); err != nil {
			return err
		}
	}
	err := w.newline(depth)
	w.b.WriteByte('}')
	return err
}

func formatJSON(r *run, a []any) (any, error) {
	sortKeys, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	s, err := dumps(r, a[0], sortKeys, a[2], false, nil)
	return py.Markup(strings.TrimSpace(s)), err
}

var htmlSafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`)

func tojson(r *run, a []any) (any, error) {
	options := a[2].(*py.Dict)
	flag := func(name string, def bool) (bool, error) {
		v, ok := options.GetStr(name)
		if !ok {
			return def, nil
		}
		return py.Truth(v)
	}
	sortKeys, err := flag("sort_keys", false)
	if err != nil {
		return nil, err
	}
	ascii, err := flag("ensure_ascii", true)
	if err != nil {
		return nil, err
	}
	separators, _ := options.GetStr("separators")
	s, err := dumps(r, a[0], sortKeys, a[1], ascii, separators)
	return htmlSafe.Replace(s), err
}

func loadJSON(r *run, a []any) (any, error) {
	text := sourceText(a[0])
	s, ok := py.Text(text)
	fail := func() (any, error) {
		shown, err := py.Str(r.work, text)
		if err != nil {
			return nil, err
		}
		return nil, py.Errorf("TemplateRuntimeError", "Unable to load json from %s", shown)
	}
	if !ok {
		return fail()
	}
	if err := r.work.Grow(4 * len(s)); err != nil {
		return nil, err
	}
	v, err := oneJSON(s)
	if err != nil {
		return fail()
	}
	return v, nil
}

// oneJSON reads a text that is one value.
func oneJSON(s string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	v, err := readJSON(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, py.Errorf("JSONDecodeError", "Extra data")
	}
	return v, nil
}

// readJSON reads one value and keeps the order of keys.
func readJSON(dec *json.Decoder, depth int) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if depth > 150 {
		return nil, py.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	switch x := t.(type) {
	case json.Number:
		if strings.ContainsAny(string(x), ".eE") {
			return python.ParseFloat(string(x))
		}
		return python.ParseInt(string(x), 10)
	case json.Delim:
		if x == '[' {
			out := py.NewList()
			for dec.More() {
				v, err := readJSON(dec, depth+1)
				if err != nil {
					return nil, err
				}
				out.Items = append(out.Items, v)
			}
			_, err := dec.Token()
			return out, err
		}
		out := py.NewDict()
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			v, err := readJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			if err := out.Set(k, v); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return out, err
	}
	return t, nil
}
