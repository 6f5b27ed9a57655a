package py

import (
	"strconv"
	"strings"
)

// formatter is str.format as the sandbox allows it.
type formatter struct {
	w    *Work
	args []any
	kw   *Dict
	auto int // the number of the next {}, -1 once a number was given
	out  strings.Builder
}

func strFormat(w *Work, name string, v any, a Args) (any, error) {
	s, _ := textOf(v)
	f := &formatter{w: w, args: a.Pos, kw: NewDict()}
	for _, k := range a.Kw {
		f.kw.SetStr(k.Name, k.Value)
	}
	if name == "format_map" {
		if len(a.Kw) > 0 {
			return nil, typeError("format_map() takes no keyword arguments")
		}
		if len(a.Pos) != 1 {
			return nil, typeError("format_map() takes exactly one argument (%d given)", len(a.Pos))
		}
		d, ok := a.Pos[0].(*Dict)
		if !ok {
			return nil, typeError("'%s' object is not subscriptable", TypeName(a.Pos[0]))
		}
		f.args, f.kw = nil, d
	}
	if err := f.text(s, 2); err != nil {
		return nil, err
	}
	out, err := w.grown(f.out.String(), nil)
	return likewise(v, out), err
}

// text writes a format text with its fields. depth is how deep fields may still stand in fields.
func (f *formatter) text(s string, depth int) error {
	if depth < 0 {
		return valueError("Max string recursion exceeded")
	}
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			f.out.WriteString(s)
			return nil
		}
		f.out.WriteString(s[:i])
		c := s[i]
		s = s[i+1:]
		switch {
		case s != "" && s[0] == c:
			f.out.WriteByte(c)
			s = s[1:]
		case c == '}':
			return valueError("Single '}' encountered in format string")
		default:
			n := fieldEnd(s)
			if n < 0 {
				if s == "" {
					return valueError("Single '{' encountered in format string")
				}
				return valueError("expected '}' before end of string")
			}
			if err := f.field(s[:n], depth); err != nil {
				return err
			}
			s = s[n+1:]
		}
	}
	return nil
}

// fieldEnd finds the brace that closes a field.
func fieldEnd(s string) int {
	open := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

func (f *formatter) field(s string, depth int) error {
	name, format := s, ""
	if i := strings.IndexAny(s, ":!["); i >= 0 && s[i] == '[' {
		if j := strings.IndexByte(s[i:], ']'); j >= 0 {
			k := strings.IndexAny(s[i+j:], ":!")
			if k >= 0 {
				name = s[:i+j+k]
			}
		}
	} else if i >= 0 {
		name = s[:i]
	}
	rest := s[len(name):]
	conv := byte(0)
	if strings.HasPrefix(rest, "!") {
		if len(rest) < 2 {
			return valueError("end of string while looking for conversion specifier")
		}
		conv, rest = rest[1], rest[2:]
		if rest != "" && rest[0] != ':' {
			return valueError("expected ':' after conversion specifier")
		}
	}
	if rest != "" {
		format = rest[1:]
	}
	v, err := f.lookup(name)
	if err != nil {
		return err
	}
	switch conv {
	case 0:
	case 's':
		v, err = Str(f.w, v)
	case 'r', 'a':
		v, err = Repr(f.w, v)
	default:
		return valueError("Unknown conversion specifier %c", conv)
	}
	if err != nil {
		return err
	}
	if strings.Contains(format, "{") {
		sub := &formatter{w: f.w, args: f.args, kw: f.kw, auto: f.auto}
		if err := sub.text(format, depth-1); err != nil {
			return err
		}
		f.auto, format = sub.auto, sub.out.String()
	}
	shown, err := Format(f.w, v, format)
	f.out.WriteString(shown)
	return err
}

// first finds the value a field begins with.
func (f *formatter) first(name string) (any, error) {
	if name == "" {
		if f.auto < 0 {
			return nil, valueError("cannot switch from manual field specification to automatic field numbering")
		}
		name = strconv.Itoa(f.auto)
		f.auto++
	} else if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		if f.auto > 0 {
			return nil, valueError("cannot switch from manual field specification to automatic field numbering")
		}
		f.auto = -1
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		if n >= len(f.args) {
			return nil, Errorf("IndexError", "tuple index out of range")
		}
		return f.args[n], nil
	}
	v, ok := f.kw.GetStr(name)
	if !ok {
		return nil, Errorf("KeyError", "%s", quote(name))
	}
	return v, nil
}

// lookup follows the attributes and items of a field's name.
func (f *formatter) lookup(name string) (any, error) {
	i := strings.IndexAny(name, ".[")
	if i < 0 {
		i = len(name)
	}
	v, err := f.first(name[:i])
	for rest := name[i:]; rest != "" && err == nil; {
		if rest[0] == '.' {
			n := strings.IndexAny(rest[1:], ".[")
			if n < 0 {
				n = len(rest) - 1
			}
			v, err = GetAttr(f.w, v, rest[1:1+n], nil)
			rest = rest[1+n:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, valueError("Missing ']' in format string")
		}
		key := any(rest[1:end])
		if n, convErr := strconv.ParseInt(rest[1:end], 10, 64); convErr == nil {
			key = n
		}
		v, err = GetItem(f.w, v, key, nil)
		rest = rest[end+1:]
	}
	return v, err
}
