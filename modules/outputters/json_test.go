package outputters

import (
	"encoding/json"
	"testing"

	"brine/config/yaml"
	"brine/wire/payload"
)

// TestBytesOfEvents: bytes are text where they are UTF-8 and base64 otherwise, as values and as keys; an event with
// keys that JSON does not have is told. Values of returns keep the form that Salt's outputter gives them.
func TestBytesOfEvents(t *testing.T) {
	der := []byte{0x30, 0x82, 0xff, 0x00}
	data := payload.M("der", der, "text", []byte("grün"), "in", []any{payload.M("x", []byte{0xff})}).Set(
		payload.Bytes("\xff\xfe"), 1).Set(payload.Bytes("key"), 2)
	const want = `{"der": "MIL/AA==", "text": "grün", "in": [{"x": "/w=="}], "//4=": 1, "key": 2}`
	if got := JSON(data); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got %s, want %s", got, want)
	}
	odd := payload.M("list", true).Set(payload.Ext{Type: 5}, der).Set(1.5, nil)
	if got := JSON(odd); !json.Valid([]byte(got)) || len(got) < 10 {
		t.Errorf("keys of other types: %s", got)
	}
	if got, ok := DumpJSON(payload.M("b", der), JSONOptions{Indent: 4, Sort: true, Bytes: true}); !ok ||
		got != "{\n    \"b\": \"MIL/AA==\"\n}" {
		t.Errorf("indented: %s, %v", got, ok)
	}
	if got, ok := DumpJSON(payload.M("b", der), JSONOptions{Indent: -1}); !ok || got != `{"b": "b'0\\x82\\xff\\x00'"}` {
		t.Errorf("of a return: %s, %v", got, ok)
	}
	if got, err := yaml.Load([]byte(DumpYAML(payload.M("b", der), FlowNever, 2))); err != nil ||
		string(payload.AsBytes(got.(*payload.Map).Value("b"))) != string(der) {
		t.Errorf("YAML: %v, %v", got, err)
	}
}
