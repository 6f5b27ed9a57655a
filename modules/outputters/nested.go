package outputters

import (
	"strings"
	"unicode/utf8"

	"brine/wire/payload"
	"brine/wire/python"
)

// mapRule is the line under a map's key.
const mapRule = "----------"

// nested is the default outputter (salt/output/nested.py).
func nested(data any, o *Options) (string, error) {
	n := nest{o: o, keys: cyan, marks: green}
	if o.Retcode != 0 {
		n.keys, n.marks = red, red
	}
	n.display(data, o.NestedIndent, "")
	return strings.Join(n.lines, "\n"), nil
}

// nest collects the lines of one value.
type nest struct {
	o     *Options
	keys  string // colour of keys and rules
	marks string // colour of list marks
	lines []string
}

func (n *nest) add(indent int, color, prefix, text, suffix string) {
	n.lines = append(n.lines, n.o.line(indent, color, prefix, text, suffix))
}

func (n *nest) display(v any, indent int, prefix string) {
	switch x := v.(type) {
	case nil, bool, int64, uint64, float64:
		n.add(indent, lightYellow, prefix, python.Repr(x), "")
	case string:
		n.text(x, indent, prefix)
	case []byte:
		if utf8.Valid(x) {
			n.text(string(x), indent, prefix)
		}
	case []any:
		n.list(x, indent)
	case *payload.Map:
		n.table(x, indent, prefix)
	}
}

func (n *nest) text(s string, indent int, prefix string) {
	for _, line := range splitLines(s, false) {
		n.add(indent, green, prefix, n.o.clean(line), "")
		prefix = strings.Repeat(" ", len(prefix))
	}
}

func (n *nest) list(list []any, indent int) {
	for _, v := range list {
		switch v.(type) {
		case []any:
			n.add(indent, n.marks, "", "|_", "")
			n.display(v, indent+2, "- ")
		case *payload.Map:
			n.add(indent, n.marks, "", "|_", "")
			n.display(v, indent+2, "")
		default:
			n.display(v, indent, "- ")
		}
	}
}

func (n *nest) table(m *payload.Map, indent int, prefix string) {
	if indent > 0 {
		n.add(indent, n.keys, "", mapRule, "")
	}
	for _, e := range nestedEntries(m) {
		n.add(indent, n.keys, prefix, str(e.key), ":")
		n.display(e.value, indent+4, "")
	}
}

// nestedEntries sorts by key; keys of several types are turned to text first, of equal ones the last counts.
func nestedEntries(m *payload.Map) []entry {
	list, ok := sorted(m)
	if ok {
		return list
	}
	texts := payload.NewMap(len(list))
	for _, e := range list {
		texts.Set(str(e.key), e.value)
	}
	list, _ = sorted(texts)
	return list
}
