package py

import "strings"

// undefinedAt is what an access gives that finds nothing; like tells whether it is lenient.
func undefinedAt(obj, name any, like *Undefined) *Undefined {
	u := &Undefined{HasObj: true, Obj: obj, Name: name}
	if like != nil {
		u.Lenient = like.Lenient
	}
	return u
}

// unsafeAt is what the sandbox gives in place of an attribute that is none of the template's business.
func unsafeAt(obj any, name string, like *Undefined) *Undefined {
	u := undefinedAt(obj, name, like)
	u.Hint = "access to attribute " + quote(name) + " of " + quote(TypeName(obj)) + " object is unsafe."
	u.Security = true
	return u
}

// GetAttr is v.name as the sandbox of Jinja does it: the attribute, else the item, else an undefined value like like.
func GetAttr(w *Work, v any, name string, like *Undefined) (any, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.Err()
	}
	if got, ok := Attr(v, name); ok {
		if strings.HasPrefix(name, "_") {
			return unsafeAt(v, name, like), nil
		}
		return got, nil
	}
	item, ok, err := Item(w, v, name)
	if ok || err != nil {
		return item, err
	}
	return undefinedAt(v, name, like), nil
}

// GetItem is v[key] as the sandbox does it: the item, else the attribute, else an undefined value.
func GetItem(w *Work, v, key any, like *Undefined) (any, error) {
	item, ok, err := Item(w, v, key)
	if ok || err != nil {
		return item, err
	}
	if name, isText := textOf(key); isText {
		if got, ok := Attr(v, name); ok {
			if strings.HasPrefix(name, "_") {
				return unsafeAt(v, name, like), nil
			}
			return got, nil
		}
	}
	return undefinedAt(v, key, like), nil
}

// Call calls a value.
func Call(w *Work, v any, a Args) (any, error) {
	if u, ok := v.(*Undefined); ok {
		return nil, u.Err()
	}
	c, ok := v.(Caller)
	if !ok {
		return nil, typeError("'%s' object is not callable", TypeName(v))
	}
	return c.Call(w, a)
}
