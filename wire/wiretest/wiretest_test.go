package wiretest

import (
	"testing"

	"brine/wire/payload"
)

// TestCounts fails if a file is missing or an accessor overlooks cases.
func TestCounts(t *testing.T) {
	exchanges := map[string]int{
		"auth_3006": 22, "auth_3007": 22, "auth_v3": 49, "requests_3006": 103, "requests_3007": 102, "requests_v3": 121,
		"edge_3006": 116, "edge_3007": 118, "edge_v3": 174, "edge_v3_min0": 17,
		"variant_filtered_signed_3006": 11, "variant_filtered_signed_3007": 11, "variant_v3": 16,
	}
	for _, name := range ExchangeFiles() {
		if got := len(Load(t, name).Exchanges()); got != exchanges[name] {
			t.Errorf("%s: %d exchanges, want %d", name, got, exchanges[name])
		}
	}
	messages := map[string]int{
		"publish_3006": 39, "publish_3007": 40, "publish_v3": 55,
		"variant_filtered_signed_3006": 3, "variant_filtered_signed_3007": 3, "variant_v3": 11,
	}
	for _, name := range PublishFiles() {
		if got := len(Load(t, name).Publications()); got != messages[name] {
			t.Errorf("%s: %d publications, want %d", name, got, messages[name])
		}
	}
	for name, want := range map[string]int{"eventbus_3006": 31, "eventbus_3007": 31, "eventbus_v3": 3} {
		if got := len(Load(t, name).Streams()); got != want {
			t.Errorf("%s: %d streams, want %d", name, got, want)
		}
	}
}

func TestExchangeFields(t *testing.T) {
	f := Load(t, "requests_v3")
	e := f.Exchanges()[0]
	switch {
	case e.Release != "3006.28", e.Name == "", len(e.Request.Frame) == 0, e.Reply == nil, len(f.Token()) != 256:
		t.Errorf("first exchange: %+v", e)
	}
	if len(e.Keys) != 3 || e.Keys["minion"].Private == "" {
		t.Errorf("keys: %d", len(e.Keys))
	}
	sealed := 0
	for _, e := range f.Exchanges() {
		if e.Request.Load == nil {
			continue
		}
		sealed++
		if e.Request.KeyName != "session" || len(e.Request.Key) != 76 {
			t.Errorf("%s: key %q of %d characters", e.Name, e.Request.KeyName, len(e.Request.Key))
		}
	}
	if sealed != 82 {
		t.Errorf("%d sealed requests, want 82", sealed)
	}
	if old := Load(t, "auth_3006").Keys(); len(old) != 4 || old["sign"].Public == "" {
		t.Errorf("keys by reference: %d", len(old))
	}
}

func TestParseJSON(t *testing.T) {
	v, err := parseJSON(
		[]byte(`{"b": 1, "a": [{"$b64": "/wA="}, 1.0, {"$map": [[1, null]]}, {"$int": "18446744073709551615"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := payload.M("b", 1, "a", []any{[]byte{0xff, 0}, 1.0, payload.M(1, nil), uint64(1<<64 - 1)})
	if !payload.Equal(v, want) {
		t.Errorf("got %#v", v)
	}
	for _, bad := range []string{"", "{", `{"$new": 1}`, `{"$map": [1]}`, `{"$int": "x"}`, `{"$repeat": []}`,
		`"datetime.datetime(x)"`} {
		if v, err := parseJSON([]byte(bad)); err == nil {
			t.Errorf("%s: read as %#v", bad, v)
		}
	}
}
