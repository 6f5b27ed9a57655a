package py

import (
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// likewise gives text the type of the value it came from.
func likewise(v any, s string) any {
	if _, ok := v.(Markup); ok {
		return Markup(s)
	}
	return s
}

func (w *Work) texts(v any, parts []string) (any, error) {
	out := &List{Items: make([]any, len(parts))}
	size := 0
	for i, p := range parts {
		out.Items[i] = likewise(v, p)
		size += len(p) + slot
	}
	return out, w.Grow(size)
}

var splitSig = Sig("split", "sep= maxsplit=", nil, int64(-1))

func strSplit(w *Work, name string, v any, a Args) (any, error) {
	sig := splitSig
	sig.Name = name
	got, err := sig.Bind(a)
	if err != nil {
		return nil, err
	}
	limit, err := Whole(got[1])
	if err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	if got[0] == nil {
		return w.texts(v, splitSpace(name, s, limit))
	}
	sep, ok := textOf(got[0])
	if !ok {
		if u, isU := got[0].(*Undefined); isU {
			return nil, u.Err()
		}
		return nil, typeError("must be str or None, not %s", TypeName(got[0]))
	}
	if sep == "" {
		return nil, valueError("empty separator")
	}
	if limit < 0 || limit >= int64(len(s)) {
		return w.texts(v, strings.Split(s, sep))
	}
	if name == "split" {
		return w.texts(v, strings.SplitN(s, sep, int(limit)+1))
	}
	var tail []string
	for ; limit > 0; limit-- {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		tail = append(tail, s[i+len(sep):])
		s = s[:i]
	}
	parts := []string{s}
	for i := len(tail) - 1; i >= 0; i-- {
		parts = append(parts, tail[i])
	}
	return w.texts(v, parts)
}

func splitSpace(name, s string, limit int64) []string {
	if limit < 0 {
		return strings.FieldsFunc(s, python.IsSpace)
	}
	var parts []string
	if name == "split" {
		for s = strings.TrimLeftFunc(s, python.IsSpace); s != ""; s = strings.TrimLeftFunc(s, python.IsSpace) {
			i := strings.IndexFunc(s, python.IsSpace)
			if limit == 0 || i < 0 {
				return append(parts, trimIf(limit == 0, s))
			}
			parts = append(parts, s[:i])
			s = s[i:]
			limit--
		}
		return parts
	}
	for s = strings.TrimRightFunc(s, python.IsSpace); s != ""; s = strings.TrimRightFunc(s, python.IsSpace) {
		i := strings.LastIndexFunc(s, python.IsSpace)
		if limit == 0 || i < 0 {
			parts = append([]string{s}, parts...)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		parts = append([]string{s[i+n:]}, parts...)
		s = s[:i]
		limit--
	}
	return parts
}

// trimIf is the rest of a split that stopped early: white space at its end stays.
func trimIf(rest bool, s string) string {
	if rest {
		return s
	}
	return strings.TrimRightFunc(s, python.IsSpace)
}

// Lines cuts text where str.splitlines does; keep leaves the ends on.
func Lines(s string, keep bool) []string { return python.Lines(s, keep) }

var splitlinesSig = Sig("splitlines", "keepends=", false)

func strSplitlines(w *Work, v any, a Args) (any, error) {
	got, err := splitlinesSig.Bind(a)
	if err != nil {
		return nil, err
	}
	keep, err := Truth(got[0])
	if err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	return w.texts(v, Lines(s, keep))
}

func strPartition(name string, v any, a Args) (any, error) {
	if err := arity("str."+name, a, 1, 1); err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	sep, ok := textOf(a.Pos[0])
	if !ok {
		return nil, typeError("must be str, not %s", TypeName(a.Pos[0]))
	}
	if sep == "" {
		return nil, valueError("empty separator")
	}
	i := strings.Index(s, sep)
	if name == "rpartition" {
		i = strings.LastIndex(s, sep)
	}
	switch {
	case i >= 0:
		return NewTuple(likewise(v, s[:i]), likewise(v, sep), likewise(v, s[i+len(sep):])), nil
	case name == "partition":
		return NewTuple(v, likewise(v, ""), likewise(v, "")), nil
	}
	return NewTuple(likewise(v, ""), likewise(v, ""), v), nil
}

func strJoin(w *Work, v any, a Args) (any, error) {
	if err := arity("str.join", a, 1, 1); err != nil {
		return nil, err
	}
	if !IsIterable(a.Pos[0]) {
		if err := undefinedIn(a.Pos[0]); err != nil {
			return nil, err
		}
		return nil, typeError("can only join an iterable")
	}
	items, err := Collect(w, a.Pos[0])
	if err != nil {
		return nil, err
	}
	sep, _ := textOf(v)
	parts := make([]string, len(items))
	size := 0
	for i, item := range items {
		s, ok := textOf(item)
		if !ok {
			return nil, typeError("sequence item %d: expected str instance, %s found", i, TypeName(item))
		}
		parts[i] = s
		size += len(s) + len(sep)
	}
	if err := w.Grow(size); err != nil {
		return nil, err
	}
	return likewise(v, strings.Join(parts, sep)), nil
}

func strReplace(w *Work, v any, a Args) (any, error) {
	if err := arity("replace", a, 2, 3); err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	var texts [2]string
	for i := range texts {
		t, ok := textOf(a.Pos[i])
		if !ok {
			if err := undefinedIn(a.Pos[i]); err != nil {
				return nil, err
			}
			return nil, typeError("replace() argument %d must be str, not %s", i+1, TypeName(a.Pos[i]))
		}
		texts[i] = t
	}
	n, err := Whole(arg(a, 2, int64(-1)))
	if err != nil {
		return nil, err
	}
	out, err := Replace(w, s, texts[0], texts[1], n)
	return likewise(v, out), err
}

// Replace is str.replace, paid for before it is done.
func Replace(w *Work, s, old, with string, n int64) (string, error) {
	times := int64(strings.Count(s, old))
	if n >= 0 {
		times = min(times, n)
	}
	size := int64(len(s)) + times*int64(len(with))
	if size > 1<<40 {
		return "", w.Grow(-1)
	}
	if err := w.Grow(int(size)); err != nil {
		return "", err
	}
	return strings.Replace(s, old, with, int(times)), nil
}

// within is the part of s that the optional arguments from the i-th on name, and where it begins in characters.
func within(s string, a Args, i int) (string, int, bool, error) {
	if len(a.Pos) <= i {
		return s, 0, true, nil
	}
	r := []rune(s)
	from, err := bound(arg(a, i, nil), 0, len(r), 0, len(r)+1)
	if err != nil {
		return "", 0, false, err
	}
	to, err := bound(arg(a, i+1, nil), len(r), len(r), 0, len(r))
	if err != nil {
		return "", 0, false, err
	}
	if from > to {
		return "", from, false, nil
	}
	return string(r[from:to]), from, true, nil
}

func strStarts(w *Work, name string, v any, a Args) (any, error) {
	if err := arity(name, a, 1, 3); err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	s, _, ok, err := within(s, a, 1)
	if err != nil {
		return nil, err
	}
	choices := []any{a.Pos[0]}
	if t, isTuple := a.Pos[0].(*Tuple); isTuple {
		choices = t.Items
	}
	for _, c := range choices {
		x, isText := textOf(c)
		if !isText {
			if err := undefinedIn(c); err != nil {
				return nil, err
			}
			return nil, typeError("%s first arg must be str or a tuple of str, not %s", name, TypeName(c))
		}
		if ok && (name == "startswith" && strings.HasPrefix(s, x) || name == "endswith" && strings.HasSuffix(s, x)) {
			return true, nil
		}
	}
	return false, nil
}

func strFind(name string, v any, a Args) (any, error) {
	if err := arity(name, a, 1, 3); err != nil {
		return nil, err
	}
	s, _ := textOf(v)
	s, from, ok, err := within(s, a, 1)
	if err != nil {
		return nil, err
	}
	x, isText := textOf(a.Pos[0])
	if !isText {
		return nil, typeError("must be str, not %s", TypeName(a.Pos[0]))
	}
	if name == "count" {
		if !ok {
			return int64(0), nil
		}
		return int64(strings.Count(s, x)), nil
	}
	at := -1
	if ok && name[0] == 'r' {
		at = strings.LastIndex(s, x)
	} else if ok {
		at = strings.Index(s, x)
	}
	if at >= 0 {
		return int64(utf8.RuneCountInString(s[:at]) + from), nil
	}
	if strings.HasSuffix(name, "index") {
		return nil, valueError("substring not found")
	}
	return int64(-1), nil
}

func strTranslate(w *Work, v any, a Args) (any, error) {
	if err := arity("str.translate", a, 1, 1); err != nil {
		return nil, err
	}
	table, ok := a.Pos[0].(*Dict)
	if !ok {
		return nil, typeError("'%s' object is not subscriptable", TypeName(a.Pos[0]))
	}
	s, _ := textOf(v)
	var b strings.Builder
	for _, r := range s {
		to, ok, _ := table.Get(int64(r))
		switch x := to.(type) {
		case string:
			b.WriteString(x)
		case int64:
			b.WriteRune(rune(x))
		default:
			if !ok {
				b.WriteRune(r)
			}
		}
		if err := w.Grow(1 + b.Len()/1024); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}
