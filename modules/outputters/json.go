package outputters

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"brine/wire/payload"
	"brine/wire/python"
)

// jsonOut is Python's json.dumps without ASCII escapes (salt/output/json_out.py). Values JSON has no form for
// appear as the text of their repr; keys it has none for make the whole an empty map.
func jsonOut(data any, o *Options) (string, error) {
	w := jsonWriter{indent: -1}
	switch o.Indent.Kind {
	case IndentDefault:
		w.indent = 4
	case IndentPretty:
		w.indent, w.sort = 4, true
	case IndentNumber:
		w.indent = o.Indent.N
	}
	if !w.value(data, 0) {
		return "{}", nil
	}
	return w.out.String(), nil
}

// JSON is data on one line, as Salt prints events. Data always have a form.
func JSON(data any) string {
	text, ok := DumpJSON(data, JSONOptions{Indent: -1, Bytes: true})
	if !ok {
		return "{}"
	}
	return text
}

// JSONOptions are options of Python's json.dumps. Indent below 0 is all in one line.
type JSONOptions struct {
	Indent      int
	Sort, ASCII bool
	// Bytes is for events (salt/modules/state.py, _json_safe): bytes are text where they are UTF-8, base64 otherwise,
	// and so are keys. Unlike Salt: its streams end with an event that has such a key. Without this option bytes appear
	// as their repr.
	Bytes bool
}

// DumpJSON is json.dumps; false means a key that JSON has no form for, or keys that cannot be sorted.
func DumpJSON(v any, o JSONOptions) (string, bool) {
	w := jsonWriter{indent: o.Indent, sort: o.Sort, ascii: o.ASCII, bytes: o.Bytes}
	ok := w.value(v, 0)
	return w.out.String(), ok
}

type jsonWriter struct {
	out    strings.Builder
	indent int // negative: all in one line
	sort   bool
	ascii  bool // other letters as escapes
	bytes  bool // as text or base64
}

// value writes v; false when it holds a key JSON has no form for.
func (w *jsonWriter) value(v any, level int) bool {
	switch x := v.(type) {
	case nil:
		w.out.WriteString("null")
	case bool:
		w.out.WriteString(map[bool]string{true: "true", false: "false"}[x])
	case float64:
		w.out.WriteString(jsonFloat(x))
	case string:
		w.text(x)
	case []any:
		return w.list(x, level)
	case *payload.Map:
		return w.object(x, level)
	case int64, uint64, *big.Int:
		fmt.Fprint(&w.out, x)
	case []byte:
		w.text(w.ofBytes(x))
	default:
		w.text(python.Repr(v))
	}
	return true
}

// ofBytes is the text that stands for bytes.
func (w *jsonWriter) ofBytes(b []byte) string {
	switch {
	case !w.bytes:
		return python.Repr(b)
	case utf8.Valid(b):
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return python.Float(f)
}

// breakLine starts the line of the next element, or separates it by a blank when all is one line.
func (w *jsonWriter) breakLine(level int, first bool) {
	if w.indent < 0 {
		if !first {
			w.out.WriteByte(' ')
		}
		return
	}
	w.out.WriteByte('\n')
	w.out.WriteString(strings.Repeat(" ", w.indent*level))
}

func (w *jsonWriter) list(list []any, level int) bool {
	if len(list) == 0 {
		w.out.WriteString("[]")
		return true
	}
	w.out.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.breakLine(level+1, i == 0)
		if !w.value(v, level+1) {
			return false
		}
	}
	w.breakLine(level, true)
	w.out.WriteByte(']')
	return true
}

func (w *jsonWriter) object(m *payload.Map, level int) bool {
	if m.Len() == 0 {
		w.out.WriteString("{}")
		return true
	}
	list := entries(m)
	if w.sort {
		var ok bool
		if list, ok = sorted(m); !ok {
			return false
		}
	}
	w.out.WriteByte('{')
	for i, e := range list {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.breakLine(level+1, i == 0)
		if !w.key(e.key) {
			return false
		}
		w.out.WriteString(": ")
		if !w.value(e.value, level+1) {
			return false
		}
	}
	w.breakLine(level, true)
	w.out.WriteByte('}')
	return true
}

func (w *jsonWriter) key(k any) bool {
	switch x := k.(type) {
	case string:
		w.text(x)
	case nil:
		w.text("null")
	case bool:
		w.text(map[bool]string{true: "true", false: "false"}[x])
	case float64:
		w.text(jsonFloat(x))
	case int64, uint64:
		w.text(fmt.Sprint(x))
	case payload.Bytes:
		w.text(w.ofBytes([]byte(x)))
		return w.bytes
	default:
		if w.bytes { // an event is told whatever is in it
			w.text(python.Str(k))
		}
		return w.bytes
	}
	return true
}

func (w *jsonWriter) text(s string) {
	w.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		case r == '\n':
			w.out.WriteString(`\n`)
		case r == '\r':
			w.out.WriteString(`\r`)
		case r == '\t':
			w.out.WriteString(`\t`)
		case r == '\f':
			w.out.WriteString(`\f`)
		case r == '\b':
			w.out.WriteString(`\b`)
		case r < 0x20:
			fmt.Fprintf(&w.out, `\u%04x`, r)
		case w.ascii && r > unicode.MaxASCII:
			for _, half := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&w.out, `\u%04x`, half)
			}
		default:
			w.out.WriteRune(r)
		}
	}
	w.out.WriteByte('"')
}
