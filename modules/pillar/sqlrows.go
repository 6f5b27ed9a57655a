package pillar

import (
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// sqlRows makes a pillar of the rows of queries.
type sqlRows struct{ result *payload.Map }

// listed are the keys of one map that become lists at the end.
type listed struct {
	of   *payload.Map
	keys *payload.Map // to nothing
}

// sqlTake is one query whose rows are being taken.
type sqlTake struct {
	sqlQuery
	focus *payload.Map
	names []string // of the columns
	lists []*listed
	known map[*payload.Map]*listed
}

// add takes the rows of a query; names are those of its columns.
func (s *sqlRows) add(q sqlQuery, names []string, rows [][]any) error {
	if q.depth == 0 || q.depth >= len(names) {
		q.depth = len(names) - 1
	}
	t := &sqlTake{sqlQuery: q, focus: s.result, names: names, known: map[*payload.Map]*listed{}}
	if q.root != nil && q.root != any("") {
		t.focus = payload.NewMap(0)
		s.result.Set(q.root, t.focus)
	}
	for _, row := range rows {
		if err := t.row(row); err != nil {
			return err
		}
	}
	return t.listify()
}

func (t *sqlTake) row(row []any) error {
	if len(row) == 0 {
		return loader.Raise("IndexError", "tuple index out of range")
	}
	if t.asJSON && len(t.names) == 1 {
		return t.json(row[0])
	}
	at, err := t.descend(row)
	if err != nil {
		return err
	}
	if t.depth == len(t.names)-1 {
		return t.last(at, row)
	}
	return t.rest(at, row)
}

// json merges a row that holds a map.
func (t *sqlTake) json(v any) error {
	if raw, ok := v.([]byte); ok {
		if why := python.UTF8Error(raw); why != "" {
			return loader.Raise("UnicodeDecodeError", "%s", why)
		}
		v = string(raw)
	}
	if text, ok := v.(string); ok {
		var err error
		if v, err = pyjson.Load(text); err != nil {
			return loader.Raise("json.decoder.JSONDecodeError", "%s", loader.Message(err))
		}
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return loader.Raise("TypeError", "as_json rows must decode to a dict, got %s", python.Type(v))
	}
	dicts.Update(t.focus, m, t.asList)
	return nil
}

// descend makes the maps above the last layer and returns the lowest of them.
func (t *sqlTake) descend(row []any) (*payload.Map, error) {
	at := t.focus
	for i := range t.depth - 1 {
		key := row[i]
		if err := hashable(key); err != nil {
			return nil, err
		}
		if t.sqlQuery.lists(i + 1) {
			t.list(at, key)
		}
		below := payload.NewMap(0)
		there, ok := at.Get(key)
		switch v := there.(type) {
		case []any:
			at.Set(key, append(v, below))
		case *payload.Map:
			below = v
		default:
			if ok && t.asList {
				at.Set(key, []any{there, below})
			} else {
				at.Set(key, below)
			}
		}
		at = below
	}
	return at, nil
}

// last puts the value of a row whose last column but one is its key.
func (t *sqlTake) last(at *payload.Map, row []any) error {
	n := len(row)
	key, value := row[max(n-2, 0)], row[n-1]
	if t.ignoreNull && value == nil && !t.asList && !t.sqlQuery.lists(n-1) {
		return nil
	}
	if err := hashable(key); err != nil {
		return err
	}
	there, ok := at.Get(key)
	switch {
	case t.asList && ok, t.sqlQuery.lists(n - 1):
		list, isList := there.([]any)
		if ok && !isList {
			list = []any{there}
		}
		at.Set(key, append(list, value))
	case !t.ignoreNull || value != nil:
		at.Set(key, value)
	}
	return nil
}

// rest puts the columns beyond the depth into a map, by their names.
func (t *sqlTake) rest(at *payload.Map, row []any) error {
	key := row[t.depth-1]
	if err := hashable(key); err != nil {
		return err
	}
	if !at.Has(key) {
		at.Set(key, payload.NewMap(0))
	}
	if t.sqlQuery.lists(t.depth) {
		t.list(at, key)
	}
	into, ok := at.Value(key).(*payload.Map)
	if !ok {
		return noAssignment(at.Value(key))
	}
	for i := t.depth; i < len(row); i++ {
		name := t.names[i]
		if t.sqlQuery.lists(i + 1) {
			t.list(into, name)
		}
		there, ok := into.Get(name)
		if t.asList && ok {
			if list, isList := there.([]any); isList {
				into.Set(name, append(list, row[i]))
			} else {
				into.Set(name, []any{there, row[i]})
			}
		} else if !t.ignoreNull || row[i] != nil {
			into.Set(name, row[i])
		}
	}
	return nil
}

// list notes that a key of a map becomes a list.
func (t *sqlTake) list(of *payload.Map, key any) {
	l := t.known[of]
	if l == nil {
		l = &listed{of, payload.NewMap(0)}
		t.known[of], t.lists = l, append(t.lists, l)
	}
	l.keys.Set(key, nil)
}

// listify makes the lists, the inner ones first.
func (t *sqlTake) listify() error {
	for i := len(t.lists) - 1; i >= 0; i-- {
		of := t.lists[i].of
		for key := range t.lists[i].keys.All() {
			v, ok := of.Get(key)
			if !ok {
				return loader.Raise("KeyError", "%s", python.Repr(key))
			}
			switch v := v.(type) {
			case *payload.Map:
				values := make([]any, 0, v.Len())
				for _, e := range v.All() {
					values = append(values, e)
				}
				of.Set(key, values)
			case []any:
				of.Set(key, []any{v})
			}
		}
	}
	return nil
}

// hashable is Python's complaint about a key that is a list or a map.
func hashable(key any) error {
	switch key.(type) {
	case []any, *payload.Map:
		return loader.Raise("TypeError", "unhashable type: '%s'", python.Type(key))
	}
	return nil
}

// noAssignment is Python's complaint about a value that is asked to take a key.
func noAssignment(v any) error {
	if _, isList := v.([]any); isList {
		return loader.Raise("TypeError", "list indices must be integers or slices, not str")
	}
	return loader.Raise("TypeError", "'%s' object does not support item assignment", python.Type(v))
}
