package multi_returner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/rawfile_json"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// multi_returner calls each of its returners, also after one that fails.
func TestMulti(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	env := returnertest.Config(t, payload.M("multi_returner", []any{"fails", "rawfile_json"}, "rawfile_json.filename",
		file))
	if err := returners.Return(returnertest.Call(t, env), registry(), "multi_returner", returnertest.Ret()); err == nil ||
		!strings.Contains(err.Error(), "fails: no") {
		t.Errorf("got %v, want that fails failed", err)
	}
	if got, _ := os.ReadFile(file); string(got) != returnertest.RetJSON+"\n" {
		t.Errorf("the second returner wrote %q", got)
	}
	if err := returners.Return(returnertest.Call(t, returnertest.Config(t, nil)), registry(), "multi_returner",
		returnertest.Ret()); !returners.Hopeless(err) {
		t.Errorf("no option multi_returner: %v", err)
	}
}

// registry holds multi_returner, rawfile_json and, as fails.returner, one that never succeeds.
func registry() *loader.Registry {
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{Module(returners.Options{Registry: reg}), rawfile_json.Module(),
		{File: "fails", Funcs: func() []loader.Func {
			return []loader.Func{functions.Returner("fails", "", func(*loader.Call, *payload.Map) error {
				return errors.New("no")
			})}
		}}})
	return reg
}
