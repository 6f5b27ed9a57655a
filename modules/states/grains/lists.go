package grains

import (
	"strings"

	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

type listed struct {
	Name      any `arg:"name"`
	Value     any `arg:"value"`
	Delimiter any `arg:"delimiter=:"`
}

func listPresent(c *states.Call, a listed) (states.Plan, error) {
	name := key(a.Name, a.Delimiter)
	var old any = ""
	if v, found := lookup(c, name); found {
		old = v
	}
	list, isList := old.([]any)
	if python.Truth(old) && !isList {
		return named(name, states.Wrong("Grain "+name+" is not a valid list")), nil
	}
	// In test mode a state before this one may have said that it would put the value there.
	var would []any
	if c.Test {
		would = pendingOf(c, name)
	}
	missing, there := without(a.Value, list, would)
	if len(missing) == 0 {
		comment := "Value " + python.StrOrdered(a.Value) + " is already in grain " + name + " (or pending)"
		if !python.Truth(old) {
			comment = "Value " + python.StrOrdered(a.Value) + " is already pending in grain " + name
		}
		return named(name, states.Correct(comment)), nil
	}
	value, prefix := a.Value, ""
	if _, several := value.([]any); several {
		value = missing
	}
	if len(there) > 0 {
		prefix = "Removed value " + python.StrOrdered(there) + ` from update due to value found in "` + name +
			"\" (or pending).\n"
		if !python.Truth(old) {
			prefix = "Removed value " + python.StrOrdered(there) + ` from update due to value already pending in "` + name +
				"\".\n"
		}
	}
	comment := "Grain " + name + " is set to be added"
	if python.Truth(old) {
		comment = "Value " + python.StrOrdered(value) + " is set to be appended to grain " + name
	}
	if c.Test {
		keepPending(c, name, append(would, missing...))
	}
	return named(name, states.Would(comment, payload.M("new", old), func() (states.Done, error) {
		return addToList(c, name, prefix, value, missing)
	})), nil
}

// addToList appends values and looks whether they are there.
func addToList(c *states.Call, name, prefix string, value any, missing []any) (states.Done, error) {
	now, err := c.Salt("grains.append", nil, name, value)
	if err != nil {
		return states.Done{}, err
	}
	v, _ := lookup(c, name)
	list, _ := v.([]any)
	for _, one := range missing {
		if !dicts.Contains(list, one) {
			return states.Failed("Failed append value "+python.StrOrdered(value)+" to grain "+name, nil)
		}
	}
	return states.Changed(prefix+"Append value "+python.StrOrdered(value)+" to grain "+name, payload.M("new", now))
}

// without parts the values that neither list has from those that one has.
func without(value any, lists ...[]any) (missing, there []any) {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
next:
	for _, v := range values {
		for _, list := range append(lists, missing) {
			if dicts.Contains(list, v) {
				there = append(there, v)
				continue next
			}
		}
		missing = append(missing, v)
	}
	return missing, there
}

// pendingOf are the values that states of this run would put into a grain in test mode.
func pendingOf(c *states.Call, name string) []any {
	v, _ := c.Context().Get("pending " + c.Run.ID() + " " + name)
	list, _ := v.([]any)
	return list[:len(list):len(list)]
}

func keepPending(c *states.Call, name string, values []any) {
	const each = 64 // bytes, about
	c.Context().Put("pending "+c.Run.ID()+" "+name, values, each*len(values))
}

func listAbsent(c *states.Call, a listed) (states.Plan, error) {
	name := key(a.Name, a.Delimiter)
	old, _ := lookup(c, name)
	list, isList := old.([]any)
	switch {
	case !python.Truth(old):
		return named(name, states.Correct("Grain "+name+" does not exist")), nil
	case !isList:
		return named(name, states.Wrong("Grain "+name+" is not a valid list")), nil
	}
	values, ok := a.Value.([]any)
	if !ok {
		values = []any{a.Value}
	}
	var would, did []string
	var gone []any
	for _, v := range values {
		text := python.StrOrdered(v)
		if !dicts.Contains(list, v) {
			line := "Value " + text + " is absent from grain " + name
			would, did = append(would, line), append(did, line)
			continue
		}
		gone = append(gone, v)
		would = append(would, "Value "+text+" in grain "+name+" is set to be deleted")
		did = append(did, "Value "+text+" was deleted from grain "+name)
	}
	if len(gone) == 0 {
		return named(name, states.Correct(strings.Join(would, "\n"))), nil
	}
	changes := payload.M("deleted", gone)
	return named(name, states.Would(strings.Join(would, "\n"), changes, func() (states.Done, error) {
		for _, v := range gone {
			if _, err := c.Salt("grains.remove", nil, name, v); err != nil {
				return states.Done{}, err
			}
		}
		return states.Changed(strings.Join(did, "\n"), changes)
	})), nil
}

type appended struct {
	Name      any `arg:"name"`
	Value     any `arg:"value"`
	Convert   any `arg:"convert=False"`
	Delimiter any `arg:"delimiter=:"`
}

func appendTo(c *states.Call, a appended) (states.Plan, error) {
	name, text := key(a.Name, a.Delimiter), python.StrOrdered(a.Value)
	old, found := lookup(c, name)
	list, isList := old.([]any)
	added := payload.M("added", a.Value)
	did := "Value " + text + " was added to grain " + name
	switch {
	case !found, !python.Truth(old) && strings.Contains(name, ":"):
		return named(name, states.Wrong("Grain "+name+" does not exist")), nil
	case isList && dicts.Contains(list, a.Value):
		return named(name, states.Correct("Value "+text+" is already in the list for grain "+name)), nil
	case isList:
		return named(name, states.Would("Value "+text+" in grain "+name+" is set to be added", added,
			func() (states.Done, error) { return stored(c, "grains.append", name, a.Value, did, added) })), nil
	case a.Convert != true:
		return named(name, states.Wrong("Grain "+name+" is not a valid list")), nil
	}
	whole := []any{a.Value}
	if old != nil {
		whole = []any{old, a.Value}
	}
	return named(name, states.Would("Grain "+name+" is set to be converted to list and value "+text+" will be added",
		added, func() (states.Done, error) { return stored(c, "grains.setval", name, whole, did, added) })), nil
}

// stored calls a function that stores a value.
func stored(c *states.Call, fun, name string, v any, did string, changes *payload.Map) (states.Done, error) {
	if _, err := c.Salt(fun, nil, name, v); err != nil {
		return states.Done{}, err
	}
	return states.Changed(did, changes)
}
