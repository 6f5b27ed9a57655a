package outputters

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// pprintWidth is the line length pprint.pformat aims at.
const pprintWidth = 80

func pprintOut(data any, o *Options) (string, error) {
	switch o.Indent.Kind {
	case IndentNull, IndentPretty:
		return "", errShape // Python cannot compare these with a number
	case IndentNumber:
		if o.Indent.N >= 0 {
			return Pformat(data, o.Indent.N), nil
		}
	}
	return Pformat(data, 1), nil
}

// Pformat is Python's pprint.pformat with that indent (1 is Python's default) and a width of 80.
func Pformat(v any, indent int) string {
	p := pretty{step: indent}
	p.format(v, 0, 0, 0)
	return p.out.String()
}

// pretty is one run of Pformat (Lib/pprint.py, class PrettyPrinter).
type pretty struct {
	out  strings.Builder
	step int
}

// format writes v at column indent; allowance is what must still fit behind it on its line.
func (p *pretty) format(v any, indent, allowance, level int) {
	rep := reprSorted(v)
	if runeLen(rep) <= pprintWidth-indent-allowance {
		p.out.WriteString(rep)
		return
	}
	switch x := v.(type) {
	case *payload.Map:
		p.dict(x, indent, allowance+1, level+1)
	case []any:
		p.list("[]", x, indent, allowance+1, level+1)
	case payload.Set:
		p.list("{}", x, indent, allowance+1, level+1)
	case string:
		p.text(x, indent, allowance, level+1)
	case []byte:
		p.bytes(x, indent, allowance, level+1)
	default:
		p.out.WriteString(rep)
	}
}

func (p *pretty) open(bracket string) {
	p.out.WriteString(bracket)
	if p.step > 1 {
		p.out.WriteString(strings.Repeat(" ", p.step-1))
	}
}

func (p *pretty) dict(m *payload.Map, indent, allowance, level int) {
	p.open("{")
	indent += p.step
	list := pprintEntries(m)
	for i, e := range list {
		rep := reprSorted(e.key)
		p.out.WriteString(rep + ": ")
		last := i == len(list)-1
		p.format(e.value, indent+runeLen(rep)+2, lastAllowance(last, allowance), level)
		if !last {
			p.out.WriteString(",\n" + strings.Repeat(" ", indent))
		}
	}
	p.out.WriteByte('}')
}

// list writes the items of a list or a set, each on a line, between two brackets.
func (p *pretty) list(brackets string, list []any, indent, allowance, level int) {
	p.open(brackets[:1])
	indent += p.step
	for i, v := range list {
		last := i == len(list)-1
		p.format(v, indent, lastAllowance(last, allowance), level)
		if !last {
			p.out.WriteString(",\n" + strings.Repeat(" ", indent))
		}
	}
	p.out.WriteString(brackets[1:])
}

// lastAllowance is the room behind an element: the closing brackets for the last, a comma for others.
func lastAllowance(last bool, allowance int) int {
	if last {
		return allowance
	}
	return 1
}

// wordsAndBlanks finds each word with the white space behind it.
var wordsAndBlanks = pattern.New(`[^\s\x0b\x1c-\x1f\x{85}\p{Z}]*[\s\x0b\x1c-\x1f\x{85}\p{Z}]*`)

// text writes a long text as several literals below each other, cut at line ends and then at blanks.
func (p *pretty) text(s string, indent, allowance, level int) {
	if s == "" {
		p.out.WriteString(python.Repr(s))
		return
	}
	if level == 1 {
		indent++
		allowance++
	}
	var chunks []string
	lines := splitLines(s, true)
	width := pprintWidth - indent
	rep := ""
	for i, line := range lines {
		rep = python.Repr(line)
		last := i == len(lines)-1
		room := width
		if last {
			room -= allowance
		}
		if runeLen(rep) <= room {
			chunks = append(chunks, rep)
			continue
		}
		chunks = append(chunks, wrapLine(line, width, allowance, last)...)
	}
	if len(chunks) == 1 {
		p.out.WriteString(rep)
		return
	}
	text := strings.Join(chunks, "\n"+strings.Repeat(" ", indent))
	if level == 1 {
		text = "(" + text + ")"
	}
	p.out.WriteString(text)
}

func wrapLine(line string, width, allowance int, last bool) []string {
	var chunks []string
	parts := wordsAndBlanks.FindAllString(line, -1)
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	current := ""
	for j, part := range parts {
		if last && j == len(parts)-1 {
			width -= allowance
		}
		if runeLen(python.Repr(current+part)) <= width {
			current += part
			continue
		}
		if current != "" {
			chunks = append(chunks, python.Repr(current))
		}
		current = part
	}
	if current != "" {
		chunks = append(chunks, python.Repr(current))
	}
	return chunks
}

// bytes writes a long byte string as several literals of whole groups of four.
func (p *pretty) bytes(b []byte, indent, allowance, level int) {
	const group = 4
	if len(b) <= group {
		p.out.WriteString(python.Repr(b))
		return
	}
	parens := level == 1
	if parens {
		indent++
		allowance++
	}
	var chunks []string
	var current []byte
	width := pprintWidth - indent
	for i := 0; i < len(b); i += group {
		part := b[i:min(i+group, len(b))]
		if i == len(b)/group*group {
			width -= allowance
		}
		if len(python.Repr(slices.Concat(current, part))) <= width {
			current = append(current, part...)
			continue
		}
		if len(current) > 0 {
			chunks = append(chunks, python.Repr(current))
		}
		current = slices.Clone(part)
	}
	if len(current) > 0 {
		chunks = append(chunks, python.Repr(current))
	}
	text := strings.Join(chunks, "\n"+strings.Repeat(" ", indent))
	if parens {
		text = "(" + text + ")"
	}
	p.out.WriteString(text)
}

// reprSorted is repr with the keys of all maps in order.
func reprSorted(v any) string {
	switch x := v.(type) {
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = reprSorted(x[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *payload.Map:
		parts := make([]string, 0, x.Len())
		for _, e := range pprintEntries(x) {
			parts = append(parts, reprSorted(e.key)+": "+reprSorted(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return python.Repr(v)
}

// pprintEntries orders entries by key; keys that cannot be compared go by the name of their type.
func pprintEntries(m *payload.Map) []entry {
	list, ok := sorted(m)
	if ok {
		return list
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		if kind(a.key) == kind(b.key) && kind(a.key) != otherKey {
			return compareKeys(a.key, b.key)
		}
		return strings.Compare(className(a.key), className(b.key))
	})
	return list
}

func className(v any) string { return fmt.Sprintf("<class '%s'>", python.Type(v)) }
