package jinja

import (
	"brine/modules/renderers/jinja/py"
)

// allGlobals are the variables every template sees. A func(*vm) any makes the value anew for each rendering.
func allGlobals() map[string]any {
	return map[string]any{
		"range":             &py.Func{Name: "range", Type: "type", Do: rangeOf},
		"dict":              classOf("dict", ""),
		"odict":             classOf(py.Ordered, py.Ordered),
		"namespace":         &py.Func{Name: "Namespace", Type: "type", Do: namespaceOf},
		"cycler":            &py.Func{Name: "Cycler", Type: "type", Do: cyclerOf},
		"joiner":            &py.Func{Name: "Joiner", Type: "type", Do: joinerOf},
		"raise":             &py.Func{Name: "jinja_raise", Do: raise},
		"ifelse":            &ifelse{},
		"lipsum":            &py.Func{Name: "generate_lorem_ipsum", Do: lipsum},
		"show_full_context": &showContext{},
	}
}

// maxRange is the longest range the sandbox allows.
const maxRange = 100000

func rangeOf(_ *py.Work, a py.Args) (any, error) {
	if len(a.Kw) > 0 {
		return nil, py.Errorf("TypeError", "safe_range() got an unexpected keyword argument %s", quote(a.Kw[0].Name))
	}
	if len(a.Pos) == 0 || len(a.Pos) > 3 {
		if len(a.Pos) == 0 {
			return nil, py.Errorf("TypeError", "range expected at least 1 argument, got 0")
		}
		return nil, py.Errorf("TypeError", "range expected at most 3 arguments, got %d", len(a.Pos))
	}
	n := [3]int64{0, 0, 1}
	for i, v := range a.Pos {
		x, err := py.Whole(v)
		if err != nil {
			return nil, err
		}
		n[i] = x
	}
	if len(a.Pos) == 1 {
		n[0], n[1] = 0, n[0]
	}
	if n[2] == 0 {
		return nil, py.Errorf("ValueError", "range() arg 3 must not be zero")
	}
	for _, x := range n {
		if x > 1<<61 || x < -1<<61 {
			return nil, py.Errorf("OverflowError", "Python int too large to convert to C ssize_t")
		}
	}
	r := &py.Range{Start: n[0], Stop: n[1], Step: n[2]}
	if r.Len() > maxRange {
		return nil, py.Errorf("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).",
			maxRange)
	}
	return r, nil
}

func classOf(name, class string) any {
	return &py.Func{Name: name, Type: "type", Do: func(w *py.Work, a py.Args) (any, error) {
		d := &py.Dict{Class: class}
		return d, py.DictOf(w, d, a)
	}}
}

// namespace is what namespace() makes: attributes that set can write from inside a loop.
type namespace struct{ values *py.Dict }

// TypeName is that of Jinja's class.
func (n *namespace) TypeName() string { return "Namespace" }

// Qualified is the name with its module.
func (n *namespace) Qualified() string { return "jinja2.utils.Namespace" }

// Attr is an attribute that was set.
func (n *namespace) Attr(name string) (any, bool) { return n.values.GetStr(name) }

// Item is the same.
func (n *namespace) Item(_ *py.Work, key any) (any, bool, error) { return n.values.Get(key) }

// Print shows the attributes.
func (n *namespace) Print(w *py.Work, _ bool) (string, error) {
	s, err := py.Repr(w, n.values)
	return "<Namespace " + s + ">", err
}

func namespaceOf(w *py.Work, a py.Args) (any, error) {
	n := &namespace{values: py.NewDict()}
	return n, py.DictOf(w, n.values, a)
}

// cycler is what cycler() makes.
type cycler struct {
	items []any
	pos   int
}

// TypeName is that of Jinja's class.
func (c *cycler) TypeName() string { return "Cycler" }

// Qualified is the name with its module.
func (c *cycler) Qualified() string { return "jinja2.utils.Cycler" }

// Attr are current, next and reset.
func (c *cycler) Attr(name string) (any, bool) {
	switch name {
	case "current":
		return c.items[c.pos], true
	case "items":
		return py.NewTuple(c.items...), true
	case "pos":
		return int64(c.pos), true
	case "next":
		return &py.Func{Name: "next", Type: "method", Do: func(*py.Work, py.Args) (any, error) {
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v, nil
		}}, true
	case "reset":
		return &py.Func{Name: "reset", Type: "method", Do: func(*py.Work, py.Args) (any, error) {
			c.pos = 0
			return nil, nil
		}}, true
	}
	return nil, false
}

func cyclerOf(_ *py.Work, a py.Args) (any, error) {
	if len(a.Pos) == 0 {
		return nil, py.Errorf("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: a.Pos}, nil
}

var joinerSig = py.Sig("Joiner.__init__", "sep=", ", ")

func joinerOf(_ *py.Work, a py.Args) (any, error) {
	got, err := joinerSig.Bind(a)
	if err != nil {
		return nil, err
	}
	used := false
	return &py.Func{Name: "Joiner", Type: "Joiner", Do: func(*py.Work, py.Args) (any, error) {
		if !used {
			used = true
			return "", nil
		}
		return got[0], nil
	}}, nil
}

var raiseSig = py.Sig("jinja_raise", "msg")

func raise(w *py.Work, a py.Args) (any, error) {
	got, err := raiseSig.Bind(a)
	if err != nil {
		return nil, err
	}
	text, err := py.Str(w, got[0])
	if err != nil {
		return nil, err
	}
	return nil, py.Errorf("TemplateError", "%s", text)
}

// ifelse is Salt's. Conditions that are targets are matched by the function match.ifelse, where a template has
// functions. Unlike Salt: in 3008.3 this global ends with "name '__context__' is not defined" as soon as it has a
// condition.
type ifelse struct{}

// TypeName is that of Python.
func (*ifelse) TypeName() string { return "function" }

// Call is for those without a place in a template.
func (*ifelse) Call(w *py.Work, a py.Args) (any, error) { return pick(a) }

func (*ifelse) callIn(r *run, a py.Args) (any, error) {
	if salt, ok := r.vars["salt"].(Functions); ok && salt.Find != nil {
		if find, ok := salt.Find("match.ifelse"); ok {
			return goFunc("ifelse", find).Do(r.work, a)
		}
	}
	return pick(a)
}

// pick takes true and false for conditions only.
func pick(a py.Args) (any, error) {
	n := len(a.Pos)
	if n%2 == 0 {
		return nil, py.Errorf("SaltException", "The ifelse function must have an odd number of arguments!")
	}
	for i := 0; i < n-1; i += 2 {
		on, ok := a.Pos[i].(bool)
		if !ok {
			return nil, py.Errorf("NotImplementedError", "ifelse: this template has no functions that match targets")
		}
		if on {
			return a.Pos[i+1], nil
		}
	}
	return a.Pos[n-1], nil
}

// showContext is show_full_context(): the simple values the template sees.
type showContext struct{}

// TypeName is that of Python.
func (*showContext) TypeName() string { return "function" }

// Call is for those without a place in a template.
func (*showContext) Call(*py.Work, py.Args) (any, error) {
	return nil, py.Errorf("TypeError", "show_full_context() missing 1 required positional argument: 'ctx'")
}

func (*showContext) callIn(r *run, _ py.Args) (any, error) {
	out := py.NewDict()
	add := func(name string, v any) {
		switch x := v.(type) {
		case nil, bool, int64, float64, string, *py.Dict, *py.List, *py.Tuple:
			out.SetStr(name, x)
		}
	}
	for name := range r.vars {
		v, _ := r.global(name)
		add(name, v)
	}
	for name, v := range r.s.room.vars {
		add(name, v)
	}
	return out, nil
}
