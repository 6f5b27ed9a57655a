package returnertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// Parse reads JSON.
func Parse(t testing.TB, text string) any {
	t.Helper()
	v, err := pyjson.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// File reads a JSON file of the test's own testdata.
func File(t testing.TB, name string) any {
	t.Helper()
	return read(t, filepath.Join("testdata", name))
}

// Shared reads a JSON file that the tests of several returners use: returns.json, loads.json.
func Shared(t testing.TB, name string) any {
	t.Helper()
	return read(t, filepath.Join("..", "testdata", name))
}

func read(t testing.TB, path string) any {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, string(b))
}

// Record writes what was seen to a file of testdata when BRINE_RECORD is set, and gives what the file holds else.
func Record(t *testing.T, name string, seen any) any {
	t.Helper()
	if os.Getenv("BRINE_RECORD") == "" {
		return File(t, name)
	}
	text, ok := outputters.DumpJSON(seen, outputters.JSONOptions{Indent: 1})
	if !ok {
		t.Fatal("this cannot be recorded")
	}
	if err := os.WriteFile(filepath.Join("testdata", name), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return seen
}

// Sorted is a value with its maps sorted by key, so that maps without an order compare.
func Sorted(t testing.TB, v any) string {
	t.Helper()
	var plain any
	text, ok := outputters.DumpJSON(v, outputters.JSONOptions{Indent: 1, Sort: true})
	if !ok {
		t.Fatalf("%v has no form in JSON", v)
	}
	if json.Unmarshal([]byte(text), &plain) != nil {
		return text // NaN
	}
	return text
}

// Same compares rows of what brine did with those of Salt, but for rows in which Salt failed. It fails if it compared
// fewer than must rows.
func Same(t testing.TB, want, got []any, must int) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	compared := 0
	for i := range want {
		if want[i].(*payload.Map).Has("error") {
			continue
		}
		compared++
		if salt, brine := Sorted(t, want[i]), Sorted(t, got[i]); salt != brine {
			t.Errorf("row %d:\nSalt:\n%s\nbrine:\n%s", i, salt, brine)
		}
	}
	if compared < must {
		t.Errorf("%d rows were compared", compared)
	}
}
