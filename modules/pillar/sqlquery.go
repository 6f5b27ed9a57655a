package pillar

import (
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// sqlQuery is one query of an external pillar over SQL, and how its rows become a pillar (salt/pillar/sql_base.py).
type sqlQuery struct {
	root       any    // the key below which its rows stand; nil: they stand at the top
	text       string // with %s where the minion's id goes
	depth      int    // so many columns are keys of maps in each other; 0: all but the last
	asList     bool   // what collides becomes a list
	asJSON     bool   // the only column holds a map as JSON
	withLists  []any  // numbers of columns, from 1, whose keys become lists
	ignoreNull bool   // null overwrites nothing
}

// sqlQueries are those of the arguments: first those by place, then those by name in the order of their names. What
// holds no query is left out.
func sqlQueries(list []any, named *payload.Map) ([]sqlQuery, error) {
	var out []sqlQuery
	add := func(root, given any) error {
		q, ok, err := sqlQueryOf(given)
		if err == nil && ok {
			q.root = root
			out = append(out, q)
		}
		return err
	}
	for _, given := range list {
		if err := add(nil, given); err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, named.Len())
	for key := range named.All() {
		names = append(names, python.Str(key))
	}
	slices.Sort(names)
	for _, name := range names {
		if err := add(name, named.Value(name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func sqlQueryOf(given any) (q sqlQuery, ok bool, err error) {
	var text, depth any = nil, int64(0)
	switch v := given.(type) {
	case string:
		text = v
	case []any:
		if len(v) > 0 {
			text = v[0]
		}
		if len(v) > 1 {
			depth = v[1]
		}
	case *payload.Map:
		text = v.Value("query")
		if d, given := v.Get("depth"); given {
			depth = d
		}
		q.asList, q.asJSON, q.ignoreNull = python.Truth(v.Value("as_list")), python.Truth(v.Value("as_json")),
			python.Truth(v.Value("ignore_null"))
		if q.withLists, err = columnsOf(v.Value("with_lists")); err != nil {
			return q, false, err
		}
	}
	if !python.Truth(text) {
		return q, false, nil
	}
	if q.text, ok = text.(string); !ok {
		return q, false, loader.Raise("TypeError", "the query is %s and no text", python.Repr(text))
	}
	n, isNumber := depth.(int64)
	if b, isBool := depth.(bool); isBool {
		isNumber = true
		if b {
			n = 1
		}
	}
	if !isNumber || n < 0 || n > 1<<16 { // Unlike Salt, where below 0 columns are counted from the end
		return q, false, loader.Raise("TypeError", "the depth of a query is %s and no number of columns",
			python.Repr(depth))
	}
	q.depth = int(n)
	return q, true, nil
}

// columnsOf are the columns of with_lists: a list, or a text with commas.
func columnsOf(v any) ([]any, error) {
	if !python.Truth(v) {
		return nil, nil
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case *payload.Map:
		return v.Keys(), nil
	case string:
		var out []any
		for _, word := range strings.Split(v, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
			if err != nil {
				return nil, loader.Raise("ValueError", "invalid literal for int() with base 10: %s", python.Repr(word))
			}
			out = append(out, n)
		}
		return out, nil
	}
	return nil, loader.Raise("TypeError", "argument of type '%s' is not iterable", python.Type(v))
}

// lists tells whether a column, counted from 1, is to become a list.
func (q *sqlQuery) lists(column int) bool { return dicts.Contains(q.withLists, int64(column)) }

// bound is the query with a number in place of its %s, as PostgreSQL wants it, and what goes beside it: the id, which
// never goes into the text. %% is %. What psycopg2 would refuse is refused in its words.
func (q *sqlQuery) bound(id string) (text string, params [][]byte, err error) {
	var out strings.Builder
	places := 0
	for i := 0; i < len(q.text); i++ {
		if q.text[i] != '%' {
			out.WriteByte(q.text[i])
			continue
		}
		i++
		switch {
		case i == len(q.text):
			return "", nil, loader.Raise("ValueError", "incomplete placeholder: '%%' without 's' or '('")
		case q.text[i] == '%':
			out.WriteByte('%')
		case q.text[i] == 's':
			places++
			out.WriteString("$1")
		case q.text[i] == '(':
			return "", nil, loader.Raise("TypeError", "tuple indices must be integers or slices, not str")
		default:
			return "", nil, loader.Raise("ValueError", "unsupported format character '%c' (0x%x) at index %d",
				q.text[i], q.text[i], i)
		}
	}
	switch places {
	case 0:
		return out.String(), nil, nil
	case 1:
		return out.String(), [][]byte{[]byte(id)}, nil
	}
	return "", nil, loader.Raise("IndexError", "tuple index out of range")
}
