package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
)

// element is one element of XML. It has text or children, never both.
type element struct {
	tag      string
	attrs    [][2]string
	text     string
	children []*element
}

// xmlTree builds elements of dictionaries, lists and simple values.
type xmlTree struct {
	work  *py.Work
	depth int
}

// formatXML shows a dictionary of one key as a document: simple values of a dictionary are attributes, dictionaries and
// lists children. format_xml of salt/utils/jinja.py.
func formatXML(r *run, a []any) (any, error) {
	t := &xmlTree{work: r.work}
	pairs, err := t.pairs(a[0])
	if err != nil {
		return nil, err
	}
	root, err := t.build(pairs, nil)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, py.Errorf("AttributeError", "'NoneType' object has no attribute 'iter'")
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" ?>\n")
	if err := root.write(r.work, &b, ""); err != nil {
		return nil, err
	}
	return py.Markup(b.String()), nil
}

// pairs are the names and values of a value: those of a dictionary, or of a list of texts each with two characters.
func (t *xmlTree) pairs(v any) ([][2]any, error) {
	var items []any
	switch v := v.(type) {
	case *py.Dict:
		var out [][2]any
		for k, val := range v.All() {
			out = append(out, [2]any{k, val})
		}
		return out, t.work.Grow(32 * len(out))
	case *py.List:
		items = v.Items
	case *py.Tuple:
		items = v.Items
	default:
		return nil, py.Errorf("TemplateRuntimeError", "Value is not a dict or list. Cannot render as XML")
	}
	if len(items) == 0 {
		return nil, py.Errorf("IndexError", "%s index out of range", py.TypeName(v))
	}
	if !isText(items[0]) {
		return nil, nil
	}
	var out [][2]any
	for _, item := range items {
		two, err := py.Collect(t.work, item)
		if err != nil {
			return nil, err
		}
		switch n := len(two); {
		case n < 2:
			return nil, py.Errorf("ValueError", "not enough values to unpack (expected 2, got %d)", n)
		case n > 2:
			return nil, py.Errorf("ValueError", "too many values to unpack (expected 2)")
		}
		out = append(out, [2]any{two[0], two[1]})
	}
	return out, t.work.Grow(32 * len(out))
}

// build adds elements to parent and returns the last one; without a parent the others are lost, as in Salt.
func (t *xmlTree) build(pairs [][2]any, parent *element) (*element, error) {
	if t.depth++; t.depth > 150 {
		return nil, py.Errorf("RecursionError", "maximum recursion depth exceeded")
	}
	defer func() { t.depth-- }()
	var last *element
	for _, p := range pairs {
		if err := t.work.Grow(64); err != nil {
			return nil, err
		}
		if list, ok := p[1].(*py.List); ok {
			if err := t.list(p[0], list, parent); err != nil {
				return nil, err
			}
			continue
		}
		tag, err := xmlName(p[0])
		if err != nil {
			return nil, err
		}
		last = &element{tag: tag}
		if parent != nil {
			parent.children = append(parent.children, last)
		}
		if err := t.fill(last, p[1]); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// list adds an element of this name for each item.
func (t *xmlTree) list(name any, list *py.List, parent *element) error {
	for _, item := range list.Items {
		if _, err := t.build([][2]any{{name, item}}, parent); err != nil {
			return err
		}
	}
	if len(list.Items) == 0 {
		return py.Errorf("IndexError", "list index out of range")
	}
	if !isText(list.Items[0]) {
		return nil
	}
	for _, item := range list.Items { // Salt looks for a second item in each, and does nothing with it
		if err := second(item); err != nil {
			return err
		}
	}
	return nil
}

// second is the error of a value that has no second item.
func second(v any) error {
	switch v.(type) {
	case string, py.Markup, *py.List, *py.Tuple:
		if n, err := py.Len(v); err != nil || n < 2 {
			name := py.TypeName(v)
			if isText(v) {
				name = "string"
			}
			return py.Errorf("IndexError", "%s index out of range", name)
		}
		return nil
	case *py.Dict:
		return py.Errorf("KeyError", "1")
	}
	return py.Errorf("TypeError", "'%s' object is not subscriptable", py.TypeName(v))
}

// fill gives an element its text, or its attributes and children.
func (t *xmlTree) fill(e *element, v any) error {
	switch v.(type) {
	case string, py.Markup, bool, float64:
		return t.text(&e.text, v)
	}
	if isInt(v) {
		return t.text(&e.text, v)
	}
	pairs, err := t.pairs(v)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		switch p[1].(type) {
		case *py.Dict, *py.List:
			continue
		}
		if !isType[*py.Dict](v) {
			continue
		}
		name, err := xmlName(p[0])
		if err != nil {
			return err
		}
		attr := [2]string{name}
		if err := t.text(&attr[1], p[1]); err != nil {
			return err
		}
		e.attrs = append(e.attrs, attr)
	}
	for _, p := range pairs {
		switch p[1].(type) {
		case *py.Dict, *py.List:
			if _, err := t.build([][2]any{p}, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// text is str() of a value, if XML can hold it.
func (t *xmlTree) text(to *string, v any) error {
	s, err := py.Str(t.work, v)
	if err != nil {
		return err
	}
	for _, c := range s {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff {
			return py.Errorf("ExpatError", "XML cannot hold the character %q", c)
		}
	}
	*to = s
	return t.work.Grow(len(s))
}

// xmlName is the name of an element or attribute.
func xmlName(v any) (string, error) {
	s, ok := py.Text(v)
	if !ok {
		shown, err := py.Str(py.Free(), v)
		if err != nil {
			return "", err
		}
		return "", py.Errorf("TypeError", "cannot serialize %s (type %s)", shown, py.TypeName(v))
	}
	if rest, ok := strings.CutPrefix(s, "xml:"); ok {
		_, err := xmlName(rest)
		return s, err
	}
	for i, c := range []byte(s) { // Salt writes others as references, which its parser refuses
		start := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !start && (i == 0 || c != '-' && c != '.' && (c < '0' || c > '9')) {
			return "", py.Errorf("ExpatError", "not well-formed (invalid token): %q cannot be a name in XML", s)
		}
	}
	if s == "" {
		return "", py.Errorf("ExpatError", "not well-formed (invalid token): a name in XML cannot be empty")
	}
	return s, nil
}

// write shows the element and what is in it, indented by one blank a level.
func (e *element) write(w *py.Work, b *strings.Builder, indent string) error {
	start := b.Len()
	b.WriteString(indent + "<" + e.tag)
	for _, a := range e.attrs {
		b.WriteString(" " + a[0] + `="` + attrEscaper.Replace(a[1]) + `"`)
	}
	switch {
	case e.text != "":
		b.WriteString(">" + textEscaper.Replace(e.text) + "</" + e.tag + ">\n")
	case len(e.children) == 0:
		b.WriteString("/>\n")
	default:
		b.WriteString(">\n")
		if err := w.Grow(b.Len() - start); err != nil {
			return err
		}
		for _, c := range e.children {
			if err := c.write(w, b, indent+" "); err != nil {
				return err
			}
		}
		start = b.Len()
		b.WriteString(indent + "</" + e.tag + ">\n")
	}
	return w.Grow(b.Len() - start)
}

var (
	attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", ">", "&gt;")
	textEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", ">", "&gt;", "\r\n", "\n", "\r", "\n")
)
