// Package dicts walks, copies and merges nested maps and lists as Salt's data helpers do: the paths of
// grains.get and config.get, the merge of filter_by, the truth of sanitize=true. Maps are *payload.Map.
// It answers to salt/utils/data.py and salt/utils/dictupdate.py.
package dicts

import (
	"strconv"
	"strings"

	"brine/config/yaml"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// Traverse follows key, cut at delimiter, through maps and lists: a step into a list is an index or a key of the
// first map in it; a step into a map whose text is not there is tried as the YAML scalar it reads as.
// It reports whether the whole path exists.
func Traverse(data any, key, delimiter string) (any, bool) {
	steps := []string{key}
	if delimiter != "" {
		steps = strings.Split(key, delimiter)
	}
	at := data
	for _, step := range steps {
		next, ok := into(at, step)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

func into(at any, step string) (any, bool) {
	switch x := at.(type) {
	case *payload.Map:
		if v, ok := x.Get(step); ok {
			return v, true
		}
		if loaded := yaml.Scalar(step); loaded != any(step) {
			return x.Get(loaded)
		}
	case []any:
		return intoList(x, step)
	}
	return nil, false
}

func intoList(list []any, step string) (any, bool) {
	var key any = step
	index, err := strconv.Atoi(strings.TrimSpace(step))
	if err == nil {
		key = int64(index)
	}
	for _, v := range list {
		if m, ok := v.(*payload.Map); ok && m.Has(key) {
			return m.Get(key)
		}
	}
	if err != nil {
		return nil, false
	}
	if index < 0 {
		index += len(list)
	}
	if index < 0 || index >= len(list) {
		return nil, false
	}
	return list[index], true
}

// Clone copies maps and lists all the way down; other values are shared.
func Clone(v any) any {
	switch x := v.(type) {
	case *payload.Map:
		out := payload.NewMap(x.Len())
		if x.Ordered() {
			out.AsOrdered()
		}
		for k, val := range x.All() {
			out.Set(k, Clone(val))
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = Clone(x[i])
		}
		return out
	}
	return v
}

// OrderBelow makes all maps below the outermost one ordered ones and returns it: a pillar that was compiled on this
// machine and went through MessagePack has them again.
func OrderBelow(m *payload.Map) *payload.Map {
	for _, v := range m.All() {
		order(v)
	}
	return m
}

func order(v any) {
	switch x := v.(type) {
	case *payload.Map:
		OrderBelow(x.AsOrdered())
	case []any:
		for _, item := range x {
			order(item)
		}
	}
}

// IsTrue reads a flag as Salt's is_true does: numbers and numeric text above 0, the text "true" in any case.
func IsTrue(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(x), 64); err == nil {
			return f > 0
		}
		return strings.EqualFold(x, "true")
	case int64:
		return x > 0
	case float64:
		return x > 0
	case []any:
		return len(x) > 0
	case *payload.Map:
		return x.Len() > 0
	}
	return true
}

// FilterBy picks from a table by the values found at a path (grains.filter_by): the first row whose name,
// a glob, matches one of the values, else the default row, over the base row, under merge. errText is the
// message of the exception Salt raises, or "".
type FilterBy struct {
	Table   *payload.Map
	Path    string
	In      any
	Merge   any
	Default any
	Base    any
	Own     bool // the table may be changed: what is merged over one of its rows changes that row, as in Salt
}

// Pick evaluates the filter.
func (f FilterBy) Pick() (value any, errText string) {
	row := f.match()
	if row == nil {
		row, _ = f.Table.Get(f.Default)
	}
	if f.Base != nil && f.Table.Has(f.Base) {
		base, _ := f.Table.Get(f.Base)
		var text string
		if row, text = over(base, row); text != "" {
			return nil, text
		}
	}
	if f.Merge == nil || f.Merge == "" {
		return row, ""
	}
	merge, ok := f.Merge.(*payload.Map)
	if !ok {
		return nil, "filter_by merge argument must be a dictionary."
	}
	target, ok := row.(*payload.Map)
	if !ok {
		return merge, ""
	}
	if !f.Own {
		target = Clone(target).(*payload.Map)
	}
	Update(target, Clone(merge).(*payload.Map), false)
	return target, ""
}

func over(base, row any) (any, string) {
	baseMap, ok := base.(*payload.Map)
	if row == nil || !ok {
		if row == nil {
			return base, ""
		}
		return row, ""
	}
	rowMap, ok := row.(*payload.Map)
	if !ok {
		return nil, "filter_by default and look-up values must both be dictionaries."
	}
	out := Clone(baseMap).(*payload.Map)
	Update(out, rowMap, false)
	return out, ""
}

func (f FilterBy) match() any {
	found, _ := Traverse(f.In, f.Path, ":")
	values, ok := found.([]any)
	if !ok && found != nil {
		values = []any{found}
	}
	for _, v := range values {
		for k, row := range f.Table.All() {
			if fnmatch.Match(python.Str(k), python.Str(v)) && row != nil {
				return row
			}
		}
	}
	return nil
}
