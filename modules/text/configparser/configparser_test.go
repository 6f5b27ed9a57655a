package configparser

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// TestAsSalt: the same sections, texts and errors as of Salt 3008.3 (testdata/make.py).
func TestAsSalt(t *testing.T) {
	b, err := os.ReadFile("testdata/salt3008.json")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pyjson.Load(string(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows.([]any) {
		r := row.([]any)
		var got any
		if r[0] == "read" {
			var m *payload.Map
			if m, err = Parse(r[1].(string)); m != nil {
				got = m
			}
		} else {
			got, err = Dump(r[1])
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if !payload.Equal(got, r[2]) {
			in, _ := json.Marshal(r[1])
			t.Errorf("%s %s:\n got  %v\n want %v", r[0], in, got, r[2])
		}
	}
}

// TestValuesThatGrow: values that name each other do not fill the memory.
func TestValuesThatGrow(t *testing.T) {
	text := "[a]\na0=" + strings.Repeat("x", 1000) + "%%\n"
	for i := range 8 {
		text += "a" + string(rune('1'+i)) + "=" + strings.Repeat("%(a"+string(rune('0'+i))+")s", 30) + "\n"
	}
	if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("got %v", err)
	}
}
