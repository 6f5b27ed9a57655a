package grains

import (
	"fmt"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// cutLast splits a path before its last step; ok is false for a single name.
func cutLast(key, delim string) (head, tail string, ok bool) {
	i := -1
	if delim != "" {
		i = strings.LastIndex(key, delim)
	}
	if i < 0 {
		return key, "", false
	}
	return key[:i], key[i+len(delim):], true
}

type added struct {
	Key       any  `arg:"key"`
	Val       any  `arg:"val"`
	Convert   bool `arg:"convert=False"`
	Delimiter any  `arg:"delimiter=:"`
}

func appendVal(c *loader.Call, a added) (any, error) {
	key, delim, val := python.Str(a.Key), python.Str(a.Delimiter), a.Val
	old, found := own(c, key, delim)
	if !found {
		old = []any{}
	}
	list, ok := old.([]any)
	if !ok && a.Convert {
		list, ok = []any{old}, true
		if old == nil {
			list = []any{}
		}
	}
	switch {
	case !ok:
		return fmt.Sprintf("The key %s is not a valid list", key), nil
	case dicts.Contains(list, val):
		return fmt.Sprintf("The val %s was already in the list %s", python.Str(val), key), nil
	}
	if more, isList := val.([]any); isList {
		list = append(list, more...)
	} else {
		list = append(list, val)
	}
	return storeInside(c, key, delim, list)
}

type removed struct {
	Key       any `arg:"key"`
	Val       any `arg:"val"`
	Delimiter any `arg:"delimiter=:"`
}

func remove(c *loader.Call, a removed) (any, error) {
	key, delim, val := python.Str(a.Key), python.Str(a.Delimiter), a.Val
	old, found := own(c, key, delim)
	if !found {
		old = []any{}
	}
	list, ok := old.([]any)
	if !ok {
		return fmt.Sprintf("The key %s is not a valid list", key), nil
	}
	for i, v := range list {
		if payload.Equal(v, val) {
			return storeInside(c, key, delim, append(list[:i:i], list[i+1:]...))
		}
	}
	return fmt.Sprintf("The val %s was not in the list %s", python.Str(val), key), nil
}

// storeInside puts a value at its place inside the maps above it and stores the whole grain.
func storeInside(c *loader.Call, key, delim string, value any) (any, error) {
	for {
		head, tail, ok := cutLast(key, delim)
		if !ok {
			return store(c, payload.M(key, value), storing{RefreshPillar: true})
		}
		outer, found := own(c, head, delim)
		if !found {
			outer = payload.NewMap(1)
		}
		if m, isMap := outer.(*payload.Map); isMap {
			m.Set(tail, value)
		}
		key, value = head, outer
	}
}

type keyDeleted struct {
	Key   any  `arg:"key"`
	Force bool `arg:"force=False"`
}

func delkey(c *loader.Call, a keyDeleted) (*payload.Map, error) {
	return change(c, placed{Key: a.Key, Force: a.Force, Destructive: true, Delimiter: ":"})
}

type valueDeleted struct {
	Key         any  `arg:"key"`
	Destructive bool `arg:"destructive=False"`
	Force       bool `arg:"force=False"`
}

func delval(c *loader.Call, a valueDeleted) (*payload.Map, error) {
	return change(c, placed{Key: a.Key, Force: a.Force, Destructive: a.Destructive, Delimiter: ":"})
}

// outcome is the result map of grains.set.
func outcome(comment string, changes any, ok bool) *payload.Map {
	return payload.M("comment", comment, "changes", changes, "result", ok)
}

// placed is a value and its place.
type placed struct {
	Key         any  `arg:"key"`
	Val         any  `arg:"val=''"`
	Force       bool `arg:"force=False"`
	Destructive bool `arg:"destructive=False"`
	Delimiter   any  `arg:"delimiter=:"`
}

// change is grains.set: it refuses to put a simple value in the place of a map or list, or the other way round,
// unless forced.
func change(c *loader.Call, a placed) (*payload.Map, error) {
	key, delim := python.Str(a.Key), python.Str(a.Delimiter)
	old, found := lookup(c, key, delim)
	if found && payload.Equal(old, a.Val) && (a.Val != nil || !a.Destructive) {
		return outcome("Grain is already set", payload.NewMap(0), true), nil
	}
	if text := refusal(key, old, a.Val, found, a.Force); text != "" {
		return outcome(text, payload.NewMap(0), false), nil
	}
	top, value, text := wrap(c, key, delim, a)
	if text != "" {
		return outcome(text, payload.NewMap(0), false), nil
	}
	stored, err := store(c, payload.M(top, value), storing{Destructive: a.Destructive, RefreshPillar: true})
	if err != nil {
		return nil, err
	}
	if text, failed := stored.(string); failed {
		return outcome(text, payload.NewMap(0), false), nil
	}
	return outcome("", stored, true), nil
}

func refusal(key string, old, val any, found, force bool) string {
	switch {
	case force || !found || old == nil:
		return ""
	case complexValue(old):
		return fmt.Sprintf("The key '%s' exists but is a dict or a list. Use 'force=True' to overwrite.", key)
	case complexValue(val):
		return fmt.Sprintf("The key '%s' exists and the given value is a dict or a list. "+
			"Use 'force=True' to overwrite.", key)
	}
	return ""
}

func complexValue(v any) bool {
	switch v.(type) {
	case *payload.Map, []any:
		return true
	}
	return false
}

// wrap puts the value into the maps and lists above it, up to the grain itself.
func wrap(c *loader.Call, key, delim string, a placed) (top string, whole any, refused string) {
	value := a.Val
	for {
		head, tail, ok := cutLast(key, delim)
		if !ok {
			return key, value, ""
		}
		outer, found := own(c, head, delim)
		if !found {
			outer = payload.NewMap(1)
		}
		switch x := outer.(type) {
		case *payload.Map:
			if value == nil && a.Destructive {
				x.Delete(tail)
			} else {
				x.Set(tail, value)
			}
			value = x
		case []any:
			value = intoList(x, tail, value)
		default:
			if outer != any(tail) && !a.Force {
				return "", nil, fmt.Sprintf("The key '%s' value is '%s', which is different from the provided key "+
					"'%s'. "+
					"Use 'force=True' to overwrite.", head, python.Str(outer), tail)
			}
			value = payload.M(tail, value)
		}
		key = head
	}
}

// intoList sets name in the maps of a list that have it, turns elements equal to name into such maps, and appends
// one where there is neither.
func intoList(list []any, name string, value any) []any {
	updated := false
	for i, v := range list {
		switch x := v.(type) {
		case string:
			if x == name {
				list[i], updated = payload.M(name, value), true
			}
		case *payload.Map:
			if x.Has(name) {
				x.Set(name, value)
				updated = true
			}
		}
	}
	if !updated {
		list = append(list, payload.M(name, value))
	}
	return list
}
