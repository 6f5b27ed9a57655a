package py

import (
	"fmt"
	"math/big"
	"sort"
	"strings"
	"unicode"

	"brine/wire/python"
)

func quote(s string) string { return python.Repr(s) }

// Str is str(v). A strict undefined value is an error.
func Str(w *Work, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case Markup:
		return string(v), nil
	case *Undefined:
		if v.Lenient {
			return "", nil
		}
		return "", v.Err()
	case Printer:
		return v.Print(w, false)
	}
	return Repr(w, v)
}

// Repr is repr(v).
func Repr(w *Work, v any) (string, error) {
	p := printer{w: w}
	if err := p.write(v, 0); err != nil {
		return "", err
	}
	return p.b.String(), nil
}

// Display is how a value is printed by {{ }} in Salt: dictionaries of every class plainly, and their texts so that YAML
// reads them back.
func Display(w *Work, v any) (string, error) {
	switch v.(type) {
	case *Dict, *List, *Tuple, *Set:
		p := printer{w: w, plain: true}
		err := p.write(v, 0)
		return p.b.String(), err
	}
	return Str(w, v)
}

type printer struct {
	w     *Work
	plain bool
	b     strings.Builder
	paid  int
	path  []any // the containers around
}

// pay accounts for what was written since the last time.
func (p *printer) pay() error {
	if p.w == nil || p.b.Len()-p.paid < 4096 {
		return nil
	}
	n := p.b.Len() - p.paid
	p.paid = p.b.Len()
	return p.w.Grow(n)
}

func (p *printer) write(v any, depth int) error {
	if depth > maxNesting {
		return tooDeep()
	}
	if err := p.pay(); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil, bool, float64, string:
		p.b.WriteString(python.Repr(v))
	case int64:
		fmt.Fprint(&p.b, v)
	case *big.Int:
		s, err := bigText(v)
		p.b.WriteString(s)
		return err
	case Markup:
		p.b.WriteString("Markup(" + quote(string(v)) + ")")
	case Bytes:
		p.b.WriteString(python.Repr([]byte(v)))
	case *Range:
		p.b.WriteString(v.String())
	case *Undefined:
		p.b.WriteString("Undefined")
	case *Tuple:
		if p.plain && v.Named != nil {
			return typeError("_GroupTuple.__new__() missing 1 required positional argument: 'list'")
		}
		return p.container(v, depth)
	case *List, *Dict, *Set, *View:
		return p.container(v, depth)
	case *Iter:
		p.b.WriteString("<generator object " + v.Name + ">")
	case Printer:
		s, err := v.Print(p.w, true)
		p.b.WriteString(s)
		return err
	default:
		p.b.WriteString("<" + qualified(v) + " object>")
	}
	return nil
}

// around are the words a container prints for itself inside itself.
func around(v any) string {
	switch v.(type) {
	case *List:
		return "[...]"
	case *Dict:
		return "{...}"
	case *Tuple:
		return "(...)"
	}
	return "..."
}

func (p *printer) container(v any, depth int) error {
	for _, o := range p.path {
		if o == v {
			p.b.WriteString(around(v))
			return nil
		}
	}
	p.path = append(p.path, v)
	defer func() { p.path = p.path[:len(p.path)-1] }()
	switch v := v.(type) {
	case *List:
		return p.seq("[", v.Items, "]", depth)
	case *Tuple:
		return p.tuple(v, depth)
	case *Set:
		if v.Len() == 0 {
			p.b.WriteString("set()")
			return nil
		}
		return p.seq("{", inSetOrder(v.Items()), "}", depth)
	case *View:
		return p.view(v, depth)
	case *Dict:
		return p.dict(v, depth)
	}
	return nil
}

// inSetOrder sorts whole numbers, as a small set of Python shows them.
func inSetOrder(items []any) []any {
	for _, v := range items {
		if _, ok := v.(int64); !ok {
			return items
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].(int64) < items[j].(int64) })
	return items
}

func (p *printer) tuple(t *Tuple, depth int) error {
	if len(t.Items) == 1 {
		return p.seq("(", t.Items, ",)", depth)
	}
	return p.seq("(", t.Items, ")", depth)
}

func (p *printer) seq(open string, items []any, end string, depth int) error {
	p.b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			p.b.WriteString(", ")
		}
		if err := p.write(item, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteString(end)
	return nil
}

func (p *printer) view(v *View, depth int) error {
	return p.seq("dict_"+v.Kind+"([", v.items(), "])", depth)
}

func (p *printer) dict(d *Dict, depth int) error {
	if d.Class == Ordered && !p.plain {
		if d.Len() == 0 {
			p.b.WriteString("OrderedDict()")
			return nil
		}
		return p.seq("OrderedDict([", (&View{"items", d}).items(), "])", depth)
	}
	p.b.WriteByte('{')
	first := true
	for k, v := range d.All() {
		if !first {
			p.b.WriteString(", ")
		}
		first = false
		if err := p.write(k, depth+1); err != nil {
			return err
		}
		p.b.WriteString(": ")
		if err := p.entry(v, depth); err != nil {
			return err
		}
	}
	p.b.WriteByte('}')
	return nil
}

// entry writes a value of a dictionary.
func (p *printer) entry(v any, depth int) error {
	if !p.plain {
		return p.write(v, depth+1)
	}
	switch x := v.(type) {
	case string:
		if strings.ContainsAny(x, "\n\r\t") {
			p.b.WriteString(YAMLQuote(x, false))
			return nil
		}
	case *Undefined:
		if depth == 0 && !x.Lenient {
			return x.Err()
		}
		if depth == 0 {
			return nil
		}
	case Markup:
		if depth == 0 {
			p.b.WriteString(quote(string(x)))
			return nil
		}
	}
	return p.write(v, depth+1)
}

// YAMLQuote writes text between double quotes as PyYAML does; ascii without other letters.
func YAMLQuote(s string, ascii bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if esc, ok := yamlEscapes[r]; ok {
			b.WriteString(esc)
			continue
		}
		switch {
		case r >= ' ' && r < 0x7f || r > 0xa0 && !ascii && r != 0xfeff && unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

var yamlEscapes = map[rune]string{
	0: `\0`, 7: `\a`, 8: `\b`, '\t': `\t`, '\n': `\n`, 11: `\v`, 12: `\f`, '\r': `\r`, 27: `\e`, '"': `\"`,
	'\\': `\\`, 0x85: `\N`, 0xa0: `\_`, 0x2028: `\L`, 0x2029: `\P`,
}

// items are what a view shows.
func (v *View) items() []any {
	out := make([]any, 0, v.D.Len())
	for k, val := range v.D.All() {
		switch v.Kind {
		case "keys":
			out = append(out, k)
		case "values":
			out = append(out, val)
		default:
			out = append(out, NewTuple(k, val))
		}
	}
	return out
}

// String is how a range prints.
func (r *Range) String() string {
	if r.Step == 1 {
		return fmt.Sprintf("range(%d, %d)", r.Start, r.Stop)
	}
	return fmt.Sprintf("range(%d, %d, %d)", r.Start, r.Stop, r.Step)
}

func bigText(n *big.Int) (string, error) {
	if n.BitLen() > python.MaxDigits*3 { // surely more than a digit for every 4 bits
		s := n.String()
		if len(strings.TrimPrefix(s, "-")) > python.MaxDigits {
			return "", valueError("Exceeds the limit (%d digits) for integer string conversion; use "+
				"sys.set_int_max_str_digits() to increase the limit", python.MaxDigits)
		}
		return s, nil
	}
	return n.String(), nil
}
