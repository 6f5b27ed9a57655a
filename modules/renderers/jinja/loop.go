package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
	"brine/modules/renderers/jinja/syntax"
)

// loop is the variable loop: where a for stands.
type loop struct {
	run           *run
	stmt          *syntax.For
	next          py.Next
	length        int // of what is looped over, -1 where it is not known
	index0        int
	before        any
	current       any
	after         any
	hasAfter, end bool
	changedTo     *py.Tuple
	depth0        int
}

// TypeName is that of Jinja's class.
func (l *loop) TypeName() string { return "LoopContext" }

// Qualified is the name with its module.
func (l *loop) Qualified() string { return "jinja2.runtime.LoopContext" }

// Print is how the variable shows itself.
func (l *loop) Print(*py.Work, bool) (string, error) {
	n, err := l.Len()
	return "<LoopContext " + itoa(l.index0+1) + "/" + itoa(n) + ">", err
}

// advance takes the next value.
func (l *loop) advance() (bool, error) {
	var v any
	ok := false
	var err error
	if l.hasAfter {
		v, ok, l.hasAfter = l.after, true, false
	} else if !l.end {
		v, ok, err = l.next()
	}
	if !ok || err != nil {
		l.end = true
		return false, err
	}
	l.index0++
	l.before, l.current = l.current, v
	return true, nil
}

func (l *loop) peek() (any, bool, error) {
	if l.hasAfter || l.end {
		return l.after, l.hasAfter, nil
	}
	v, ok, err := l.next()
	if !ok || err != nil {
		l.end = true
		return nil, false, err
	}
	l.after, l.hasAfter = v, true
	return v, true, nil
}

// Len is loop.length.
func (l *loop) Len() (int, error) {
	if l.length >= 0 {
		return l.length, nil
	}
	rest, err := py.Drain(l.run.work, l.next)
	if err != nil {
		return 0, err
	}
	l.length = len(rest) + l.index0 + 1
	if l.hasAfter {
		l.length++
	}
	left := &py.List{Items: rest}
	l.next, err = py.Iterate(left)
	return l.length, err
}

// attribute is one of the attributes that may have to read ahead.
func (l *loop) attribute(name string) (any, bool, error) {
	switch name {
	case "index":
		return int64(l.index0 + 1), true, nil
	case "index0":
		return int64(l.index0), true, nil
	case "first":
		return l.index0 == 0, true, nil
	case "depth":
		return int64(l.depth0 + 1), true, nil
	case "depth0":
		return int64(l.depth0), true, nil
	case "last":
		_, more, err := l.peek()
		return !more, true, err
	case "length", "revindex", "revindex0":
		n, err := l.Len()
		if name != "length" {
			n -= l.index0
		}
		if name == "revindex0" {
			n--
		}
		return int64(n), true, err
	case "previtem":
		if l.index0 == 0 {
			return l.run.hinted("there is no previous item"), true, nil
		}
		return l.before, true, nil
	case "nextitem":
		v, more, err := l.peek()
		if !more {
			v = l.run.hinted("there is no next item")
		}
		return v, true, err
	case "cycle", "changed":
		return &loopMethod{l, name}, true, nil
	}
	return nil, false, nil
}

// Attr is for those who cannot take an error; it is the value of the attribute all the same.
func (l *loop) Attr(name string) (any, bool) {
	v, ok, err := l.attribute(name)
	if err != nil {
		return l.run.hinted(err.Error()), true
	}
	return v, ok
}

// Call renders the loop's body for other values: loop(children).
func (l *loop) Call(_ *py.Work, a py.Args) (any, error) {
	if !l.stmt.Recursive {
		return nil, py.Errorf("TypeError", "The loop must have the 'recursive' marker to be called recursively.")
	}
	if len(a.Pos) != 1 || len(a.Kw) > 0 {
		return nil, py.Errorf("TypeError", "LoopContext.__call__() takes 2 positional arguments but %d were given",
			len(a.Pos)+1)
	}
	return l.run.recurse(l.stmt, a.Pos[0], l.depth0+1)
}

// loopMethod is loop.cycle or loop.changed.
type loopMethod struct {
	l    *loop
	name string
}

// TypeName is that of Python.
func (m *loopMethod) TypeName() string { return "method" }

// Call calls it.
func (m *loopMethod) Call(w *py.Work, a py.Args) (any, error) {
	if m.name == "cycle" {
		if len(a.Pos) == 0 {
			return nil, py.Errorf("TypeError", "no items for cycling given")
		}
		return a.Pos[m.l.index0%len(a.Pos)], nil
	}
	now := &py.Tuple{Items: a.Pos}
	if m.l.changedTo != nil {
		if eq, err := py.Equal(w, m.l.changedTo, now); eq || err != nil {
			return false, err
		}
	}
	m.l.changedTo = now
	return true, nil
}

func (r *run) loop(s *syntax.For) error {
	r.f.line = s.At()
	iter, err := r.eval(s.Iter)
	if err != nil {
		return err
	}
	if !s.Recursive {
		return r.iterate(s, iter, 0)
	}
	out, err := r.recurse(s, iter, 0)
	if err != nil {
		return err
	}
	text, _ := py.Text(out)
	return r.write(text)
}

// recurse runs a recursive loop at one depth and returns what it prints.
func (r *run) recurse(s *syntax.For, iter any, depth int) (any, error) {
	f := &frame{tmpl: r.f.tmpl, line: s.At()}
	if err := r.enter(f); err != nil {
		return nil, err
	}
	var out strings.Builder
	in := &run{vm: r.vm, s: r.s, f: f, out: &out, root: r.root}
	err := in.leave(in.iterate(s, iter, depth))
	if err == nil {
		err = r.work.Grow(out.Len())
	}
	if r.s.room.autoescape {
		return py.Markup(out.String()), err
	}
	return out.String(), err
}

// iterate runs the body of a loop for each value.
func (r *run) iterate(s *syntax.For, iter any, depth int) error {
	next, err := py.Iterate(iter)
	if err != nil {
		return err
	}
	l := &loop{run: r, stmt: s, length: -1, index0: -1, depth0: depth, next: next}
	if s.Test != nil {
		l.next = r.filtered(s, next)
	} else if n, err := py.Len(iter); err == nil {
		l.length = n
	}
	empty := true
	for {
		r.f.line = s.At()
		more, err := l.advance()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := r.work.Step(1); err != nil {
			return err
		}
		in := r.inner()
		if s.UsesLoop {
			in.s.set("loop", l)
		}
		if err := in.set(s.Target, l.current); err != nil {
			return err
		}
		err = in.body(s.Body)
		if end, ok := err.(*loopEnd); ok {
			if end.word == "break" {
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		empty = false
	}
	if empty && s.Else != nil {
		return r.inner().body(s.Else)
	}
	return nil
}

// filtered reads only the values for which the loop's condition holds.
func (r *run) filtered(s *syntax.For, next py.Next) py.Next {
	return func() (any, bool, error) {
		for {
			v, ok, err := next()
			if !ok || err != nil {
				return nil, false, err
			}
			if err := r.work.Step(1); err != nil {
				return nil, false, err
			}
			in := r.inner()
			if err := in.set(s.Target, v); err != nil {
				return nil, false, err
			}
			keep, err := in.truth(s.Test)
			if err != nil {
				return nil, false, err
			}
			if keep {
				return v, true, nil
			}
		}
	}
}
