package py

func dictMethod(name string) method {
	switch name {
	case "get":
		return dictGet
	case "keys", "values", "items":
		return func(w *Work, v any, a Args) (any, error) {
			return &View{name, v.(*Dict)}, arity("dict."+name, a, 0, 0)
		}
	case "update":
		return dictUpdate
	case "setdefault":
		return dictSetdefault
	case "pop":
		return dictPop
	case "popitem":
		return dictPopitem
	case "copy":
		return func(w *Work, v any, a Args) (any, error) {
			return v.(*Dict).Copy(), w.Grow(4 * slot * v.(*Dict).Len())
		}
	case "clear":
		return func(w *Work, v any, a Args) (any, error) {
			v.(*Dict).Clear()
			return nil, arity("dict.clear", a, 0, 0)
		}
	case "fromkeys":
		return dictFromkeys
	case "move_to_end":
		return dictMoveToEnd
	}
	return nil
}

func dictGet(w *Work, v any, a Args) (any, error) {
	if err := arity("get", a, 1, 2); err != nil {
		return nil, err
	}
	got, ok, err := v.(*Dict).Get(a.Pos[0])
	if !ok {
		return arg(a, 1, nil), err
	}
	return got, nil
}

// keyError is the error of a key that is not there.
func keyError(w *Work, key any) error {
	shown, err := Repr(w, key)
	if err != nil {
		return err
	}
	return Errorf("KeyError", "%s", shown)
}

// DictOf is dict(source, **kw).
func DictOf(w *Work, into *Dict, a Args) error {
	if len(a.Pos) > 1 {
		return typeError("dict expected at most 1 argument, got %d", len(a.Pos))
	}
	if len(a.Pos) == 1 {
		if err := into.merge(w, a.Pos[0]); err != nil {
			return err
		}
	}
	for _, k := range a.Kw {
		into.SetStr(k.Name, k.Value)
	}
	return w.Grow(4 * slot * len(a.Kw))
}

// merge takes over a dictionary or pairs.
func (d *Dict) merge(w *Work, v any) error {
	if o, ok := v.(*Dict); ok {
		d.Update(o)
		return w.Grow(4 * slot * o.Len())
	}
	if _, ok := v.(Bytes); ok {
		return typeError("cannot convert dictionary update sequence element #0 to a sequence")
	}
	items, err := Collect(w, v)
	if err != nil {
		return err
	}
	for i, item := range items {
		if !IsIterable(item) {
			return typeError("cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		pair, err := Collect(w, item)
		if err != nil {
			return err
		}
		if len(pair) != 2 {
			return valueError("dictionary update sequence element #%d has length %d; 2 is required", i, len(pair))
		}
		if err := d.Set(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func dictUpdate(w *Work, v any, a Args) (any, error) {
	if len(a.Pos) > 1 {
		return nil, typeError("update expected at most 1 argument, got %d", len(a.Pos))
	}
	return nil, DictOf(w, v.(*Dict), a)
}

func dictSetdefault(w *Work, v any, a Args) (any, error) {
	if err := arity("setdefault", a, 1, 2); err != nil {
		return nil, err
	}
	d := v.(*Dict)
	got, ok, err := d.Get(a.Pos[0])
	if ok || err != nil {
		return got, err
	}
	def := arg(a, 1, nil)
	if err := w.Grow(4 * slot); err != nil {
		return nil, err
	}
	return def, d.Set(a.Pos[0], def)
}

func dictPop(w *Work, v any, a Args) (any, error) {
	if err := arity("pop", a, 1, 2); err != nil {
		return nil, err
	}
	got, ok, err := v.(*Dict).Delete(a.Pos[0])
	switch {
	case err != nil || ok:
		return got, err
	case len(a.Pos) == 2:
		return a.Pos[1], nil
	}
	return nil, keyError(w, a.Pos[0])
}

func dictPopitem(w *Work, v any, a Args) (any, error) {
	d := v.(*Dict)
	keys := d.Keys()
	if len(keys) == 0 {
		return nil, Errorf("KeyError", "'popitem(): dictionary is empty'")
	}
	k := keys[len(keys)-1]
	got, _, err := d.Delete(k)
	return NewTuple(k, got), err
}

func dictFromkeys(w *Work, v any, a Args) (any, error) {
	if err := arity("fromkeys", a, 1, 2); err != nil {
		return nil, err
	}
	out := NewDict()
	keys, err := Collect(w, a.Pos[0])
	for _, k := range keys {
		if err == nil {
			err = out.Set(k, arg(a, 1, nil))
		}
	}
	return out, err
}

func dictMoveToEnd(w *Work, v any, a Args) (any, error) {
	d := v.(*Dict)
	if len(a.Pos) == 0 {
		return nil, typeError("move_to_end() missing required argument 'key' (pos 1)")
	}
	got, ok, err := d.Delete(a.Pos[0])
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, keyError(w, a.Pos[0])
	}
	return nil, d.Set(a.Pos[0], got)
}

func setMethod(name string) method {
	switch name {
	case "add":
		return func(w *Work, v any, a Args) (any, error) {
			if err := arity("set.add", a, 1, 1); err != nil {
				return nil, err
			}
			return nil, v.(*Set).Add(a.Pos[0])
		}
	case "union", "intersection", "difference", "issubset", "issuperset", "symmetric_difference":
		return func(w *Work, v any, a Args) (any, error) { return setOp(w, name, v.(*Set), a) }
	}
	return nil
}

func setOp(w *Work, name string, s *Set, a Args) (any, error) {
	if err := arity(name, a, 1, 1); err != nil {
		return nil, err
	}
	items, err := Collect(w, a.Pos[0])
	if err != nil {
		return nil, err
	}
	o, err := NewSet(items...)
	if err != nil {
		return nil, err
	}
	return Sets(name, s, o)
}

// Sets is an operation of two sets by the name of its method.
func Sets(name string, s, o *Set) (any, error) {
	switch name {
	case "union":
		return NewSet(append(s.Items(), o.Items()...)...)
	case "intersection":
		return s.filter(o.Has)
	case "difference":
		return s.without(o)
	case "issubset":
		d, err := s.without(o)
		return err == nil && d.Len() == 0, err
	case "issuperset":
		d, err := o.without(s)
		return err == nil && d.Len() == 0, err
	}
	x, err := s.without(o)
	if err != nil {
		return nil, err
	}
	y, err := o.without(s)
	if err != nil {
		return nil, err
	}
	return NewSet(append(x.Items(), y.Items()...)...)
}
