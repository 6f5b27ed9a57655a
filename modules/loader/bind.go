package loader

import (
	"fmt"
	"strings"

	"brine/wire/payload"
)

// Bind fits arguments to a signature as a Python call does. The ArgumentError it returns has CPython's words,
// checked in CPython's order: keywords first, then the count of positional arguments, then what is missing.
func Bind(f *Func, args []any, kw *payload.Map) (Args, error) {
	b := binder{fn: f, values: make([]any, len(f.Params)), filled: make([]bool, len(f.Params))}
	b.rest = b.positional(args)
	extra, err := b.keywords(kw)
	if err != nil {
		return Args{}, err
	}
	if len(b.rest) > 0 && !f.VarArgs {
		return Args{}, tooMany(f, len(args))
	}
	if err := b.defaults(); err != nil {
		return Args{}, err
	}
	return Args{values: b.values, rest: b.rest, kw: extra}, nil
}

type binder struct {
	fn     *Func
	values []any
	filled []bool
	rest   []any
}

func (b *binder) positional(args []any) []any {
	n := min(len(args), len(b.values))
	if b.fn.ByName {
		n = 0
	}
	for i := range n {
		b.values[i], b.filled[i] = args[i], true
	}
	return args[n:]
}

func (b *binder) keywords(kw *payload.Map) (*payload.Map, error) {
	extra := payload.NewMap(0)
	for k, v := range kw.All() {
		name, ok := k.(string)
		if !ok {
			return nil, &ArgumentError{Message: "keywords must be strings"}
		}
		i := b.fn.param(name)
		switch {
		case i >= 0 && b.filled[i]:
			return nil, b.errorf("got multiple values for argument '%s'", name)
		case i >= 0:
			b.values[i], b.filled[i] = v, true
		case b.fn.KWArgs:
			extra.Set(name, v)
		default:
			return nil, b.errorf("got an unexpected keyword argument '%s'", name)
		}
	}
	return extra, nil
}

func (b *binder) defaults() error {
	var missing []string
	for i, p := range b.fn.Params {
		switch {
		case b.filled[i]:
		case p.Required:
			missing = append(missing, "'"+p.Name+"'")
		default:
			b.values[i] = p.Default
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return b.errorf("missing %d required positional argument%s: %s", len(missing), plural(len(missing)),
		enumerate(missing))
}

func (b *binder) errorf(format string, a ...any) error {
	return &ArgumentError{Message: b.fn.pyName() + "() " + fmt.Sprintf(format, a...)}
}

func tooMany(f *Func, given int) error {
	most, least := len(f.Params), 0
	for _, p := range f.Params {
		if p.Required {
			least++
		}
	}
	count, many := fmt.Sprint(most), plural(most)
	if least < most {
		count, many = fmt.Sprintf("from %d to %d", least, most), "s"
	}
	verb := "were"
	if given == 1 {
		verb = "was"
	}
	return &ArgumentError{Message: fmt.Sprintf("%s() takes %s positional argument%s but %d %s given",
		f.pyName(), count, many, given, verb)}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// enumerate joins names as CPython does: "a", "a and b", "a, b, and c".
func enumerate(names []string) string {
	switch n := len(names); n {
	case 1:
		return names[0]
	case 2:
		return names[0] + " and " + names[1]
	default:
		return strings.Join(names[:n-1], ", ") + ", and " + names[n-1]
	}
}
