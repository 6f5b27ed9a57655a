package low

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// TestAsSalt compares with what Salt 3008.3 makes of the same data (testdata/generate.py).
func TestAsSalt(t *testing.T) {
	packed, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(packed, &rows); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		v, err := pyjson.Load(string(row))
		if err != nil {
			t.Fatal(err)
		}
		data, want := v.([]any)[0], v.([]any)[1].(*payload.Map)
		if want.Has("raised") {
			m, _ := data.(*payload.Map)
			high.Pad(m)
			Compile(m, Options{AsReactions: true}) // it does not fail
			continue
		}
		m, isMap := data.(*payload.Map)
		if isMap {
			high.Pad(m)
		}
		got := payload.NewMap(1)
		if errs := high.Verify(data); errs != nil {
			got.Set("verify", payload.AnyList(errs))
		} else {
			chunks, errs := Compile(m, Options{AsReactions: true})
			if want.Has("circle") {
				if len(errs) != 1 || !strings.HasPrefix(errs[0], "Recursive requisites were found: ") {
					t.Errorf("row %d: got %q, want a circle", i, errs)
				}
				continue
			}
			if errs != nil {
				chunks = nil
			}
			got.Set("errors", payload.AnyList(errs)).Set("chunks", payload.AnyList(chunks))
		}
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Errorf("row %d (-Salt +brine)\n%s", i, diff)
		}
	}
}

// plain lets values be compared that have come by different ways.
func plain(v any) any {
	switch v := v.(type) {
	case *payload.Map:
		out := map[any]any{}
		for k, item := range v.All() {
			out[k] = plain(item)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	case int:
		return int64(v)
	}
	return v
}

// FuzzCompile: whatever an SLS renders to, nothing fails, and what Verify takes is compiled.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`{"a":"test.nop"}`, `{"a":{"test":["nop",{"names":["x",{"y":[]}]}]}}`,
		`{"a":{"test":["nop",{"require":[{"test":"a"}]}]}}`, `{"a":{"test.nop":[{"order":-1},{}]}}`, `[]`,
		`{"1":{"x":null}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := pyjson.Load(text)
		if err != nil || len(text) > 2000 {
			return
		}
		m, ok := v.(*payload.Map)
		if ok {
			high.Pad(m)
		}
		if errs := high.Verify(v); errs == nil && ok {
			Compile(m, Options{AsReactions: true})
		}
	})
}
