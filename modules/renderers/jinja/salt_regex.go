package jinja

import (
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/wire/python/re"
)

func regexFilters() map[string]*builtin {
	const params = "txt rgx ignorecase= multiline="
	return map[string]*builtin{
		"regex_search": filter("regex_search", params, func(r *run, a []any) (any, error) {
			return regexFind(r, a, false)
		}, false, false),
		"regex_match": filter("regex_match", params, func(r *run, a []any) (any, error) {
			return regexFind(r, a, true)
		}, false, false),
		"regex_replace": filter("regex_replace", "txt rgx val ignorecase= multiline=", regexReplace, false, false),
		"regex_escape": filter("regex_escape", "value", func(r *run, a []any) (any, error) {
			s, err := expectText(a[0])
			return regexEscape(s), err
		}),
	}
}

// expectText refuses what is no text as Python's re does.
func expectText(v any) (string, error) {
	if err := undefinedIn(v); err != nil {
		return "", err
	}
	s, ok := py.Text(v)
	if !ok {
		return "", py.Errorf("TypeError", "expected string or bytes-like object, got '%s'", py.TypeName(v))
	}
	return s, nil
}

func compileRegex(pattern, ignoreCase, multiLine any) (*re.Groups, error) {
	if err := undefinedIn(pattern); err != nil {
		return nil, err
	}
	s, ok := py.Text(pattern)
	if !ok {
		return nil, py.Errorf("TypeError", "first argument must be string or compiled pattern")
	}
	fold, err := py.Truth(ignoreCase)
	if err != nil {
		return nil, err
	}
	multi, err := py.Truth(multiLine)
	if err != nil {
		return nil, err
	}
	g, err := re.CompileGroups(s, fold, multi)
	if err != nil {
		return nil, py.Errorf("error", "%s", err)
	}
	return g, nil
}

// at returns the text of a span.
func at(s []rune, span re.Span) any {
	if span.Start < 0 {
		return nil
	}
	return string(s[span.Start:span.End])
}

// findRegex is re.search, or re.match where it must fit at the start.
func findRegex(r *run, a []any, start bool) ([]rune, []re.Span, error) {
	g, err := compileRegex(a[1], a[2], a[3])
	if err != nil {
		return nil, nil, err
	}
	text, err := expectText(a[0])
	if err != nil {
		return nil, nil, err
	}
	s := []rune(text)
	if err := r.work.Step(64 + len(s)); err != nil {
		return nil, nil, err
	}
	spans, err := g.Find(s, 0)
	if start && len(spans) > 0 && spans[0].Start > 0 {
		spans = nil
	}
	return s, spans, err
}

func regexFind(r *run, a []any, start bool) (any, error) {
	s, spans, err := findRegex(r, a, start)
	if err != nil || spans == nil {
		return nil, err
	}
	if len(spans) > 1 {
		spans = spans[1:]
	}
	out := py.NewTuple()
	for _, span := range spans {
		out.Items = append(out.Items, at(s, span))
	}
	return out, nil
}

func testMatch(r *run, a []any) (any, error) {
	_, spans, err := findRegex(r, a, true)
	return spans != nil, err
}

func regexReplace(r *run, a []any) (any, error) {
	g, err := compileRegex(a[1], a[3], a[4])
	if err != nil {
		return nil, err
	}
	text, err := expectText(a[0])
	if err != nil {
		return nil, err
	}
	with, err := expectText(a[2])
	if err != nil {
		return nil, err
	}
	s := []rune(text)
	var b strings.Builder
	pos, from := 0, 0
	for from <= len(s) {
		if err := r.work.Step(64 + len(s)/16); err != nil {
			return nil, err
		}
		spans, err := g.Find(s, from)
		if err != nil {
			return nil, err
		}
		if spans == nil {
			break
		}
		b.WriteString(string(s[pos:spans[0].Start]))
		if err := expand(&b, with, s, spans, g); err != nil {
			return nil, err
		}
		if err := r.work.Grow(len(with)); err != nil {
			return nil, err
		}
		pos = spans[0].End
		if from = pos; spans[0].Start == spans[0].End {
			if from < len(s) {
				b.WriteRune(s[from])
			}
			from++
			pos = min(from, len(s))
		}
	}
	b.WriteString(string(s[min(pos, len(s)):]))
	return b.String(), r.work.Grow(b.Len())
}

// expand writes the replacement with its \1 and \g<name>.
func expand(b *strings.Builder, with string, s []rune, spans []re.Span, g *re.Groups) error {
	group := func(n int, name string) error {
		if n < 0 || n >= len(spans) {
			return py.Errorf("error", "invalid group reference %s", name)
		}
		if text, ok := at(s, spans[n]).(string); ok {
			b.WriteString(text)
		}
		return nil
	}
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 >= len(with) {
			b.WriteByte(with[i])
			continue
		}
		i++
		switch c := with[i]; {
		case c >= '0' && c <= '9':
			n := i + 1
			if n < len(with) && with[n] >= '0' && with[n] <= '9' {
				n++
			}
			k, _ := strconv.Atoi(with[i:n])
			if err := group(k, with[i:n]); err != nil {
				return err
			}
			i = n - 1
		case c == 'g' && i+1 < len(with) && with[i+1] == '<':
			end := strings.IndexByte(with[i:], '>')
			if end < 0 {
				return py.Errorf("error", "missing >, unterminated name")
			}
			name := with[i+2 : i+end]
			k, err := strconv.Atoi(name)
			if err != nil {
				k = g.Named(name)
			}
			if err := group(k, name); err != nil {
				return err
			}
			i += end
		default:
			esc, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', 'a': '\a', 'b': '\b', 'f': '\f',
				'v': '\v'}[c]
			if !ok {
				b.WriteByte('\\')
				esc = c
			}
			b.WriteByte(esc)
		}
	}
	return nil
}

func regexEscape(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("()[]{}?*+-|^$\\.&~# \t\n\r\v\f", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
