package py

import (
	"slices"
	"strings"
)

// Signature declares the parameters of a function as Python does, and binds arguments with Python's errors.
type Signature struct {
	Name     string // as errors name it
	Params   []Param
	Varargs  bool // *args: the last value but one, or the last, is a *Tuple
	Kwargs   bool // **kwargs: the last value is a *Dict
	KwOnly   int  // from which parameter on only keywords are taken; 0 none
	Internal int  // how many of the first arguments Jinja gives itself: they count in errors
}

// Param is one parameter.
type Param struct {
	Name     string
	Default  any
	Optional bool
}

// Sig reads a signature: Sig("indent", "s", "width=", ...) with the values of the defaults in turn.
func Sig(name, params string, defaults ...any) Signature {
	s := Signature{Name: name}
	for _, p := range strings.Fields(params) {
		switch {
		case strings.HasPrefix(p, "**"):
			s.Kwargs = true
		case p == "*":
			s.KwOnly = len(s.Params)
		case strings.HasPrefix(p, "*"):
			s.Varargs = true
		case strings.HasSuffix(p, "="):
			s.Params = append(s.Params, Param{strings.TrimSuffix(p, "="), defaults[0], true})
			defaults = defaults[1:]
		default:
			s.Params = append(s.Params, Param{Name: p})
		}
	}
	return s
}

// positional is how many arguments may come by place.
func (s *Signature) positional() int {
	if s.KwOnly > 0 {
		return s.KwOnly
	}
	return len(s.Params)
}

// Bind puts arguments into the order of the parameters.
func (s *Signature) Bind(a Args) ([]any, error) {
	out := make([]any, len(s.Params), len(s.Params)+2)
	given := make([]bool, len(s.Params))
	n := copy(out[:s.positional()], a.Pos)
	for i := range n {
		given[i] = true
	}
	if len(a.Pos) > n && !s.Varargs {
		return nil, s.tooMany(len(a.Pos))
	}
	extra := NewDict()
	for _, k := range a.Kw {
		i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == k.Name })
		switch {
		case i >= 0 && given[i]:
			return nil, typeError("%s() got multiple values for argument '%s'", s.Name, k.Name)
		case i >= 0:
			out[i], given[i] = k.Value, true
		case s.Kwargs:
			extra.SetStr(k.Name, k.Value)
		default:
			return nil, typeError("%s() got an unexpected keyword argument '%s'", s.Name, k.Name)
		}
	}
	var missing []string
	for i, p := range s.Params {
		if !given[i] {
			if out[i] = p.Default; !p.Optional {
				missing = append(missing, quote(p.Name))
			}
		}
	}
	if len(missing) > 0 {
		return nil, s.missing(missing)
	}
	if s.Varargs {
		out = append(out, &Tuple{Items: a.Pos[n:]})
	}
	if s.Kwargs {
		out = append(out, extra)
	}
	return out, nil
}

func (s *Signature) missing(names []string) error {
	list := names[0]
	switch n := len(names); {
	case n == 2:
		list = names[0] + " and " + names[1]
	case n > 2:
		list = strings.Join(names[:n-1], ", ") + ", and " + names[n-1]
	}
	plural := ""
	if len(names) > 1 {
		plural = "s"
	}
	return typeError("%s() missing %d required positional argument%s: %s", s.Name, len(names), plural, list)
}

func (s *Signature) tooMany(n int) error {
	least, most := s.Internal, s.Internal+s.positional()
	for _, p := range s.Params[:s.positional()] {
		if !p.Optional {
			least++
		}
	}
	n += s.Internal
	were := "were"
	if n == 1 {
		were = "was"
	}
	plural := "s"
	if most == 1 {
		plural = ""
	}
	if least != most {
		return typeError("%s() takes from %d to %d positional argument%s but %d %s given", s.Name, least, most, plural,
			n, were)
	}
	return typeError("%s() takes %d positional argument%s but %d %s given", s.Name, most, plural, n, were)
}
