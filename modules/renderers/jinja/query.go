package jinja

import (
	"brine/modules/renderers/jinja/jmespath"
	"brine/modules/renderers/jinja/py"
)

func queryFilters() map[string]*builtin {
	return map[string]*builtin{"json_query": filter("json_query", "data expr", jsonQuery)}
}

// jsonQuery asks data by an expression in JMESPath.
func jsonQuery(r *run, a []any) (any, error) {
	expr, ok := py.Text(a[1])
	if !ok {
		if err := undefinedIn(a[1]); err != nil {
			return nil, err
		}
		if yes, err := py.Truth(a[1]); yes || err != nil {
			return nil, py.Errorf("TypeError", "'%s' object is not iterable", py.TypeName(a[1]))
		}
	}
	lang := jmespath.Language{Load: oneJSON, Dump: func(v any) (string, error) {
		return dumps(r, v, false, nil, true, py.NewTuple(",", ":"))
	}}
	return jmespath.Search(r.work, lang, expr, a[0])
}
