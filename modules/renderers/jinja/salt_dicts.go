package jinja

import (
	"strings"

	"brine/modules/renderers/jinja/py"
)

// saltDictFilters change a dictionary at a path of keys, in place.
func saltDictFilters() map[string]*builtin {
	const params = "in_dict keys value delimiter= ordered_dict="
	at := func(name string, change func(r *run, d *py.Dict, key string, value any, class string) error) *builtin {
		return filter(name, params, func(r *run, a []any) (any, error) {
			d, err := dictOf(a[0], "keys")
			if err != nil {
				return nil, err
			}
			isOrdered, err := py.Truth(a[4])
			if err != nil {
				return nil, err
			}
			class := ""
			if isOrdered {
				class = py.Ordered
			}
			path, err := expectText(a[1])
			if err != nil {
				return nil, err
			}
			by, err := expectText(a[3])
			if err != nil || by == "" {
				return nil, py.Errorf("ValueError", "empty separator")
			}
			in, key, err := descend(r, d, path, by, class)
			if err != nil {
				return nil, err
			}
			return d, change(r, in, key, a[2], class)
		}, ":", false)
	}
	return map[string]*builtin{
		"set_dict_key_value": at("set_dict_key_value", func(r *run, d *py.Dict, key string, value any, _ string) error {
			d.SetStr(key, value)
			return r.work.Grow(64)
		}),
		"update_dict_key_value": at("update_dict_key_value", updateAt),
		"append_dict_key_value": at("append_dict_key_value", func(r *run, d *py.Dict, key string, value any,
			_ string) error {
			return listAt(r, d, key, value, "append")
		}),
		"extend_dict_key_value": at("extend_dict_key_value", func(r *run, d *py.Dict, key string, value any,
			_ string) error {
			return listAt(r, d, key, value, "extend")
		}),
	}
}

// descend goes down to the dictionary that holds the last key, and makes those that are missing.
func descend(r *run, d *py.Dict, path, by, class string) (*py.Dict, string, error) {
	keys := strings.Split(path, by)
	for _, k := range keys[:len(keys)-1] {
		v, _ := d.GetStr(k)
		next, ok := v.(*py.Dict)
		if !ok {
			next = &py.Dict{Class: class}
			d.SetStr(k, next)
			if err := r.work.Grow(128); err != nil {
				return nil, "", err
			}
		}
		d = next
	}
	return d, keys[len(keys)-1], nil
}

// class is how Python's type() prints.
func class(v any) string {
	if d, ok := v.(*py.Dict); ok && d.Class != "" {
		return "<class 'collections." + d.Class + "'>"
	}
	return "<class '" + py.TypeName(v) + "'>"
}

func updateAt(r *run, d *py.Dict, key string, value any, kind string) error {
	v, _ := d.GetStr(key)
	if v == nil {
		v = &py.Dict{Class: kind}
		d.SetStr(key, v)
	}
	in, ok := v.(*py.Dict)
	if !ok {
		return &SaltError{"The last key contains a " + class(v) + ", which cannot update."}
	}
	err := py.DictOf(r.work, in, py.Args{Pos: []any{value}})
	if forgiven(err, "ValueError", "TypeError") {
		return &SaltError{"Cannot update " + class(v) + " with a " + class(value) + "."}
	}
	return err
}

func listAt(r *run, d *py.Dict, key string, value any, how string) error {
	v, _ := d.GetStr(key)
	if v == nil {
		v = py.NewList()
		d.SetStr(key, v)
	}
	l, ok := v.(*py.List)
	if !ok {
		return &SaltError{"The last key contains a " + class(v) + ", which cannot " + how + "."}
	}
	if how == "append" {
		l.Items = append(l.Items, value)
		return r.work.Grow(16)
	}
	items, err := py.Collect(r.work, value)
	if forgiven(err, "TypeError") {
		return &SaltError{"Cannot extend " + class(v) + " with a " + class(value) + "."}
	}
	l.Items = append(l.Items, items...)
	return err
}
