package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
)

func textFilters() map[string]*builtin {
	plain := func(f func(string) string) func(*run, string, []any) (string, error) {
		return func(_ *run, s string, _ []any) (string, error) { return f(s), nil }
	}
	return map[string]*builtin{
		"upper":      onText("do_upper", "s", plain(py.Upper)),
		"lower":      onText("do_lower", "s", plain(strings.ToLower)),
		"capitalize": onText("do_capitalize", "s", plain(py.Capitalize)),
		"title":      onText("do_title", "s", plain(titleWords)),
		"string":     onText("soft_str", "s", plain(func(s string) string { return s })),
		"trim":       filter("do_trim", "value chars=", trim, nil),
		"center":     filter("do_center", "value width=", center, int64(80)),
		"replace":    filter("do_replace", "s old new count=", replace, nil),
		"indent":     filter("do_indent", "s width= first= blank=", indent, int64(4), false, false),
		"truncate": filter("do_truncate", "s length= killwords= end= leeway=", truncate, int64(255), false, "...",
			nil),
		"wordwrap": filter("do_wordwrap", "s width= break_long_words= wrapstring= break_on_hyphens=", wordwrap,
			int64(79), true, nil, true),
		"wordcount": filter("do_wordcount", "s", wordcount),
		"format":    filter("do_format", "value *args **kwargs", format),
		"join":      filter("sync_do_join", "value d= attribute=", join, "", nil),
		"pprint": filter("do_pprint", "value", func(r *run, a []any) (any, error) {
			return py.Pretty(r.work, a[0], 80)
		}),
	}
}

func titleWords(s string) string {
	start := true
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-({[<", r) || unicode.IsSpace(r) {
			start = true
			return r
		}
		if start {
			start = false
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func soft(r *run, v any) (any, error) {
	if isText(v) {
		return v, nil
	}
	return py.Str(r.work, v)
}

func trim(r *run, a []any) (any, error) {
	s, err := soft(r, a[0])
	if err != nil {
		return nil, err
	}
	return r.method(s, "strip", a[1])
}

func center(r *run, a []any) (any, error) {
	s, err := soft(r, a[0])
	if err != nil {
		return nil, err
	}
	return r.method(s, "center", a[1])
}

func replace(r *run, a []any) (any, error) {
	var texts [3]string
	for i := range texts {
		s, err := py.Str(r.work, a[i])
		if err != nil {
			return nil, err
		}
		texts[i] = s
	}
	n := int64(-1)
	if a[3] != nil {
		var err error
		if n, err = py.Whole(a[3]); err != nil {
			return nil, err
		}
	}
	if !r.s.room.autoescape {
		return py.Replace(r.work, texts[0], texts[1], texts[2], n)
	}
	safe := func(i int) bool { return isType[py.Markup](a[i]) }
	if safe(1) || safe(2) && !safe(0) {
		if !safe(0) {
			texts[0] = py.EscapeText(texts[0])
		}
		a[0] = py.Markup(texts[0])
	}
	if safe(0) {
		for i := 1; i < 3; i++ {
			if !safe(i) {
				texts[i] = py.EscapeText(texts[i])
			}
		}
		out, err := py.Replace(r.work, texts[0], texts[1], texts[2], n)
		return py.Markup(out), err
	}
	return py.Replace(r.work, texts[0], texts[1], texts[2], n)
}

// needText refuses what is no text with the words Python has for s + "\n".
func needText(v any) (string, error) {
	if err := undefinedIn(v); err != nil {
		return "", err
	}
	s, ok := py.Text(v)
	if !ok {
		return "", py.Errorf("TypeError", "unsupported operand type(s) for +=: '%s' and 'str'", py.TypeName(v))
	}
	return s, nil
}

func indent(r *run, a []any) (any, error) {
	if l, ok := a[0].(*py.List); ok && l != nil {
		return nil, py.Errorf("AttributeError", "'list' object has no attribute 'splitlines'")
	}
	s, err := needText(a[0])
	if err != nil {
		return nil, err
	}
	pad, ok := py.Text(a[1])
	if !ok {
		n, err := py.Whole(a[1])
		if err != nil {
			return nil, py.Errorf("TypeError", "can't multiply sequence by non-int of type '%s'", py.TypeName(a[1]))
		}
		if pad, err = py.Pad(r.work, " ", n); err != nil {
			return nil, err
		}
	}
	first, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	blank, err := py.Truth(a[3])
	if err != nil {
		return nil, err
	}
	lines := py.Lines(s+"\n", false)
	if err := r.work.Grow(len(s) + len(lines)*(len(pad)+1)); err != nil {
		return nil, err
	}
	for i := range lines {
		if i == 0 && first || i > 0 && (blank || lines[i] != "") {
			lines[i] = pad + lines[i]
		}
	}
	out := strings.Join(lines, "\n")
	if isType[py.Markup](a[0]) {
		return py.Markup(out), nil
	}
	return out, nil
}

func truncate(r *run, a []any) (any, error) {
	length, err := intOf(a[1])
	if err != nil {
		return nil, err
	}
	kill, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	end, err := py.Str(r.work, a[3])
	if err != nil {
		return nil, err
	}
	leeway := 5
	if a[4] != nil {
		if leeway, err = intOf(a[4]); err != nil {
			return nil, err
		}
	}
	n := utf8.RuneCountInString(end)
	if length < n {
		return nil, py.Errorf("AssertionError", "expected length >= %d, got %d", n, length)
	}
	if leeway < 0 {
		return nil, py.Errorf("AssertionError", "expected leeway >= 0, got %d", leeway)
	}
	size, err := py.Len(a[0])
	if err != nil {
		return nil, err
	}
	if size <= length+leeway {
		return a[0], nil
	}
	s, ok := py.Text(a[0])
	if !ok {
		return nil, py.Errorf("AttributeError", "'%s' object has no attribute 'rsplit'", py.TypeName(a[0]))
	}
	cut := string([]rune(s)[:length-n])
	if !kill {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	if isType[py.Markup](a[0]) {
		return py.Markup(cut + end), nil
	}
	return cut + end, nil
}

func wordcount(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	words := strings.FieldsFunc(s, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
	return int64(len(words)), err
}

func format(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	if err != nil {
		return nil, err
	}
	args, kw := a[1].(*py.Tuple), a[2].(*py.Dict)
	if len(args.Items) > 0 && kw.Len() > 0 {
		return nil, argumentError("can't handle positional and keyword arguments at the same time")
	}
	if kw.Len() > 0 {
		return py.Percent(r.work, s, kw)
	}
	return py.Percent(r.work, s, args)
}

func join(r *run, a []any) (any, error) {
	items, err := py.Collect(r.work, a[0])
	if err != nil {
		return nil, err
	}
	if a[2] != nil {
		get, err := attributeOf(r, a[2], nil)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if items[i], err = get(items[i]); err != nil {
				return nil, err
			}
		}
	}
	var values []any
	for i, item := range items {
		if i > 0 {
			values = append(values, a[1])
		}
		values = append(values, item)
	}
	return joinAll(r, values)
}

// joinAll is the text of all values, escaped where there is Markup among them and escaping is on.
func joinAll(r *run, values []any) (any, error) {
	markup := false
	for _, v := range values {
		markup = markup || r.s.room.autoescape && isType[py.Markup](v)
	}
	var b strings.Builder
	for _, v := range values {
		s, err := py.Str(r.work, v)
		if err != nil {
			return nil, err
		}
		if markup && !isType[py.Markup](v) {
			s = py.EscapeText(s)
		}
		if err := r.work.Grow(len(s)); err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
	if markup {
		return py.Markup(b.String()), nil
	}
	return b.String(), nil
}
