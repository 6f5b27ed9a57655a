package options_test

import (
	"os"
	"testing"

	"brine/modules/returners/options"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// Options are found where Salt 3008.3 finds them (testdata/options.py). Where Salt fails because the map of a
// returner is none, brine goes on with what stands elsewhere.
func TestOptions(t *testing.T) {
	b, err := os.ReadFile("testdata/options.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pyjson.Load(string(b))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range v.([]any) {
		row := row.(*payload.Map)
		if row.Has("error") {
			continue
		}
		env := returnertest.Config(t, row.Map("conf"))
		l := options.Lookup{Name: "r", Options: []string{"host", "port"}, Defaults: options.Values{}}
		for k, v := range row.Map("defaults").All() {
			l.Defaults[k.(string)] = v
		}
		got, err := l.Read(returnertest.Call(t, env), row.Map("ret"))
		if err != nil {
			t.Fatal(err)
		}
		want := options.Values{}
		for k, v := range row.Map("got").All() {
			want[k.(string)] = v
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *payload.Map) bool {
			return payload.Equal(a, b)
		})); diff != "" {
			t.Errorf("conf %v, ret %v, defaults %v:\n%s", row.Value("conf"), row.Value("ret"), row.Value("defaults"),
				diff)
		}
		compared++
	}
	if compared < 250 {
		t.Errorf("%d rows were compared", compared)
	}
}
