package py

import (
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// Pretty is pprint.pformat(v, width=width): a value on one line where it fits, else an item a line.
func Pretty(w *Work, v any, width int) (string, error) {
	p := prettier{w: w, width: width}
	if err := p.format(v, 0, 0, 0); err != nil {
		return "", err
	}
	return p.b.String(), nil
}

type prettier struct {
	w     *Work
	b     strings.Builder
	width int
}

func (p *prettier) repr(v any) (string, error) {
	if d, ok := v.(*Dict); ok && d.Class == "" { // keys are sorted
		items, err := sortedItems(p.w, d)
		if err != nil {
			return "", err
		}
		s := &Dict{Class: d.Class}
		for _, t := range items {
			_ = s.Set(t[0], t[1]) // a key of a dictionary is one here too
		}
		v = s
	}
	return Repr(p.w, v)
}

// sortedItems are the entries in the order of pprint: by key, by type and text where keys do not compare.
func sortedItems(w *Work, d *Dict) ([][2]any, error) {
	keys := d.Keys()
	out, err := Sorted(w, keys, keys, false)
	if err != nil {
		texts := make([]any, len(keys))
		for i, k := range keys {
			s, reprErr := Repr(w, k)
			if reprErr != nil {
				return nil, reprErr
			}
			texts[i] = TypeName(k) + s
		}
		if out, err = Sorted(w, keys, texts, false); err != nil {
			return nil, err
		}
	}
	pairs := make([][2]any, len(out))
	for i, k := range out {
		v, _, _ := d.Get(k)
		pairs[i] = [2]any{k, v}
	}
	return pairs, nil
}

// format writes a value that begins at indent, with room for allowance characters behind it.
func (p *prettier) format(v any, indent, allowance, depth int) error {
	if depth > maxNesting {
		return tooDeep()
	}
	s, err := p.repr(v)
	if err != nil {
		return err
	}
	if err := p.w.Grow(len(s)); err != nil {
		return err
	}
	if utf8.RuneCountInString(s) <= p.width-indent-allowance {
		p.b.WriteString(s)
		return nil
	}
	switch x := v.(type) {
	case *Dict:
		if x.Class == "" && x.Len() > 0 {
			return p.dict(x, indent, allowance, depth)
		}
		if x.Class == Ordered && x.Len() > 0 {
			return p.ordered(x, indent, allowance, depth)
		}
	case *List:
		if len(x.Items) > 0 {
			return p.seq("[", x.Items, "]", indent, allowance, depth)
		}
	case *Tuple:
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		if len(x.Items) > 0 {
			return p.seq("(", x.Items, end, indent, allowance, depth)
		}
	case string:
		return p.text(x, indent, allowance, depth)
	}
	p.b.WriteString(s)
	return nil
}

func (p *prettier) seq(open string, items []any, end string, indent, allowance, depth int) error {
	p.b.WriteString(open)
	indent++
	for i, item := range items {
		if i > 0 {
			p.b.WriteString(",\n" + strings.Repeat(" ", indent))
		}
		more := 1
		if i == len(items)-1 {
			more = allowance + len(end)
		}
		if err := p.format(item, indent, more, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteString(end)
	return nil
}

// ordered writes an OrderedDict as the list of its pairs, in its own order.
func (p *prettier) ordered(d *Dict, indent, allowance, depth int) error {
	var pairs []any
	for k, v := range d.All() {
		pairs = append(pairs, NewTuple(k, v))
	}
	return p.seq(d.Class+"([", pairs, "])", indent+utf8.RuneCountInString(d.Class)+1, allowance, depth)
}

func (p *prettier) dict(d *Dict, indent, allowance, depth int) error {
	items, err := sortedItems(p.w, d)
	if err != nil {
		return err
	}
	p.b.WriteByte('{')
	indent++
	for i, kv := range items {
		if i > 0 {
			p.b.WriteString(",\n" + strings.Repeat(" ", indent))
		}
		k, err := p.repr(kv[0])
		if err != nil {
			return err
		}
		p.b.WriteString(k + ": ")
		more := 1
		if i == len(items)-1 {
			more = allowance + 1
		}
		if err := p.format(kv[1], indent+utf8.RuneCountInString(k)+2, more, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteByte('}')
	return nil
}

// text breaks a long text into pieces between quotes.
func (p *prettier) text(s string, indent, allowance, depth int) error {
	var chunks []string
	lines := Lines(s, true)
	if depth == 0 {
		indent, allowance = indent+1, allowance+1
	}
	width := p.width - indent
	for i, line := range lines {
		room := width
		if i == len(lines)-1 {
			room -= allowance
		}
		if utf8.RuneCountInString(quote(line)) <= room {
			chunks = append(chunks, quote(line))
			continue
		}
		chunks = append(chunks, p.pieces(line, i == len(lines)-1, width, allowance)...)
	}
	if len(chunks) == 1 {
		p.b.WriteString(chunks[0])
		return nil
	}
	joined := strings.Join(chunks, "\n"+strings.Repeat(" ", indent))
	if depth == 0 {
		joined = "(" + joined + ")"
	}
	p.b.WriteString(joined)
	return nil
}

// pieces breaks one line between its words.
func (p *prettier) pieces(line string, last bool, width, allowance int) []string {
	var parts []string
	for line != "" {
		n := strings.IndexFunc(line, python.IsSpace)
		if n < 0 {
			n = len(line)
		} else if k := strings.IndexFunc(line[n:], func(r rune) bool { return !python.IsSpace(r) }); k < 0 {
			n = len(line)
		} else {
			n += k
		}
		parts = append(parts, line[:n])
		line = line[n:]
	}
	var out []string
	cur := ""
	for j, part := range parts {
		candidate := cur + part
		room := width
		if j == len(parts)-1 && last {
			room -= allowance
		}
		if utf8.RuneCountInString(quote(candidate)) > room {
			if cur != "" {
				out = append(out, quote(cur))
			}
			cur = part
		} else {
			cur = candidate
		}
	}
	if cur != "" {
		out = append(out, quote(cur))
	}
	return out
}
