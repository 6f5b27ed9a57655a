package state_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/states/statetest"
	"brine/wire/payload"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

// minionOf is a masterless minion with trees and options.
func minionOf(t testing.TB, files, opts *payload.Map) (env *loader.Env, dir string) {
	return statetest.Minion(t, files, opts)
}

// recorded are the trees with what Salt answers.
func recorded(t *testing.T) []any {
	t.Helper()
	packed, err := os.ReadFile("testdata/trees_3008.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(packed, &rows); err != nil {
		t.Fatal(err)
	}
	var out []any
	for _, row := range rows {
		v, err := pyjson.Load(string(row))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// TestAsSalt shows each tree (testdata/trees.txt) as Salt 3008.3 does (testdata/generate.py).
func TestAsSalt(t *testing.T) {
	rows := recorded(t)
	if len(rows) < 120 {
		t.Fatalf("there are %d trees", len(rows))
	}
	for _, row := range rows {
		tree := row.(*payload.Map)
		t.Run(tree.Str("name"), func(t *testing.T) {
			t.Parallel()
			env, dir := minionOf(t, tree.Map("files"), tree.Map("opts"))
			place := tree.Str("name") == "raises" || tree.Str("name") == "missing-template"
			for _, v := range tree.List("answers") {
				compare(t, env, dir, v.(*payload.Map), place)
			}
		})
	}
}

// compare makes one call and looks at its answer. place says that brine tells the place of an error of a template where
// Salt does not.
func compare(t *testing.T, env *loader.Env, dir string, want *payload.Map, place bool) {
	t.Helper()
	fun := want.Str("fun")
	v, retcode, err := modtest.Call(t, env, fun, want.List("args"), want.Map("kw"))
	raised := want.Str("raised")
	switch raised {
	case "":
		if err != nil {
			t.Errorf("%s %v: %v", fun, want.List("args"), err)
			return
		}
	case "SaltRenderError", "CommandExecutionError", "SaltInvocationError":
		if err == nil || loader.Message(err) != want.Str("text") || !strings.HasSuffix(loader.ClassOf(err), raised) {
			t.Errorf("%s %v: got %v, %v, want %s", fun, want.List("args"), v, err, want.Str("text"))
		}
		return
	default: // an accident of Salt: an error is told, whichever
		list, _ := v.([]any)
		if err == nil && len(list) == 0 && v != false {
			t.Errorf("%s %v: got %v, where Salt raises %s %s", fun, want.List("args"), v, raised, want.Str("text"))
		}
		return
	}
	if place {
		v = without(v, "; line 1\n\n---")
	}
	got := payload.M("return", v, "retcode", int64(retcode))
	should := payload.M("return", without(want.Value("return"), "\nTraceback (most recent call last)"), "retcode",
		want.Value("retcode"))
	if diff := cmp.Diff(lines(should, ""), lines(got, dir)); diff != "" {
		t.Errorf("%s %v (-Salt +brine)\n%s", fun, want.List("args"), diff)
	}
}

// lines is a value as JSON, in its order.
func lines(v any, dir string) []string {
	text, _ := outputters.DumpJSON(v, outputters.JSONOptions{Indent: 1})
	if dir != "" {
		text = strings.ReplaceAll(text, dir, "ROOT")
	}
	return strings.Split(text, "\n")
}

// without leaves the ends of errors out, like the tracebacks that brine does not have.
func without(v any, end string) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = item
		if text, ok := item.(string); ok {
			text, _, _ = strings.Cut(text, end)
			out[i] = text
		}
	}
	return out
}
