package pillar

import (
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// rowsAsPillar is what becomes of the rows of queries (testdata/sqlrows.py).
func rowsAsPillar(args any, tables *payload.Map) (*payload.Map, error) {
	list, _ := args.([]any)
	named, _ := args.(*payload.Map)
	queries, err := sqlQueries(list, named)
	if err != nil {
		return nil, err
	}
	out := &sqlRows{payload.NewMap(0)}
	for _, q := range queries {
		table := tables.List(q.text)
		var names []string
		for _, name := range table[0].([]any) {
			names = append(names, name.(string))
		}
		var rows [][]any
		for _, row := range table[1].([]any) {
			rows = append(rows, row.([]any))
		}
		if err := out.add(q, names, rows); err != nil {
			return nil, err
		}
	}
	return out.result, nil
}

// TestSQLRows: the same pillar from the same rows as Salt's, also where that is an error.
func TestSQLRows(t *testing.T) {
	raw, err := os.ReadFile("testdata/sqlrows3008.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	cases := v.([]any)
	if len(cases) < 600 {
		t.Fatalf("%d cases are too few", len(cases))
	}
	for _, row := range cases {
		row := row.(*payload.Map)
		if got, want := answer(rowsAsPillar(row.Value("args"), row.Map("tables"))), row.Str("result"); got != want {
			t.Errorf("%s\nof %s\n got %s\nSalt %s", python.Repr(row.Value("args")), python.Repr(row.Value("tables")),
				got, want)
		}
	}
}

// TestSQLBound: the id goes beside the text of a query, and what psycopg2 refuses is refused in its words.
func TestSQLBound(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM b WHERE c = %s": "SELECT a FROM b WHERE c = $1",
		"c LIKE 'x%%' AND d = %s":      "c LIKE 'x%' AND d = $1", "%%%s%%": "%$1%", "SELECT '1%%'": "SELECT '1%'",
		"%s %s": "error IndexError: tuple index out of range", "%(id)s": "error TypeError: tuple indices must be " +
			"integers or slices, not str", "%s 5%": "error ValueError: incomplete placeholder: '%' without 's' or '('",
		"%s %d": "error ValueError: unsupported format character 'd' (0x64) at index 4",
	} {
		got, params, err := (&sqlQuery{text: text}).bound("web1")
		if err != nil {
			got = answer(nil, err)
		}
		if strings.Contains(got, "web1") || strings.Contains(got, "$1") != (len(params) == 1) {
			t.Errorf("%s: %s with %s", text, got, params)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
