package jinja

import (
	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// eval computes an expression.
func (r *run) eval(e syntax.Expr) (any, error) {
	if err := r.work.Step(1); err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case *syntax.Const:
		return e.Value, nil
	case *syntax.Name:
		if v, ok := r.lookup(e.Name); ok {
			return v, nil
		}
		return r.undefined(e.Name), nil
	case *syntax.Getattr:
		x, err := r.eval(e.X)
		if err != nil {
			return nil, err
		}
		return py.GetAttr(r.work, x, e.Name, r.lenient)
	case *syntax.Getitem:
		return r.getitem(e)
	case *syntax.Call:
		return r.call(e, nil)
	case *syntax.Filter:
		return r.filter(e, nil)
	case *syntax.Test:
		return r.test(e)
	case *syntax.Cond:
		return r.cond(e)
	case *syntax.Bool:
		return r.boolean(e)
	}
	return r.evalMore(e)
}

func (r *run) evalMore(e syntax.Expr) (any, error) {
	switch e := e.(type) {
	case *syntax.Not:
		x, err := r.truth(e.X)
		return !x, err
	case *syntax.Compare:
		return r.compare(e)
	case *syntax.Binary:
		l, err := r.eval(e.L)
		if err != nil {
			return nil, err
		}
		right, err := r.eval(e.R)
		if err != nil {
			return nil, err
		}
		return py.Binary(r.work, e.Op, l, right)
	case *syntax.Unary:
		x, err := r.eval(e.X)
		if err != nil {
			return nil, err
		}
		return py.Unary(e.Op, x)
	case *syntax.Concat:
		return r.concat(e)
	case *syntax.List:
		items, err := r.evalAll(e.Items)
		return &py.List{Items: items}, err
	case *syntax.Tuple:
		items, err := r.evalAll(e.Items)
		return &py.Tuple{Items: items}, err
	case *syntax.Dict:
		return r.dict(e)
	case *syntax.Data:
		return e.Text, nil
	}
	return nil, py.Errorf("TypeError", "unhashable type: 'slice'")
}

func (r *run) evalAll(exprs []syntax.Expr) ([]any, error) {
	if len(exprs) == 0 {
		return nil, nil
	}
	out := make([]any, len(exprs))
	for i, e := range exprs {
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, r.work.Grow(16 * len(out))
}

func (r *run) truth(e syntax.Expr) (bool, error) {
	v, err := r.eval(e)
	if err != nil {
		return false, err
	}
	return py.Truth(v)
}

func (r *run) dict(e *syntax.Dict) (any, error) {
	d := py.NewDict()
	for i := range e.Keys {
		k, err := r.eval(e.Keys[i])
		if err != nil {
			return nil, err
		}
		v, err := r.eval(e.Values[i])
		if err != nil {
			return nil, err
		}
		if err := d.Set(k, v); err != nil {
			return nil, err
		}
	}
	return d, r.work.Grow(64 * len(e.Keys))
}

func (r *run) cond(e *syntax.Cond) (any, error) {
	ok, err := r.truth(e.Test)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return r.eval(e.Then)
	case e.Else != nil:
		return r.eval(e.Else)
	}
	return &py.Undefined{ // never a strict one
		Hint: "the inline if-expression on line " + itoa(e.At()) + " evaluated to false and no else section was " +
			"defined.",
		Lenient: true,
	}, nil
}

func (r *run) boolean(e *syntax.Bool) (any, error) {
	l, err := r.eval(e.L)
	if err != nil {
		return nil, err
	}
	ok, err := py.Truth(l)
	if err != nil || ok == e.Or {
		return l, err
	}
	return r.eval(e.R)
}

func (r *run) compare(e *syntax.Compare) (any, error) {
	l, err := r.eval(e.X)
	if err != nil {
		return nil, err
	}
	for i, op := range e.Ops {
		right, err := r.eval(e.With[i])
		if err != nil {
			return nil, err
		}
		ok, err := py.Compare(r.work, op, l, right)
		if err != nil || !ok {
			return ok, err
		}
		l = right
	}
	return true, nil
}

func (r *run) concat(e *syntax.Concat) (any, error) {
	values, err := r.evalAll(e.Items)
	if err != nil {
		return nil, err
	}
	return joinText(r, values)
}

// joinText is a ~ b: as text, or as Markup where escaping is on and there is Markup among them.
func joinText(r *run, values []any) (any, error) {
	markup := false
	if r.s.room.autoescape {
		for _, v := range values {
			_, ok := v.(py.Markup)
			markup = markup || ok
		}
	}
	text, size := "", 0
	for _, v := range values {
		s, err := py.Str(r.work, v)
		if err != nil {
			return nil, err
		}
		if _, ok := v.(py.Markup); markup && !ok {
			s = py.EscapeText(s)
		}
		size += len(s)
		if err := r.work.Grow(len(s) + len(text)/8); err != nil {
			return nil, err
		}
		text += s
	}
	if markup {
		return py.Markup(text), nil
	}
	return text, nil
}

func (r *run) getitem(e *syntax.Getitem) (any, error) {
	x, err := r.eval(e.X)
	if err != nil {
		return nil, err
	}
	if s, ok := e.Arg.(*syntax.Slice); ok {
		return r.slice(x, s)
	}
	key, err := r.eval(e.Arg)
	if err != nil {
		return nil, err
	}
	return py.GetItem(r.work, x, key, r.lenient)
}

func (r *run) slice(x any, s *syntax.Slice) (any, error) {
	var parts [3]any
	for i, e := range []syntax.Expr{s.Start, s.Stop, s.Step} {
		if e == nil {
			continue
		}
		v, err := r.eval(e)
		if err != nil {
			return nil, err
		}
		parts[i] = v
	}
	return py.Slice(r.work, x, parts[0], parts[1], parts[2])
}

// args evaluates the arguments of a call. first, if given, goes before them.
func (r *run) args(a *syntax.Args, first []any) (py.Args, error) {
	pos, err := r.evalAll(a.Pos)
	if err != nil {
		return py.Args{}, err
	}
	out := py.Args{Pos: append(first, pos...)}
	for i, name := range a.Names {
		v, err := r.eval(a.Values[i])
		if err != nil {
			return out, err
		}
		out.Kw = append(out.Kw, py.Kwarg{Name: name, Value: v})
	}
	if a.Dyn != nil {
		v, err := r.eval(a.Dyn)
		if err != nil {
			return out, err
		}
		more, err := py.Collect(r.work, v)
		if err != nil {
			return out, err
		}
		out.Pos = append(out.Pos, more...)
	}
	if a.DynK != nil {
		return out, r.dynamicKeywords(a.DynK, &out)
	}
	return out, nil
}

func (r *run) dynamicKeywords(e syntax.Expr, out *py.Args) error {
	v, err := r.eval(e)
	if err != nil {
		return err
	}
	d, ok := v.(*py.Dict)
	if !ok {
		if u, isU := v.(*py.Undefined); isU {
			return u.Err()
		}
		return py.Errorf("TypeError", "argument after ** must be a mapping, not %s", py.TypeName(v))
	}
	for k, v := range d.All() {
		name, ok := py.Text(k)
		if !ok {
			return py.Errorf("TypeError", "keywords must be strings")
		}
		for _, have := range out.Kw {
			if have.Name == name {
				return py.Errorf("TypeError", "got multiple values for keyword argument '%s'", name)
			}
		}
		out.Kw = append(out.Kw, py.Kwarg{Name: name, Value: v})
	}
	return nil
}

// contextual are values whose call depends on where it stands.
type contextual interface {
	callIn(r *run, a py.Args) (any, error)
}

// call calls; caller, if there is one, is the body of a call block.
func (r *run) call(e *syntax.Call, caller *macro) (any, error) {
	fn, err := r.eval(e.Fn)
	if err != nil {
		return nil, err
	}
	a, err := r.args(&e.Args, nil)
	if err != nil {
		return nil, err
	}
	if caller != nil {
		a.Kw = append(a.Kw, py.Kwarg{Name: "caller", Value: caller})
	}
	return r.callValue(fn, a)
}

func (r *run) callValue(fn any, a py.Args) (any, error) {
	if c, ok := fn.(contextual); ok {
		return c.callIn(r, a)
	}
	return py.Call(r.work, fn, a)
}

// filter applies a filter to its value, or to the text of a block.
func (r *run) filter(e *syntax.Filter, text any) (any, error) {
	x := text
	if e.X != nil {
		var err error
		if inner, ok := e.X.(*syntax.Filter); ok && text != nil {
			x, err = r.filter(inner, text)
		} else {
			x, err = r.eval(e.X)
		}
		if err != nil {
			return nil, err
		}
	}
	a, err := r.args(&e.Args, []any{x})
	if err != nil {
		return nil, err
	}
	return r.apply("filter", e.Name, a)
}

func (r *run) test(e *syntax.Test) (any, error) {
	x, err := r.eval(e.X)
	if err != nil {
		return nil, err
	}
	a, err := r.args(&e.Args, []any{x})
	if err != nil {
		return nil, err
	}
	return r.apply("test", e.Name, a)
}

// apply calls a filter or test by name.
func (r *run) apply(what, name string, a py.Args) (any, error) {
	table := r.engine.filters
	if what == "test" {
		table = r.engine.tests
	}
	b := table[name]
	if b == nil {
		return nil, py.Errorf("TemplateRuntimeError", "No %s named %s found.", what, quote(name))
	}
	return b.call(r, a)
}

// builtin is a filter or a test.
type builtin struct {
	sig py.Signature
	do  func(r *run, a []any) (any, error)
}

func (b *builtin) call(r *run, a py.Args) (any, error) {
	args, err := b.sig.Bind(a)
	if err != nil {
		return nil, err
	}
	return b.do(r, args)
}
