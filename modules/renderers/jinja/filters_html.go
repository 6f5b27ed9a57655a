package jinja

import (
	"strings"
	"unicode"

	"brine/modules/renderers/jinja/py"
	"brine/modules/text/pattern"
)

func htmlFilters() map[string]*builtin {
	esc := filter("escape", "s", escape)
	return map[string]*builtin{
		"escape": esc, "e": esc,
		"forceescape": filter("do_forceescape", "value", func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return py.Markup(py.EscapeText(s)), err
		}),
		"safe": filter("do_mark_safe", "value", func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return py.Markup(s), err
		}),
		"striptags": filter("do_striptags", "value", striptags),
		"urlencode": filter("do_urlencode", "value", urlencode),
		"xmlattr":   filter("do_xmlattr", "d autospace=", xmlattr, true),
		"urlize": filter("do_urlize", "value trim_url_limit= nofollow= target= rel= extra_schemes=", urlize,
			nil, false, nil, nil, nil),
	}
}

func escape(r *run, a []any) (any, error) {
	if isType[py.Markup](a[0]) {
		return a[0], nil
	}
	s, err := py.Str(r.work, a[0])
	if err != nil {
		return nil, err
	}
	out := py.EscapeText(s)
	return py.Markup(out), r.work.Grow(len(out))
}

var (
	tags     = pattern.New(`(?s)<!--.*?-->|<.*?>`)
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&quot;", `"`, "&#39;", "'", "&apos;", "'",
		"&nbsp;", "\u00a0", "&amp;", "&")
)

func striptags(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	if err != nil {
		return nil, err
	}
	s = tags.ReplaceAllString(s, "")
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	return entities.Replace(s), r.work.Grow(len(s))
}

// urlQuote writes what may not stand in an address as %XX.
func urlQuote(s string, query bool) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_.-~", c) >= 0:
			b.WriteByte(c)
		case c == '/' && !query:
			b.WriteByte(c)
		case c == ' ' && query:
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
	return b.String()
}

func bytesText(r *run, v any) (string, error) {
	if b, ok := v.(py.Bytes); ok {
		return string(b), nil
	}
	return py.Str(r.work, v)
}

func urlencode(r *run, a []any) (any, error) {
	if isText(a[0]) || !py.IsIterable(a[0]) {
		s, err := bytesText(r, a[0])
		if err != nil {
			return nil, err
		}
		return urlQuote(s, false), r.work.Grow(3 * len(s))
	}
	pairs := a[0]
	if d, ok := pairs.(*py.Dict); ok {
		pairs = &py.View{Kind: "items", D: d}
	}
	items, err := py.Collect(r.work, pairs)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		kv, err := py.Collect(r.work, item)
		if err != nil {
			return nil, err
		}
		if len(kv) < 2 {
			return nil, py.Errorf("ValueError", "not enough values to unpack (expected 2, got %d)", len(kv))
		}
		if len(kv) > 2 {
			return nil, py.Errorf("ValueError", "too many values to unpack (expected 2)")
		}
		k, err := bytesText(r, kv[0])
		if err != nil {
			return nil, err
		}
		v, err := bytesText(r, kv[1])
		if err != nil {
			return nil, err
		}
		out = append(out, urlQuote(k, true)+"="+urlQuote(v, true))
	}
	s := strings.Join(out, "&")
	return s, r.work.Grow(len(s))
}

func xmlattr(r *run, a []any) (any, error) {
	d, err := dictOf(a[0], "items")
	if err != nil {
		return nil, err
	}
	autospace, err := py.Truth(a[1])
	if err != nil {
		return nil, err
	}
	var parts []string
	for k, v := range d.All() {
		if v == nil || isType[*py.Undefined](v) {
			continue
		}
		key, ok := py.Text(k)
		if !ok {
			return nil, py.Errorf("TypeError", "expected string or bytes-like object, got '%s'", py.TypeName(k))
		}
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			return nil, py.Errorf("ValueError", "Invalid character in attribute name: %s", quote(key))
		}
		s, err := py.Str(r.work, v)
		if err != nil {
			return nil, err
		}
		if !isType[py.Markup](v) {
			s = py.EscapeText(s)
		}
		parts = append(parts, py.EscapeText(key)+`="`+s+`"`)
	}
	out := strings.Join(parts, " ")
	if autospace && out != "" {
		out = " " + out
	}
	if err := r.work.Grow(len(out)); err != nil {
		return nil, err
	}
	if r.s.room.autoescape {
		return py.Markup(out), nil
	}
	return out, nil
}
