package py

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/wire/python"
)

// onText makes a method of a function on text that gives text. Markup stays Markup.
func onText(name string, least, most int, f func(w *Work, s string, a Args) (string, error)) method {
	return func(w *Work, v any, a Args) (any, error) {
		if err := arity("str."+name, a, least, most); err != nil {
			return nil, err
		}
		s, _ := textOf(v)
		out, err := w.grown(f(w, s, a))
		if _, ok := v.(Markup); ok {
			return Markup(out), err
		}
		return out, err
	}
}

func plain(name string, f func(s string) string) method {
	return onText(name, 0, 0, func(_ *Work, s string, _ Args) (string, error) { return f(s), nil })
}

func isAll(name string, f func(s string) bool) method {
	return func(w *Work, v any, a Args) (any, error) {
		s, _ := textOf(v)
		return f(s), arity("str."+name, a, 0, 0)
	}
}

// strMethod finds a method of str.
func strMethod(name string) method {
	switch name {
	case "upper":
		return plain(name, Upper)
	case "lower":
		return plain(name, strings.ToLower)
	case "casefold":
		return plain(name, func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ß", "ss") })
	case "title":
		return plain(name, Title)
	case "capitalize":
		return plain(name, Capitalize)
	case "swapcase":
		return plain(name, swapcase)
	case "strip", "lstrip", "rstrip":
		return onText(name, 0, 1, func(_ *Work, s string, a Args) (string, error) { return strip(name, s, a) })
	case "center", "ljust", "rjust":
		return onText(name, 1, 2, func(w *Work, s string, a Args) (string, error) { return justify(w, name, s, a) })
	case "zfill":
		return onText(name, 1, 1, zfill)
	case "removeprefix", "removesuffix":
		return onText(name, 1, 1, func(_ *Work, s string, a Args) (string, error) { return remove(name, s, a) })
	case "expandtabs":
		return strExpandtabs
	case "split", "rsplit":
		return func(w *Work, v any, a Args) (any, error) { return strSplit(w, name, v, a) }
	case "splitlines":
		return strSplitlines
	case "partition", "rpartition":
		return func(w *Work, v any, a Args) (any, error) { return strPartition(name, v, a) }
	case "join":
		return strJoin
	case "replace":
		return strReplace
	case "startswith", "endswith":
		return func(w *Work, v any, a Args) (any, error) { return strStarts(w, name, v, a) }
	case "find", "rfind", "index", "rindex", "count":
		return func(w *Work, v any, a Args) (any, error) { return strFind(name, v, a) }
	case "format", "format_map":
		return func(w *Work, v any, a Args) (any, error) { return strFormat(w, name, v, a) }
	case "encode":
		return strEncode
	case "translate":
		return strTranslate
	}
	return strTest(name)
}

// strTest finds a method that asks for the kind of all characters.
func strTest(name string) method {
	all := func(f func(r rune) bool) method {
		return isAll(name, func(s string) bool {
			return s != "" && strings.IndexFunc(s, func(r rune) bool { return !f(r) }) < 0
		})
	}
	switch name {
	case "isalpha":
		return all(unicode.IsLetter)
	case "isdigit":
		return all(func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("¹²³", r) })
	case "isdecimal":
		return all(unicode.IsDigit)
	case "isnumeric":
		return all(unicode.IsNumber)
	case "isalnum":
		return all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case "isspace":
		return all(python.IsSpace)
	case "isascii":
		return isAll(name, func(s string) bool {
			return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		})
	case "isprintable":
		return isAll(name, func(s string) bool {
			return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
		})
	case "isupper":
		return isAll(name, func(s string) bool { return IsUpper(s) })
	case "islower":
		return isAll(name, func(s string) bool { return IsLower(s) })
	case "istitle":
		return isAll(name, func(s string) bool { return s == Title(s) && (IsUpper(s) || strings.ToLower(s) != s) })
	case "isidentifier":
		return isAll(name, func(s string) bool {
			for i, r := range s {
				if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
					return false
				}
			}
			return s != ""
		})
	}
	return nil
}

// Upper is str.upper.
func Upper(s string) string { return strings.ReplaceAll(strings.ToUpper(s), "ß", "SS") }

// IsUpper is str.isupper.
func IsUpper(s string) bool { return strings.ToUpper(s) == s && strings.ToLower(s) != s }

// IsLower is str.islower.
func IsLower(s string) bool { return strings.ToLower(s) == s && strings.ToUpper(s) != s }

// Title is str.title.
func Title(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			inWord = false
			return r
		}
		if inWord {
			return unicode.ToLower(r)
		}
		inWord = true
		return unicode.ToTitle(r)
	}, s)
}

// Capitalize is str.capitalize.
func Capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[n:])
}

func swapcase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func needText(name string, v any) (string, error) {
	if u, ok := v.(*Undefined); ok && !u.Lenient {
		return "", u.Err()
	}
	s, ok := textOf(v)
	if !ok {
		return "", typeError("%s arg must be None or str", name)
	}
	return s, nil
}

func strip(name, s string, a Args) (string, error) {
	in := python.IsSpace
	if chars := arg(a, 0, nil); chars != nil {
		set, err := needText(name, chars)
		if err != nil {
			return "", err
		}
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if name != "rstrip" {
		s = strings.TrimLeftFunc(s, in)
	}
	if name != "lstrip" {
		s = strings.TrimRightFunc(s, in)
	}
	return s, nil
}

// Pad is n copies of a character, paid for.
func Pad(w *Work, fill string, n int64) (string, error) {
	if n <= 0 {
		return "", nil
	}
	if n > 1<<40 {
		return "", w.Grow(-1)
	}
	if err := w.Grow(int(n) * len(fill)); err != nil {
		return "", err
	}
	return strings.Repeat(fill, int(n)), nil
}

func justify(w *Work, name, s string, a Args) (string, error) {
	width, err := Whole(a.Pos[0])
	if err != nil {
		return "", err
	}
	fill := " "
	if len(a.Pos) > 1 {
		f, ok := textOf(a.Pos[1])
		if !ok {
			return "", typeError("The fill character must be a unicode character, not %s", TypeName(a.Pos[1]))
		}
		if utf8.RuneCountInString(f) != 1 {
			return "", typeError("The fill character must be exactly one character long")
		}
		fill = f
	}
	n := width - int64(utf8.RuneCountInString(s))
	if n <= 0 {
		return s, nil
	}
	left := map[string]int64{"ljust": 0, "rjust": n, "center": n/2 + n&width&1}[name]
	l, err := Pad(w, fill, left)
	if err != nil {
		return "", err
	}
	r, err := Pad(w, fill, n-left)
	return l + s + r, err
}

func zfill(w *Work, s string, a Args) (string, error) {
	width, err := Whole(a.Pos[0])
	if err != nil {
		return "", err
	}
	zeros, err := Pad(w, "0", width-int64(utf8.RuneCountInString(s)))
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1] + zeros + s[1:], err
	}
	return zeros + s, err
}

func remove(name, s string, a Args) (string, error) {
	x, ok := textOf(a.Pos[0])
	if !ok {
		return "", typeError("%s() argument must be str, not %s", name, TypeName(a.Pos[0]))
	}
	if name == "removeprefix" {
		return strings.TrimPrefix(s, x), nil
	}
	return strings.TrimSuffix(s, x), nil
}

func strExpandtabs(w *Work, v any, a Args) (any, error) {
	s, _ := textOf(v)
	size := arg(a, 0, int64(8))
	if t, ok := a.Take("tabsize"); ok {
		size = t
	}
	n, err := Whole(size)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	col := int64(0)
	for _, r := range s {
		switch {
		case r == '\t' && n > 0:
			pad, err := Pad(w, " ", n-col%n)
			if err != nil {
				return nil, err
			}
			b.WriteString(pad)
			col += n - col%n
		case r == '\t':
		default:
			b.WriteRune(r)
			col++
			if r == '\n' || r == '\r' {
				col = 0
			}
		}
	}
	return b.String(), nil
}
