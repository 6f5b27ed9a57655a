package pkgrepo_test

import (
	"os"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// hostile is a list in which lines are broken, and one of which the good ones must survive.
const hostile = "deb [arch=amd64 http://192.0.2.1/a x main\n" +
	"deb [arch=amd64] http://192.0.2.1/short\n" +
	"deb\n\x00\xff\n" +
	"deb [=] http://192.0.2.1/b x main\n" +
	"deb http://192.0.2.1/good x main\n"

// TestHostile: lines that are no repositories neither end the reading of a list nor get lost, and a definition with a
// newline is refused, wherever it stands: it would be a repository more.
func TestHostile(t *testing.T) {
	if !statetest.Alone(t, nil, []string{"/etc/apt"}) {
		return
	}
	const main, parts = "/etc/apt/sources.list", "/etc/apt/sources.list.d"
	if err := os.WriteFile(main, []byte(hostile), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(parts, 0o755); err != nil {
		t.Fatal(err)
	}
	env, _ := statetest.Minion(t, payload.M("base/t.sls", ""),
		payload.M("grains", payload.M("osarch", "amd64", "oscodename", "bookworm")))
	single := func(name string, kw *payload.Map) (result any, comment string) {
		t.Helper()
		all := payload.M("refresh", false, "trusted", true)
		all.Update(kw)
		v, _, err := modtest.Call(t, env, "state.single", []any{"pkgrepo.managed", name}, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range v.(*payload.Map).All() {
			m := state.(*payload.Map)
			return m.Value("result"), m.Str("comment")
		}
		return nil, ""
	}
	if result, comment := single("deb http://192.0.2.1/new x main", nil); result != true {
		t.Fatalf("a good one: %v %s", result, comment)
	}
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(hostile) {
		if !strings.Contains(string(text), strings.TrimSpace(line)) {
			t.Errorf("the line %q was lost:\n%s", line, text)
		}
	}
	for _, kw := range []*payload.Map{
		payload.M("dist", "x\ndeb http://192.0.2.1/evil x main"),
		payload.M("comps", "main\ndeb http://192.0.2.1/evil x main"),
		payload.M("architectures", "amd64\ndeb http://192.0.2.1/evil x"),
		payload.M("comments", []any{"c\ndeb http://192.0.2.1/evil x main"}),
		payload.M("file", parts+"/a.sources", "dist", "x\n\nTypes: deb"),
		payload.M("file", parts+"/b.sources", "comments", "c\nTypes: deb\nURIs: http://192.0.2.1/evil\n"),
	} {
		if result, comment := single("deb http://192.0.2.1/other x main", kw); result == true && !kw.Has("file") {
			t.Errorf("%v: %v %s", kw, result, comment)
		}
	}
	if result, comment := single("deb http://192.0.2.1/x x main\ndeb http://192.0.2.1/evil x main", nil); result == true {
		t.Errorf("two lines: %s", comment)
	}
	for _, file := range []string{main, parts + "/a.sources", parts + "/b.sources"} {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "evil") && !strings.HasPrefix(line, "#") {
				t.Errorf("%s has %q", file, line)
			}
		}
	}
	if info, err := os.Stat(main); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
}
