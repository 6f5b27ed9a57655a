package yaml

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"brine/wire/payload"
)

// asJSON is a value after Python's json.dumps and a JSON reader, except for the order of keys.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case *payload.Map:
			out := map[string]any{}
			for key, e := range v.All() {
				name := fmt.Sprint(key)
				if key == nil {
					name = "null"
				}
				out[name] = plain(e)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = plain(v[i])
			}
			return out
		}
		return v
	}
	raw, err := json.Marshal(plain(v))
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestYamlex: the values are those of Salt 3008.3 (testdata/yamlex.py).
func TestYamlex(t *testing.T) {
	raw, err := os.ReadFile("testdata/yamlex3008.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]any
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 300 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		text := row[0].(string)
		var got any = "error"
		if v, err := LoadYamlex([]byte(text)); err == nil {
			got = asJSON(t, v)
		}
		if !reflect.DeepEqual(got, row[1]) {
			t.Errorf("%s\n got %v\nSalt %v", text, got, row[1])
		}
	}
}
