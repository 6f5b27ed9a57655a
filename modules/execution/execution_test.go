package execution_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules/absent"
	"brine/modules/execution"
	"brine/modules/loader"
)

func registry(t testing.TB) *loader.Registry {
	t.Helper()
	return execution.Machine{Version: "3008.3"}.Functions()
}

// TestSignatures compares every declaration with what sys.argspec of Salt 3008.3 tells. testdata/argspec_3008.json
// is its output for the modules below, with SHELL=/bin/bash.
func TestSignatures(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	b, err := os.ReadFile("testdata/argspec_3008.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	reg := registry(t)
	for name, w := range want {
		f, ok := reg.Lookup(name)
		if !ok {
			if absent.Sentence(absent.Execution, name) == "" {
				t.Errorf("%s is missing", name)
			}
			continue
		}
		if diff := cmp.Diff(w, spec(t, f)); diff != "" {
			t.Errorf("%s: wanted -, got +:\n%s", name, diff)
		}
	}
	for _, name := range reg.Names() {
		if _, ok := want[name]; !ok && loader.ModuleOf(name) != ownModule && name != ownFunction {
			t.Errorf("%s: the reference has no such function", name)
		}
	}
}

// The one module, and the function of another one, that the reference does not have.
const (
	ownModule   = "brine"
	ownFunction = "state.resume_run"
)

// TestOutputters: of Salt's functions these, and no others, name an outputter in 3008.3 (__outputter__ of its modules).
func TestOutputters(t *testing.T) {
	want := map[string]string{"grains.items": "nested", "grains.item": "nested", "grains.setval": "nested",
		"aliases.list_aliases": "yaml", ownFunction: "highstate"}
	for _, name := range []string{"aliases.get_target", "aliases.has_target", "aliases.rm_alias", "aliases.set_target",
		"alternatives.display", "alternatives.install", "alternatives.remove"} {
		want[name] = "txt"
	}
	for _, name := range []string{"sls", "sls_id", "top", "single", "highstate", "template", "template_str", "apply",
		"test", "request", "check_request", "run_request"} {
		want["state."+name] = "highstate"
	}
	reg := registry(t)
	for _, name := range reg.Names() {
		if f, _ := reg.Lookup(name); f.Outputter != want[name] && loader.ModuleOf(name) != ownModule {
			t.Errorf("%s: outputter %q, want %q", name, f.Outputter, want[name])
		}
	}
}

func spec(t *testing.T, f *loader.Func) any {
	t.Helper()
	flat := map[string]any{}
	for k, v := range f.ArgSpec().All() {
		flat[k.(string)] = v
	}
	b, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDocs holds every function to a line of help, an example and the file it answers to.
func TestDocs(t *testing.T) {
	reg := registry(t)
	for _, name := range reg.Names() {
		f, _ := reg.Lookup(name)
		source := strings.HasSuffix(f.Source, ".py") || f.Source == "" && f.Module() == ownModule
		if f.Doc == "" || strings.HasPrefix(f.Doc, "\n") || !strings.Contains(f.Doc, "CLI Example:\n\n    ") ||
			!source {
			t.Errorf("%s: doc %q, source %q", name, f.Doc, f.Source)
		}
		for _, line := range strings.Split(f.Doc, "\n") {
			if len(line) > 140 {
				t.Errorf("%s: a line of the doc has %d characters", name, len(line))
			}
		}
	}
}

func BenchmarkRegister(b *testing.B) {
	for b.Loop() {
		registry(b)
	}
}
