package jinja

import (
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
	"brine/wire/python"
)

func quote(s string) string { return python.Repr(s) }

func itoa(n int) string { return strconv.Itoa(n) }

// loopEnd travels as an error from break and continue to their loop.
type loopEnd struct{ word string }

func (e *loopEnd) Error() string { return "'" + e.word + "' outside loop" }

func (r *run) body(stmts []syntax.Stmt) error {
	for _, s := range stmts {
		if err := r.exec(s); err != nil {
			return err
		}
	}
	return nil
}

// exec runs one statement.
func (r *run) exec(s syntax.Stmt) error {
	if err := r.work.Step(1); err != nil {
		return err
	}
	switch s := s.(type) {
	case *syntax.Output:
		return r.print(s)
	case *syntax.If:
		return r.branch(s)
	case *syntax.For:
		return r.loop(s)
	case *syntax.Assign:
		r.f.line = s.At()
		v, err := r.eval(s.Value)
		if err != nil {
			return err
		}
		return r.set(s.Target, v)
	case *syntax.AssignBlock:
		return r.setBlock(s)
	case *syntax.Do:
		r.f.line = s.At()
		_, err := r.eval(s.X)
		return err
	case *syntax.Macro:
		r.assign(s.Name, &macro{def: s, in: r.inner(), defined: r.s.room.autoescape})
		return nil
	case *syntax.CallBlock:
		return r.callBlock(s)
	case *syntax.FilterBlock:
		return r.filterBlock(s)
	case *syntax.With:
		return r.with(s)
	case *syntax.Autoescape:
		return r.escaping(s)
	}
	return r.execMore(s)
}

func (r *run) execMore(s syntax.Stmt) error {
	switch s := s.(type) {
	case *syntax.Block:
		return r.block(s)
	case *syntax.Extends:
		return r.extends(s)
	case *syntax.Include:
		return r.include(s)
	case *syntax.Import:
		return r.importModule(s)
	case *syntax.FromImport:
		return r.fromImport(s)
	case *syntax.Load:
		return r.load(s)
	case *syntax.Break:
		return &loopEnd{"break"}
	case *syntax.Continue:
		return &loopEnd{"continue"}
	}
	return nil
}

// silent says that a template which extends another prints nothing itself.
func (r *run) silent() bool { return r.root && r.s.room.parent != nil }

func (r *run) print(s *syntax.Output) error {
	if r.silent() {
		return nil
	}
	for _, e := range s.Items {
		if d, ok := e.(*syntax.Data); ok {
			if err := r.write(d.Text); err != nil {
				return err
			}
			continue
		}
		r.f.line = e.At()
		v, err := r.eval(e)
		if err != nil {
			return err
		}
		if err := r.emit(v); err != nil {
			return err
		}
	}
	return nil
}

// emit prints a value as {{ }} does: dictionaries in Salt's way.
func (r *run) emit(v any) error {
	text, ok := v.(string)
	if !ok {
		var err error
		if text, err = py.Display(r.work, v); err != nil {
			return err
		}
	}
	if r.s.room.autoescape {
		if _, safe := v.(py.Markup); !safe {
			text = py.EscapeText(text)
		}
	}
	return r.write(text)
}

func (r *run) branch(s *syntax.If) error {
	for i, t := range s.Tests {
		r.f.line = s.Lines[i]
		ok, err := r.truth(t)
		if err != nil {
			return err
		}
		if ok {
			return r.body(s.Bodies[i])
		}
	}
	if len(s.Bodies) > len(s.Tests) {
		return r.body(s.Bodies[len(s.Tests)])
	}
	return nil
}

// set assigns to a target.
func (r *run) set(target syntax.Expr, v any) error {
	switch t := target.(type) {
	case *syntax.Name:
		r.assign(t.Name, v)
		return nil
	case *syntax.NSRef:
		got, _ := r.lookup(t.Name)
		ns, ok := got.(*namespace)
		if !ok {
			return py.Errorf("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		ns.values.SetStr(t.Attr, v)
		return r.work.Grow(64)
	case *syntax.Tuple:
		return r.unpack(t, v)
	}
	return nil
}

func (r *run) unpack(t *syntax.Tuple, v any) error {
	next, err := py.Iterate(v)
	if err != nil {
		if _, ok := v.(*py.Undefined); !ok {
			err = py.Errorf("TypeError", "cannot unpack non-iterable %s object", py.TypeName(v))
		}
		return err
	}
	want := len(t.Items)
	items := make([]any, 0, want)
	for len(items) <= want {
		item, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		items = append(items, item)
	}
	switch {
	case len(items) > want:
		return py.Errorf("ValueError", "too many values to unpack (expected %d)", want)
	case len(items) < want:
		return py.Errorf("ValueError", "not enough values to unpack (expected %d, got %d)", want, len(items))
	}
	for i, target := range t.Items {
		if err := r.set(target, items[i]); err != nil {
			return err
		}
	}
	return nil
}

// captured runs a body and returns what it prints.
func (r *run) captured(in *run, body []syntax.Stmt) (any, error) {
	var out strings.Builder
	in.out = &out
	err := in.body(body)
	if err == nil {
		err = r.work.Grow(out.Len())
	}
	if r.s.room.autoescape {
		return py.Markup(out.String()), err
	}
	return out.String(), err
}

func (r *run) setBlock(s *syntax.AssignBlock) error {
	in := r.inner()
	in.root = false
	v, err := r.captured(in, s.Body)
	if err != nil {
		return err
	}
	r.f.line = s.At()
	if s.Filter != nil {
		if v, err = r.filter(s.Filter, v); err != nil {
			return err
		}
	}
	return r.set(s.Target, v)
}

func (r *run) filterBlock(s *syntax.FilterBlock) error {
	v, err := r.captured(r.inner(), s.Body)
	if err != nil {
		return err
	}
	r.f.line = s.At()
	if v, err = r.filter(s.Filter, v); err != nil {
		return err
	}
	return r.emit(v)
}

func (r *run) callBlock(s *syntax.CallBlock) error {
	caller := &macro{def: s.Body, in: r.inner(), defined: r.s.room.autoescape}
	r.f.line = s.At()
	v, err := r.call(s.Call, caller)
	if err != nil {
		return err
	}
	return r.emit(v)
}

func (r *run) with(s *syntax.With) error {
	in := r.inner()
	for i, t := range s.Targets {
		v, err := r.eval(s.Values[i])
		if err != nil {
			return err
		}
		if err := in.set(t, v); err != nil {
			return err
		}
	}
	return in.body(s.Body)
}

func (r *run) escaping(s *syntax.Autoescape) error {
	r.f.line = s.At()
	on, err := r.truth(s.On)
	if err != nil {
		return err
	}
	old := r.s.room.autoescape
	r.s.room.autoescape = on
	err = r.inner().body(s.Body)
	r.s.room.autoescape = old
	return err
}

// load is Salt's load_yaml and its like.
func (r *run) load(s *syntax.Load) error {
	m := &macro{def: &syntax.Macro{Pos: s.Pos, Body: s.Body}, in: r.inner(), defined: r.s.room.autoescape}
	r.f.line = s.At()
	text, err := m.callIn(r, py.Args{})
	if err != nil {
		return err
	}
	v, err := r.apply("filter", "load_"+s.Format, py.Args{Pos: []any{text}})
	if err != nil {
		return err
	}
	return r.set(s.Target, v)
}
